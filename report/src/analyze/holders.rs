//! What holds the peak: a sum of parts that equals the peak to the byte.
//!
//! A runtime report knows no single allocations, but it knows allocated at every event. From the
//! first event to the peak, every difference belongs to one place, so the parts are exact as
//! differences: what was there before, what earlier steps left, what each module of the peak's
//! step added up to the peak, and what lived only between the last event and the peak.

use std::collections::BTreeMap;

use super::growth::{Growth, Kind};
use super::pairing::{Partner, pair};
use super::steps::Step;
use super::{difference, narrow, path, peak, steps};
use crate::model::Rank;

/// One part of the peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// What it is.
    pub what: What,
    /// Bytes; negative for modules that freed more than they added.
    pub bytes: i64,
    /// An event that shows it.
    pub event: Option<usize>,
}

/// What a part of the peak is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Allocated before the first recorded event: weights, and whatever else.
    Before,
    /// A rise of the baseline in this step, during the optimizer's own step.
    Optimizer(i64),
    /// A rise of the baseline in this step that has no better name.
    Baseline(i64),
    /// What steps since this one left behind, evenly.
    Leak(i64),
    /// What earlier steps left behind otherwise.
    Kept,
    /// Added by modules of this path in the peak's step; `*` stands for numbered ones.
    Module {
        /// Dotted path.
        path: String,
        /// How many modules the path stands for.
        modules: u32,
    },
    /// Lived inside a call of this module only, between its two events.
    Inside(String),
    /// Lived between two events only: after the first, before the second.
    Between(usize, usize),
}

/// The parts of a peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holders {
    /// The peak in bytes: the sum of all parts.
    pub peak: u64,
    /// The event at which the peak showed.
    pub event: usize,
    /// Largest first.
    pub parts: Vec<Holder>,
}

/// Takes the peak apart. `None` without a peak whose place is known, or with unknown figures on
/// the way.
#[must_use]
pub fn holders(rank: &Rank, growth: &[Growth]) -> Option<Holders> {
    let top = peak::peak(rank).allocated?;
    let event = top.event?;
    if top.bytes == 0 {
        return None;
    }
    let all = steps::steps(rank);
    let step = all.iter().find(|s| (s.start..s.end).contains(&event))?;
    let origin = rank
        .events
        .allocated_before
        .get(0)
        .or(rank.events.allocated_after.get(0))?;
    let start = step.allocated_start?;
    let mut parts = vec![Holder {
        what: What::Before,
        bytes: narrow(origin.into()),
        event: Some(0),
    }];
    kept(
        &mut parts,
        difference(start, origin),
        step,
        &all,
        growth,
        rank,
    );
    let reached = modules(&mut parts, rank, step.start, start, event, top.bytes)?;
    // Not only below: a source whose marks contradict its samples can reach beyond its peak.
    if reached != top.bytes {
        parts.push(Holder {
            what: passing(rank, event),
            bytes: difference(top.bytes, reached),
            event: Some(event),
        });
    }
    parts.retain(|p| p.bytes != 0);
    parts.sort_by_key(|p| std::cmp::Reverse(p.bytes));
    Some(Holders {
        peak: top.bytes,
        event,
        parts,
    })
}

/// What earlier steps left: named where a finding explains it, the rest as [`What::Kept`].
fn kept(
    parts: &mut Vec<Holder>,
    bytes: i64,
    step: &Step,
    all: &[Step],
    growth: &[Growth],
    rank: &Rank,
) {
    let mut rest = bytes;
    // Steps are counted, not subtracted: a recorder may have left some out.
    let earlier: Vec<i64> = all
        .iter()
        .filter(|s| s.start < step.start)
        .filter_map(|s| s.step)
        .collect();
    for g in growth {
        let Some(first) = earlier.iter().position(|&s| s == g.since_step) else {
            continue;
        };
        let since = (earlier.len() - first) as i64;
        let mut push = |what, bytes: i64| {
            if bytes > 0 && bytes <= rest {
                rest -= bytes;
                parts.push(Holder {
                    what,
                    bytes,
                    event: Some(g.event),
                });
            }
        };
        match g.kind {
            Kind::Baseline => {
                let optimizer = g.during.filter(|&(e, _)| {
                    rank.strings
                        .get(rank.events.phase[e])
                        .starts_with("optimizer")
                });
                let part = optimizer.map_or(0, |(_, bytes)| bytes);
                push(What::Optimizer(g.since_step), part);
                push(What::Baseline(g.since_step), g.bytes.saturating_sub(part));
            }
            Kind::Leak => push(
                What::Leak(g.since_step),
                g.bytes_per_step.saturating_mul(since),
            ),
            Kind::Reserved | Kind::Normal => {}
        }
    }
    parts.push(Holder {
        what: What::Kept,
        bytes: rest,
        event: None,
    });
}

/// Adds the modules' parts from `first` to the peak, and returns how far they reach.
fn modules(
    parts: &mut Vec<Holder>,
    rank: &Rank,
    first: usize,
    start: u64,
    event: usize,
    peak: u64,
) -> Option<u64> {
    let mut sums: BTreeMap<String, (i128, std::collections::BTreeSet<String>, usize)> =
        BTreeMap::new();
    // If memory stands at the peak after the event, the event's own rise belongs to its module;
    // else the peak lay before the event, and is told by the caller.
    let end = if rank.events.allocated_after.get(event)? == peak {
        event + 1
    } else {
        event
    };
    let mut below = start;
    for i in first..end {
        let after = rank.events.allocated_after.get(i)?;
        let (module, _) = path::split(rank.strings.get(rank.events.module[i]));
        if after != below {
            let (key, member) = fold(module);
            let slot = sums
                .entry(key)
                .or_insert((0, std::collections::BTreeSet::new(), i));
            slot.0 += i128::from(after) - i128::from(below);
            slot.1.insert(member);
        }
        below = after;
    }
    for (path, (sum, members, event)) in sums {
        parts.push(Holder {
            what: What::Module {
                path,
                modules: members.len() as u32,
            },
            bytes: narrow(sum),
            event: Some(event),
        });
    }
    Some(below)
}

/// `model.layers.3.mlp.up` is part of `model.layers.*`, member `model.layers.3`.
fn fold(module: &str) -> (String, String) {
    let mut at = 0;
    for segment in module.split('.') {
        let end = at + segment.len();
        if !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit()) && at > 0 {
            return (format!("{}*", &module[..at]), module[..end].to_owned());
        }
        at = end + 1;
    }
    (module.to_owned(), module.to_owned())
}

/// Names what lived only on the way to `event`.
fn passing(rank: &Rank, event: usize) -> What {
    match pair(rank).partner(event) {
        Partner::Event(pre) if pre + 1 == event => {
            let (module, _) = path::split(rank.strings.get(rank.events.module[event]));
            What::Inside(module.to_owned())
        }
        _ => What::Between(event.saturating_sub(1), event),
    }
}
