//! From values to tables: what the pickle walker and the JSON reader share.
//!
//! Dictionaries become rows as soon as they are complete, told apart by their keys; lists of frames
//! become stacks. Nothing else is kept, but for the few dictionaries that belong to no table
//! (settings, the top level), so a file of any size needs memory for its tables only.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::intern::{Frames, NO_TEXT, Stacks, Text};
use super::keys;
use crate::model::snapshot::{FrameId, PoolId, PoolIndex, Snapshot, StackId, StreamIndex};
use crate::model::{Skipped, StringId};

/// A value of the source, small enough to copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Val {
    /// Nothing stands here (an empty memo slot).
    Absent,
    None,
    Bool(bool),
    Int(i64),
    /// A whole number from 2^63 on.
    Big(u64),
    Float(f64),
    Str(StringId),
    /// Bytes, of which snapshots have none.
    Bytes,
    /// A dictionary or list that may still be filled.
    Dict(u32),
    List(u32),
    Frame(FrameId),
    Stack(StackId),
    /// Rows of tables.
    Event(u32),
    Segment(u32),
    Block(u32),
    Annotation(u32),
    /// Ranges of rows, and what is kept aside.
    Events(u32, u32),
    Segments(u32, u32),
    Blocks(u32, u32),
    Annotations(u32, u32),
    Pool(PoolIndex),
    Pairs(u32),
    Items(u32),
    /// A container that is still empty.
    Empty,
}

/// Why a file cannot be read on.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) expected: &'static str,
    pub(crate) found: String,
    pub(crate) advice: &'static str,
}

pub(crate) type Built<T> = std::result::Result<T, Refused>;

/// The kind of row that a dictionary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Event,
    Frame,
    Segment,
    Block,
    Annotation,
    Top,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Event => "an event",
            Self::Frame => "a frame",
            Self::Segment => "a segment",
            Self::Block => "a block",
            Self::Annotation => "an annotation",
            Self::Top => "the snapshot",
        }
    }
}

