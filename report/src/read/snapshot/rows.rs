//! The rows of each table, from the fields of a dictionary.

use super::builder::{Builder, Built, Kind, Val, full, whole};
use super::keys;
use crate::model::StringId;
use crate::model::snapshot::{
    Action, Annotation, BlockRow, BlockState, Device, Frame, FxNode, SegmentRow, Size, StackId,
    Stage, TIME_RESOLUTION_NS, TraceId, TraceRow,
};

/// Figures from here on are refused: the tables mark absent ones with `u64::MAX`.
const TOO_LARGE: u64 = 1 << 63;

fn key(value: Val) -> u32 {
    match value {
        Val::Str(StringId(id)) => id,
        _ => 0,
    }
}

/// The fields of an event that are no columns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extra {
    pub(crate) device_free: Option<u64>,
    forward_frames: Option<StringId>,
    internal_metadata: Option<StringId>,
    category: Option<StringId>,
}

/// The action of a word's id.
#[inline]
pub(crate) fn action(word: StringId) -> Option<Action> {
    Some(match word.0 {
        keys::ALLOC => Action::Alloc,
        keys::FREE_REQUESTED => Action::FreeRequested,
        keys::FREE_COMPLETED => Action::FreeCompleted,
        keys::SEGMENT_ALLOC => Action::SegmentAlloc,
        keys::SEGMENT_FREE => Action::SegmentFree,
        keys::SEGMENT_MAP => Action::SegmentMap,
        keys::SEGMENT_UNMAP => Action::SegmentUnmap,
        keys::OOM => Action::Oom,
        keys::SNAPSHOT => Action::Snapshot,
        keys::ANNOTATE => Action::Annotate,
        keys::USER_DEFINED => Action::UserDefined,
        keys::FREE => Action::Free,
        _ => return None,
    })
}

impl Builder {
    fn bytes(&self, value: Val) -> Option<u64> {
        whole(value).filter(|&v| v < TOO_LARGE)
    }

    fn time(&self, value: Val) -> Option<u64> {
        whole(value)?
            .checked_mul(TIME_RESOLUTION_NS)
            .filter(|&t| t < TOO_LARGE)
    }

    fn text(&self, value: Val) -> Option<StringId> {
        match value {
            Val::Str(id) => Some(id),
            Val::None => Some(StringId::EMPTY),
            _ => None,
        }
    }

    fn stack_of(&self, value: Val) -> Option<StackId> {
        match self.resolve(value) {
            Val::Stack(stack) => Some(stack),
            Val::Empty => Some(StackId::EMPTY),
            _ => None,
        }
    }

    /// Sets one field of an event; `false` when its type is wrong, `None` when it is unknown.
    #[inline]
    pub(crate) fn event_field(
        &mut self,
        row: &mut TraceRow,
        extra: &mut Extra,
        field: u32,
        value: Val,
    ) -> Built<Option<bool>> {
        // `None` of Python is an absent figure.
        if value == Val::None && field != keys::ACTION {
            return Ok(Some(true));
        }
        let done = match field {
            keys::ACTION => match value {
                Val::Str(word) => {
                    row.action = action(word).unwrap_or_default();
                    true
                }
                _ => false,
            },
            keys::ADDR => whole(value).map(|v| row.address = v).is_some(),
            keys::SIZE => self.bytes(value).map(|v| row.size = v).is_some(),
            keys::STREAM => match whole(value) {
                Some(handle) => {
                    row.stream = self.stream(handle);
                    true
                }
                None => false,
            },
            keys::TIME_US => {
                row.time_ns = self.time(value);
                row.time_ns.is_some()
            }
            keys::COMPILE_CONTEXT => {
                let text = self.text(value);
                text.map(|t| row.compile_context = t).is_some()
            }
            keys::USER_METADATA => {
                let text = self.text(value);
                text.map(|t| row.user_metadata = t).is_some()
            }
            keys::FRAMES => {
                row.stack = self.stack_of(value);
                row.stack.is_some()
            }
            keys::POOL_ID => match self.pool_of(value)? {
                Some(pool) => {
                    row.pool = Some(pool);
                    true
                }
                None => false,
            },
            keys::DEVICE_FREE => {
                extra.device_free = self.bytes(value);
                extra.device_free.is_some()
            }
            keys::FORWARD_FRAMES => {
                extra.forward_frames = self.joined(value)?;
                extra.forward_frames.is_some()
            }
            keys::INTERNAL_METADATA => {
                extra.internal_metadata = self.text(value);
                extra.internal_metadata.is_some()
            }
            keys::CATEGORY => {
                extra.category = self.text(value);
                extra.category.is_some()
            }
            _ => return Ok(None),
        };
        Ok(Some(done))
    }

