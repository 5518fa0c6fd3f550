//! The headline figures of a rank's snapshot.

use super::align;
use super::lifetimes::{self, Survivors};
use super::live::LiveIndex;
use super::replay::{Peak, Replay, replay};
use super::sites::Sites;
use super::state::{self, Fragmentation};
use super::steps::{self, Range, Step};
use crate::model::snapshot::{BlockState, Device, FrameId, Snapshot, TraceId};
use crate::model::{Rank, StringId};

/// Steps that growth is looked for over at least.
const STEPS_FOR_GROWTH: usize = 5;

/// A peak and where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Bytes.
    pub bytes: u64,
    /// The event; `None` when it stood so high before the first one.
    pub event: Option<TraceId>,
    /// The step of the event.
    pub step: Option<i64>,
    /// The innermost annotation around the event.
    pub phase: Option<StringId>,
}

/// What stays from step to step.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Its figures.
    pub survivors: Survivors,
    /// The line that allocated it.
    pub line: Option<FrameId>,
}

/// The headline figures of a snapshot, for its main device.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// The device.
    pub device: Device,
    /// Number of its events.
    pub events: u64,
    /// Highest bytes of blocks in use; `None` where the beginning of the history is missing, as
    /// the sizes of some blocks are not known then, or where there is none.
    pub peak_allocated: Option<Place>,
    /// Highest reserved bytes within the history; `None` without one.
    pub peak_reserved: Option<Place>,
    /// Highest requested bytes within the history; `None` without one.
    pub peak_requested: Option<Place>,
    /// Requested bytes at the end; `None` before torch 2.0.
    pub end_requested: Option<u64>,
    /// The other figures at the end, from the snapshot's own blocks.
    pub end: Fragmentation,
    /// Whether the blocks at the end are known; of a profiler's trace only allocated and reserved
    /// are.
    pub blocks_known: bool,
    /// Steps by annotations.
    pub steps: Vec<Step>,
    /// Places that look like leaks.
    pub growth: Vec<Growth>,
}

/// The figures of a rank's snapshot; `None` when it has none, or an empty one.
#[must_use]
pub fn figures(rank: &Rank) -> Option<Figures> {
    let snapshot = rank.snapshot.as_ref()?;
    let device = snapshot.main_device()?;
    let replay = replay(snapshot, device);
    let aligned = align::entries(rank, &replay);
    let steps = steps::of(rank, snapshot, device, &aligned);
    let ranges = steps::all_ranges(rank, snapshot, device, &aligned);
    Some(of(rank, snapshot, &replay, &steps, &ranges))
}

/// As [`figures`], for a replay with its steps and ranges that are there already.
#[must_use]
pub fn of(
    rank: &Rank,
    snapshot: &Snapshot,
    replay: &Replay,
    steps: &[Step],
    ranges: &[Range],
) -> Figures {
    let device = replay.device;
    let place = |peak: Peak| {
        let around = |at: TraceId| {
            let inside = ranges.iter().filter(|r| r.start <= at && at < r.end);
            inside.max_by_key(|r| r.depth).map(|r| r.name)
        };
        Place {
            bytes: peak.bytes,
            event: peak.event,
            step: peak
                .event
                .and_then(|e| steps::step_of(steps, e))
                .map(|s| s.number),
            phase: peak.event.and_then(around),
        }
    };
    let recorded = !replay.events().is_empty();
    let when = |yes: bool, peak: Peak| yes.then(|| place(peak));
    let (end, end_requested) = end(snapshot, replay);
    Figures {
        device,
        events: replay.events().len() as u64,
        peak_allocated: when(
            recorded && (replay.coverage.whole || replay.stated),
            replay.peak_allocated(),
        ),
        peak_reserved: when(recorded, replay.peak_reserved()),
        peak_requested: when(recorded && !replay.stated, replay.peak_requested()),
        end_requested,
        end,
        blocks_known: !replay.stated,
        growth: growth(rank, snapshot, replay, steps),
        steps: steps.to_vec(),
    }
}

fn growth(rank: &Rank, snapshot: &Snapshot, replay: &Replay, steps: &[Step]) -> Vec<Growth> {
    if steps.len() < STEPS_FOR_GROWTH {
        return Vec::new();
    }
    let sites = Sites::of(&rank.strings, snapshot);
    lifetimes::survivors(replay, steps, 1)
        .into_iter()
        .filter(|s| s.suspect)
        .map(|s| Growth {
            line: s.stack.and_then(|stack| sites.line(stack)),
            survivors: s,
        })
        .collect()
}

/// The state when the snapshot was taken; the replay's where the file has no segments.
fn end(snapshot: &Snapshot, replay: &Replay) -> (Fragmentation, Option<u64>) {
    let segments = || {
        let all = snapshot.segments.iter();
        all.filter(|s| s.device == replay.device)
    };
    if replay.stated {
        let end = Fragmentation {
            allocated: replay.allocated.end(),
            reserved: replay.reserved.end(),
            ..Fragmentation::default()
        };
        return (end, None);
    }
    if segments().next().is_none() {
        let Some(last) = replay.last_event() else {
            return (Fragmentation::default(), None);
        };
        let state = state::after(replay, &LiveIndex::of(replay), last);
        return (
            state::fragmentation(replay, &state),
            Some(replay.requested.end()),
        );
    }
    let mut f = Fragmentation::default();
    let mut requested = Some(0u64);
    for segment in segments() {
        f.reserved = f.reserved.saturating_add(segment.total_size);
        let used = snapshot.blocks.of(segment).any(|b| b.is_active());
        for block in snapshot.blocks.of(segment) {
            match block.state {
                BlockState::Allocated => f.allocated = f.allocated.saturating_add(block.size),
                BlockState::PendingFree => f.pending = f.pending.saturating_add(block.size),
                BlockState::Inactive => {
                    f.largest_free = f.largest_free.max(block.size);
                    let back = if !used {
                        block.size
                    } else if segment.expandable == Some(true) {
                        let all = (segment.address, segment.total_size);
                        state::returnable(all, segment.size, block.address, block.size)
                    } else {
                        0
                    };
                    f.free_in_unused = f.free_in_unused.saturating_add(back);
                    f.free_in_used = f.free_in_used.saturating_add(block.size - back);
                    if segment.blocks > 1 && segment.expandable != Some(true) {
                        f.inactive_split = f.inactive_split.saturating_add(block.size);
                    }
                }
            }
            if block.is_active() {
                requested = requested
                    .zip(block.requested)
                    .map(|(sum, r)| sum.saturating_add(r));
                let lost = block.requested.map_or(0, |r| block.size.saturating_sub(r));
                f.rounding = f.rounding.saturating_add(lost);
            }
        }
    }
    (f, requested)
}
