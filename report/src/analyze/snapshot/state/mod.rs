//! The allocator at any instant: every reserved range with its blocks.

mod figures;
mod last;
mod pins;
mod pools;
mod segment_events;
mod unknown;

pub(super) use figures::returnable;
pub use figures::{Fragmentation, fragmentation, fragmentation_of};
pub use last::last;
pub use pins::{Pin, PinningLine, pinning_lines, pins};
pub use pools::{Pool, pools};
pub use unknown::{Untold, untold};

use super::allocations::{AllocationId, SpanId};
use super::analysis::Analysis;
use super::instant::Instant;
use super::live::LiveIndex;
use super::replay::Replay;
use crate::model::snapshot::{BlockState, TraceId};

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

impl State {
    /// The block at an address.
    #[must_use]
    pub fn block_at(&self, replay: &Replay, address: u64) -> Option<(usize, StateBlock)> {
        let start = |here: &StateSpan| replay.spans.get(here.span).map_or(0, |s| s.address);
        let at = self.spans.partition_point(|h| start(h) <= address);
        let at = at.checked_sub(1)?;
        let blocks = &self.spans.get(at)?.blocks;
        let b = blocks.partition_point(|b| b.address <= address);
        let block = blocks.get(b.checked_sub(1)?).copied()?;
        (address - block.address < block.size).then_some((at, block))
    }
}

impl Analysis {
    /// The state at an instant: at the end as the snapshot has it, where it has segments.
    #[must_use]
    pub fn state_at(&self, instant: Instant) -> State {
        let at = self.event_of(instant);
        let stated = (at == self.replay.last_event())
            .then(|| last(self.snapshot(), &self.replay, self.live()))
            .flatten();
        stated.unwrap_or_else(|| match at {
            Some(at) => after(&self.replay, self.live(), at),
            None => before(&self.replay, self.live()),
        })
    }
}

/// The state after event `at`.
#[must_use]
pub fn after(replay: &Replay, index: &LiveIndex, at: TraceId) -> State {
    let spans = replay.spans.after(at);
    build(replay, index.after(replay, at), spans, Some(at))
}

/// The state before the first event.
#[must_use]
pub fn before(replay: &Replay, index: &LiveIndex) -> State {
    build(replay, index.before(), replay.spans.before(), None)
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
            let pending = replay.allocations.waits(id, at);
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
