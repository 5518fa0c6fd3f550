//! The allocator's history, played forward.
//!
//! Every event changes a model of the allocator: which ranges are reserved, which blocks are in
//! use, wait for another stream, or are free. Where the history is whole the model's figures equal
//! the allocator's own to the byte. Where its beginning is missing, the state before the first
//! event is worked out backwards from the final one: what lives at the end and was not handed out
//! in between, and what was freed without having been handed out, was there before.
//!
//! An allocation is one use of an address, so it is known by address and sequence. Nothing here
//! fails: what does not fit together is a [`Finding`](super::findings::Finding).

use std::cell::Cell;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::{Allocation, AllocationId, Allocations, NEVER, SpanId};
use super::findings::{FindingKind, Findings};
use super::rounding::Rounding;
use super::spans::{self, Span, Spans};
use crate::model::snapshot::{
    Action, BlockState, Device, PoolIndex, Size, Snapshot, StackId, TraceId, TraceRow,
};
use crate::pause::{PIECE, Pauses, now, piece};

/// A figure and the event after which it first stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// Bytes.
    pub bytes: u64,
    /// The event; `None` when it stood so high before the first one.
    pub event: Option<TraceId>,
}

/// Figures after each event of a device, bytes. Row `i` belongs to event `first + i`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curve {
    /// Before the first event.
    pub start: u64,
    /// After each event.
    pub after: Vec<u64>,
}

impl Curve {
    /// After the last event.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.after.last().copied().unwrap_or(self.start)
    }

    fn peak(&self, first: u32) -> Peak {
        let mut peak = Peak {
            bytes: self.start,
            event: None,
        };
        for (i, &bytes) in self.after.iter().enumerate() {
            if bytes > peak.bytes {
                peak = Peak {
                    bytes,
                    event: Some(TraceId(first + i as u32)),
                };
            }
        }
        peak
    }
}

/// How much of the story the history tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Whether nothing was there before the first event.
    pub whole: bool,
    /// Time of the first event, nanoseconds since the Unix epoch: earlier is unknown.
    pub since_ns: Option<u64>,
    /// Requested bytes of allocations from before.
    pub requested_before: u64,
    /// Reserved bytes from before.
    pub reserved_before: u64,
    /// Number of allocations from before.
    pub allocations_before: u64,
}

/// A device's history, played.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The device.
    pub device: Device,
    /// First row of the trace, and the row after the last.
    pub first: u32,
    /// See [`Self::first`].
    pub past: u32,
    /// Every allocation.
    pub allocations: Allocations,
    /// Every reserved range.
    pub spans: Spans,
    /// Requested bytes: `alloc` adds, `free_completed` subtracts.
    pub requested: Curve,
    /// Bytes of blocks in use: `alloc` adds, `free_requested` subtracts.
    pub allocated: Curve,
    /// Reserved bytes.
    pub reserved: Curve,
    /// Bytes of blocks in use or pending free at the end, and their peak.
    pub active_end: u64,
    /// See [`Self::active_end`].
    pub active_peak: u64,
    /// What the history covers.
    pub coverage: Coverage,
    /// What does not fit together.
    pub findings: Findings,
    /// `oom` events.
    pub ooms: Vec<TraceId>,
    /// Whether the source states allocated and reserved bytes itself and knows no segments (a
    /// profiler's trace). Sizes are those of blocks then: what was requested is not known.
    pub stated: bool,
    /// The peaks of requested, allocated and reserved: asked for with every frame of a picture.
    peaks: [Peak; 3],
}

impl Replay {
    /// Highest requested bytes.
    #[must_use]
    pub fn peak_requested(&self) -> Peak {
        self.peaks[0]
    }

    /// Highest bytes of blocks in use.
    #[must_use]
    pub fn peak_allocated(&self) -> Peak {
        self.peaks[1]
    }

    /// Highest reserved bytes.
    #[must_use]
    pub fn peak_reserved(&self) -> Peak {
        self.peaks[2]
    }

    /// The events of the device.
    #[must_use]
    pub fn events(&self) -> std::ops::Range<usize> {
        self.first as usize..self.past as usize
    }

    /// A curve's value after an event; `None` is before the first one. Bytes.
    #[must_use]
    pub fn value(&self, curve: &Curve, at: Option<TraceId>) -> u64 {
        let row = at.and_then(|t| t.0.checked_sub(self.first));
        row.and_then(|i| curve.after.get(i as usize).copied())
            .unwrap_or(curve.start)
    }

    /// The last event; `None` without a history.
    #[must_use]
    pub fn last_event(&self) -> Option<TraceId> {
        (self.past > self.first).then(|| TraceId(self.past - 1))
    }
}

pub(super) type Open = HashMap<u64, u32, FxBuildHasher>;

