//! The events of a runtime report on the time axis of a snapshot of the same rank.
//!
//! A runtime report has no clock: its events state what was allocated and reserved, in order. The
//! snapshot's replay has both figures after every entry. An event happened where they are equal;
//! as memory comes back to the same figures again and again, the answer is the longest monotone
//! alignment, found from the end: a snapshot is taken when the run ends, and it is the beginning
//! that a ring buffer loses. The high-water mark that events state rules out places beyond which
//! memory stood higher than the mark.
//!
//! Of all partial alignments only those within [`BAND`] events of the longest are followed, so the
//! work grows with the number of events and not with its square.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::analysis::Analysis;
use super::replay::Replay;
use super::steps::{Range, Step};
use crate::analyze::steps as report_steps;
use crate::model::snapshot::{Snapshot, TraceId};
use crate::model::{Events, Rank, StringId};

/// How many partial alignments are followed.
const BAND: usize = 32;
/// What a match is worth: so many events may go without one to gain it.
const MATCH: i64 = 10;
/// Entries whose highest figure is kept together.
const BLOCK: usize = 64;

/// For each event of the runtime report the entry of the trace after which it happened; `None`
/// where the history does not reach or no entry fits.
#[must_use]
pub fn align(analysis: &Analysis) -> Vec<Option<TraceId>> {
    entries(&analysis.rank, &analysis.replay)
}

/// A partial alignment, from the end of the run to its earliest match.
#[derive(Clone, Copy)]
struct Partial {
    /// The event of its earliest match; behind the last event when it has none.
    event: u32,
    /// Where that is; behind the last entry when it has none.
    place: u32,
    score: i64,
    node: u32,
    /// The mark that its earliest matched event states, and the stretch between two resets of the
    /// mark that the event is in.
    mark: Option<u64>,
    stretch: u32,
    new: bool,
}

impl Partial {
    /// What it is worth if nothing from `event` on is matched: every event that goes without costs.
    fn worth(&self, event: u32) -> i64 {
        self.score - i64::from(self.event.saturating_sub(event))
    }
}

struct Node {
    event: u32,
    place: u32,
    /// The match after it.
    next: u32,
}

const END: u32 = u32::MAX;

/// As [`align`], from the tables.
#[must_use]
pub fn entries(rank: &Rank, replay: &Replay) -> Vec<Option<TraceId>> {
    let events = &rank.events;
    let places = Places::of(events, replay);
    let mut nodes: Vec<Node> = Vec::new();
    // Of two partial alignments the one that ends earlier is followed only if it is worth more.
    // So they are in order of falling place and rising worth.
    let mut front = vec![Partial {
        event: events.len() as u32,
        place: replay.events().len() as u32,
        score: 0,
        node: END,
        mark: None,
        stretch: 0,
        new: false,
    }];
    let mut all: Vec<Partial> = Vec::new();
    let mut best: (i64, u32) = (i64::MIN, END);
    // The mark falls only where the program resets it.
    let mut stretch = 0;
    let mut later: Option<u64> = None;
    for event in (0..events.len() as u32).rev() {
        let mark = events.max_allocated.get(event as usize);
        if later.zip(mark).is_some_and(|(later, mark)| mark > later) {
            stretch += 1;
        }
        later = mark.or(later);
        let Some(runs) = places.runs(events, event as usize) else {
            continue;
        };
        all.clear();
        all.extend_from_slice(&front);
        for partial in &front {
            let Some(place) = latest(runs, partial.place) else {
                continue;
            };
            // Nothing between an event and the next may be above the next one's mark.
            let bound = partial.mark.filter(|_| partial.stretch == stretch);
            if bound.is_some_and(|mark| places.highest(place + 1, partial.place) > mark) {
                continue;
            }
            all.push(Partial {
                event,
                place,
                score: partial.worth(event + 1) + MATCH,
                mark,
                stretch,
                new: true,
                ..*partial
            });
        }
        // Stable: of equals the one stays that matched later events.
        all.sort_by_key(|p| {
            (
                std::cmp::Reverse(p.place),
                std::cmp::Reverse(p.worth(event)),
            )
        });
        front.clear();
        for partial in &all {
            if front
                .last()
                .is_none_or(|last| partial.worth(event) > last.worth(event))
            {
                front.push(*partial);
            }
        }
        let less = front.len().saturating_sub(BAND);
        front.drain(..less);
        for partial in front.iter_mut().filter(|p| p.new) {
            nodes.push(Node {
                event,
                place: partial.place,
                next: partial.node,
            });
            partial.node = nodes.len() as u32 - 1;
            partial.new = false;
            if partial.score > best.0 {
                best = (partial.score, partial.node);
            }
        }
    }
    let mut matches: Vec<(usize, u32)> = Vec::new();
    let mut at = best.1;
    while let Some(node) = nodes.get(at as usize) {
        matches.push((node.event as usize, node.place));
        at = node.next;
    }
    settle(rank, &places, &mut matches);
    let mut out = vec![None; events.len()];
    for (event, place) in matches {
        if let Some(slot) = out.get_mut(event) {
            *slot = Some(TraceId(replay.first + place));
        }
    }
    out
}

