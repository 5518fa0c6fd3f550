//! What of a state the source does not tell.

use super::super::replay::Replay;
use super::State;

/// What of a state the source does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Untold {
    /// Blocks that were there before the history began.
    pub before: u64,
    /// Requested bytes of those.
    pub before_bytes: u64,
    /// Blocks without a recorded stack.
    pub stackless: u64,
    /// Requested bytes of those.
    pub stackless_bytes: u64,
    /// Blocks whose size follows from the allocator's rounding rule alone.
    pub rounded: u64,
    /// Bytes of those blocks.
    pub rounded_bytes: u64,
}

/// Counts what is not told of the blocks of a state.
#[must_use]
pub fn untold(replay: &Replay, state: &State) -> Untold {
    let mut out = Untold::default();
    let blocks = state.spans.iter().flat_map(|h| &h.blocks);
    for block in blocks {
        let Some(a) = block.allocation.and_then(|id| replay.allocations.get(id)) else {
            continue;
        };
        let add = |count: &mut u64, sum: &mut u64, bytes: u64| {
            *count += 1;
            *sum = sum.saturating_add(bytes);
        };
        if a.born.is_none() {
            add(&mut out.before, &mut out.before_bytes, a.size);
        }
        if a.stack.is_none() {
            add(&mut out.stackless, &mut out.stackless_bytes, a.size);
        }
        if !a.rounded_known {
            add(&mut out.rounded, &mut out.rounded_bytes, block.size);
        }
    }
    out
}