/// Plays the history of one device.
#[must_use]
pub fn replay(snapshot: &Snapshot, device: Device) -> Replay {
    now(in_pieces(snapshot, device, Pauses::NONE))
}

/// As [`replay`], with pauses.
pub async fn in_pieces(snapshot: &Snapshot, device: Device, pauses: Pauses<'_>) -> Replay {
    let range = snapshot.trace(device);
    let mut player = Player {
        snapshot,
        rounding: Rounding::of(&snapshot.settings),
        live: BTreeMap::new(),
        span_ids: BTreeMap::new(),
        near: [const { Cell::new(None) }; NEAR],
        free: BTreeMap::new(),
        open: Open::default(),
        made: HashMap::default(),
        requested: 0,
        allocated: 0,
        active: 0,
        reserved: 0,
        completes: completes(snapshot, device, range.clone()),
        out: Replay {
            device,
            first: range.start as u32,
            past: range.end as u32,
            allocations: Allocations::default(),
            spans: Spans::default(),
            requested: Curve::default(),
            allocated: Curve::default(),
            reserved: Curve::default(),
            active_end: 0,
            active_peak: 0,
            coverage: Coverage::default(),
            findings: Findings::default(),
            ooms: Vec::new(),
            stated: snapshot.events.states_totals(),
            peaks: [Curve::default().peak(0); 3],
        },
    };
    player.before(pauses).await;
    for start in range.clone().step_by(PIECE) {
        piece(|| {
            for i in start..range.end.min(start + PIECE) {
                player.event(TraceId(i as u32), &snapshot.events.row(i));
            }
        });
        pauses.here().await;
    }
    player.end();
    let out = &player.out;
    player.out.peaks = [&out.requested, &out.allocated, &out.reserved].map(|c| c.peak(out.first));
    player.out
}

/// A live span's addresses, first and behind the last, and its id.
type Near = (u64, u64, SpanId);

/// Pages that [`Player::near`] tells apart.
const NEAR: usize = 64;

pub(super) struct Player<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) rounding: Rounding,
    pub(super) live: BTreeMap<u64, Span>,
    /// Ids of the live spans by address.
    pub(super) span_ids: BTreeMap<u64, SpanId>,
    /// Spans that were asked for last, by the address's page: most are asked for again.
    near: [Cell<Option<Near>>; NEAR],
    /// Free blocks by address, with their sizes.
    pub(super) free: BTreeMap<u64, u64>,
    /// Allocations in use or pending, by address.
    pub(super) open: Open,
    /// By event that reserves memory: pool and class of the final segment that it became part of.
    pub(super) made: HashMap<u32, (Option<PoolIndex>, Size), FxBuildHasher>,
    pub(super) requested: u64,
    pub(super) allocated: u64,
    pub(super) active: u64,
    pub(super) reserved: u64,
    /// Whether the history has `free_completed` at all (`skip_actions` may drop it).
    pub(super) completes: bool,
    pub(super) out: Replay,
}

