//! How long allocations live: what stays from step to step, what waits, what comes and goes.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::{Allocation, AllocationId};
use super::replay::Replay;
use super::steps::Step;
use crate::model::snapshot::{StackId, TraceId};

/// Allocations of one place that stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Survivors {
    /// Where they were allocated; `None` when not recorded.
    pub stack: Option<StackId>,
    /// How many stayed.
    pub count: u64,
    /// Their requested bytes.
    pub bytes: u64,
    /// Steps in which one was born that stayed.
    pub steps: u64,
    /// The first step in which one was born that stayed.
    pub since: Option<i64>,
    /// Steps that were looked at: those that are old enough.
    pub of_steps: u64,
    /// Bytes that each of the steps looked at added, on average.
    pub bytes_per_step: u64,
    /// Whether those of at least half the steps, and of three, are alive at the end: a leak looks
    /// like this, and so does a cache that fills.
    pub suspect: bool,
}

/// What was born in a step and lived through `k` more, by stack, most bytes a step first.
/// The first step is left out: what it makes to stay (optimizer state, workspaces) is no growth.
#[must_use]
pub fn survivors(replay: &Replay, steps: &[Step], k: usize) -> Vec<Survivors> {
    let old_enough = steps.len().saturating_sub(k);
    let looked_at = steps.get(1..old_enough).unwrap_or_default();
    #[derive(Default)]
    struct Sum {
        count: u64,
        bytes: u64,
        steps: u64,
        first: Option<i64>,
        last: Option<i64>,
        at_end: u64,
    }
    let mut sums: HashMap<Option<StackId>, Sum, FxBuildHasher> = HashMap::default();
    let mut at = 0;
    for (_, a) in replay.allocations.iter() {
        let Some(born) = a.born else { continue };
        while looked_at.get(at).is_some_and(|s| s.end <= born) {
            at += 1;
        }
        let Some(step) = looked_at.get(at) else { break };
        let outlived = steps.get(at + 1 + k);
        let stays = step.holds(born)
            && outlived.is_some_and(|s| a.free_completed.is_none_or(|f| f >= s.end));
        if !stays {
            continue;
        }
        let sum = sums.entry(a.stack).or_default();
        sum.count += 1;
        sum.bytes = sum.bytes.saturating_add(a.size);
        sum.first = sum.first.or(Some(step.number));
        if sum.last != Some(step.number) {
            sum.last = Some(step.number);
            sum.steps += 1;
            sum.at_end += u64::from(a.free_completed.is_none());
        }
    }
    let of = looked_at.len() as u64;
    let mut out: Vec<Survivors> = sums
        .into_iter()
        .map(|(stack, s)| Survivors {
            stack,
            count: s.count,
            bytes: s.bytes,
            steps: s.steps,
            since: s.first,
            of_steps: of,
            bytes_per_step: s.bytes / of.max(1),
            suspect: s.at_end >= 3 && s.at_end * 2 >= of,
        })
        .collect();
    out.sort_by_key(|s| (std::cmp::Reverse((s.bytes, s.count)), s.stack));
    out
}

/// A block that was freed but waited for another stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// The allocation.
    pub allocation: AllocationId,
    /// Requested bytes.
    pub bytes: u64,
    /// Events between the request and the completion, or the end of the history.
    pub events: u64,
    /// Whether it still waits at the end.
    pub open: bool,
}

/// The blocks that still wait, then those that waited longest; those whose free was completed at
/// once are left out.
#[must_use]
pub fn pending(replay: &Replay, most: usize) -> Vec<Pending> {
    let mut out: Vec<Pending> = replay
        .allocations
        .iter()
        .filter_map(|(id, a)| {
            let from = a.free_requested?;
            let to = a.free_completed.unwrap_or(TraceId(replay.past));
            let events = u64::from(to.0.saturating_sub(from.0));
            (events > 1 || a.free_completed.is_none()).then_some(Pending {
                allocation: id,
                bytes: a.size,
                events,
                open: a.free_completed.is_none(),
            })
        })
        .collect();
    out.sort_by_key(|p| (std::cmp::Reverse((p.open, p.events, p.bytes)), p.allocation));
    out.truncate(most);
    out
}

/// Large allocations of one place that live for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// Where they were allocated; `None` when not recorded.
    pub stack: Option<StackId>,
    /// How many.
    pub count: u64,
    /// The largest, bytes.
    pub largest: u64,
    /// Bytes over all of them.
    pub bytes: u64,
}

/// Allocations of at least a hundredth of the peak that were freed within `events` events, by
/// stack, largest first: they decide how high the peak is while they last.
#[must_use]
pub fn brief(replay: &Replay, events: u32) -> Vec<Brief> {
    let large = (replay.peak_requested().bytes / 100).max(1);
    let is_brief = |a: &Allocation| {
        let (Some(born), Some(end)) = (a.born, a.free_completed) else {
            return false;
        };
        a.size >= large && end.0 - born.0 <= events
    };
    let mut sums: HashMap<Option<StackId>, Brief, FxBuildHasher> = HashMap::default();
    for (_, a) in replay.allocations.iter().filter(|(_, a)| is_brief(a)) {
        let sum = sums.entry(a.stack).or_insert(Brief {
            stack: a.stack,
            count: 0,
            largest: 0,
            bytes: 0,
        });
        sum.count += 1;
        sum.largest = sum.largest.max(a.size);
        sum.bytes = sum.bytes.saturating_add(a.size);
    }
    let mut out: Vec<Brief> = sums.into_values().collect();
    out.sort_by_key(|b| (std::cmp::Reverse((b.largest, b.bytes)), b.stack));
    out
}
