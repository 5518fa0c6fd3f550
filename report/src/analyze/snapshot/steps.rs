//! Steps and named ranges of the program, from annotations.
//!
//! Annotations have times only, so events are theirs by time: a range has the events from its
//! start's microsecond to its end's, both included.

use super::align;
use crate::model::snapshot::{Device, Snapshot, Stage, TraceId};
use crate::model::{Rank, StringTable};

/// A named range of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its name.
    pub name: crate::model::StringId,
    /// Ranges around it that are open when it starts.
    pub depth: u32,
    /// First event.
    pub start: TraceId,
    /// The event after the last.
    pub end: TraceId,
    /// Nanoseconds since the Unix epoch.
    pub start_ns: u64,
    /// `None` when it never ended.
    pub end_ns: Option<u64>,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub number: i64,
    /// First event.
    pub start: TraceId,
    /// The event after the last.
    pub end: TraceId,
}

impl Step {
    /// Whether an event belongs to it.
    #[must_use]
    pub fn holds(&self, event: TraceId) -> bool {
        self.start <= event && event < self.end
    }
}

/// The first event from `time_ns` on; with `after`, the first event after it.
fn event_at(snapshot: &Snapshot, device: Device, time_ns: u64, after: bool) -> TraceId {
    let rows = snapshot.trace(device);
    let (mut low, mut high) = (rows.start, rows.end);
    while low < high {
        let middle = low + (high - low) / 2;
        let time = snapshot.events.time_ns.get(middle).unwrap_or(0);
        if time < time_ns || (after && time == time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    TraceId(low as u32)
}

/// Every named range of a device, in order of their starts. A start without an end reaches to the
/// end of the history; an end without a start is left out.
#[must_use]
pub fn ranges(snapshot: &Snapshot, device: Device) -> Vec<Range> {
    let past = TraceId(snapshot.trace(device).end as u32);
    let mut out: Vec<Range> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for row in &snapshot.annotations.rows {
        let Some(time) = row.time_ns.filter(|_| row.device == device) else {
            continue;
        };
        match row.stage {
            Stage::Start => {
                open.push(out.len());
                out.push(Range {
                    name: row.name,
                    depth: open.len() as u32 - 1,
                    start: event_at(snapshot, device, time, false),
                    end: past,
                    start_ns: time,
                    end_ns: None,
                });
            }
            Stage::End => {
                // Ranges of several threads may cross: the last open one of that name ends.
                let found = open
                    .iter()
                    .rposition(|&i| out.get(i).is_some_and(|r| r.name == row.name));
                let Some(at) = found else { continue };
                let i = open.remove(at);
                if let Some(range) = out.get_mut(i) {
                    range.end = event_at(snapshot, device, time, true).max(range.start);
                    range.end_ns = Some(time);
                }
            }
        }
    }
    out
}

/// The steps of a device: `ProfilerStep#N` ranges, else from one end of `Optimizer.step` to the
/// next. None without such annotations or without times.
#[must_use]
pub fn steps(strings: &StringTable, snapshot: &Snapshot, device: Device) -> Vec<Step> {
    let ranges = ranges(snapshot, device);
    let rows = snapshot.trace(device);
    if rows.is_empty() || snapshot.events.time_ns.get(rows.start).is_none() {
        return Vec::new();
    }
    let profiler: Vec<Step> = ranges
        .iter()
        .filter_map(|r| {
            let number = strings.get(r.name).strip_prefix("ProfilerStep#")?;
            Some(Step {
                number: number.parse().ok()?,
                start: r.start,
                end: r.end,
            })
        })
        .collect();
    let mut names: Vec<(crate::model::StringId, usize)> = Vec::new();
    for range in &ranges {
        if strings.get(range.name).starts_with("Optimizer.step#") && range.end_ns.is_some() {
            match names.iter_mut().find(|(n, _)| *n == range.name) {
                Some((_, count)) => *count += 1,
                None => names.push((range.name, 1)),
            }
        }
    }
    // With several optimizers the one that steps most marks the steps; the first of equals.
    let optimizer = names.iter().rev().max_by_key(|(_, count)| *count);
    if profiler.len() >= optimizer.map_or(0, |o| o.1) {
        return profiler;
    }
    let mut start = TraceId(rows.start as u32);
    ranges
        .iter()
        .filter(|r| Some(r.name) == optimizer.map(|o| o.0) && r.end_ns.is_some())
        .enumerate()
        .map(|(i, r)| {
            let step = Step {
                number: i as i64,
                start,
                end: r.end.max(start),
            };
            start = step.end;
            step
        })
        .collect()
}

/// The steps of a device: those of the rank's runtime report where its events could be aligned
/// with the history, so that both speak of the same numbers, else those by annotations.
#[must_use]
pub fn of(
    rank: &Rank,
    snapshot: &Snapshot,
    device: Device,
    aligned: &[Option<TraceId>],
) -> Vec<Step> {
    let stated = align::steps(rank, aligned);
    if stated.is_empty() {
        return steps(&rank.strings, snapshot, device);
    }
    stated
}

/// Annotated ranges and the phases of the rank's runtime report, in order of their starts.
#[must_use]
pub fn all_ranges(
    rank: &Rank,
    snapshot: &Snapshot,
    device: Device,
    aligned: &[Option<TraceId>],
) -> Vec<Range> {
    let mut out = ranges(snapshot, device);
    let phases = align::phases(rank, snapshot, aligned);
    if phases.is_empty() {
        return out;
    }
    out.extend(phases);
    out.sort_by_key(|r| (r.start, std::cmp::Reverse(r.end)));
    // Both kinds nest in each other: depths are told again.
    let mut open: Vec<TraceId> = Vec::new();
    for range in &mut out {
        open.retain(|&end| end > range.start);
        range.depth = open.len() as u32;
        open.push(range.end);
    }
    out
}

/// The step that an event belongs to.
#[must_use]
pub fn step_of(steps: &[Step], event: TraceId) -> Option<&Step> {
    let at = steps.partition_point(|s| s.end <= event);
    steps.get(at).filter(|s| s.holds(event))
}
