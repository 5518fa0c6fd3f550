//! How events are written, to read the next one by it.
//!
//! A writer puts the same fields in the same order under keys that the same memo slots name. So
//! the bytes of the last event's keys are kept, and those of texts that mostly repeat; where they
//! come again nothing is looked up. Values are read as always. What differs in anything is left to
//! the way through the memo, in `event`.

use super::frames::{self, Runs};
use super::memo::Memo;
use super::opcode as op;
use crate::model::StringId;
use crate::model::snapshot::{PoolId, StackId, TIME_RESOLUTION_NS, TraceRow};
use crate::read::snapshot::builder::{Builder, Val};
use crate::read::snapshot::keys;
use crate::read::snapshot::rows::action;

/// Fields of an event, at most.
const FIELDS: usize = 12;
/// Bytes between two values, at most.
const BETWEEN: usize = 48;

/// The values of an event in their order.
#[derive(Default)]
pub(super) struct Shape {
    fields: [Field; FIELDS],
    count: usize,
    /// The bytes since the last value.
    bytes: Vec<u8>,
    /// What repeats.
    row: TraceRow,
    /// Whether the event was read to its end.
    whole: bool,
    memoised: bool,
}

#[derive(Clone, Copy, Default)]
struct Field {
    before: Literal,
    value: Value,
}

#[derive(Clone, Copy, Default)]
enum Value {
    #[default]
    Action,
    Address,
    Size,
    Stream,
    Time,
    Pool,
    Frames,
}

/// Bytes to be recognised.
#[derive(Clone, Copy)]
struct Literal {
    /// The first of them, at most eight.
    word: u64,
    mask: u64,
    length: usize,
    rest: [u8; BETWEEN - 8],
}

impl Default for Literal {
    fn default() -> Self {
        Self {
            word: 0,
            mask: 0,
            length: 0,
            rest: [0; BETWEEN - 8],
        }
    }
}

impl Literal {
    /// `None` for too many bytes, and for none.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (head, tail) = bytes.split_at(bytes.len().min(8));
        let mut word = [0; 8];
        word.get_mut(..head.len())?.copy_from_slice(head);
        let mut rest = [0; BETWEEN - 8];
        rest.get_mut(..tail.len())?.copy_from_slice(tail);
        (!head.is_empty()).then(|| Self {
            word: u64::from_le_bytes(word),
            mask: u64::MAX >> (64 - 8 * head.len()),
            length: bytes.len(),
            rest,
        })
    }

    /// What comes after these bytes, if they are next and not among the last.
    #[inline]
    fn skip<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let next = u64::from_le_bytes(*bytes.first_chunk()?);
        if next & self.mask != self.word {
            return None;
        }
        if self.length > 8 {
            let tail = self.length - 8;
            return bytes.get(8..)?.strip_prefix(self.rest.get(..tail)?);
        }
        bytes.get(self.length..)
    }
}

impl Shape {
    /// Forgets the event.
    pub(super) fn forget(&mut self) {
        self.count = 0;
        self.whole = false;
    }

    /// A new event begins with these bytes; whether its dictionary has a slot of its own.
    pub(super) fn begin(&mut self, bytes: &[u8], memoised: bool) {
        self.forget();
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.row = TraceRow::default();
        self.memoised = memoised;
    }

    /// A field with the key `bytes` of the name `name` is next. Where its text is one that mostly
    /// repeats, `text` is that and stands at the end of `bytes`.
    #[cold]
    pub(super) fn field(&mut self, bytes: &[u8], name: u32, text: Option<StringId>) {
        self.bytes.extend_from_slice(bytes);
        let value = match (name, text) {
            (keys::COMPILE_CONTEXT, Some(text)) => {
                self.row.compile_context = text;
                return;
            }
            (keys::USER_METADATA, Some(text)) => {
                self.row.user_metadata = text;
                return;
            }
            (keys::ACTION, _) => Value::Action,
            (keys::ADDR, _) => Value::Address,
            (keys::SIZE, _) => Value::Size,
            (keys::STREAM, _) => Value::Stream,
            (keys::TIME_US, _) => Value::Time,
            (keys::POOL_ID, _) => Value::Pool,
            (keys::FRAMES, _) => Value::Frames,
            // No value begins with so many bytes before it: no pattern comes of this.
            _ => return self.bytes.resize(BETWEEN + 1, 0),
        };
        let before = Literal::of(&self.bytes);
        if let (Some(slot), Some(before)) = (self.fields.get_mut(self.count), before) {
            *slot = Field { before, value };
            self.count += 1;
            self.bytes.clear();
        }
    }

    /// The event ended: it is a pattern when every byte of it is accounted for.
    pub(super) fn end(&mut self) {
        // What stands behind the last value is only the end.
        self.whole = self.bytes.is_empty() && self.count > 0;
    }

    /// Reads an event that is written as the last one into `row`: the bytes behind it. The memo may
    /// have grown when it is not.
    #[inline]
    pub(super) fn again<'a>(
        &self,
        all: &'a [u8],
        row: &mut TraceRow,
        memo: &mut Memo,
        runs: &mut Runs,
        build: &mut Builder,
    ) -> Option<&'a [u8]> {
        if !self.whole {
            return None;
        }
        if self.memoised {
            memo.push_event(build.events());
        }
        *row = self.row;
        let mut rest = all;
        for field in self.fields.get(..self.count)? {
            rest = field.before.skip(rest)?;
            match field.value {
                Value::Action => row.action = action(memo.text(slot(&mut rest)?)?)?,
                Value::Address => row.address = number(&mut rest)?,
                Value::Size => row.size = number(&mut rest).filter(|&n| n < 1 << 63)?,
                Value::Stream => row.stream = build.stream(number(&mut rest)?),
                Value::Time => {
                    // Far from where nanoseconds leave 63 bits.
                    let time = number(&mut rest).filter(|&n| n < 1 << 53)?;
                    row.time_ns = Some(time * TIME_RESOLUTION_NS);
                }
                Value::Pool => {
                    let id = PoolId(number(&mut rest)?, number(&mut rest)?);
                    rest = rest.strip_prefix(&[op::TUPLE2])?;
                    let pool = build.pool(id).ok()?;
                    if let [op::MEMOIZE, tail @ ..] = rest {
                        memo.push(Val::Pool(pool));
                        rest = tail;
                    }
                    row.pool = Some(pool);
                }
                Value::Frames => {
                    let (stack, tail) = frames(rest, memo, runs, build)?;
                    row.stack = Some(stack);
                    rest = tail;
                }
            }
        }
        rest.strip_prefix(&[op::SETITEMS])
    }
}

