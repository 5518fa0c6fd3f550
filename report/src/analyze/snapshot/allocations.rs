//! Allocations: what lived from which event to which.

use crate::model::snapshot::{Action, PoolIndex, StackId, StreamIndex, TraceId};

/// A row of [`Allocations`]. An address is used again and again; this is one use of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub u32);

impl AllocationId {
    /// The index as `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A row of [`Spans`](super::spans::Spans): a range of addresses that was reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub u32);

/// One allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Address of the block.
    pub address: u64,
    /// Bytes that the program asked for.
    pub size: u64,
    /// Bytes of the block that served it.
    pub rounded: u64,
    /// Whether [`Self::rounded`] follows from the source; else the rounding rule gave it.
    pub rounded_known: bool,
    /// The `alloc` event; `None` when it lived before the history began.
    pub born: Option<TraceId>,
    /// The `free_requested` event.
    pub free_requested: Option<TraceId>,
    /// The `free_completed` event; `None` when it lives at the end.
    pub free_completed: Option<TraceId>,
    /// Where it was allocated. `None` when not recorded; never the stack of its free.
    pub stack: Option<StackId>,
    /// Stream.
    pub stream: StreamIndex,
    /// Pool; `None` when the source does not say.
    pub pool: Option<PoolIndex>,
    /// The reserved range that it was born in; `None` when that is not known.
    pub span: Option<SpanId>,
}

impl Allocation {
    /// Whether it counts as requested after event `at`.
    #[must_use]
    pub fn lives_after(&self, at: TraceId) -> bool {
        self.born.is_none_or(|b| b <= at) && self.free_completed.is_none_or(|f| f > at)
    }
}

/// All allocations of a device: those from before the history first, by address, then in order of
/// birth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allocations {
    pub(super) address: Vec<u64>,
    pub(super) size: Vec<u64>,
    pub(super) rounded: Vec<u64>,
    pub(super) rounded_known: Vec<bool>,
    pub(super) born: Vec<u32>,
    pub(super) requested: Vec<u32>,
    pub(super) completed: Vec<u32>,
    pub(super) stack: Vec<u32>,
    pub(super) stream: Vec<StreamIndex>,
    pub(super) pool: Vec<u32>,
    pub(super) span: Vec<u32>,
    /// Those that were freed before the history began and still waited for another stream then.
    pub(super) freed_before: Vec<AllocationId>,
}

pub(super) const NEVER: u32 = u32::MAX;

fn some(value: Option<&u32>) -> Option<u32> {
    value.copied().filter(|&v| v != NEVER)
}

impl Allocations {
    pub(super) fn push(&mut self, a: &Allocation) -> AllocationId {
        let id = AllocationId(self.address.len() as u32);
        self.address.push(a.address);
        self.size.push(a.size);
        self.rounded.push(a.rounded);
        self.rounded_known.push(a.rounded_known);
        self.born.push(a.born.map_or(NEVER, |t| t.0));
        self.requested.push(a.free_requested.map_or(NEVER, |t| t.0));
        self.completed.push(a.free_completed.map_or(NEVER, |t| t.0));
        self.stack.push(a.stack.map_or(NEVER, |s| s.0));
        self.stream.push(a.stream);
        self.pool.push(a.pool.map_or(NEVER, |p| p.0));
        self.span.push(a.span.map_or(NEVER, |s| s.0));
        id
    }

    /// Number of allocations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.address.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.address.is_empty()
    }

    /// One allocation; `None` when there is no such row.
    #[must_use]
    pub fn get(&self, id: AllocationId) -> Option<Allocation> {
        let i = id.index();
        Some(Allocation {
            address: *self.address.get(i)?,
            size: *self.size.get(i)?,
            rounded: *self.rounded.get(i)?,
            rounded_known: *self.rounded_known.get(i)?,
            born: some(self.born.get(i)).map(TraceId),
            free_requested: some(self.requested.get(i)).map(TraceId),
            free_completed: some(self.completed.get(i)).map(TraceId),
            stack: some(self.stack.get(i)).map(StackId),
            stream: *self.stream.get(i)?,
            pool: some(self.pool.get(i)).map(PoolIndex),
            span: some(self.span.get(i)).map(SpanId),
        })
    }

    /// Bytes that an allocation asked for; 0 when there is no such row.
    #[inline]
    #[must_use]
    pub fn size(&self, id: AllocationId) -> u64 {
        self.size.get(id.index()).copied().unwrap_or(0)
    }

    /// Where an allocation was made.
    #[inline]
    #[must_use]
    pub fn stack(&self, id: AllocationId) -> Option<StackId> {
        some(self.stack.get(id.index())).map(StackId)
    }

    /// Whether an allocation is freed but waits for another stream after an event; `at` is `None`
    /// before the first one.
    #[must_use]
    pub fn waits(&self, id: AllocationId, at: Option<TraceId>) -> bool {
        some(self.requested.get(id.index())).is_some_and(|f| at.is_some_and(|at| f <= at.0))
            || self.was_freed_before(id)
    }

    /// Whether it was freed before the history began.
    pub(super) fn was_freed_before(&self, id: AllocationId) -> bool {
        self.freed_before.binary_search(&id).is_ok()
    }

    /// Every id.
    pub fn ids(&self) -> impl Iterator<Item = AllocationId> + use<> {
        (0..self.len() as u32).map(AllocationId)
    }

    /// Every allocation with its id.
    pub fn iter(&self) -> impl Iterator<Item = (AllocationId, Allocation)> + '_ {
        self.ids().filter_map(|id| Some((id, self.get(id)?)))
    }

    /// The use of `address` that event `at` is about: the one that lives then, or that the event
    /// ends. Linear; for single look-ups.
    #[must_use]
    pub fn find(&self, address: u64, at: TraceId, action: Action) -> Option<AllocationId> {
        self.iter()
            .find(|(_, a)| {
                a.address == address
                    && (a.lives_after(at) || (action.is_free() && a.free_completed == Some(at)))
            })
            .map(|(id, _)| id)
    }
}
