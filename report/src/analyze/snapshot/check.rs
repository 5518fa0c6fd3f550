//! The end of a history, held against the snapshot's own state.

use std::collections::BTreeMap;

use super::allocations::AllocationId;
use super::findings::FindingKind;
use super::replay::Player;
use crate::model::snapshot::{BlockRow, BlockState, SegmentRow};

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

    /// Holds the end of the history against the snapshot's own state.
    pub(super) fn end(&mut self) {
        self.out.active_end = self.active;
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
