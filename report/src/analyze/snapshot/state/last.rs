//! The state when the snapshot was taken, as its own segments and blocks have it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{State, StateBlock, StateSpan};
use crate::analyze::snapshot::allocations::{AllocationId, SpanId};
use crate::analyze::snapshot::live::{self, LiveIndex};
use crate::analyze::snapshot::replay::Replay;
use crate::analyze::snapshot::spans::Span;
use crate::model::snapshot::Snapshot;

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