/// Fills the tables.
pub(crate) struct Builder {
    pub(crate) strings: Text,
    pub(super) frames: Frames,
    pub(super) stacks: Stacks,
    pub(super) snapshot: Snapshot,
    pub(crate) skipped: Skipped,
    dicts: Vec<Val>,
    lists: Vec<Val>,
    pub(super) pairs: Vec<Vec<(Val, Val)>>,
    pub(super) items: Vec<Vec<Val>>,
    pools: HashMap<PoolId, u32, FxBuildHasher>,
    streams: HashMap<u64, u16, FxBuildHasher>,
    last_stream: Option<(u64, StreamIndex)>,
    /// Fields that were not used, by kind, key and whether the type was wrong.
    unused: HashMap<(Kind, StringId, bool), (u64, u64), FxBuildHasher>,
    /// How far the source is read, bytes; for messages and limits.
    pub(crate) offset: u64,
    scratch: Vec<FrameId>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let mut strings = Text::default();
        for name in keys::NAMES {
            let _ = strings.intern(name);
        }
        Self {
            strings,
            frames: Frames::default(),
            stacks: Stacks::default(),
            snapshot: Snapshot::default(),
            skipped: Skipped::default(),
            dicts: Vec::new(),
            lists: Vec::new(),
            pairs: Vec::new(),
            items: Vec::new(),
            pools: HashMap::default(),
            streams: HashMap::default(),
            last_stream: None,
            unused: HashMap::default(),
            offset: 0,
            scratch: Vec::new(),
        }
    }

    /// The id of a text.
    #[inline]
    pub(crate) fn intern(&mut self, text: &str) -> Built<StringId> {
        self.strings.intern(text).ok_or_else(full)
    }

    /// A new, empty dictionary.
    #[inline]
    pub(crate) fn new_dict(&mut self) -> Built<Val> {
        let id = u32::try_from(self.dicts.len()).map_err(|_| full())?;
        self.dicts.push(Val::Empty);
        Ok(Val::Dict(id))
    }

    /// A new, empty list.
    #[inline]
    pub(crate) fn new_list(&mut self) -> Built<Val> {
        let id = u32::try_from(self.lists.len()).map_err(|_| full())?;
        self.lists.push(Val::Empty);
        Ok(Val::List(id))
    }

    /// What a value has become by now.
    #[inline]
    pub(crate) fn resolve(&self, value: Val) -> Val {
        match value {
            Val::Dict(i) => self.dicts.get(i as usize).copied().unwrap_or(Val::Empty),
            Val::List(i) => self.lists.get(i as usize).copied().unwrap_or(Val::Empty),
            other => other,
        }
    }

    /// Puts `items` at the end of a list.
    pub(crate) fn extend(&mut self, list: Val, items: &[Val]) -> Built<()> {
        if items.is_empty() {
            return Ok(());
        }
        let Val::List(id) = list else {
            return Err(refused("a list to append to", "something else"));
        };
        let state = self.resolve(list);
        let new = self.extended(state, items)?;
        if let Some(slot) = self.lists.get_mut(id as usize) {
            *slot = new;
        }
        Ok(())
    }

    /// A list or tuple of these items, once and for all.
    pub(crate) fn tuple(&mut self, items: &[Val]) -> Built<Val> {
        match items {
            [] => Ok(Val::Empty),
            &[a, b] => match (whole(a), whole(b)) {
                (Some(a), Some(b)) => self.pool(PoolId(a, b)).map(Val::Pool),
                _ => self.extended(Val::Empty, items),
            },
            _ => self.extended(Val::Empty, items),
        }
    }

    fn extended(&mut self, state: Val, items: &[Val]) -> Built<Val> {
        let first = items.first().map_or(Val::Absent, |&v| self.resolve(v));
        match (state, first) {
            (Val::Empty | Val::Stack(_), Val::Frame(_)) => {
                if let Some(stack) = self.extended_stack(state, items)? {
                    return Ok(Val::Stack(stack));
                }
            }
            (Val::Empty, Val::Event(row)) => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Event(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Events(row, end));
                }
            }
            (Val::Events(start, end), Val::Event(row)) if row == end => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Event(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Events(start, end));
                }
            }
            (Val::Empty, Val::Segment(row)) => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Segment(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Segments(row, end));
                }
            }
            (Val::Segments(start, end), Val::Segment(row)) if row == end => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Segment(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Segments(start, end));
                }
            }
            (Val::Empty, Val::Block(row)) => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Block(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Blocks(row, end));
                }
            }
            (Val::Blocks(start, end), Val::Block(row)) if row == end => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Block(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Blocks(start, end));
                }
            }
            (Val::Empty, Val::Annotation(row)) => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Annotation(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Annotations(row, end));
                }
            }
            (Val::Annotations(start, end), Val::Annotation(row)) if row == end => {
                if let Some(end) = self.run(row, items, |v| match v {
                    Val::Annotation(r) => Some(r),
                    _ => None,
                }) {
                    return Ok(Val::Annotations(start, end));
                }
            }
            _ => {}
        }
        // What belongs to no table, or stands in an order that no writer makes.
        let id = match state {
            Val::Items(id) => id,
            _ => {
                let id = u32::try_from(self.items.len()).map_err(|_| full())?;
                self.items.push(match state {
                    Val::Empty => Vec::new(),
                    other => vec![other],
                });
                id
            }
        };
        if let Some(kept) = self.items.get_mut(id as usize) {
            kept.extend_from_slice(items);
        }
        Ok(Val::Items(id))
    }

    /// The end of a run of rows that follow each other.
    fn run(&self, first: u32, items: &[Val], row: impl Fn(Val) -> Option<u32>) -> Option<u32> {
        let mut next = first;
        for &item in items {
            if row(self.resolve(item))? != next {
                return None;
            }
            next = next.checked_add(1)?;
        }
        Some(next)
    }

    fn extended_stack(&mut self, state: Val, items: &[Val]) -> Built<Option<StackId>> {
        let mut frames = std::mem::take(&mut self.scratch);
        frames.clear();
        if let Val::Stack(stack) = state {
            frames.extend_from_slice(self.stacks.table.get(stack));
        }
        for &item in items {
            let Val::Frame(frame) = self.resolve(item) else {
                self.scratch = frames;
                return Ok(None);
            };
            frames.push(frame);
        }
        let stack = self.stack(&frames);
        self.scratch = frames;
        stack.map(Some)
    }

    /// The id of a stack.
    pub(crate) fn stack(&mut self, frames: &[FrameId]) -> Built<StackId> {
        let stack = self.stacks.intern(frames).ok_or_else(full)?;
        // A file names every frame of a new stack in at least a byte, and a long one comes in pieces
        // that each make a stack: so much is allowed that a small file cannot fill memory by growing
        // one list again and again.
        if self.stacks.total() as u64 > self.offset.saturating_mul(2).saturating_add(1 << 20) {
            return Err(Refused {
                expected: "stacks that are written out frame by frame",
                found: "one that grows without end".to_owned(),
                advice: "no PyTorch writes such a file: take the snapshot again",
            });
        }
        Ok(stack)
    }

    /// The index of a pool.
    pub(crate) fn pool(&mut self, id: PoolId) -> Built<PoolIndex> {
        if let Some(&index) = self.pools.get(&id) {
            return Ok(PoolIndex(index));
        }
        let index = u32::try_from(self.pools.len())
            .ok()
            .filter(|&i| i < u32::MAX)
            .ok_or_else(full)?;
        self.pools.insert(id, index);
        self.snapshot.pools.push(id);
        Ok(PoolIndex(index))
    }

    /// The index of a stream.
    #[inline]
    pub(crate) fn stream(&mut self, handle: u64) -> StreamIndex {
        match self.last_stream {
            Some((last, index)) if last == handle => index,
            _ => self.other_stream(handle),
        }
    }

    #[inline(never)]
    fn other_stream(&mut self, handle: u64) -> StreamIndex {
        let index = match self.streams.get(&handle) {
            Some(&index) => StreamIndex(index),
            None => match u16::try_from(self.streams.len()) {
                Ok(index) => {
                    self.streams.insert(handle, index);
                    self.snapshot.streams.push(handle);
                    StreamIndex(index)
                }
                Err(_) => {
                    self.skipped.count(
                        "stream beyond the first 65536, shown as the last",
                        self.offset,
                    );
                    return StreamIndex(u16::MAX);
                }
            },
        };
        self.last_stream = Some((handle, index));
        index
    }

    /// Puts keys and values, alternating, into a dictionary.
    pub(crate) fn set(&mut self, dict: Val, flat: &[Val]) -> Built<()> {
        let Val::Dict(id) = dict else {
            return Err(refused("a dictionary to set items of", "something else"));
        };
        let (pairs, rest) = flat.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(refused("a value for every key", "a key without one"));
        }
        let new = match self.resolve(dict) {
            Val::Empty => self.row(pairs)?,
            Val::Pairs(at) => {
                if let Some(kept) = self.pairs.get_mut(at as usize) {
                    kept.extend(pairs.iter().map(|&[k, v]| (k, v)));
                }
                Val::Pairs(at)
            }
            Val::Event(row) => {
                self.amend_event(row, pairs)?;
                Val::Event(row)
            }
            other => {
                // No writer fills these in two goes; their first keys told what they are.
                self.skipped
                    .count("field added to a finished dictionary", self.offset);
                other
            }
        };
        if let Some(slot) = self.dicts.get_mut(id as usize) {
            *slot = new;
        }
        Ok(())
    }

    fn row(&mut self, pairs: &[[Val; 2]]) -> Built<Val> {
        let mut seen = 0u64;
        for &[key, _] in pairs {
            if let Val::Str(StringId(key)) = key
                && key < 64
            {
                seen |= 1 << key;
            }
        }
        let has = |key: u32| seen >> key & 1 == 1;
        if has(keys::ACTION) {
            self.event(pairs)
        } else if has(keys::FILENAME) {
            self.frame(pairs)
        } else if has(keys::STAGE) {
            self.annotation(pairs)
        } else if has(keys::TOTAL_SIZE) || has(keys::BLOCKS) || has(keys::ALLOCATED) {
            self.segment(pairs)
        } else if has(keys::STATE) {
            self.block(pairs)
        } else {
            let id = u32::try_from(self.pairs.len()).map_err(|_| full())?;
            self.pairs
                .push(pairs.iter().map(|&[k, v]| (k, v)).collect());
            Ok(Val::Pairs(id))
        }
    }

    /// Counts a field that is not used.
    #[cold]
    pub(super) fn unused(&mut self, kind: Kind, key: Val, wrong_type: bool) {
        let key = match key {
            Val::Str(key) => key,
            _ => NO_TEXT,
        };
        let entry = self
            .unused
            .entry((kind, key, wrong_type))
            .or_insert((0, self.offset));
        entry.0 += 1;
    }

    /// Tells [`Skipped`] of the fields that were not used.
    pub(super) fn report_unused(&mut self) {
        let mut all: Vec<_> = self.unused.drain().collect();
        all.sort_unstable_by_key(|&((_, key, wrong), (_, offset))| (offset, key, wrong));
        for ((kind, key, wrong), (count, offset)) in all {
            let key: String = self.strings.table().get(key).chars().take(60).collect();
            let key = if key.is_empty() { "(no name)" } else { &key };
            let what = if wrong {
                format!("{key} of {} of another type than expected", kind.word())
            } else {
                format!("unknown field of {}: {key}", kind.word())
            };
            self.skipped.count_many(&what, count, offset);
        }
    }
}

/// A whole number from 0 on.
#[inline]
pub(crate) fn whole(value: Val) -> Option<u64> {
    match value {
        Val::Int(i) => u64::try_from(i).ok(),
        Val::Big(u) => Some(u),
        Val::Float(f) if f >= 0.0 && f.fract() == 0.0 && f < 9.0e15 => Some(f as u64),
        _ => None,
    }
}

pub(crate) fn full() -> Refused {
    Refused {
        expected: "at most 1 GiB of distinct text and 2^32 rows of a kind",
        found: "more".to_owned(),
        advice: "record a shorter history (max_entries)",
    }
}

pub(crate) fn refused(expected: &'static str, found: &str) -> Refused {
    Refused {
        expected,
        found: found.to_owned(),
        advice: "no PyTorch writes such a file: take the snapshot again",
    }
}
