//! Functions that have another name on the other side.
//!
//! The outermost frame of a stack is often a function that is named for the experiment. It is the
//! same function to a reader when it stands in the same file, calls what the other calls, and is
//! called from where the other is.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::frames::FunctionId;
use crate::analyze::snapshot::Analysis;
use crate::model::snapshot::{FrameId, StackId};

/// Rounds, each with what the one before found: a renamed function may call another.
const ROUNDS: usize = 3;
/// Functions of one file and side, at most: beyond that names say what is what.
const MOST: usize = 200;

/// What surrounds a function in the stacks; `None` for the ends.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Around {
    callees: BTreeSet<Option<FunctionId>>,
    callers: BTreeSet<Option<FunctionId>>,
}

impl Around {
    /// How alike two are, of a thousand; `None` when they do not go together.
    fn like(&self, other: &Self) -> Option<usize> {
        if self.callers.is_disjoint(&other.callers) {
            return None;
        }
        let both: Vec<_> = self.callees.intersection(&other.callees).collect();
        // That both call nothing, or only the allocator, tells nothing.
        both.iter().find(|c| c.is_some())?;
        let both = both.len();
        let all = self.callees.union(&other.callees).count();
        (2 * both >= all).then(|| 1000 * both / all.max(1))
    }
}

/// Gives functions of B that only B has the number of A's function that they were, and says which.
/// `file` is the number of a function's file, `None` where that tells nothing.
pub(super) fn renamed(
    a: &Analysis,
    b: &Analysis,
    of_a: &[FunctionId],
    of_b: &mut [FunctionId],
    file: impl Fn(FunctionId) -> Option<u32>,
) -> Vec<(FunctionId, FunctionId)> {
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let lone_a = lone(of_a, of_b, &file);
        let lone_b = lone(of_b, of_a, &file);
        if !lone_a.keys().any(|f| lone_b.contains_key(f)) {
            break;
        }
        let (around_a, around_b) = (around(a, of_a, &lone_a), around(b, of_b, &lone_b));
        let mut pairs = Vec::new();
        for (file, own) in &lone_a {
            let other = lone_b.get(file).map(Vec::as_slice).unwrap_or_default();
            if own.len() <= MOST && other.len() <= MOST {
                pairs.extend(partners(own, other, &around_a, &around_b));
            }
        }
        if pairs.is_empty() {
            break;
        }
        for &(was, is) in &pairs {
            for function in of_b.iter_mut().filter(|f| **f == is) {
                *function = was;
            }
        }
        found.append(&mut pairs);
    }
    found
}

/// Those of each file that only `own` has.
fn lone(
    own: &[FunctionId],
    other: &[FunctionId],
    file: &impl Fn(FunctionId) -> Option<u32>,
) -> BTreeMap<u32, Vec<FunctionId>> {
    let other: HashSet<FunctionId> = other.iter().copied().collect();
    let own: BTreeSet<FunctionId> = own.iter().copied().collect();
    let mut out: BTreeMap<u32, Vec<FunctionId>> = BTreeMap::new();
    for function in own.into_iter().filter(|f| !other.contains(f)) {
        if let Some(file) = file(function) {
            out.entry(file).or_default().push(function);
        }
    }
    out
}

/// What surrounds the functions of `wanted`.
fn around(
    side: &Analysis,
    of: &[FunctionId],
    wanted: &BTreeMap<u32, Vec<FunctionId>>,
) -> BTreeMap<FunctionId, Around> {
    let wanted: HashSet<FunctionId> = wanted.values().flatten().copied().collect();
    let function = |frame: &FrameId| of.get(frame.0 as usize).copied();
    let snapshot = side.snapshot();
    let mut out: BTreeMap<FunctionId, Around> = BTreeMap::new();
    for stack in 0..snapshot.stacks.len() as u32 {
        let frames = snapshot.stacks.get(StackId(stack));
        for (i, frame) in frames.iter().enumerate() {
            let Some(own) = function(frame).filter(|f| wanted.contains(f)) else {
                continue;
            };
            let around = out.entry(own).or_default();
            let callee = i.checked_sub(1).and_then(|i| frames.get(i));
            around.callees.insert(callee.and_then(function));
            around.callers.insert(frames.get(i + 1).and_then(function));
        }
    }
    out
}

/// Pairs of which each is the other's only best.
fn partners(
    a: &[FunctionId],
    b: &[FunctionId],
    around_a: &BTreeMap<FunctionId, Around>,
    around_b: &BTreeMap<FunctionId, Around>,
) -> Vec<(FunctionId, FunctionId)> {
    let like = |x: FunctionId, y: FunctionId| around_a.get(&x)?.like(around_b.get(&y)?);
    let best = |all: &[FunctionId], of: &dyn Fn(FunctionId) -> Option<usize>| {
        let most = all.iter().filter_map(|&f| of(f)).max()?;
        let mut those = all.iter().filter(|&&f| of(f) == Some(most));
        let first = those.next().copied();
        first.filter(|_| those.next().is_none())
    };
    let pairs = a.iter().filter_map(|&x| {
        let y = best(b, &|y| like(x, y))?;
        (best(a, &|x| like(x, y)) == Some(x)).then_some((x, y))
    });
    pairs.collect()
}
