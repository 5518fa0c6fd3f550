//! The end of a history, held against the snapshot's own state.

use std::collections::BTreeMap;

use super::allocations::{AllocationId, SpanId};
use super::findings::FindingKind;
use super::replay::Player;
use crate::model::snapshot::{BlockRow, BlockState, PoolIndex, SegmentRow, Size};

impl Player<'_> {
    /// Blocks of the final state that are in use or pending, by address.
    pub(super) fn final_blocks(&self) -> BTreeMap<u64, (BlockRow, SegmentRow)> {
        let segments = self.snapshot.segments.iter();
        segments
            .filter(|s| s.device == self.out.device)
            .flat_map(|s| {
                self.snapshot
                    .blocks
                    .of(s)
                    .map(move |b| (b.address, (b, *s)))
            })
            .filter(|(_, (b, _))| b.is_active())
            .collect()
    }

    /// Takes from the final segments what their ranges' events did not say: before torch 2.12 the
    /// history names no pools.
    fn settle(&mut self) {
        for segment in self.snapshot.segments.iter() {
            if segment.device != self.out.device {
                continue;
            }
            let id = self.span_ids.get(&segment.address);
            let span = id.and_then(|id| self.out.spans.rows.get_mut(id.0 as usize));
            if let Some(span) = span.filter(|s| s.size == segment.total_size) {
                span.pool = span.pool.or(segment.pool);
                if segment.size != Size::Unknown {
                    span.class = segment.size;
                }
            }
        }
        let pool = |id: Option<SpanId>| id.and_then(|id| self.out.spans.get(id)?.pool);
        let found: Vec<(usize, PoolIndex)> = self
            .out
            .allocations
            .iter()
            .filter(|(_, a)| a.pool.is_none())
            .filter_map(|(id, a)| {
                let lives = a.free_completed.is_none();
                let here = pool(a.span).or_else(|| {
                    // A mapped range that grew is another one by now.
                    pool(self.span_at(a.address).filter(|_| lives))
                });
                Some((id.index(), here?))
            })
            .collect();
        for (i, pool) in found {
            if let Some(slot) = self.out.allocations.pool.get_mut(i) {
                *slot = pool.0;
            }
        }
    }

    /// Holds the end of the history against the snapshot's own state.
    pub(super) fn end(&mut self) {
        self.out.active_end = self.active;
        self.settle();
        let blocks = self.final_blocks();
        let mut total = 0u64;
        for segment in self.snapshot.segments.iter() {
            if segment.device != self.out.device {
                continue;
            }
            total = total.saturating_add(segment.total_size);
            let sum: u128 = self
                .snapshot
                .blocks
                .of(segment)
                .map(|b| u128::from(b.size))
                .sum();
            if segment.blocks > 0 && sum != u128::from(segment.total_size) {
                self.out
                    .findings
                    .add(FindingKind::BlocksMismatch, None, segment.total_size);
            }
        }
        // Pinned memory and histories without a state have nothing to be held against.
        if self.snapshot.segments.is_empty() || self.out.device.is_host() {
            return;
        }
        let mut requested = 0u64;
        for (address, (block, _)) in &blocks {
            requested = requested.saturating_add(block.requested.unwrap_or(block.size));
            if block.state == BlockState::PendingFree {
                self.out
                    .findings
                    .add(FindingKind::PendingAtEnd, None, block.size);
            }
            match self.open.get(address) {
                Some(&id) => {
                    let i = id as usize;
                    let a = &mut self.out.allocations;
                    if block.requested.is_some_and(|r| a.size.get(i) != Some(&r)) {
                        self.out
                            .findings
                            .add(FindingKind::SizeMismatch, None, block.size);
                    }
                }
                None => self
                    .out
                    .findings
                    .add(FindingKind::NotInHistory, None, block.size),
            }
        }
        let mut lost: Vec<u64> = self
            .open
            .keys()
            .filter(|a| !blocks.contains_key(*a))
            .copied()
            .collect();
        lost.sort_unstable();
        for address in lost {
            let size = self.open.get(&address).map(|&id| AllocationId(id));
            let size = size.map_or(0, |id| self.out.allocations.size(id));
            self.out
                .findings
                .add(FindingKind::NotInSnapshot, None, size);
        }
        let known = blocks.values().all(|(b, _)| b.requested.is_some());
        if known && requested != self.requested {
            self.out.findings.add(
                FindingKind::RequestedMismatch,
                None,
                requested.abs_diff(self.requested),
            );
        }
        if total != self.reserved {
            self.out.findings.add(
                FindingKind::ReservedMismatch,
                None,
                total.abs_diff(self.reserved),
            );
        }
    }
}
