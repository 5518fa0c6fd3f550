//! The allocator's history: `device_traces`.

use super::{PoolIndex, StackId, StreamIndex};
use crate::model::{Bytes, StringId};

/// A row of [`TraceEvents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u32);

impl TraceId {
    /// The row as `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the allocator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Action {
    /// An action of another name; counted among what was skipped.
    #[default]
    Unknown = 0,
    /// A block was handed out.
    Alloc = 1,
    /// The program freed a block.
    FreeRequested = 2,
    /// The block is back in its pool.
    FreeCompleted = 3,
    /// `cudaMalloc`.
    SegmentAlloc = 4,
    /// `cudaFree`.
    SegmentFree = 5,
    /// Memory was mapped into an expandable segment.
    SegmentMap = 6,
    /// Memory was unmapped from an expandable segment.
    SegmentUnmap = 7,
    /// The allocator gave up.
    Oom = 8,
    /// A snapshot was taken.
    Snapshot = 9,
    /// A live allocation was given a name (torch 2.14).
    Annotate = 10,
    /// A mark of the program.
    UserDefined = 11,
    /// A free that is requested and completed in one (other tools' dumps).
    Free = 12,
}

impl Action {
    /// Every action by its number.
    pub const ALL: [Self; 13] = [
        Self::Unknown,
        Self::Alloc,
        Self::FreeRequested,
        Self::FreeCompleted,
        Self::SegmentAlloc,
        Self::SegmentFree,
        Self::SegmentMap,
        Self::SegmentUnmap,
        Self::Oom,
        Self::Snapshot,
        Self::Annotate,
        Self::UserDefined,
        Self::Free,
    ];

    /// The word that torch writes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Alloc => "alloc",
            Self::FreeRequested => "free_requested",
            Self::FreeCompleted => "free_completed",
            Self::SegmentAlloc => "segment_alloc",
            Self::SegmentFree => "segment_free",
            Self::SegmentMap => "segment_map",
            Self::SegmentUnmap => "segment_unmap",
            Self::Oom => "oom",
            Self::Snapshot => "snapshot",
            Self::Annotate => "annotate",
            Self::UserDefined => "user_defined",
            Self::Free => "free",
        }
    }

    /// The action of a word; [`Self::Unknown`] for others.
    #[must_use]
    pub fn of(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|a| a.word() == word)
            .unwrap_or_default()
    }

    /// Whether the event reserves memory or gives it back to the device.
    #[must_use]
    pub fn is_segment(self) -> bool {
        matches!(
            self,
            Self::SegmentAlloc | Self::SegmentFree | Self::SegmentMap | Self::SegmentUnmap
        )
    }

    /// Whether the event frees a block or starts to.
    #[must_use]
    pub fn is_free(self) -> bool {
        matches!(self, Self::FreeRequested | Self::FreeCompleted | Self::Free)
    }
}

/// One event, to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TraceRow {
    /// What happened.
    pub action: Action,
    /// Address of the block or segment; 0 for `oom` and `snapshot`.
    pub address: u64,
    /// Bytes: requested for blocks, whole for segments, the request for `oom`, all active bytes for
    /// `snapshot`.
    pub size: u64,
    /// Stream.
    pub stream: StreamIndex,
    /// Pool; `None` before torch 2.12.
    pub pool: Option<PoolIndex>,
    /// The stack recorded with the event; of a free it may be that of the allocation. `None` when
    /// not recorded.
    pub stack: Option<StackId>,
    /// Nanoseconds since the Unix epoch; `None` before torch 2.2.
    pub time_ns: Option<u64>,
    /// `compile_context`; empty when absent, `N/A` when unset.
    pub compile_context: StringId,
    /// `user_metadata`; empty when unset.
    pub user_metadata: StringId,
}