impl Player<'_> {
    pub(super) fn add_span(&mut self, span: Span) {
        self.near = [const { Cell::new(None) }; NEAR];
        let id = SpanId(self.out.spans.rows.len() as u32);
        self.out.spans.rows.push(span);
        self.live.insert(span.address, span);
        self.span_ids.insert(span.address, id);
    }

    fn end_span(&mut self, address: u64, at: TraceId) {
        self.near = [const { Cell::new(None) }; NEAR];
        self.live.remove(&address);
        if let Some(id) = self.span_ids.remove(&address)
            && let Some(span) = self.out.spans.rows.get_mut(id.0 as usize)
        {
            span.died = Some(at);
        }
    }

    pub(super) fn span_at(&self, address: u64) -> Option<SpanId> {
        self.near(address).map(|(_, _, id)| id)
    }

    /// The live span that holds an address.
    fn near(&self, address: u64) -> Option<Near> {
        // Small blocks lie in ranges of 2 MiB.
        let slot = self.near.get((address >> 21) as usize % NEAR)?;
        if let Some(known) = slot.get().filter(|n| n.0 <= address && address < n.1) {
            return Some(known);
        }
        let (&start, &id) = self.span_ids.range(..=address).next_back()?;
        let end = self.live.get(&start)?.end();
        let found = (address < end).then_some((start, end, id));
        slot.set(found);
        found
    }

    fn event(&mut self, at: TraceId, row: &TraceRow) {
        match row.action {
            Action::Alloc => self.alloc(at, row),
            Action::FreeRequested => {
                self.free_requested(at, row);
                if !self.completes {
                    self.free_completed(at, row);
                }
            }
            Action::FreeCompleted => self.free_completed(at, row),
            Action::Free => {
                self.free_requested(at, row);
                self.free_completed(at, row);
            }
            Action::SegmentAlloc | Action::SegmentMap => self.reserve(at, row),
            Action::SegmentFree | Action::SegmentUnmap => self.release(at, row),
            Action::Oom => self.out.ooms.push(at),
            _ => {}
        }
        if self.out.stated {
            let stated = self.snapshot.events.total_reserved.get(at.index());
            self.reserved = stated.unwrap_or(self.reserved);
        }
        self.out.requested.after.push(self.requested);
        self.out.allocated.after.push(self.allocated);
        self.out.reserved.after.push(self.reserved);
        self.out.active_peak = self.out.active_peak.max(self.active);
    }

    fn alloc(&mut self, at: TraceId, row: &TraceRow) {
        if let Some(&old) = self.open.get(&row.address) {
            let i = old as usize;
            // With frees dropped from the history, the next use tells that the last one ended.
            if self.out.allocations.requested.get(i) == Some(&NEVER) {
                self.out
                    .findings
                    .add(FindingKind::AllocatedTwice, Some(at), row.size);
            }
            self.close(at, old);
        }
        let span = self.span_at(row.address);
        let here = span.and_then(|id| self.out.spans.get(id)).copied();
        if here.is_none() && !self.out.stated {
            self.out
                .findings
                .add(FindingKind::OutsideSegments, Some(at), row.size);
        }
        let small = here.is_some_and(|s| s.class == Size::Small);
        let (rounded, known) = match self.free.remove(&row.address) {
            Some(free) => {
                let block = self.rounding.block(row.size, free, small);
                if block < free {
                    self.free.insert(row.address + block, free - block);
                }
                (block, self.out.coverage.whole)
            }
            None if self.out.stated => (row.size, true),
            None => (self.rounding.round(row.size), false),
        };
        self.requested = self.requested.saturating_add(row.size);
        self.allocated = self.allocated.saturating_add(rounded);
        self.active = self.active.saturating_add(rounded);
        let id = self.out.allocations.push(&Allocation {
            address: row.address,
            size: row.size,
            rounded,
            rounded_known: known,
            born: Some(at),
            free_requested: None,
            free_completed: None,
            stack: row.stack.filter(|&s| s != StackId::EMPTY),
            stream: row.stream,
            pool: row.pool.or(here.and_then(|s| s.pool)),
            span,
        });
        self.open.insert(row.address, id.0);
    }

    fn free_requested(&mut self, at: TraceId, row: &TraceRow) {
        let Some(&id) = self.open.get(&row.address) else {
            return self.stranger(at, row);
        };
        let i = id as usize;
        let allocations = &mut self.out.allocations;
        match allocations.requested.get_mut(i) {
            Some(slot) if *slot == NEVER => *slot = at.0,
            _ => {
                self.out
                    .findings
                    .add(FindingKind::FreedTwice, Some(at), row.size);
                return;
            }
        }
        let rounded = allocations.rounded.get(i).copied().unwrap_or(0);
        self.allocated = self.allocated.saturating_sub(rounded);
    }

    fn free_completed(&mut self, at: TraceId, row: &TraceRow) {
        match self.open.get(&row.address) {
            Some(&id) => self.close(at, id),
            None => self.stranger(at, row),
        }
    }

    /// A free of what nobody knows: counted, but for the second half of one.
    fn stranger(&mut self, at: TraceId, row: &TraceRow) {
        if row.action != Action::FreeCompleted || self.out.coverage.whole {
            self.out
                .findings
                .add(FindingKind::FreeOfUnknown, Some(at), row.size);
        }
    }

    /// Ends an allocation.
    fn close(&mut self, at: TraceId, id: u32) {
        let Some(a) = self.out.allocations.get(AllocationId(id)) else {
            return;
        };
        let i = id as usize;
        if let Some(slot) = self.out.allocations.completed.get_mut(i) {
            *slot = at.0;
        }
        if a.free_requested.is_none() && !self.out.allocations.was_freed_before(AllocationId(id)) {
            self.allocated = self.allocated.saturating_sub(a.rounded);
        }
        self.requested = self.requested.saturating_sub(a.size);
        self.active = self.active.saturating_sub(a.rounded);
        self.open.remove(&a.address);
        self.give_back(a.address, a.rounded);
    }

    /// Makes a range free and merges it with its free neighbours in the same span.
    fn give_back(&mut self, address: u64, size: u64) {
        let Some((low, high, _)) = self.near(address) else {
            return;
        };
        let (mut start, mut end) = (address, address.saturating_add(size).min(high));
        if let Some((&left, &length)) = self.free.range(low..address).next_back()
            && left.saturating_add(length) >= address
        {
            self.free.remove(&left);
            start = left;
        }
        if end < high
            && let Some(length) = self.free.remove(&end)
        {
            end = end.saturating_add(length);
        }
        self.free.insert(start, end.saturating_sub(start));
    }

    fn reserve(&mut self, at: TraceId, row: &TraceRow) {
        let mut span = spans::of_event(row);
        span.born = Some(at);
        let made = self.made.get(&at.0).copied();
        span.pool = span.pool.or(made.and_then(|m| m.0));
        if span.expandable
            && let Some(class) = made.map(|m| m.1).or_else(|| self.class_of(row))
        {
            span.class = class;
        }
        let mut live = std::mem::take(&mut self.live);
        let before: Vec<u64> = neighbours(&live, &span);
        let joined = spans::join(&mut live, span);
        self.live = live;
        match joined {
            Some(new) => {
                for address in before {
                    if self
                        .live
                        .get(&address)
                        .is_none_or(|s| s.size != self.size_of(address))
                    {
                        self.end_span(address, at);
                    }
                }
                self.add_span(Span {
                    born: Some(at),
                    ..new
                });
                self.reserved = self.reserved.saturating_add(row.size);
                self.give_back(row.address, row.size);
            }
            None => {
                self.out
                    .findings
                    .add(FindingKind::SegmentMismatch, Some(at), row.size);
                self.reserved = self.reserved.saturating_add(row.size);
            }
        }
    }

    /// The size that the span at `address` has in the table.
    fn size_of(&self, address: u64) -> u64 {
        let id = self.span_ids.get(&address);
        id.and_then(|&id| self.out.spans.get(id))
            .map_or(0, |s| s.size)
    }

    /// What the final state says about the range of an event.
    fn class_of(&self, row: &TraceRow) -> Option<Size> {
        let mut segments = self.snapshot.segments.iter();
        segments
            .find(|s| {
                s.device == self.out.device
                    && s.address <= row.address
                    && row.address < s.address.saturating_add(s.total_size)
            })
            .map(|s| s.size)
    }

    fn release(&mut self, at: TraceId, row: &TraceRow) {
        let mut live = std::mem::take(&mut self.live);
        let cut = spans::cut(&mut live, row.address, row.size);
        self.live = live;
        self.reserved = self.reserved.saturating_sub(row.size);
        let Some(whole) = cut else {
            self.out
                .findings
                .add(FindingKind::SegmentMismatch, Some(at), row.size);
            return;
        };
        let rest: Vec<Span> = self
            .live
            .range(whole.address..whole.end())
            .map(|(_, s)| *s)
            .collect();
        self.end_span(whole.address, at);
        for span in rest {
            self.add_span(Span {
                born: Some(at),
                ..span
            });
        }
        self.unfree(row.address, row.address.saturating_add(row.size));
    }

    /// Takes a released range out of the free blocks.
    fn unfree(&mut self, start: u64, end: u64) {
        let inside: Vec<(u64, u64)> = self
            .free
            .range(..end)
            .rev()
            .take_while(|&(&a, &s)| a.saturating_add(s) > start)
            .map(|(&a, &s)| (a, s))
            .collect();
        for (address, size) in inside {
            let block_end = address.saturating_add(size);
            self.free.remove(&address);
            if address < start {
                self.free.insert(address, start - address);
            }
            if block_end > end {
                self.free.insert(end, block_end - end);
            }
        }
    }
}

