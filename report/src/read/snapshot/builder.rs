//! From values to tables: what the pickle walker and the JSON reader share.
//!
//! Dictionaries become rows as soon as they are complete, told apart by their keys; lists of frames
//! become stacks. Nothing else is kept, but for the few dictionaries that belong to no table
//! (settings, the top level), so a file of any size needs memory for its tables only.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::budget::{CONTAINER, MAX_POOLS, MAX_UNUSED};
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
    /// Values in `pairs` and `items`, and what these take beside them.
    pub(super) parked: usize,
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
            parked: 0,
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

    /// Dictionaries and lists made so far.
    pub(super) fn containers(&self) -> usize {
        self.dicts.len() + self.lists.len()
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
        if id.is_multiple_of(1 << 16) {
            self.within()?;
        }
        self.dicts.push(Val::Empty);
        Ok(Val::Dict(id))
    }

    /// A new, empty list.
    #[inline]
    pub(crate) fn new_list(&mut self) -> Built<Val> {
        let id = u32::try_from(self.lists.len()).map_err(|_| full())?;
        if id.is_multiple_of(1 << 16) {
            self.within()?;
        }
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
        if let (Val::Empty | Val::Stack(_), Val::Frame(_)) = (state, first)
            && let Some(stack) = self.extended_stack(state, items)?
        {
            return Ok(Val::Stack(stack));
        }
        if let Some((kind, start, end)) = self.rows_before(state, items) {
            let end = self.run(kind, end, items);
            return Ok(ranged(kind, start, end));
        }
        // What belongs to no table.
        let id = match state {
            Val::Items(id) => id,
            _ => {
                let id = u32::try_from(self.items.len()).map_err(|_| full())?;
                self.park(CONTAINER)?;
                self.items.push(match state {
                    Val::Empty => Vec::new(),
                    other => vec![other],
                });
                id
            }
        };
        self.park(items.len())?;
        if let Some(kept) = self.items.get_mut(id as usize) {
            kept.extend_from_slice(items);
        }
        self.within()?;
        Ok(Val::Items(id))
    }

    /// The rows that a list has before `items` come to it, if it is a list of rows; where it was
    /// empty, or held nothing of use, `items` tell.
    fn rows_before(&mut self, state: Val, items: &[Val]) -> Option<(Kind, u32, u32)> {
        if let Some(known) = range(state) {
            return Some(known);
        }
        if !matches!(state, Val::Empty | Val::Items(_)) {
            return None;
        }
        let (kind, row) = items.iter().find_map(|&v| row(self.resolve(v)))?;
        let before = match state {
            Val::Items(id) => self.items.get(id as usize).map(Vec::as_slice),
            _ => None,
        };
        let before = before.unwrap_or_default();
        // A list of lists stays one: what else is in it is told by who asks for the lists.
        let mut all = before.iter().chain(items);
        if all.any(|&v| range(self.resolve(v)).is_some()) {
            return None;
        }
        let lost = before.len() as u64;
        self.skipped.count_many(&no(kind), lost, self.offset);
        Some((kind, row, row))
    }

    /// The end of a list of rows after these items. What is no row, or one that stands elsewhere,
    /// costs itself only.
    fn run(&mut self, kind: Kind, mut next: u32, items: &[Val]) -> u32 {
        let mut lost = 0;
        for &item in items {
            if row(self.resolve(item)) == Some((kind, next)) && next < u32::MAX {
                next += 1;
            } else {
                lost += 1;
            }
        }
        if lost > 0 {
            self.skipped.count_many(&no(kind), lost, self.offset);
        }
        next
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
        if self.pools.len() >= MAX_POOLS {
            return Err(Refused {
                expected: "at most 262144 memory pools",
                found: "more".to_owned(),
                advice: "no PyTorch writes such a file: take the snapshot again",
            });
        }
        let index = u32::try_from(self.pools.len()).map_err(|_| full())?;
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
                self.park(flat.len())?;
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
        self.within()
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
        } else if has(keys::FILENAME) || has(keys::NAME) && has(keys::LINE) {
            self.frame(pairs)
        } else if has(keys::STAGE) {
            self.annotation(pairs)
        } else if has(keys::TOTAL_SIZE) || has(keys::BLOCKS) || has(keys::ALLOCATED) {
            self.segment(pairs)
        } else if has(keys::STATE) {
            self.block(pairs)
        } else {
            let id = u32::try_from(self.pairs.len()).map_err(|_| full())?;
            self.park(CONTAINER + 2 * pairs.len())?;
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
        let new = !self.unused.contains_key(&(kind, key, wrong_type));
        if new && self.unused.len() >= MAX_UNUSED {
            return self
                .skipped
                .count("further field that is not known", self.offset);
        }
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

/// The row that a value is.
fn row(value: Val) -> Option<(Kind, u32)> {
    Some(match value {
        Val::Event(row) => (Kind::Event, row),
        Val::Segment(row) => (Kind::Segment, row),
        Val::Block(row) => (Kind::Block, row),
        Val::Annotation(row) => (Kind::Annotation, row),
        _ => return None,
    })
}

/// The rows that a list is.
fn range(value: Val) -> Option<(Kind, u32, u32)> {
    Some(match value {
        Val::Events(start, end) => (Kind::Event, start, end),
        Val::Segments(start, end) => (Kind::Segment, start, end),
        Val::Blocks(start, end) => (Kind::Block, start, end),
        Val::Annotations(start, end) => (Kind::Annotation, start, end),
        _ => return None,
    })
}

fn ranged(kind: Kind, start: u32, end: u32) -> Val {
    match kind {
        Kind::Segment => Val::Segments(start, end),
        Kind::Block => Val::Blocks(start, end),
        Kind::Annotation => Val::Annotations(start, end),
        // No list of frames or of whole snapshots is one of rows.
        Kind::Event | Kind::Frame | Kind::Top => Val::Events(start, end),
    }
}

fn no(kind: Kind) -> String {
    format!("entry that is not {}", kind.word())
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