/// A stack, and what comes after it.
#[inline]
fn frames<'a>(
    bytes: &'a [u8],
    memo: &mut Memo,
    runs: &mut Runs,
    build: &mut Builder,
) -> Option<(StackId, &'a [u8])> {
    let [op::EMPTY_LIST, list @ ..] = bytes else {
        let mut rest = bytes;
        return match memo.get(slot(&mut rest)?).map(|v| build.resolve(v))? {
            Val::Stack(stack) => Some((stack, rest)),
            Val::Empty => Some((StackId::EMPTY, rest)),
            _ => None,
        };
    };
    let (memoise, list) = match list {
        [op::MEMOIZE, list @ ..] => (true, list),
        list => (false, list),
    };
    let (stack, rest) = match list {
        [op::MARK, list @ ..] => match frames::stack(runs, list, memo, build) {
            Ok(Some((stack, length))) => (stack, list.get(length..)?),
            // The stack machine comes to the same end, and says where.
            Ok(None) | Err(_) => return None,
        },
        // Empty, unless a single frame is appended: then the next key is not where it must be.
        list => (StackId::EMPTY, list),
    };
    if memoise {
        memo.push_stack(stack);
    }
    Some((stack, rest))
}

/// Takes a look into the memo.
#[inline]
fn slot(bytes: &mut &[u8]) -> Option<usize> {
    let (slot, rest) = match *bytes {
        [op::LONG_BINGET, a, b, c, d, rest @ ..] => {
            (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest)
        }
        [op::BINGET, a, rest @ ..] => (usize::from(*a), rest),
        _ => return None,
    };
    *bytes = rest;
    Some(slot)
}

/// Takes a whole number that is not negative, of at most eight bytes.
#[inline]
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let word = u64::from_le_bytes(*bytes.first_chunk()?);
    let tail = word >> 8;
    let (value, length) = match word as u8 {
        op::LONG1 => {
            let length = tail as u8;
            if !(1..=8).contains(&length) {
                return None;
            }
            let digits = u64::from_le_bytes(*bytes.get(2..)?.first_chunk()?);
            let unused = 64 - 8 * u32::from(length);
            let value = digits << unused >> unused;
            // The sign is the highest bit of what is there.
            if (digits << unused) >> 63 == 1 {
                return None;
            }
            (value, 2 + usize::from(length))
        }
        op::BININT => (u64::try_from(tail as i32).ok()?, 5),
        op::BININT1 => (tail & 0xff, 2),
        op::BININT2 => (tail & 0xffff, 3),
        _ => return None,
    };
    *bytes = bytes.get(length..)?;
    Some(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn literals_compare_all_their_bytes_and_no_more() {
        let all: Vec<u8> = (0..80).collect();
        for length in 1..=BETWEEN {
            let literal = Literal::of(&all[3..3 + length]).unwrap();
            for at in 0..12 {
                let after = literal.skip(&all[at..]);
                assert_eq!(after, (at == 3).then(|| &all[3 + length..]));
            }
            for change in 3..3 + length + 8 {
                let mut other = all.clone();
                other[change] ^= 1;
                let same = change >= 3 + length;
                assert_eq!(literal.skip(&other[3..]).is_some(), same);
            }
            assert!(literal.skip(&all[3..2 + length]).is_none(), "cut off");
        }
        assert!(Literal::of(&all[..BETWEEN + 1]).is_none() && Literal::of(b"").is_none());
    }

    #[test]
    fn numbers_of_every_length() {
        let padding = [0xff; 16];
        for value in [
            0u64,
            1,
            127,
            128,
            255,
            256,
            65_535,
            1 << 31,
            1 << 47,
            (1 << 63) - 1,
        ] {
            let bytes = value.to_le_bytes();
            let mut forms = Vec::new();
            // As few bytes as the sign allows, and all eight.
            let least = (64 - value.leading_zeros()) as usize / 8 + 1;
            for length in [least, 8] {
                forms.push([&[op::LONG1, length as u8], &bytes[..length]].concat());
            }
            if value < 256 {
                forms.push(vec![op::BININT1, value as u8]);
            }
            if value < 65_536 {
                forms.push([&[op::BININT2], &bytes[..2]].concat());
            }
            if value < 1 << 31 {
                forms.push([&[op::BININT], &bytes[..4]].concat());
            }
            for form in forms {
                let all = [&form[..], &padding].concat();
                let mut rest = &all[..];
                assert_eq!(number(&mut rest), Some(value), "{form:?}");
                assert_eq!(rest, padding);
            }
        }
        for refused in [
            &[op::LONG1, 1, 0x80][..],
            &[op::LONG1, 0],
            &[op::LONG1, 9],
            &[op::BININT, 0, 0, 0, 0x80],
        ] {
            let all = [refused, &padding].concat();
            assert_eq!(number(&mut &all[..]), None, "{refused:?}");
        }
    }
}
