//! The allocator after any event: every reserved range with its blocks.

use super::allocations::{AllocationId, SpanId};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::live::{self, LiveIndex};
use super::replay::Replay;
use super::spans::Span;
use crate::model::snapshot::{BlockState, Snapshot, TraceId};

/// A block of a reserved range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateBlock {
    /// Address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// In use, pending or free.
    pub state: BlockState,
    /// What it holds; `None` when it is free.
    pub allocation: Option<AllocationId>,
}

/// A reserved range with its blocks in order of address, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSpan {
    /// The range.
    pub span: SpanId,
    /// Bytes of blocks that are in use or pending.
    pub active: u64,
    /// Its blocks.
    pub blocks: Vec<StateBlock>,
}

/// The allocator after an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Every reserved range by address.
    pub spans: Vec<StateSpan>,
    /// What lives outside every known range.
    pub outside: Vec<AllocationId>,
}

/// The state after event `at`.
#[must_use]
pub fn after(replay: &Replay, index: &LiveIndex, at: TraceId) -> State {
    build(
        replay,
        index.after(replay, at),
        replay.spans.after(at),
        Some(at),
    )
}

/// The state before the first event.
#[must_use]
pub fn before(replay: &Replay, index: &LiveIndex) -> State {
    let old = |(i, s): (usize, &Span)| s.born.is_none().then_some((s.address, SpanId(i as u32)));
    let mut spans: Vec<_> = replay
        .spans
        .rows
        .iter()
        .enumerate()
        .filter_map(old)
        .collect();
    spans.sort_unstable();
    let spans = spans.into_iter().map(|(_, id)| id).collect();
    build(replay, index.before(), spans, None)
}

/// The state at the end as the snapshot's own segments and blocks have it; `None` when it has none.
#[must_use]
pub fn last(snapshot: &Snapshot, replay: &Replay, index: &LiveIndex) -> Option<State> {
    let mut segments: Vec<_> = snapshot
        .segments
        .iter()
        .filter(|s| s.device == replay.device)
        .collect();
    if segments.is_empty() {
        return None;
    }
    segments.sort_unstable_by_key(|s| s.address);
    let mut live: HashMap<u64, AllocationId, FxBuildHasher> = live::at_end(replay, index)
        .into_iter()
        .filter_map(|id| Some((replay.allocations.get(id)?.address, id)))
        .collect();
    let ends = |(i, s): (usize, &Span)| {
        let there = s.died.is_none();
        there.then_some(((s.address, s.size), SpanId(i as u32)))
    };
    let spans: HashMap<_, _, FxBuildHasher> = replay
        .spans
        .rows
        .iter()
        .enumerate()
        .filter_map(ends)
        .collect();
    let mut state = State::default();
    for segment in segments {
        // A file whose history and state do not fit together has its history's state.
        let span = *spans.get(&(segment.address, segment.total_size))?;
        let mut here = StateSpan {
            span,
            active: 0,
            blocks: Vec::new(),
        };
        for block in snapshot.blocks.of(segment) {
            let allocation = if block.is_active() {
                here.active = here.active.saturating_add(block.size);
                live.remove(&block.address)
            } else {
                None
            };
            here.blocks.push(StateBlock {
                address: block.address,
                size: block.size,
                state: block.state,
                allocation,
            });
        }
        state.spans.push(here);
    }
    state.outside = live.into_values().collect();
    state.outside.sort_unstable();
    Some(state)
}

