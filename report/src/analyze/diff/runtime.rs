//! Two runtime reports: the peak's parts, phases, modules and steps, matched by name and number.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Pair, Status};
use crate::analyze::growth::growth;
use crate::analyze::holders::{Holder, What, holders};
use crate::analyze::modules::{Figures, modules};
use crate::analyze::pairing::pair;
use crate::analyze::phases::{Phase, phases};
use crate::analyze::steps::{Step, steps};
use crate::model::Rank;

/// What two runtime reports have, side by side.
#[derive(Debug, Clone)]
pub struct RuntimeDiff {
    /// The parts of both peaks, largest difference first. Their differences sum to that of the
    /// peaks. `None` when a peak could not be taken apart.
    pub parts: Option<Vec<Part>>,
    /// Phases, in A's order.
    pub phases: Vec<Both<Phase>>,
    /// Modules, by largest difference of [`Figures::total_delta`].
    pub modules: Vec<Both<Figures>>,
    /// Steps, in A's order.
    pub steps: Vec<Both<Step>>,
}

/// A part of the peaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is in A; `None` when A's peak has no such part.
    pub a: Option<Holder>,
    /// What it is in B.
    pub b: Option<Holder>,
}

impl Part {
    /// Bytes of B minus bytes of A; a part that is not there is 0.
    #[must_use]
    pub fn delta(&self) -> i64 {
        let bytes = |h: &Option<Holder>| i128::from(h.as_ref().map_or(0, |h| h.bytes));
        crate::analyze::narrow(bytes(&self.b) - bytes(&self.a))
    }

    /// What became of it.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::of(self.a.is_some(), self.b.is_some(), self.delta().cmp(&0))
    }
}

/// A row that a side may lack.
#[derive(Debug, Clone, PartialEq)]
pub struct Both<T> {
    /// Its name: the phase, the module's path, the step's number.
    pub name: String,
    /// A's figures.
    pub a: Option<T>,
    /// B's.
    pub b: Option<T>,
}

impl<T> Both<T> {
    /// A figure of both sides.
    #[must_use]
    pub fn pair(&self, figure: impl Fn(&T) -> Option<u64>) -> Pair {
        Pair {
            a: self.a.as_ref().and_then(&figure),
            b: self.b.as_ref().and_then(&figure),
        }
    }

    /// What became of it, by a figure.
    #[must_use]
    pub fn status(&self, figure: impl Fn(&T) -> Option<i64>) -> Status {
        let of = |side: &Option<T>| side.as_ref().and_then(&figure);
        Status::of(
            self.a.is_some(),
            self.b.is_some(),
            of(&self.b).cmp(&of(&self.a)),
        )
    }
}

impl RuntimeDiff {
    /// Compares the events of two ranks.
    #[must_use]
    pub fn of(a: &Rank, b: &Rank) -> Self {
        let text = |rank: &Rank, p: &Phase| rank.strings.get(p.phase).to_owned();
        let named = |rank: &Rank| -> Vec<(String, Phase)> {
            phases(rank)
                .into_iter()
                .map(|p| (text(rank, &p), p))
                .collect()
        };
        Self {
            parts: parts(a, b),
            phases: both(named(a), named(b)),
            modules: module_rows(a, b),
            steps: both(numbered(a), numbered(b)),
        }
    }
}

/// Pairs rows of the same name; of several with one name the first with the first, and so on.
/// A's order, then what only B has.
fn both<T>(a: Vec<(String, T)>, b: Vec<(String, T)>) -> Vec<Both<T>> {
    let mut out: Vec<Both<T>> = Vec::with_capacity(a.len());
    let mut place: HashMap<(String, u32), usize> = HashMap::new();
    let mut nth = nths();
    for (name, row) in a {
        place.insert((name.clone(), nth(&name)), out.len());
        out.push(Both {
            name,
            a: Some(row),
            b: None,
        });
    }
    let mut nth = nths();
    for (name, row) in b {
        let key = (name.clone(), nth(&name));
        match place.get(&key).and_then(|&i| out.get_mut(i)) {
            Some(found) => found.b = Some(row),
            None => out.push(Both {
                name,
                a: None,
                b: Some(row),
            }),
        }
    }
    out
}

/// Counts how often a name came before.
fn nths() -> impl FnMut(&str) -> u32 {
    let mut seen: HashMap<String, u32> = HashMap::new();
    move |name| {
        let n = seen.entry(name.to_owned()).or_default();
        *n += 1;
        *n - 1
    }
}

fn numbered(rank: &Rank) -> Vec<(String, Step)> {
    let name = |s: &Step| s.step.map_or_else(String::new, |n| n.to_string());
    steps(rank).into_iter().map(|s| (name(&s), s)).collect()
}

fn module_rows(a: &Rank, b: &Rank) -> Vec<Both<Figures>> {
    let figures = |rank: &Rank| -> Vec<(String, Figures)> {
        let tree = modules(rank, &pair(rank));
        let rows = tree.rows.iter().enumerate();
        rows.map(|(i, m)| {
            let id = crate::analyze::modules::ModuleId(i as u32);
            (tree.path(id), m.rolled)
        })
        .collect()
    };
    let mut out = both(figures(a), figures(b));
    let added = |side: &Option<Figures>| {
        let delta = side.as_ref().and_then(|f| f.total_delta);
        i128::from(delta.unwrap_or(0))
    };
    out.sort_by_key(|m| std::cmp::Reverse((added(&m.b) - added(&m.a)).unsigned_abs()));
    out
}

/// What makes two parts the same. Steps do not: an optimizer's state is the same thing whether it
/// came in step 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Before,
    Optimizer,
    Baseline,
    Leak,
    Kept,
    Module(String),
    Inside(String),
    Between([String; 4]),
}

fn key(rank: &Rank, what: &What) -> Key {
    let event = |e: usize| {
        let row = rank.events.row(e);
        let text = |id| rank.strings.get(id).to_owned();
        [text(row.module), text(row.phase)]
    };
    match what {
        What::Before => Key::Before,
        What::Optimizer(_) => Key::Optimizer,
        What::Baseline(_) => Key::Baseline,
        What::Leak(_) => Key::Leak,
        What::Kept => Key::Kept,
        What::Module { path, .. } => Key::Module(path.clone()),
        What::Inside(module) => Key::Inside(module.clone()),
        What::Between(from, to) => {
            let ([a, b], [c, d]) = (event(*from), event(*to));
            Key::Between([a, b, c, d])
        }
    }
}

fn parts(a: &Rank, b: &Rank) -> Option<Vec<Part>> {
    let (x, y) = (holders(a, &growth(a))?, holders(b, &growth(b))?);
    let mut out: Vec<Part> = Vec::new();
    let mut place: HashMap<Key, usize> = HashMap::new();
    let add = |slot: &mut Option<Holder>, part: &Holder| match slot {
        Some(there) => there.bytes = there.bytes.saturating_add(part.bytes),
        None => *slot = Some(part.clone()),
    };
    for (rank, holders, is_a) in [(a, &x, true), (b, &y, false)] {
        for part in &holders.parts {
            let at = *place.entry(key(rank, &part.what)).or_insert_with(|| {
                out.push(Part { a: None, b: None });
                out.len() - 1
            });
            if let Some(row) = out.get_mut(at) {
                add(if is_a { &mut row.a } else { &mut row.b }, part);
            }
        }
    }
    out.sort_by_key(|p| std::cmp::Reverse(p.delta().unsigned_abs()));
    Some(out)
}
