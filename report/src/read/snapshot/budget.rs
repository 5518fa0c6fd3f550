//! What a file may cost in memory, by how long it is.
//!
//! The rows of a snapshot take less memory than their bytes in the file. A file of tiny values, or
//! one that unpacks to such, would take many times its length: it is left off with a message before
//! it takes the machine's memory.

use super::builder::{Builder, Built, Refused};
use crate::model::snapshot::{Annotation, PoolId, SegmentRow};

/// Bytes that any file may take.
const FREE: u64 = 64 << 20;
/// Bytes of memory for a byte of the file, beyond [`FREE`]. Snapshots of every writer stay below 1.
const PER_BYTE: u64 = 3;
/// Values that belong to no table: settings, the top level, entries that no reader knows, and the
/// histories of torch 2.0, of which there is one a block.
pub(super) const MAX_PARKED: usize = 1 << 22;
/// Distinct pools: there is one a CUDA graph or memory pool of the program.
pub(super) const MAX_POOLS: usize = 1 << 18;
/// Distinct names of fields that are not used.
pub(super) const MAX_UNUSED: usize = 4096;

/// Bytes of a value, and of what a parked container takes beside its values.
const VALUE: u64 = 16;
pub(super) const CONTAINER: usize = 4;
/// Bytes of an event in its columns, and of a block.
const EVENT: u64 = 43;
const BLOCK: u64 = 30;

impl Builder {
    /// Bytes of memory that the file takes so far, without its texts and stacks, which have limits
    /// of their own.
    fn held(&self) -> u64 {
        let values = self.containers() + self.parked;
        let snapshot = &self.snapshot;
        let rows = |count: usize, bytes: u64| count as u64 * bytes;
        rows(values, VALUE)
            + rows(snapshot.events.len(), EVENT)
            + rows(snapshot.blocks.len(), BLOCK)
            + rows(snapshot.segments.len(), size_of::<SegmentRow>() as u64)
            + rows(
                snapshot.annotations.rows.len(),
                size_of::<Annotation>() as u64,
            )
            + rows(snapshot.pools.len(), 3 * size_of::<PoolId>() as u64)
    }

    fn allowed(&self) -> u64 {
        self.offset.saturating_mul(PER_BYTE).saturating_add(FREE)
    }

    /// Refuses a file that takes far more memory than its length explains.
    #[inline]
    pub(crate) fn within(&self) -> Built<()> {
        if self.held() > self.allowed() {
            return Err(Refused {
                expected: "a file that takes at most 64 MiB of memory and 3 bytes for each of its own",
                found: format!("tiny values that take more after {} bytes", self.offset),
                advice: "no PyTorch writes such a file: take the snapshot again",
            });
        }
        Ok(())
    }

    /// Events that there is memory for.
    pub(crate) fn affordable(&self) -> usize {
        let left = self.allowed().saturating_sub(self.held()) / EVENT;
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Counts values that are kept and belong to no table.
    pub(super) fn park(&mut self, values: usize) -> Built<()> {
        self.parked = self.parked.saturating_add(values);
        if self.parked > MAX_PARKED {
            return Err(Refused {
                expected: "at most 4194304 values that belong to no table of a snapshot",
                found: "more".to_owned(),
                advice: "no PyTorch writes such a file: take the snapshot again",
            });
        }
        Ok(())
    }
}