/// The history of all devices, device after device, each in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceEvents {
    /// See [`TraceRow::action`].
    pub action: Vec<Action>,
    /// See [`TraceRow::address`].
    pub address: Vec<u64>,
    /// See [`TraceRow::size`].
    pub size: Vec<u64>,
    /// See [`TraceRow::stream`].
    pub stream: Vec<StreamIndex>,
    /// See [`TraceRow::time_ns`].
    pub time_ns: Bytes,
    /// See [`TraceRow::compile_context`].
    pub compile_context: Vec<StringId>,
    /// See [`TraceRow::user_metadata`].
    pub user_metadata: Vec<StringId>,
    pub(crate) stack: Vec<u32>,
    pub(crate) pool: Vec<u32>,
    /// `device_free` of `oom` events: free bytes of the device, by row.
    pub device_free: Vec<(TraceId, u64)>,
    /// `forward_frames`, joined by line feeds, by row.
    pub forward_frames: Vec<(TraceId, StringId)>,
    /// `internal_metadata` (torch 2.15), by row.
    pub internal_metadata: Vec<(TraceId, StringId)>,
    /// Bytes of blocks in use after each event as the source states them; no rows where it does not.
    /// A profiler's trace does, and knows no segments then.
    pub total_allocated: Bytes,
    /// Reserved bytes after each event as the source states them; as [`Self::total_allocated`].
    pub total_reserved: Bytes,
    /// `category` of `profile_plot` dumps, by row.
    pub category: Vec<(TraceId, StringId)>,
}

impl TraceEvents {
    const NO_POOL: u32 = u32::MAX;

    /// Appends an event.
    #[inline]
    pub fn push(&mut self, row: &TraceRow) {
        self.action.push(row.action);
        self.address.push(row.address);
        self.size.push(row.size);
        self.stream.push(row.stream);
        self.time_ns.push(row.time_ns);
        self.compile_context.push(row.compile_context);
        self.user_metadata.push(row.user_metadata);
        self.stack.push(row.stack.map_or(StackId::ABSENT, |s| s.0));
        self.pool.push(row.pool.map_or(Self::NO_POOL, |p| p.0));
    }

    /// Events that fit before the columns grow.
    #[cfg(feature = "snapshot")]
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.action.capacity() - self.action.len()
    }

    /// Makes room for so many events more.
    #[cfg(feature = "snapshot")]
    pub(crate) fn reserve(&mut self, more: usize) {
        self.action.reserve_exact(more);
        self.address.reserve_exact(more);
        self.size.reserve_exact(more);
        self.stream.reserve_exact(more);
        self.time_ns.0.reserve_exact(more);
        self.compile_context.reserve_exact(more);
        self.user_metadata.reserve_exact(more);
        self.stack.reserve_exact(more);
        self.pool.reserve_exact(more);
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.action.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.action.is_empty()
    }

    /// Whether the source states totals after each event.
    #[must_use]
    pub fn states_totals(&self) -> bool {
        !self.is_empty() && self.total_allocated.len() == self.len()
    }

    /// The stack recorded with an event.
    #[inline]
    #[must_use]
    pub fn stack(&self, row: usize) -> Option<StackId> {
        let stack = self.stack.get(row).copied();
        stack.filter(|&s| s != StackId::ABSENT).map(StackId)
    }

    /// The pool of an event, where the source states it.
    #[inline]
    #[must_use]
    pub fn pool(&self, row: usize) -> Option<PoolIndex> {
        let pool = self.pool.get(row).copied();
        pool.filter(|&p| p != Self::NO_POOL).map(PoolIndex)
    }

    /// One event as a row; a default row when `row` is out of range.
    #[must_use]
    pub fn row(&self, row: usize) -> TraceRow {
        let string = |c: &[StringId]| c.get(row).copied().unwrap_or_default();
        TraceRow {
            action: self.action.get(row).copied().unwrap_or_default(),
            address: self.address.get(row).copied().unwrap_or_default(),
            size: self.size.get(row).copied().unwrap_or_default(),
            stream: self.stream.get(row).copied().unwrap_or_default(),
            pool: self.pool(row),
            stack: self.stack(row),
            time_ns: self.time_ns.get(row),
            compile_context: string(&self.compile_context),
            user_metadata: string(&self.user_metadata),
        }
    }
}
