//! The memo: what a file names again by number.
//!
//! A history of a million events fills nearly two million slots, nearly all with a row of a table, so
//! a slot is one word: four bits of kind and the row. What does not fit is kept aside.

use crate::model::StringId;
use crate::model::snapshot::{FrameId, PoolIndex, StackId};
use crate::read::snapshot::builder::Val;

/// Bits of a slot that are the row.
const BITS: u32 = 28;
const MASK: u32 = (1 << BITS) - 1;

const ABSENT: u32 = 0;
const TEXT: u32 = 1;
const EVENT: u32 = 2;
const STACK: u32 = 3;
const FRAME: u32 = 4;
const DICT: u32 = 5;
const LIST: u32 = 6;
const POOL: u32 = 7;
const EMPTY: u32 = 8;
const ASIDE: u32 = 9;

/// Values kept aside, at most.
const MOST_ASIDE: u32 = 1 << 22;

/// The slots by number.
#[derive(Default)]
pub(super) struct Memo {
    slots: Vec<u32>,
    aside: Vec<Val>,
}

impl Memo {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(super) fn push(&mut self, value: Val) {
        let slot = self.packed(value);
        self.slots.push(slot);
    }

    /// As [`Self::push`] for the event of a row.
    #[inline]
    pub(super) fn push_event(&mut self, row: usize) {
        match u32::try_from(row) {
            Ok(row) if row <= MASK => self.slots.push(EVENT << BITS | row),
            // A table of 2^32 rows is full: the event is refused before anyone asks for it.
            _ => self.push(Val::Event(row as u32)),
        }
    }

    /// As [`Self::push`] for a stack.
    #[inline]
    pub(super) fn push_stack(&mut self, stack: StackId) {
        if stack.0 <= MASK {
            self.slots.push(STACK << BITS | stack.0);
        } else {
            self.push(Val::Stack(stack));
        }
    }

    /// Makes room for so many slots more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.slots.reserve_exact(more);
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.slots.truncate(length);
    }

    /// Adds empty slots up to a length.
    pub(super) fn grow(&mut self, length: usize) {
        if length > self.slots.len() {
            self.slots.resize(length, ABSENT);
        }
    }

    /// What a slot holds; `None` where it holds nothing.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> Option<Val> {
        let word = *self.slots.get(slot)?;
        let row = word & MASK;
        Some(match word >> BITS {
            ABSENT => return None,
            TEXT => Val::Str(StringId(row)),
            EVENT => Val::Event(row),
            STACK => Val::Stack(StackId(row)),
            FRAME => Val::Frame(FrameId(row)),
            DICT => Val::Dict(row),
            LIST => Val::List(row),
            POOL => Val::Pool(PoolIndex(row)),
            EMPTY => Val::Empty,
            _ => *self.aside.get(row as usize)?,
        })
    }

    /// The text that a slot holds, the row of most look-ups.
    #[inline]
    pub(super) fn text(&self, slot: usize) -> Option<StringId> {
        let word = *self.slots.get(slot)?;
        (word >> BITS == TEXT).then_some(StringId(word & MASK))
    }

    /// Fills a slot; `false` where there is none.
    pub(super) fn set(&mut self, slot: usize, value: Val) -> bool {
        let word = self.packed(value);
        match self.slots.get_mut(slot) {
            Some(place) => {
                *place = word;
                true
            }
            None => false,
        }
    }

    #[inline]
    fn packed(&mut self, value: Val) -> u32 {
        let (kind, row) = match value {
            Val::Absent => (ABSENT, 0),
            Val::Empty => (EMPTY, 0),
            Val::Str(StringId(row)) => (TEXT, row),
            Val::Event(row) => (EVENT, row),
            Val::Stack(StackId(row)) => (STACK, row),
            Val::Frame(FrameId(row)) => (FRAME, row),
            Val::Dict(row) => (DICT, row),
            Val::List(row) => (LIST, row),
            Val::Pool(PoolIndex(row)) => (POOL, row),
            _ => (ASIDE, 0),
        };
        if kind == ASIDE || row > MASK {
            return self.keep(value);
        }
        kind << BITS | row
    }

    #[cold]
    fn keep(&mut self, value: Val) -> u32 {
        // No writer names plain numbers again: beyond so many the slot counts as empty, and naming
        // it is refused.
        let row = u32::try_from(self.aside.len())
            .ok()
            .filter(|&r| r < MOST_ASIDE);
        let Some(row) = row else {
            return ABSENT;
        };
        self.aside.push(value);
        ASIDE << BITS | row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back() {
        let mut memo = Memo::default();
        let values = [
            Val::None,
            Val::Bool(true),
            Val::Int(-1),
            Val::Big(u64::MAX),
            Val::Str(StringId(7)),
            Val::Str(StringId(u32::MAX)),
            Val::Event(MASK),
            Val::Event(MASK + 1),
            Val::Stack(StackId(3)),
            Val::Frame(FrameId(4)),
            Val::Dict(5),
            Val::List(6),
            Val::Pool(PoolIndex(8)),
            Val::Events(1, 2),
            Val::Empty,
        ];
        for value in values {
            memo.push(value);
        }
        for (slot, &value) in values.iter().enumerate() {
            assert_eq!(memo.get(slot), Some(value));
            let text = match value {
                Val::Str(id) if id.0 <= MASK => Some(id),
                _ => None,
            };
            assert_eq!(memo.text(slot), text);
        }
        memo.grow(20);
        assert_eq!(memo.get(19), None, "grown, not filled");
        assert!(memo.set(19, Val::Int(3)) && !memo.set(20, Val::Int(3)));
        assert_eq!(memo.get(19), Some(Val::Int(3)));
    }
}
