//! The short way for events.

use std::io::Read;

use super::bytes::Bytes;
use super::frames;
use super::memo::Memo;
use super::opcode as op;
use super::shape::Shape;
use super::walk::{MAX_STACK, Walk};
use crate::error::Result;
use crate::model::StringId;
use crate::model::snapshot::{PoolId, StackId, TraceRow};
use crate::read::snapshot::builder::{Builder, Val};
use crate::read::snapshot::keys;
use crate::read::snapshot::rows::{Extra, action};

/// Bytes that an event may take to be read here.
const LONGEST: usize = frames::LONGEST + 512;

/// Events after which the number of all can be told from the size of the file.
const ENOUGH: usize = 4096;
/// How much room is made beyond that number.
const SPARE: f64 = 1.05;
/// Events that room is made for at once, at most: the size may be wrong.
const MOST: usize = 1 << 24;

/// What is kept between two events.
#[derive(Default)]
pub(super) struct Guess {
    /// Events in a row that did not fit; after many of them the short way is tried less.
    misses: u32,
    /// How the last event was written.
    shape: Shape,
    /// Where the first event begins.
    first: Option<u64>,
}

impl Guess {
    /// Forgets the last event, because the memo changed.
    pub(super) fn forget(&mut self) {
        self.shape.forget();
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
        if self.again()? {
            return Ok(true);
        }
        let before = self.memo.len();
        self.build.offset = self.window.offset();
        match self.try_event()? {
            Some(read) => {
                let event = self.build.push_event(&read.row, &read.extra);
                let event = self.built(event)?;
                if read.memoised {
                    // The dictionary's own slot comes first.
                    self.memo.set(before, event);
                }
                self.memoised = self.memo.len();
                self.window.at += read.length;
                self.guess.misses = 0;
                self.guess.first.get_or_insert(self.build.offset);
                self.push(event)?;
                Ok(true)
            }
            None => {
                self.memo.truncate(before);
                self.guess.forget();
                self.guess.misses = self.guess.misses.saturating_add(1);
                Ok(false)
            }
        }
    }

    /// Reads events as long as they are written as the last one.
    #[inline]
    fn again(&mut self) -> Result<bool> {
        let mut any = false;
        let mut row = TraceRow::default();
        loop {
            if self.build.room() == 0 {
                let within = self.build.within();
                self.built(within)?;
                self.make_room();
            }
            let Self {
                window,
                build,
                memo,
                runs,
                guess,
                stack,
                ..
            } = self;
            let most = build.room().min(MAX_STACK.saturating_sub(stack.len()));
            let (offset, mut rest) = (window.offset(), window.rest());
            let all = rest.len();
            let mut read = 0;
            while read < most {
                let before = memo.len();
                build.offset = offset + (all - rest.len()) as u64;
                let Some(after) = guess.shape.again(rest, &mut row, memo, runs, build) else {
                    memo.truncate(before);
                    break;
                };
                stack.push(build.push_row(&row));
                rest = after;
                read += 1;
            }
            let taken = all - rest.len();
            window.at += taken;
            any |= read > 0;
            self.memoised = self.memo.len();
            // What stands in the way: the end of the window, or something else than an event.
            if read < most || most == 0 {
                return Ok(any);
            }
        }
    }

    /// Makes room for the events that are still to come, by what they took so far.
    #[cold]
    fn make_room(&mut self) {
        let events = self.build.events();
        // As any vector grows.
        let mut more = events.max(ENOUGH);
        if let Some(size) = self.size.filter(|_| events >= ENOUGH) {
            let at = self.window.offset();
            let taken = at.saturating_sub(self.guess.first.unwrap_or(0)).max(1);
            let all = size.saturating_sub(at) as f64 * events as f64 / taken as f64;
            more = ((all * SPARE) as usize).clamp(ENOUGH, MOST);
            self.memo.reserve(more * self.memo.len() / events);
        }
        self.build
            .reserve_events(more.min(self.build.affordable()).max(1));
    }

    #[inline]
    fn try_event(&mut self) -> Result<Option<Event>> {
        let Self {
            window,
            build,
            memo,
            runs,
            guess,
            ..
        } = self;
        let all = window.rest();
        let mut bytes = Bytes { all, at: 1 };
        let memoised = bytes.memoised();
        if memoised {
            memo.push(Val::Empty);
        }
        if bytes.next() != Some(op::MARK) {
            return Ok(None);
        }
        let head = all.get(..bytes.at).unwrap_or_default();
        guess.shape.begin(head, memoised);
        let (mut row, mut extra) = (TraceRow::default(), Extra::default());
        let mut acted = false;
        loop {
            let start = bytes.at;
            let Some(code) = bytes.next() else {
                return Ok(None);
            };
            if code == op::SETITEMS {
                break;
            }
            let slot = bytes.slot(code);
            let Some(StringId(name)) = slot.and_then(|slot| memo.text(slot)) else {
                return Ok(None);
            };
            let text = repeated(&mut bytes, memo, name);
            let key = all.get(start..bytes.at).unwrap_or_default();
            guess.shape.field(key, name, text);
            if let Some(text) = text {
                match set_text(&mut row, name, text) {
                    Some(action) => acted |= action,
                    None => return Ok(None),
                }
                continue;
            }
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
                    } else if empty_list(&bytes) {
                        StackId::EMPTY
                    } else {
                        return Ok(None);
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
                        Some(Val::Str(id)) => match set_text(&mut row, name, id) {
                            Some(action) => acted |= action,
                            None => return Ok(None),
                        },
                        Some(value) if name == keys::FRAMES => match build.resolve(value) {
                            Val::Stack(stack) => row.stack = Some(stack),
                            Val::Empty => row.stack = Some(StackId::EMPTY),
                            _ => return Ok(None),
                        },
                        Some(Val::Pool(pool)) if name == keys::POOL_ID => row.pool = Some(pool),
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
        guess.shape.end();
        Ok(acted.then_some(Event {
            row,
            extra,
            memoised,
            length: bytes.at,
        }))
    }
}

/// An event that was read.
struct Event {
    row: TraceRow,
    extra: Extra,
    /// Whether the dictionary has a slot of its own.
    memoised: bool,
    /// Bytes that it took.
    length: usize,
}

/// Takes the text of a field whose text is mostly that of the event before, where the memo has it.
fn repeated(bytes: &mut Bytes<'_>, memo: &Memo, name: u32) -> Option<StringId> {
    if !matches!(name, keys::COMPILE_CONTEXT | keys::USER_METADATA) {
        return None;
    }
    let start = bytes.at;
    let code = bytes.next();
    let text = code
        .and_then(|code| bytes.slot(code))
        .and_then(|slot| memo.text(slot));
    if text.is_none() {
        bytes.at = start;
    }
    text
}

/// Whether a list stays empty: no single frame is appended to it.
fn empty_list(bytes: &Bytes<'_>) -> bool {
    let item = match bytes.all.get(bytes.at) {
        Some(&op::SETITEMS) => return true,
        Some(&op::BINGET) => 2,
        Some(&op::LONG_BINGET) => 5,
        _ => return false,
    };
    bytes.all.get(bytes.at + item) != Some(&op::APPEND)
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