/// Whether frees are completed by events of their own. `skip_actions` may have dropped those: then
/// there is none, though not every block that was freed still waits at the end.
fn completes(snapshot: &Snapshot, device: Device, range: std::ops::Range<usize>) -> bool {
    let actions = snapshot.events.action.get(range.clone());
    let actions = actions.unwrap_or_default();
    if actions.contains(&Action::FreeCompleted) || !actions.contains(&Action::FreeRequested) {
        return true;
    }
    let segments = snapshot.segments.iter().filter(|s| s.device == device);
    let mut waiting: Vec<u64> = segments
        .flat_map(|s| snapshot.blocks.of(s))
        .filter(|b| b.state == BlockState::PendingFree)
        .map(|b| b.address)
        .collect();
    waiting.sort_unstable();
    range
        .filter(|&i| snapshot.events.action.get(i) == Some(&Action::FreeRequested))
        .filter_map(|i| snapshot.events.address.get(i))
        .all(|a| waiting.binary_search(a).is_ok())
}

/// Addresses of the spans that a new one may merge with.
fn neighbours(live: &BTreeMap<u64, Span>, span: &Span) -> Vec<u64> {
    let left = live.range(..span.address).next_back().map(|(&a, _)| a);
    let right = live.get(&span.end()).map(|s| s.address);
    left.into_iter().chain(right).collect()
}