fn build(
    replay: &Replay,
    live: Vec<AllocationId>,
    spans: Vec<SpanId>,
    at: Option<TraceId>,
) -> State {
    let mut live: Vec<_> = live
        .into_iter()
        .filter_map(|id| Some((replay.allocations.get(id)?, id)))
        .collect();
    live.sort_unstable_by_key(|(a, _)| a.address);
    let mut live = live.into_iter().peekable();
    let mut state = State::default();
    for id in spans {
        let Some(span) = replay.spans.get(id) else {
            continue;
        };
        while let Some((_, id)) = live.next_if(|(a, _)| a.address < span.address) {
            state.outside.push(id);
        }
        let mut here = StateSpan {
            span: id,
            active: 0,
            blocks: Vec::new(),
        };
        let mut next = span.address;
        while let Some((a, id)) = live.next_if(|(a, _)| a.address < span.end()) {
            // Blocks that lie over each other come from inconsistent files only.
            if a.address < next {
                state.outside.push(id);
                continue;
            }
            free(&mut here.blocks, next, a.address);
            let size = a.rounded.min(span.end() - a.address);
            let pending = a.free_requested.is_some_and(|f| Some(f) <= at);
            here.blocks.push(StateBlock {
                address: a.address,
                size,
                state: if pending {
                    BlockState::PendingFree
                } else {
                    BlockState::Allocated
                },
                allocation: Some(id),
            });
            here.active = here.active.saturating_add(size);
            next = a.address + size;
        }
        free(&mut here.blocks, next, span.end());
        state.spans.push(here);
    }
    state.outside.extend(live.map(|(_, id)| id));
    state
}

fn free(blocks: &mut Vec<StateBlock>, start: u64, end: u64) {
    if start < end {
        blocks.push(StateBlock {
            address: start,
            size: end - start,
            state: BlockState::Inactive,
            allocation: None,
        });
    }
}

/// How reserved memory is used, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fragmentation {
    /// Reserved.
    pub reserved: u64,
    /// In blocks that are in use.
    pub allocated: u64,
    /// In blocks that are freed but wait for another stream.
    pub pending: u64,
    /// Free in ranges that hold something: they cannot go back to the device.
    pub free_in_used: u64,
    /// Free in ranges that hold nothing: `empty_cache` gives them back.
    pub free_in_unused: u64,
    /// The largest free block: the largest request that needs no new segment.
    pub largest_free: u64,
    /// Free blocks of segments that were split; torch's `inactive_split_bytes`.
    pub inactive_split: u64,
    /// Bytes of blocks in use beyond what was asked for.
    pub rounding: u64,
}

/// The figures of a state.
#[must_use]
pub fn fragmentation(replay: &Replay, state: &State) -> Fragmentation {
    let mut f = Fragmentation::default();
    for here in &state.spans {
        let Some(span) = replay.spans.get(here.span) else {
            continue;
        };
        f.reserved = f.reserved.saturating_add(span.size);
        for block in &here.blocks {
            let sum = match block.state {
                BlockState::Allocated => &mut f.allocated,
                BlockState::PendingFree => &mut f.pending,
                BlockState::Inactive if here.active > 0 => &mut f.free_in_used,
                BlockState::Inactive => &mut f.free_in_unused,
            };
            *sum = sum.saturating_add(block.size);
            match block.allocation {
                Some(id) => {
                    let lost = block.size.saturating_sub(replay.allocations.size(id));
                    f.rounding = f.rounding.saturating_add(lost);
                }
                None => {
                    f.largest_free = f.largest_free.max(block.size);
                    if here.blocks.len() > 1 && !span.expandable {
                        f.inactive_split = f.inactive_split.saturating_add(block.size);
                    }
                }
            }
        }
    }
    f
}

/// A range that little keeps from going back to the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The range.
    pub span: SpanId,
    /// Bytes of blocks that keep it.
    pub live: u64,
    /// Free bytes that are kept with them.
    pub held: u64,
    /// What keeps it, by address.
    pub by: Vec<AllocationId>,
}

/// The ranges with free memory that live blocks keep, those first where fewest bytes hold most.
#[must_use]
pub fn pins(replay: &Replay, state: &State) -> Vec<Pin> {
    let mut out: Vec<Pin> = state
        .spans
        .iter()
        .filter_map(|here| {
            let size = replay.spans.get(here.span)?.size;
            let held = size.saturating_sub(here.active);
            let by: Vec<_> = here.blocks.iter().filter_map(|b| b.allocation).collect();
            (held > 0 && !by.is_empty()).then_some(Pin {
                span: here.span,
                live: here.active,
                held,
                by,
            })
        })
        .collect();
    // held / live, largest first, without leaving whole numbers.
    out.sort_by(|a, b| {
        let left = u128::from(b.held) * u128::from(a.live.max(1));
        let right = u128::from(a.held) * u128::from(b.live.max(1));
        left.cmp(&right).then(b.held.cmp(&a.held))
    });
    out
}
