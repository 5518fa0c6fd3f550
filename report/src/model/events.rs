//! Module, gradient and step events with the allocator's figures before and after each.

use super::{Bytes, Deltas, StringId, TensorListId};

/// Index of an event in its rank's [`Events`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event(pub u32);

impl Event {
    /// The index as `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The allocator figures that an event carries, in bytes. Names are those of `torch.cuda`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// `memory_allocated` before the event.
    AllocatedBefore,
    /// `memory_allocated` after the event.
    AllocatedAfter,
    /// `memory_reserved` before the event.
    ReservedBefore,
    /// `memory_reserved` after the event.
    ReservedAfter,
    /// `max_memory_allocated`: the high-water mark since the recorder reset it.
    MaxAllocated,
    /// `max_memory_reserved`: the high-water mark since the recorder reset it.
    MaxReserved,
}

/// One event, to be appended.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventRow {
    /// `module`, `tensor_grad`, `step`, ... as the source writes it.
    pub kind: StringId,
    /// Dotted path of the module, `param::PATH`, `PATH.output[0]`, or the loop's name.
    pub module: StringId,
    /// `forward_pre`, `forward`, `backward`, `step_start`, ... as the source writes it.
    pub phase: StringId,
    /// Free text of the recorder.
    pub notes: StringId,
    /// Training step.
    pub step: Option<i64>,
    /// See [`Figure::AllocatedBefore`].
    pub allocated_before: Option<u64>,
    /// See [`Figure::AllocatedAfter`].
    pub allocated_after: Option<u64>,
    /// See [`Figure::ReservedBefore`].
    pub reserved_before: Option<u64>,
    /// See [`Figure::ReservedAfter`].
    pub reserved_after: Option<u64>,
    /// See [`Figure::MaxAllocated`].
    pub max_allocated: Option<u64>,
    /// See [`Figure::MaxReserved`].
    pub max_reserved: Option<u64>,
    /// Allocated after minus before as the source states it, bytes.
    pub delta_allocated: Option<i64>,
    /// Reserved after minus before as the source states it, bytes.
    pub delta_reserved: Option<i64>,
    /// Tensors that went in.
    pub inputs: TensorListId,
    /// Tensors that came out.
    pub outputs: TensorListId,
    /// Gradients.
    pub grads: TensorListId,
}

/// The event table, in the order of the source (which is the order of time).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// See [`EventRow::kind`].
    pub kind: Vec<StringId>,
    /// See [`EventRow::module`].
    pub module: Vec<StringId>,
    /// See [`EventRow::phase`].
    pub phase: Vec<StringId>,
    /// See [`EventRow::notes`].
    pub notes: Vec<StringId>,
    /// See [`EventRow::step`].
    pub step: Deltas,
    /// See [`Figure::AllocatedBefore`].
    pub allocated_before: Bytes,
    /// See [`Figure::AllocatedAfter`].
    pub allocated_after: Bytes,
    /// See [`Figure::ReservedBefore`].
    pub reserved_before: Bytes,
    /// See [`Figure::ReservedAfter`].
    pub reserved_after: Bytes,
    /// See [`Figure::MaxAllocated`].
    pub max_allocated: Bytes,
    /// See [`Figure::MaxReserved`].
    pub max_reserved: Bytes,
    /// See [`EventRow::delta_allocated`].
    pub delta_allocated: Deltas,
    /// See [`EventRow::delta_reserved`].
    pub delta_reserved: Deltas,
    /// See [`EventRow::inputs`].
    pub inputs: Vec<TensorListId>,
    /// See [`EventRow::outputs`].
    pub outputs: Vec<TensorListId>,
    /// See [`EventRow::grads`].
    pub grads: Vec<TensorListId>,
}

impl Events {
    /// Appends one event.
    pub fn push(&mut self, row: &EventRow) {
        self.kind.push(row.kind);
        self.module.push(row.module);
        self.phase.push(row.phase);
        self.notes.push(row.notes);
        self.step.push(row.step);
        self.allocated_before.push(row.allocated_before);
        self.allocated_after.push(row.allocated_after);
        self.reserved_before.push(row.reserved_before);
        self.reserved_after.push(row.reserved_after);
        self.max_allocated.push(row.max_allocated);
        self.max_reserved.push(row.max_reserved);
        self.delta_allocated.push(row.delta_allocated);
        self.delta_reserved.push(row.delta_reserved);
        self.inputs.push(row.inputs);
        self.outputs.push(row.outputs);
        self.grads.push(row.grads);
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// The column of one figure.
    #[must_use]
    pub fn column(&self, figure: Figure) -> &Bytes {
        match figure {
            Figure::AllocatedBefore => &self.allocated_before,
            Figure::AllocatedAfter => &self.allocated_after,
            Figure::ReservedBefore => &self.reserved_before,
            Figure::ReservedAfter => &self.reserved_after,
            Figure::MaxAllocated => &self.max_allocated,
            Figure::MaxReserved => &self.max_reserved,
        }
    }

    /// One event as a row; a default row when `event` is out of range.
    #[must_use]
    pub fn row(&self, event: usize) -> EventRow {
        let string = |c: &[StringId]| c.get(event).copied().unwrap_or_default();
        let list = |c: &[TensorListId]| c.get(event).copied().unwrap_or_default();
        EventRow {
            kind: string(&self.kind),
            module: string(&self.module),
            phase: string(&self.phase),
            notes: string(&self.notes),
            step: self.step.get(event),
            allocated_before: self.allocated_before.get(event),
            allocated_after: self.allocated_after.get(event),
            reserved_before: self.reserved_before.get(event),
            reserved_after: self.reserved_after.get(event),
            max_allocated: self.max_allocated.get(event),
            max_reserved: self.max_reserved.get(event),
            delta_allocated: self.delta_allocated.get(event),
            delta_reserved: self.delta_reserved.get(event),
            inputs: list(&self.inputs),
            outputs: list(&self.outputs),
            grads: list(&self.grads),
        }
    }
}
