//! How well reserved memory is used.

use super::super::replay::Replay;
use super::super::rounding::{LARGE_PAGE, SMALL_BUFFER};
use super::super::spans::Span;
use super::{State, StateSpan};
use crate::model::snapshot::{BlockState, Size};

/// How reserved memory is used, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fragmentation {
    /// Reserved.
    pub reserved: u64,
    /// In blocks that are in use.
    pub allocated: u64,
    /// In blocks that are freed but wait for another stream.
    pub pending: u64,
    /// Free beside what lives: it cannot go back to the device.
    pub free_in_used: u64,
    /// Free in ranges that hold nothing, and whole free pages of expandable segments: `empty_cache`
    /// gives them back.
    pub free_in_unused: u64,
    /// The largest free block: the largest request that needs no new segment.
    pub largest_free: u64,
    /// Free blocks of segments that were split; torch's `inactive_split_bytes`.
    pub inactive_split: u64,
    /// Bytes of blocks in use beyond what was asked for.
    pub rounding: u64,
}

impl Fragmentation {
    /// Bytes of blocks that are in use or wait for another stream; torch's `active_bytes`.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.allocated.saturating_add(self.pending)
    }

    /// All free bytes.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.free_in_used.saturating_add(self.free_in_unused)
    }
}

/// The figures of a state.
#[must_use]
pub fn fragmentation(replay: &Replay, state: &State) -> Fragmentation {
    of_spans(replay, state.spans.iter())
}

/// The figures of one range of a state.
#[must_use]
pub fn fragmentation_of(replay: &Replay, here: &StateSpan) -> Fragmentation {
    of_spans(replay, std::iter::once(here))
}

/// The figures of some of the ranges of a state.
pub(super) fn of_spans<'a>(
    replay: &Replay,
    spans: impl Iterator<Item = &'a StateSpan>,
) -> Fragmentation {
    let mut f = Fragmentation::default();
    for here in spans {
        let Some(span) = replay.spans.get(here.span) else {
            continue;
        };
        f.reserved = f.reserved.saturating_add(span.size);
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        for block in &here.blocks {
            match block.state {
                BlockState::Allocated => add(&mut f.allocated, block.size),
                BlockState::PendingFree => add(&mut f.pending, block.size),
                BlockState::Inactive => {
                    let back = gives_back(span, here, block.address, block.size);
                    add(&mut f.free_in_unused, back);
                    add(&mut f.free_in_used, block.size - back);
                }
            }
            if let Some(id) = block.allocation {
                let lost = block.size.saturating_sub(replay.allocations.size(id));
                add(&mut f.rounding, lost);
            }
            if block.state == BlockState::Inactive {
                f.largest_free = f.largest_free.max(block.size);
                if here.blocks.len() > 1 && !span.expandable {
                    add(&mut f.inactive_split, block.size);
                }
            }
        }
    }
    f
}

/// How many bytes of a free block `empty_cache` gives back.
pub(super) fn gives_back(span: &Span, here: &StateSpan, address: u64, size: u64) -> u64 {
    if here.active == 0 {
        size
    } else if span.expandable {
        returnable((span.address, span.size), span.class, address, size)
    } else {
        0
    }
}

/// Bytes of the whole pages in a free block of an expandable segment: those can be unmapped while
/// the rest of the segment is in use.
pub(in super::super) fn returnable(
    (base, mapped): (u64, u64),
    class: Size,
    address: u64,
    size: u64,
) -> u64 {
    let page = match class {
        Size::Small => SMALL_BUFFER,
        Size::Large => LARGE_PAGE,
        // Mapped ranges begin and end at pages.
        Size::Unknown if mapped.is_multiple_of(LARGE_PAGE) => LARGE_PAGE,
        Size::Unknown => SMALL_BUFFER,
    };
    let start = address.saturating_sub(base);
    let first = start.next_multiple_of(page);
    let last = start.saturating_add(size) / page * page;
    last.saturating_sub(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_go_back() {
        const MIB: u64 = 1 << 20;
        let base = 0x7000_0000_0000;
        let back =
            |class, address: u64, size| returnable((base, 100 * MIB), class, base + address, size);
        assert_eq!(back(Size::Large, 0, 40 * MIB), 40 * MIB);
        assert_eq!(back(Size::Large, MIB, 40 * MIB), 20 * MIB);
        assert_eq!(back(Size::Large, MIB, 30 * MIB), 0);
        assert_eq!(back(Size::Small, MIB, 30 * MIB), 28 * MIB);
        assert_eq!(back(Size::Unknown, 20 * MIB, 21 * MIB), 20 * MIB);
    }
}