/// Between the events before and after it an event may fit in several places. Something that starts
/// does so before what happens there, so it takes the first of them; everything else takes the last
/// that the event after it leaves. `matches` come with the last places that they can have.
fn settle(rank: &Rank, places: &Places<'_>, matches: &mut [(usize, u32)]) {
    let events = &rank.events;
    let mut first = Vec::with_capacity(matches.len());
    let mut before: Option<(u32, Option<u64>)> = None;
    for &(event, last) in &*matches {
        let mark = events.max_allocated.get(event);
        let mut from = before.map_or(0, |(place, _)| place);
        // A mark that rose was reached since the event before.
        if let Some((place, Some(old))) = before
            && let Some(new) = mark.filter(|&new| new > old)
        {
            let between = places.allocated.get(place as usize..=last as usize);
            let at = between.unwrap_or_default().iter().position(|&a| a >= new);
            from = at.map_or(from, |at| place + at as u32);
        }
        let runs = places.runs(events, event).unwrap_or_default();
        let at = runs.partition_point(|run| run.1 < from);
        let place = runs.get(at).map_or(last, |run| run.1.min(last));
        first.push(place);
        before = Some((place, mark));
    }
    let starts: Vec<StringId> = rank
        .strings
        .iter()
        .filter(|(_, text)| text.ends_with("_start") || text.ends_with("_pre"))
        .map(|(id, _)| id)
        .collect();
    let mut limit = u32::MAX;
    for ((event, place), first) in matches.iter_mut().zip(first).rev() {
        let phase = events.phase.get(*event).copied().unwrap_or_default();
        if starts.binary_search(&phase).is_ok() {
            *place = first;
        } else if *place > limit {
            let runs = places.runs(events, *event).unwrap_or_default();
            *place = latest(runs, limit).unwrap_or(first).max(first);
        }
        limit = *place;
    }
}

/// Entries that follow each other with the same figures: first and last, from the device's first.
type Run = (u32, u32);

/// The last entry of the runs that is not after `place`.
fn latest(runs: &[Run], place: u32) -> Option<u32> {
    let at = runs.partition_point(|run| run.0 <= place);
    let run = at.checked_sub(1).and_then(|i| runs.get(i))?;
    Some(run.1.min(place))
}

/// Where the history has which figures.
struct Places<'a> {
    allocated: &'a [u64],
    /// Highest allocated of each block of entries, and of each two, four, ... of them.
    blocks: Vec<Vec<u64>>,
    runs: HashMap<(u64, u64), Vec<Run>, FxBuildHasher>,
    reserved: bool,
}

impl<'a> Places<'a> {
    fn of(events: &Events, replay: &'a Replay) -> Self {
        let allocated = replay.allocated.after.as_slice();
        let mut blocks: Vec<Vec<u64>> = vec![
            allocated
                .chunks(BLOCK)
                .map(|c| c.iter().copied().max().unwrap_or(0))
                .collect(),
        ];
        let mut width = 1;
        while let Some(last) = blocks.last().filter(|b| b.len() > width) {
            let pairs = last.iter().zip(last.get(width..).unwrap_or_default());
            let next = pairs.map(|(&a, &b)| a.max(b)).collect();
            blocks.push(next);
            width *= 2;
        }
        let mut this = Self {
            allocated,
            blocks,
            runs: HashMap::default(),
            reserved: events.reserved_after.iter().any(|r| r.is_some()),
        };
        for event in 0..events.len() {
            if let Some(key) = this.key(events, event) {
                this.runs.entry(key).or_default();
            }
        }
        let mut last = None;
        for (i, (&a, &r)) in allocated.iter().zip(&replay.reserved.after).enumerate() {
            let key = (a, if this.reserved { r } else { 0 });
            if let Some(runs) = this.runs.get_mut(&key) {
                match runs.last_mut().filter(|_| last == Some(key)) {
                    Some(run) => run.1 = i as u32,
                    None => runs.push((i as u32, i as u32)),
                }
            }
            last = Some(key);
        }
        this
    }

