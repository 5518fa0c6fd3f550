//! The short way for events.

use std::io::Read;

use super::frames;
use super::opcode as op;
use super::walk::Walk;
use crate::error::Result;
use crate::model::StringId;
use crate::model::snapshot::{PoolId, StackId, TraceRow};
use crate::read::snapshot::builder::{Builder, Val};
use crate::read::snapshot::keys;
use crate::read::snapshot::rows::{Extra, action};

/// Bytes that an event may take to be read here.
const LONGEST: usize = frames::LONGEST + 512;

/// What is kept between two events.
#[derive(Default)]
pub(super) struct Guess {
    /// Events in a row that did not fit; after many of them the short way is tried less.
    misses: u32,
}

/// Bytes being looked at.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = *self.all.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let chunk = *self.all.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(chunk)
    }

    /// A whole number of `LONG1`, not negative.
    #[inline]
    fn long(&mut self) -> Option<u64> {
        let length = usize::from(self.next()?);
        if let (1..=8, Some(&wide)) = (length, self.all.get(self.at..)?.first_chunk::<8>()) {
            self.at += length;
            let value = u64::from_le_bytes(wide) << (64 - 8 * length) >> (64 - 8 * length);
            // The sign is the highest bit of what is there.
            return (value >> (8 * length - 1) == 0).then_some(value);
        }
        let bytes = self.all.get(self.at..self.at + length)?;
        let (&[0], low) = bytes.split_last_chunk::<1>().map(|(low, top)| (top, low))? else {
            return None;
        };
        self.at += length;
        low.first_chunk::<8>()
            .filter(|_| low.len() == 8)
            .map(|&low| u64::from_le_bytes(low))
    }

    /// The memo slot that an opcode names.
    #[inline]
    fn slot(&mut self, code: u8) -> Option<usize> {
        match code {
            op::BINGET => Some(usize::from(self.next()?)),
            op::LONG_BINGET => Some(u32::from_le_bytes(self.chunk()?) as usize),
            _ => None,
        }
    }

    #[inline]
    fn memoised(&mut self) -> bool {
        let yes = self.all.get(self.at) == Some(&op::MEMOIZE);
        self.at += usize::from(yes);
        yes
    }
}

