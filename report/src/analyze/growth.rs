//! Does memory come back after each step, and if not, what stays?
//!
//! The figure to watch is the **trough**: allocated after the last event of a step. What a step
//! adds to it stays. A step that adds a lot once sets a new **baseline** (optimizer state); steps
//! that each add about the same **leak**; and reserved that rises by more than the high-water mark
//! does is memory that the allocator took without need (fragmentation).

use super::steps::{Step, steps};
use super::{difference, narrow, peak};
use crate::model::Rank;

/// What kind of growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Steps that each leave more behind.
    Leak,
    /// A rise that stays, once.
    Baseline,
    /// Reserved rose by more than allocated.
    Reserved,
    /// Memory comes back after every step.
    Normal,
}

impl Kind {
    /// The word in machine-readable output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Leak => "leak",
            Self::Baseline => "baseline",
            Self::Reserved => "reserved",
            Self::Normal => "normal",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// See [`Kind`].
    pub kind: Kind,
    /// Bytes added by each step; 0 for what happened once.
    pub bytes_per_step: i64,
    /// The step since when (the step's number).
    pub since_step: i64,
    /// Bytes added in all: over all steps of a leak, once for a baseline, reserved for
    /// [`Kind::Reserved`], 0 for [`Kind::Normal`].
    pub bytes: i64,
    /// For a baseline, the boundary before which most of it came, and how much of it, in bytes.
    pub during: Option<(usize, i64)>,
    /// For [`Kind::Reserved`], by how much the high-water mark rose in the same step, in bytes.
    pub allocated_rise: Option<i64>,
    /// The event to mark on a chart: where the growth shows.
    pub event: usize,
    /// Allocated at that event, bytes ([`Kind::Normal`]: the level that memory comes back to).
    pub level: Option<u64>,
}

/// A rise of the baseline below this share of the peak is not worth a word.
const BASELINE_SHARE: f64 = 0.01;
const MIB: i64 = 1 << 20;
/// A leak shows in at least so many steps in a row.
const LEAK_STEPS: usize = 3;

/// The findings: baselines in order of steps, then the leak, then reserved, or that all is normal.
#[must_use]
pub fn growth(rank: &Rank) -> Vec<Growth> {
    let all = steps(rank);
    let steps: Vec<&Step> = all
        .iter()
        .filter(|s| s.step.is_some() && s.allocated_end.is_some() && s.allocated_start.is_some())
        .collect();
    let peak = peak::peak(rank).allocated.map_or(0, |p| p.bytes);
    if steps.is_empty() || peak == 0 {
        return Vec::new();
    }
    let rises = rises(&steps);
    let leak = leak(&steps, &rises, rank, peak);
    let mut out = baselines(&steps, &rises, leak.as_ref(), rank, peak);
    let since_first = out
        .last()
        .map(|b| b.since_step)
        .or(steps.first().and_then(|s| s.step))
        .unwrap_or(0);
    out.extend(leak);
    out.extend(reserved(&steps, rank));
    if leak.is_none()
        && steps.len() > 1
        && let Some(last) = steps.last()
    {
        out.push(Growth {
            kind: Kind::Normal,
            bytes_per_step: 0,
            since_step: since_first,
            bytes: 0,
            during: None,
            allocated_rise: None,
            event: last.end - 1,
            level: last.allocated_end,
        });
    }
    out
}

/// What each step added to the trough, bytes.
fn rises(steps: &[&Step]) -> Vec<i64> {
    let mut below = steps.first().and_then(|s| s.allocated_start).unwrap_or(0);
    steps
        .iter()
        .map(|s| {
            let end = s.allocated_end.unwrap_or(below);
            let rise = difference(end, below);
            below = end;
            rise
        })
        .collect()
}

fn leak(steps: &[&Step], rises: &[i64], rank: &Rank, peak: u64) -> Option<Growth> {
    let tail = rises.iter().rev().take_while(|&&r| r > 0).count();
    let mut run: Vec<i64> = rises.get(rises.len() - tail..)?.to_vec();
    // Each round looks at the whole run, so a run of thousands that never evens out would take long.
    let mut rounds = 0..64;
    let per_step = loop {
        if run.len() < LEAK_STEPS || rounds.next().is_none() {
            return None;
        }
        let median = median(&run);
        // The run must be even: every step adds between half and twice the usual.
        match run
            .iter()
            .rposition(|&r| r > median.saturating_mul(2) || r < median / 2)
        {
            None => break median,
            Some(uneven) => drop(run.drain(..=uneven)),
        }
    };
    let total = narrow(run.iter().map(|&r| i128::from(r)).sum());
    if (total as f64) < (peak as f64) * 0.001 || total < MIB / 16 {
        return None;
    }
    let mut first = rises.len() - run.len();
    // The step before may have leaked as well, under a rise of another cause: if what the
    // optimizer did not add is at least one step's worth, it did.
    if first > 0 {
        let before = first - 1;
        let optimizer = optimizer_rise(steps[before], rank).map_or(0, |(_, bytes)| bytes.max(0));
        if rises[before].saturating_sub(optimizer) >= per_step {
            first = before;
        }
    }
    let extra = if first < rises.len() - run.len() {
        per_step
    } else {
        0
    };
    let last = steps.last()?;
    Some(Growth {
        kind: Kind::Leak,
        bytes_per_step: per_step,
        since_step: steps.get(first)?.step?,
        bytes: total.saturating_add(extra),
        during: None,
        allocated_rise: None,
        event: last.end - 1,
        level: last.allocated_end,
    })
}