    fn key(&self, events: &Events, event: usize) -> Option<(u64, u64)> {
        let reserved = if self.reserved {
            events.reserved_after.get(event)?
        } else {
            0
        };
        Some((events.allocated_after.get(event)?, reserved))
    }

    fn runs(&self, events: &Events, event: usize) -> Option<&[Run]> {
        let runs = self.runs.get(&self.key(events, event)?)?;
        Some(runs.as_slice()).filter(|r| !r.is_empty())
    }

    /// Highest allocated after the entries from `first` to `last`, both included.
    fn highest(&self, first: u32, last: u32) -> u64 {
        let (first, past) = (first as usize, last as usize + 1);
        let most = |from: usize, to: usize| {
            let entries = self.allocated.get(from..to.min(self.allocated.len()));
            entries
                .unwrap_or_default()
                .iter()
                .copied()
                .max()
                .unwrap_or(0)
        };
        let (low, high) = (first.div_ceil(BLOCK), past / BLOCK);
        if low >= high {
            return most(first, past);
        }
        let level = (high - low).ilog2() as usize;
        let pair = self.blocks.get(level).map_or(0, |b| {
            let at = |i: usize| b.get(i).copied().unwrap_or(0);
            at(low).max(at(high - (1 << level)))
        });
        pair.max(most(first, low * BLOCK))
            .max(most(high * BLOCK, past))
    }
}

/// The report's steps on the trace: from the entry after a step's first event to the entry after
/// which the next step's first event happened, or its own last. Steps of which no event could be
/// aligned are left out.
#[must_use]
pub fn steps(rank: &Rank, aligned: &[Option<TraceId>]) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::new();
    for step in report_steps::steps(rank) {
        let places = aligned.get(step.start..step.end).unwrap_or_default();
        let first = places.iter().flatten().next();
        let last = places.iter().flatten().next_back();
        let (Some(first), Some(last)) = (first, last) else {
            continue;
        };
        let start = TraceId(first.0 + 1);
        if let Some(before) = out.last_mut() {
            before.end = start.max(before.start);
        }
        if let Some(number) = step.step {
            out.push(Step {
                number,
                start,
                end: TraceId(last.0 + 1).max(start),
            });
        }
    }
    out
}

/// Phases of the report as named ranges: of each `NAME_start` with its `NAME_end`, and what leads
/// from one boundary of a step to a `NAME_end` without a start. Ranges lie in their steps.
#[must_use]
pub fn phases(rank: &Rank, snapshot: &Snapshot, aligned: &[Option<TraceId>]) -> Vec<Range> {
    let Some(kind) = crate::analyze::step_kind(rank) else {
        return Vec::new();
    };
    let events = &rank.events;
    let time = |at: TraceId| snapshot.events.time_ns.get(at.index());
    let mut out: Vec<Range> = Vec::new();
    let mut boundary: Option<TraceId> = None;
    let mut open: Vec<(&str, TraceId)> = Vec::new();
    for event in (0..events.len()).filter(|&e| events.kind.get(e) == Some(&kind)) {
        let Some(at) = aligned.get(event).copied().flatten() else {
            continue;
        };
        let phase = events.phase.get(event).copied().unwrap_or_default();
        let text = rank.strings.get(phase);
        let after = TraceId(at.0 + 1);
        if let Some(name) = text.strip_suffix("_start") {
            open.push((name, after));
        } else if let Some(name) = text.strip_suffix("_end") {
            let partner = open.iter().rposition(|(n, _)| *n == name);
            let start = partner.map(|i| open.swap_remove(i).1).or(boundary);
            // A step's own range is among the steps.
            if let Some(start) = start.filter(|_| name != "step")
                && let Some(start_ns) = time(start)
                && start < after
            {
                out.push(Range {
                    name: rank.strings.find(name).unwrap_or(phase),
                    depth: 0,
                    start,
                    end: after,
                    start_ns,
                    end_ns: time(at),
                });
            }
        }
        boundary = Some(after);
    }
    out
}