    fn event_fields(
        &mut self,
        row: &mut TraceRow,
        extra: &mut Extra,
        pairs: &[[Val; 2]],
    ) -> Built<()> {
        for &[name, value] in pairs {
            match self.event_field(row, extra, key(name), value)? {
                Some(true) => {}
                Some(false) => self.unused(Kind::Event, name, true),
                None => self.unused(Kind::Event, name, false),
            }
            if let (keys::ACTION, Val::Str(word), Action::Unknown) = (key(name), value, row.action)
            {
                let word: String = self.strings.table().get(word).chars().take(40).collect();
                self.skipped
                    .count(&format!("event of unknown action {word}"), self.offset);
            }
        }
        Ok(())
    }

    pub(super) fn event(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let (mut row, mut extra) = (TraceRow::default(), Extra::default());
        self.event_fields(&mut row, &mut extra, pairs)?;
        self.push_event(&row, &extra)
    }

    /// Number of events.
    pub(crate) fn events(&self) -> usize {
        self.snapshot.events.len()
    }

    /// How many events more the table takes without growing, and at all.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        let events = &self.snapshot.events;
        let left = (u32::MAX as usize).saturating_sub(events.len());
        events.room().min(left)
    }

    /// Appends an event that [`Self::room`] is left for.
    #[inline]
    pub(crate) fn push_row(&mut self, row: &TraceRow) -> Val {
        let id = self.snapshot.events.len() as u32;
        self.snapshot.events.push(row);
        Val::Event(id)
    }

    /// Makes room for so many events more.
    pub(crate) fn reserve_events(&mut self, more: usize) {
        self.snapshot.events.reserve(more);
    }

    /// Appends an event.
    #[inline]
    pub(crate) fn push_event(&mut self, row: &TraceRow, extra: &Extra) -> Built<Val> {
        let id = u32::try_from(self.snapshot.events.len())
            .ok()
            .filter(|&id| id < u32::MAX)
            .ok_or_else(full)?;
        self.snapshot.events.push(row);
        self.push_extra(id, extra);
        Ok(Val::Event(id))
    }

    #[inline]
    fn push_extra(&mut self, id: u32, extra: &Extra) {
        let events = &mut self.snapshot.events;
        if let Some(v) = extra.device_free {
            events.device_free.push((TraceId(id), v));
        }
        if let Some(v) = extra.forward_frames {
            events.forward_frames.push((TraceId(id), v));
        }
        if let Some(v) = extra.internal_metadata {
            events.internal_metadata.push((TraceId(id), v));
        }
        if let Some(v) = extra.category {
            events.category.push((TraceId(id), v));
        }
    }

    /// Fields that came after an event's first ones.
    pub(super) fn amend_event(&mut self, id: u32, pairs: &[[Val; 2]]) -> Built<()> {
        let at = id as usize;
        let (mut row, mut extra) = (self.snapshot.events.row(at), Extra::default());
        self.event_fields(&mut row, &mut extra, pairs)?;
        let events = &mut self.snapshot.events;
        if let Some(slot) = events.action.get_mut(at) {
            *slot = row.action;
        }
        if let Some(slot) = events.address.get_mut(at) {
            *slot = row.address;
        }
        if let Some(slot) = events.size.get_mut(at) {
            *slot = row.size;
        }
        if let Some(slot) = events.stream.get_mut(at) {
            *slot = row.stream;
        }
        if let (Some(slot), Some(time)) = (events.time_ns.0.get_mut(at), row.time_ns) {
            *slot = time;
        }
        if let (Some(slot), Some(stack)) = (events.stack.get_mut(at), row.stack) {
            *slot = stack.0;
        }
        if let (Some(slot), Some(pool)) = (events.pool.get_mut(at), row.pool) {
            *slot = pool.0;
        }
        if let Some(slot) = events.compile_context.get_mut(at) {
            *slot = row.compile_context;
        }
        if let Some(slot) = events.user_metadata.get_mut(at) {
            *slot = row.user_metadata;
        }
        self.push_extra(id, &extra);
        Ok(())
    }

    pub(super) fn frame(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let mut frame = Frame::default();
        let mut fx: Option<FxNode> = None;
        for &[name, value] in pairs {
            let text = self.text(value);
            let ok = match key(name) {
                keys::NAME => text.map(|t| frame.name = t).is_some(),
                keys::FILENAME => text.map(|t| frame.file = t).is_some(),
                keys::LINE => {
                    // Negative and absurd lines are those of generated code: unknown.
                    let line = whole(value).and_then(|l| u32::try_from(l).ok());
                    frame.line = line.unwrap_or(0);
                    line.is_some()
                }
                keys::FX_NODE_OP => text.map(|t| fx.get_or_insert_default().op = t).is_some(),
                keys::FX_NODE_NAME => text.map(|t| fx.get_or_insert_default().name = t).is_some(),
                keys::FX_NODE_TARGET => text
                    .map(|t| fx.get_or_insert_default().target = t)
                    .is_some(),
                keys::FX_ORIGINAL_TRACE => text
                    .map(|t| fx.get_or_insert_default().original_trace = t)
                    .is_some(),
                _ => {
                    self.unused(Kind::Frame, name, false);
                    true
                }
            };
            if !ok {
                self.unused(Kind::Frame, name, true);
            }
        }
        let id = self.frames.intern(&frame, fx).ok_or_else(full)?;
        Ok(Val::Frame(id))
    }

    pub(super) fn annotation(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let mut row = Annotation::default();
        for &[name, value] in pairs {
            let ok = match key(name) {
                keys::STAGE => match value {
                    Val::Str(StringId(keys::START)) => true,
                    Val::Str(StringId(keys::END)) => {
                        row.stage = Stage::End;
                        true
                    }
                    _ => false,
                },
                keys::NAME => self.text(value).map(|t| row.name = t).is_some(),
                keys::DEVICE => match device(value) {
                    Some(d) => {
                        row.device = d;
                        true
                    }
                    None => false,
                },
                keys::TIME_US => {
                    row.time_ns = self.time(value);
                    row.time_ns.is_some()
                }
                _ => {
                    self.unused(Kind::Annotation, name, false);
                    true
                }
            };
            if !ok {
                self.unused(Kind::Annotation, name, true);
            }
        }
        let rows = &mut self.snapshot.annotations.rows;
        let id = u32::try_from(rows.len()).map_err(|_| full())?;
        rows.push(row);
        Ok(Val::Annotation(id))
    }

    pub(super) fn block(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let mut row = BlockRow::default();
        let (mut addressed, mut history) = (false, None);
        for &[name, value] in pairs {
            let ok = match key(name) {
                keys::ADDRESS => {
                    addressed = true;
                    whole(value).map(|v| row.address = v).is_some()
                }
                keys::SIZE => self.bytes(value).map(|v| row.size = v).is_some(),
                keys::REQUESTED_SIZE => {
                    row.requested = self.bytes(value);
                    row.requested.is_some()
                }
                keys::STATE => match value {
                    Val::Str(StringId(keys::ACTIVE_ALLOCATED)) => {
                        row.state = BlockState::Allocated;
                        true
                    }
                    Val::Str(StringId(keys::ACTIVE_PENDING_FREE | keys::ACTIVE_AWAITING_FREE)) => {
                        row.state = BlockState::PendingFree;
                        true
                    }
                    Val::Str(StringId(keys::INACTIVE)) => true,
                    _ => false,
                },
                keys::FRAMES => {
                    row.stack = self.stack_of(value).filter(|&s| s != StackId::EMPTY);
                    self.stack_of(value).is_some()
                }
                keys::HISTORY => {
                    history = Some(value);
                    true
                }
                _ => {
                    self.unused(Kind::Block, name, false);
                    true
                }
            };
            if !ok {
                self.unused(Kind::Block, name, true);
            }
        }
        if let Some(history) = history {
            self.legacy(history, &mut row);
        }
        if !addressed {
            // Filled in when the segment is known.
            row.address = u64::MAX;
        }
        let id = u32::try_from(self.snapshot.blocks.len()).map_err(|_| full())?;
        self.snapshot.blocks.push(&row);
        Ok(Val::Block(id))
    }

    /// `history` of torch 2.0, newest first: the request and the stack of the block.
    fn legacy(&self, history: Val, row: &mut BlockRow) {
        let first = match self.resolve(history) {
            Val::Items(id) => self.items.get(id as usize).and_then(|i| i.first()),
            _ => None,
        };
        let Some(Val::Pairs(id)) = first.map(|&v| self.resolve(v)) else {
            return;
        };
        for &(name, value) in self.pairs.get(id as usize).into_iter().flatten() {
            match key(name) {
                keys::REAL_SIZE => row.requested = row.requested.or(self.bytes(value)),
                keys::FRAMES => {
                    let stack = self.stack_of(value).filter(|&s| s != StackId::EMPTY);
                    row.stack = row.stack.or(stack);
                }
                _ => {}
            }
        }
    }

    pub(super) fn segment(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let mut row = SegmentRow::default();
        let mut blocks = Val::Empty;
        let mut host: Option<Val> = None;
        for &[name, value] in pairs {
            let ok = match key(name) {
                keys::DEVICE => device(value).map(|d| row.device = d).is_some(),
                keys::ADDRESS => whole(value).map(|v| row.address = v).is_some(),
                keys::TOTAL_SIZE | keys::SIZE => {
                    self.bytes(value).map(|v| row.total_size = v).is_some()
                }
                keys::ALLOCATED_SIZE => {
                    row.allocated_size = self.bytes(value);
                    row.allocated_size.is_some()
                }
                keys::ACTIVE_SIZE => {
                    row.active_size = self.bytes(value);
                    row.active_size.is_some()
                }
                keys::REQUESTED_SIZE => {
                    row.requested_size = self.bytes(value);
                    row.requested_size.is_some()
                }
                keys::STREAM => match whole(value) {
                    Some(handle) => {
                        row.stream = self.stream(handle);
                        true
                    }
                    None => false,
                },
                keys::SEGMENT_TYPE => match value {
                    Val::Str(StringId(keys::SMALL)) => {
                        row.size = Size::Small;
                        true
                    }
                    Val::Str(StringId(keys::LARGE)) => {
                        row.size = Size::Large;
                        true
                    }
                    _ => false,
                },
                keys::SEGMENT_POOL_ID | keys::OWNER_POOL => match self.pool_of(value)? {
                    Some(pool) => {
                        row.pool = Some(pool);
                        true
                    }
                    None => false,
                },
                keys::IS_EXPANDABLE => match value {
                    Val::Bool(b) => {
                        row.expandable = Some(b);
                        true
                    }
                    _ => false,
                },
                keys::FRAMES | keys::CONTEXT => {
                    row.stack = self.stack_of(value).filter(|&s| s != StackId::EMPTY);
                    self.stack_of(value).is_some()
                }
                keys::BLOCKS => {
                    blocks = self.resolve(value);
                    matches!(blocks, Val::Blocks(..) | Val::Empty)
                }
                keys::ALLOCATED | keys::ACTIVE => {
                    if key(name) == keys::ALLOCATED {
                        host = Some(value);
                    }
                    true
                }
                _ => {
                    self.unused(Kind::Segment, name, false);
                    true
                }
            };
            if !ok {
                self.unused(Kind::Segment, name, true);
            }
        }
        if let Some(allocated) = host {
            row.device = Device::HOST;
            if row.allocated_size.is_none() {
                row.allocated_size = match allocated {
                    Val::Bool(b) => Some(if b { row.total_size } else { 0 }),
                    other => whole(other).map(|n| if n > 0 { row.total_size } else { 0 }),
                };
            }
        }
        if let Val::Blocks(start, end) = blocks {
            row.first_block = start;
            row.blocks = end - start;
            self.place(row.address, start, end);
        }
        let id = u32::try_from(self.snapshot.segments.len()).map_err(|_| full())?;
        self.snapshot.segments.push(row);
        Ok(Val::Segment(id))
    }

    /// Blocks before torch 2.1 have no address: each begins where the one before ends.
    fn place(&mut self, base: u64, start: u32, end: u32) {
        let mut next = base;
        let blocks = &mut self.snapshot.blocks;
        for i in start as usize..end as usize {
            if let Some(address) = blocks.address.get_mut(i) {
                if *address == u64::MAX {
                    *address = next;
                }
                next = address.saturating_add(blocks.size.get(i).copied().unwrap_or(0));
            }
        }
    }
}

fn device(value: Val) -> Option<Device> {
    whole(value)
        .and_then(|v| u32::try_from(v).ok())
        .filter(|&v| v != u32::MAX)
        .map(Device)
}
