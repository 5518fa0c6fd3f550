//! What the allocator held when the snapshot was taken.

use super::{Device, PoolIndex, StackId, StreamIndex};
use crate::model::Bytes;

/// A row of [`Segments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

/// A row of [`Blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// Which requests a segment serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Size {
    /// Not stated.
    #[default]
    Unknown,
    /// Requests of at most 1 MiB.
    Small,
    /// The others.
    Large,
}

/// One segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentRow {
    /// Device, or [`Device::HOST`].
    pub device: Device,
    /// Base address.
    pub address: u64,
    /// Bytes reserved: of one `cudaMalloc`, or one contiguous mapped range.
    pub total_size: u64,
    /// Bytes of blocks that are allocated, as stated.
    pub allocated_size: Option<u64>,
    /// Bytes of blocks that are allocated or pending free, as stated.
    pub active_size: Option<u64>,
    /// Requested bytes of active blocks, as stated.
    pub requested_size: Option<u64>,
    /// Stream.
    pub stream: StreamIndex,
    /// Small or large.
    pub size: Size,
    /// Pool; `None` before torch 2.1.
    pub pool: Option<PoolIndex>,
    /// Whether it is part of an expandable segment; `None` before torch 2.1.
    pub expandable: Option<bool>,
    /// Where it was reserved; `None` when not recorded.
    pub stack: Option<StackId>,
    /// First of its blocks.
    pub first_block: u32,
    /// Number of its blocks.
    pub blocks: u32,
}

/// The segments in the order of the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Segments {
    /// The device of each row, for look-ups.
    pub device: Vec<Device>,
    /// The rows. There are thousands at most, so they are no columns.
    pub rows: Vec<SegmentRow>,
}

impl Segments {
    /// Appends a segment.
    pub fn push(&mut self, row: SegmentRow) {
        self.device.push(row.device);
        self.rows.push(row);
    }

    /// Number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every segment.
    pub fn iter(&self) -> impl Iterator<Item = &SegmentRow> + '_ {
        self.rows.iter()
    }
}

/// State of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BlockState {
    /// Not in use.
    #[default]
    Inactive,
    /// In use.
    Allocated,
    /// Freed by the program, but another stream may still use it.
    PendingFree,
}

/// One block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockRow {
    /// Address.
    pub address: u64,
    /// Rounded size in bytes.
    pub size: u64,
    /// Bytes that the program asked for. Stale for inactive blocks.
    pub requested: Option<u64>,
    /// State.
    pub state: BlockState,
    /// Where it was allocated; `None` when not recorded.
    pub stack: Option<StackId>,
}

impl BlockRow {
    /// Whether it is allocated or pending free.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state != BlockState::Inactive
    }
}

/// The blocks of all segments, segment after segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    /// See [`BlockRow::address`].
    pub address: Vec<u64>,
    /// See [`BlockRow::size`].
    pub size: Vec<u64>,
    /// See [`BlockRow::requested`].
    pub requested: Bytes,
    /// See [`BlockRow::state`].
    pub state: Vec<BlockState>,
    pub(crate) stack: Vec<u32>,
}

impl Blocks {
    /// Appends a block.
    pub fn push(&mut self, row: &BlockRow) {
        self.address.push(row.address);
        self.size.push(row.size);
        self.requested.push(row.requested);
        self.state.push(row.state);
        self.stack.push(row.stack.map_or(StackId::ABSENT, |s| s.0));
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.address.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.address.is_empty()
    }

    /// One block; a default one when `id` is out of range.
    #[must_use]
    pub fn get(&self, id: BlockId) -> BlockRow {
        let i = id.0 as usize;
        BlockRow {
            address: self.address.get(i).copied().unwrap_or_default(),
            size: self.size.get(i).copied().unwrap_or_default(),
            requested: self.requested.get(i),
            state: self.state.get(i).copied().unwrap_or_default(),
            stack: self
                .stack
                .get(i)
                .copied()
                .filter(|&s| s != StackId::ABSENT)
                .map(StackId),
        }
    }

    /// The blocks of a segment in order of address.
    pub fn of<'a>(&'a self, segment: &SegmentRow) -> impl Iterator<Item = BlockRow> + use<'a> {
        let first = segment.first_block;
        (first..first.saturating_add(segment.blocks)).map(|i| self.get(BlockId(i)))
    }
}