impl<R: Read> Walk<'_, R> {
    /// At `EMPTY_DICT`: reads an event whose fields are known, or leaves all as it is.
    #[inline]
    pub(super) fn event(&mut self) -> Result<bool> {
        // In the part of a file that has no events the guess would only cost.
        if self.guess.misses > 64 && !self.guess.misses.is_multiple_of(16) {
            self.guess.misses += 1;
            return Ok(false);
        }
        self.window.want(LONGEST)?;
        if self.memoised != self.memo.len() {
            return Ok(false);
        }
        let before = self.memo.len();
        self.build.offset = self.window.offset();
        match self.try_event()? {
            Some((row, extra, length)) => {
                let event = self.build.push_event(&row, &extra);
                let event = self.built(event)?;
                if let Some(slot) = self.memo.get_mut(before) {
                    // The dictionary's own slot, if it has one, comes first.
                    if *slot == Val::Empty {
                        *slot = event;
                    }
                }
                self.memoised = self.memo.len();
                self.window.at += length;
                self.guess.misses = 0;
                self.push(event)?;
                Ok(true)
            }
            None => {
                self.memo.truncate(before);
                self.guess.misses = self.guess.misses.saturating_add(1);
                Ok(false)
            }
        }
    }

    #[inline]
    fn try_event(&mut self) -> Result<Option<(TraceRow, Extra, usize)>> {
        let Self {
            window,
            build,
            memo,
            runs,
            ..
        } = self;
        let all = window.rest();
        let mut bytes = Bytes { all, at: 1 };
        if bytes.memoised() {
            memo.push(Val::Empty);
        }
        if bytes.next() != Some(op::MARK) {
            return Ok(None);
        }
        let (mut row, mut extra) = (TraceRow::default(), Extra::default());
        let mut acted = false;
        loop {
            let Some(code) = bytes.next() else {
                return Ok(None);
            };
            if code == op::SETITEMS {
                break;
            }
            let name = match bytes.slot(code).and_then(|slot| memo.get(slot)) {
                Some(&Val::Str(StringId(name))) => name,
                _ => return Ok(None),
            };
            let Some(code) = bytes.next() else {
                return Ok(None);
            };
            let number = match code {
                op::BININT1 => bytes.next().map(u64::from),
                op::BININT2 => bytes.chunk().map(|b| u16::from_le_bytes(b).into()),
                op::BININT => bytes
                    .chunk()
                    .and_then(|b| u64::try_from(i32::from_le_bytes(b)).ok()),
                op::LONG1 => bytes.long(),
                op::EMPTY_LIST if name == keys::FRAMES => {
                    let memoise = bytes.memoised();
                    let stack = if bytes.all.get(bytes.at) == Some(&op::MARK) {
                        bytes.at += 1;
                        let rest = all.get(bytes.at..).unwrap_or_default();
                        match frames::stack(runs, rest, memo, build) {
                            Ok(Some((stack, length))) => {
                                bytes.at += length;
                                stack
                            }
                            Ok(None) => return Ok(None),
                            // The stack machine comes to the same end, and says where.
                            Err(_) => return Ok(None),
                        }
                    } else {
                        // Empty, unless a single frame is appended to it.
                        match bytes.all.get(bytes.at) {
                            Some(&op::SETITEMS) => StackId::EMPTY,
                            Some(&op::BINGET)
                                if bytes.all.get(bytes.at + 2) != Some(&op::APPEND) =>
                            {
                                StackId::EMPTY
                            }
                            Some(&op::LONG_BINGET)
                                if bytes.all.get(bytes.at + 5) != Some(&op::APPEND) =>
                            {
                                StackId::EMPTY
                            }
                            _ => return Ok(None),
                        }
                    };
                    if memoise {
                        memo.push(Val::Stack(stack));
                    }
                    row.stack = Some(stack);
                    continue;
                }
                op::SHORT_BINUNICODE => {
                    let Some(length) = bytes.next().map(usize::from) else {
                        return Ok(None);
                    };
                    let text = bytes.all.get(bytes.at..bytes.at + length);
                    let Some(id) = text.and_then(|t| build.strings.find(t)) else {
                        return Ok(None);
                    };
                    bytes.at += length;
                    if bytes.memoised() {
                        memo.push(Val::Str(id));
                    }
                    match set_text(&mut row, name, id) {
                        Some(action) => acted |= action,
                        None => return Ok(None),
                    }
                    continue;
                }
                _ => {
                    match bytes.slot(code).and_then(|slot| memo.get(slot)) {
                        Some(&Val::Str(id)) => match set_text(&mut row, name, id) {
                            Some(action) => acted |= action,
                            None => return Ok(None),
                        },
                        Some(&value) if name == keys::FRAMES => match build.resolve(value) {
                            Val::Stack(stack) => row.stack = Some(stack),
                            Val::Empty => row.stack = Some(StackId::EMPTY),
                            _ => return Ok(None),
                        },
                        Some(&Val::Pool(pool)) if name == keys::POOL_ID => row.pool = Some(pool),
                        _ => return Ok(None),
                    }
                    continue;
                }
            };
            let Some(number) = number else {
                return Ok(None);
            };
            if name == keys::POOL_ID {
                match pool(&mut bytes, number) {
                    Some(id) => {
                        let index = build.pool(id);
                        let Ok(index) = index else {
                            return Ok(None);
                        };
                        if bytes.memoised() {
                            memo.push(Val::Pool(index));
                        }
                        row.pool = Some(index);
                    }
                    None => return Ok(None),
                }
                continue;
            }
            if !set_number(build, &mut row, &mut extra, name, number) {
                return Ok(None);
            }
        }
        Ok(acted.then_some((row, extra, bytes.at)))
    }
}

/// The second half of a pool's id, and the end of the tuple.
fn pool(bytes: &mut Bytes<'_>, first: u64) -> Option<PoolId> {
    let second = match bytes.next()? {
        op::BININT1 => u64::from(bytes.next()?),
        op::BININT2 => u16::from_le_bytes(bytes.chunk()?).into(),
        _ => return None,
    };
    (bytes.next()? == op::TUPLE2).then_some(PoolId(first, second))
}

/// Sets a field that is a text: whether it was the action, `None` when it is none of them.
#[inline]
fn set_text(row: &mut TraceRow, name: u32, text: StringId) -> Option<bool> {
    match name {
        keys::ACTION => {
            row.action = action(text)?;
            return Some(true);
        }
        keys::COMPILE_CONTEXT => row.compile_context = text,
        keys::USER_METADATA => row.user_metadata = text,
        _ => return None,
    }
    Some(false)
}

/// Sets a field that is a number.
#[inline]
fn set_number(
    build: &mut Builder,
    row: &mut TraceRow,
    extra: &mut Extra,
    name: u32,
    number: u64,
) -> bool {
    match name {
        keys::ADDR => row.address = number,
        keys::SIZE if number < 1 << 63 => row.size = number,
        keys::STREAM => row.stream = build.stream(number),
        // Far from where nanoseconds leave 63 bits.
        keys::TIME_US if number < 1 << 53 => row.time_ns = Some(number * 1000),
        keys::DEVICE_FREE if number < 1 << 63 => extra.device_free = Some(number),
        _ => return false,
    }
    true
}
