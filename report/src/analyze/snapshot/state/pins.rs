//! What keeps free memory from going back to the device.

use super::super::allocations::{AllocationId, SpanId};
use super::super::replay::Replay;
use super::super::sites::Sites;
use super::State;
use super::figures::gives_back;
use crate::model::snapshot::{BlockState, FrameId};

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
            let span = replay.spans.get(here.span)?;
            let free = here
                .blocks
                .iter()
                .filter(|b| b.state == BlockState::Inactive);
            // Whole free pages of an expandable segment are not kept.
            let held = free.fold(0u64, |sum, b| {
                sum.saturating_add(b.size - gives_back(span, here, b.address, b.size))
            });
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

/// A source line whose blocks alone keep ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinningLine {
    /// The line; `None` when no stack of the blocks is recorded.
    pub line: Option<FrameId>,
    /// Ranges that nothing else keeps.
    pub spans: u64,
    /// Blocks that keep them.
    pub blocks: u64,
    /// Bytes of those blocks.
    pub live: u64,
    /// Free bytes that are kept with them.
    pub held: u64,
}

/// The lines whose blocks alone keep ranges, the one that holds most free memory first.
#[must_use]
pub fn pinning_lines(replay: &Replay, sites: &Sites, pins: &[Pin]) -> Vec<PinningLine> {
    let line_of = |id: &AllocationId| {
        let stack = replay.allocations.stack(*id);
        stack.and_then(|s| sites.line(s))
    };
    let mut out: Vec<PinningLine> = Vec::new();
    for pin in pins {
        let mut lines = pin.by.iter().map(line_of);
        let Some(line) = lines.next() else { continue };
        if lines.any(|other| other != line) {
            continue;
        }
        let at = out.iter().position(|l| l.line == line);
        let at = at.unwrap_or_else(|| {
            out.push(PinningLine {
                line,
                spans: 0,
                blocks: 0,
                live: 0,
                held: 0,
            });
            out.len() - 1
        });
        if let Some(sum) = out.get_mut(at) {
            sum.spans += 1;
            sum.blocks += pin.by.len() as u64;
            sum.live = sum.live.saturating_add(pin.live);
            sum.held = sum.held.saturating_add(pin.held);
        }
    }
    out.sort_by_key(|l| std::cmp::Reverse((l.held, l.live)));
    out
}
