//! Reserved ranges in pages, and how their bytes are used: what `_memory_viz stats` prints.

use super::replay::Replay;
use super::state::{State, StateSpan};
use crate::model::snapshot::{BlockState, PoolIndex, Size, StreamIndex};

/// Bytes of a page, as torch's printout has them.
pub const PAGE: u64 = 20 << 20;

/// What is on a page of a reserved range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Nothing that is in use.
    Free,
    /// One block in use, the `n`-th of the range; it need not fill the page.
    One(u32),
    /// Several blocks, which fill so many tenths, rounded down.
    Part(u8),
    /// Several blocks, which fill it.
    Full,
}

/// The pages of a range by what the program asked for: blocks that wait for another stream count
/// as free, as they do in torch's printout. The last page may be shorter; its part is of a whole
/// page, too. Tenths are exact; torch adds floats up, and so says 9 of a page that is full now and
/// then.
#[must_use]
pub fn pages(replay: &Replay, here: &StateSpan, page: u64) -> Vec<Page> {
    let Some(span) = replay.spans.get(here.span) else {
        return Vec::new();
    };
    let page = page.max(1);
    let n = usize::try_from(span.size.div_ceil(page)).unwrap_or(0);
    let mut out = vec![Page::Free; n];
    let mut filled = vec![0u64; n];
    let used = here
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Allocated);
    for (nth, block) in used.enumerate() {
        let asked = block
            .allocation
            .map_or(block.size, |id| replay.allocations.size(id));
        let start = block.address.saturating_sub(span.address);
        let end = start.saturating_add(asked.min(block.size));
        for i in start / page..end.div_ceil(page) {
            let Some((slot, sum)) = usize::try_from(i)
                .ok()
                .and_then(|i| Some((out.get_mut(i)?, filled.get_mut(i)?)))
            else {
                break;
            };
            *sum += end.min((i + 1) * page) - start.max(i * page);
            *slot = match *slot {
                Page::Free => Page::One(nth as u32),
                _ if *sum >= page => Page::Full,
                _ => Page::Part((u128::from(*sum) * 10 / u128::from(page)) as u8),
            };
        }
    }
    out
}

/// How the bytes of one or more reserved ranges are used. The five parts add up to `reserved`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Use {
    /// Number of ranges.
    pub spans: u64,
    /// Number of blocks in use.
    pub blocks: u64,
    /// Bytes reserved.
    pub reserved: u64,
    /// Bytes that the program asked for, in blocks in use.
    pub requested: u64,
    /// Bytes of blocks in use beyond what was asked for.
    pub rounding: u64,
    /// Bytes of blocks that are freed but wait for another stream.
    pub pending: u64,
    /// Free bytes in ranges that hold something.
    pub free_in_used: u64,
    /// Free bytes in ranges that hold nothing.
    pub free_in_unused: u64,
    /// The largest free block, bytes.
    pub largest_free: u64,
}

impl Use {
    /// Bytes of blocks in use.
    #[must_use]
    pub fn allocated(&self) -> u64 {
        self.requested.saturating_add(self.rounding)
    }

    /// Free bytes.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.free_in_used.saturating_add(self.free_in_unused)
    }

    /// Both together.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let sum = u64::saturating_add;
        Self {
            spans: self.spans + other.spans,
            blocks: self.blocks + other.blocks,
            reserved: sum(self.reserved, other.reserved),
            requested: sum(self.requested, other.requested),
            rounding: sum(self.rounding, other.rounding),
            pending: sum(self.pending, other.pending),
            free_in_used: sum(self.free_in_used, other.free_in_used),
            free_in_unused: sum(self.free_in_unused, other.free_in_unused),
            largest_free: self.largest_free.max(other.largest_free),
        }
    }

    fn add(&mut self, replay: &Replay, here: &StateSpan) {
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        let Some(span) = replay.spans.get(here.span) else {
            return;
        };
        self.spans += 1;
        add(&mut self.reserved, span.size);
        for block in &here.blocks {
            match block.state {
                BlockState::Allocated => {
                    let size = |id| replay.allocations.size(id);
                    let asked = block.allocation.map_or(block.size, size).min(block.size);
                    self.blocks += 1;
                    add(&mut self.requested, asked);
                    add(&mut self.rounding, block.size - asked);
                }
                BlockState::PendingFree => add(&mut self.pending, block.size),
                BlockState::Inactive => {
                    self.largest_free = self.largest_free.max(block.size);
                    let sum = if here.active > 0 {
                        &mut self.free_in_used
                    } else {
                        &mut self.free_in_unused
                    };
                    add(sum, block.size);
                }
            }
        }
    }
}

/// How one range is used.
#[must_use]
pub fn of_span(replay: &Replay, here: &StateSpan) -> Use {
    let mut sum = Use::default();
    sum.add(replay, here);
    sum
}

/// What the allocator keeps apart: a free block of one serves no request of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Pool; `None` when the source does not say.
    pub pool: Option<PoolIndex>,
    /// Stream.
    pub stream: StreamIndex,
    /// Small or large requests.
    pub class: Size,
    /// Its figures.
    pub used: Use,
}

/// The figures by pool, stream and class, most reserved first.
#[must_use]
pub fn parts(replay: &Replay, state: &State) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for here in &state.spans {
        let Some(span) = replay.spans.get(here.span) else {
            continue;
        };
        let key = (span.pool, span.stream, span.class);
        let at = out.iter().position(|p| (p.pool, p.stream, p.class) == key);
        let at = at.unwrap_or_else(|| {
            out.push(Part {
                pool: key.0,
                stream: key.1,
                class: key.2,
                used: Use::default(),
            });
            out.len() - 1
        });
        if let Some(part) = out.get_mut(at) {
            part.used.add(replay, here);
        }
    }
    out.sort_by_key(|p| std::cmp::Reverse(p.used.reserved));
    out
}