fn median(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

fn baselines(
    steps: &[&Step],
    rises: &[i64],
    leak: Option<&Growth>,
    rank: &Rank,
    peak: u64,
) -> Vec<Growth> {
    let worth = ((peak as f64 * BASELINE_SHARE) as i64).max(MIB);
    let mut out = Vec::new();
    for (k, (step, &rise)) in steps.iter().zip(rises).enumerate() {
        let Some(number) = step.step else { continue };
        let leaked = leak
            .filter(|l| number >= l.since_step)
            .map_or(0, |l| l.bytes_per_step);
        let rise = rise.saturating_sub(leaked);
        if rise < worth {
            continue;
        }
        // It stays if no later step ends below nine tenths of it.
        let floor = step
            .allocated_end
            .unwrap_or(0)
            .saturating_sub((rise / 10) as u64);
        let stays = steps
            .iter()
            .skip(k + 1)
            .all(|s| s.allocated_end.is_none_or(|end| end >= floor));
        if !stays || k + 1 == steps.len() {
            continue;
        }
        let during = optimizer_rise(step, rank)
            .filter(|&(_, bytes)| bytes >= rise / 2)
            .or_else(|| largest_interval(step, rank))
            .map(|(event, bytes)| (event, bytes.min(rise)));
        out.push(Growth {
            kind: Kind::Baseline,
            bytes_per_step: 0,
            since_step: number,
            bytes: rise,
            during,
            allocated_rise: None,
            event: during.map_or(step.end - 1, |(event, _)| event),
            level: during
                .and_then(|(event, _)| rank.events.allocated_after.get(event))
                .or(step.allocated_end),
        });
    }
    out
}

/// Pairs of consecutive boundaries of the training loop within a step, with the rise between.
fn intervals<'a>(step: &'a Step, rank: &'a Rank) -> impl Iterator<Item = (usize, i64)> + 'a {
    let kind = super::step_kind(rank);
    let mut before: Option<u64> = None;
    (step.start..step.end).filter_map(move |i| {
        if Some(rank.events.kind[i]) != kind {
            return None;
        }
        let after = rank.events.allocated_after.get(i)?;
        let rise = before.map(|b| (i, difference(after, b)));
        before = Some(after);
        rise
    })
}

fn optimizer_rise(step: &Step, rank: &Rank) -> Option<(usize, i64)> {
    intervals(step, rank).find(|&(i, _)| {
        let phase = rank.strings.get(rank.events.phase[i]);
        phase.starts_with("optimizer") && phase.ends_with("_end")
    })
}

fn largest_interval(step: &Step, rank: &Rank) -> Option<(usize, i64)> {
    intervals(step, rank)
        .filter(|&(_, b)| b > 0)
        .max_by_key(|&(_, b)| b)
}

/// Steps in which reserved rose by clearly more than the high-water mark of allocated.
fn reserved(steps: &[&Step], rank: &Rank) -> Vec<Growth> {
    /// The largest ones are enough.
    const MOST: usize = 5;
    let mut out = Vec::new();
    for pair in steps.windows(2) {
        let (before, step) = (pair[0], pair[1]);
        let (Some(was), Some(is)) = (before.reserved_end, step.reserved_end) else {
            continue;
        };
        let (Some(high_was), Some(high_is)) = (
            before.high_water.max(before.sampled_peak),
            step.high_water.max(step.sampled_peak),
        ) else {
            continue;
        };
        let rise = difference(is, was);
        let allocated = difference(high_is, high_was).max(0);
        // Reserved follows allocated in whole segments, so somewhat more is usual: what counts is
        // a rise that allocated does not explain by half, and that is worth a word.
        let worth = ((is as f64 * 0.01) as i64).max(20 * MIB);
        if rise.saturating_sub(allocated) < worth || rise / 2 < allocated {
            continue;
        }
        let event = (step.start..step.end)
            .find(|&i| rank.events.reserved_after.get(i) > Some(was))
            .unwrap_or(step.end - 1);
        out.push(Growth {
            kind: Kind::Reserved,
            bytes_per_step: 0,
            since_step: step.step.unwrap_or(0),
            bytes: rise,
            during: None,
            allocated_rise: Some(allocated),
            event,
            level: rank.events.reserved_after.get(event),
        });
    }
    out.sort_by_key(|g| std::cmp::Reverse(g.bytes));
    out.truncate(MOST);
    out.sort_by_key(|g| g.event);
    out
}
