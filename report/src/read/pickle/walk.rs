//! The stack machine.

use std::io::Read;

use super::event::Guess;
use super::frames::Runs;
use super::memo::Memo;
use super::opcode::{self as op, Why};
use super::window::Window;
use crate::Error;
use crate::error::Result;
use crate::model::{Rank, Source};
use crate::read::snapshot::FORMAT;
use crate::read::snapshot::builder::{Builder, Built, Refused, Val};

/// Values on the stack: the C++ writer puts a whole history there before it makes it a list.
pub(super) const MAX_STACK: usize = 1 << 24;
/// Marks on the stack, the depth of nesting.
const MAX_MARKS: usize = 1 << 10;
/// The largest whole number, in bytes of two's complement: 2^64 - 1 takes nine.
const MAX_LONG: usize = 9;
/// Memo slots that may stay empty.
const MAX_GAP: usize = 1 << 16;

/// Values on the stack, and slots of the memo, that may take less than the bytes below each.
const FREE: usize = 1 << 20;
/// Bytes of the file for a value on the stack beyond [`FREE`]: what stands there in such numbers is
/// the events of a history.
const PER_VALUE: u64 = 8;
/// Bytes of the file for a slot of the memo beyond [`FREE`]: an opcode, and the one that fills it.
const PER_SLOT: u64 = 2;

const DAMAGED: &str = "the file was damaged: copy or take the snapshot again";

/// A pickle being read.
pub(super) struct Walk<'n, R> {
    pub(super) window: Window<'n, R>,
    pub(super) build: Builder,
    pub(super) stack: Vec<Val>,
    marks: Vec<usize>,
    pub(super) memo: Memo,
    /// Slots of the memo in use: the number that MEMOIZE gives.
    pub(super) memoised: usize,
    pub(super) runs: Runs,
    pub(super) guess: Guess,
    /// Bytes of the input, where that is known.
    pub(super) size: Option<u64>,
}

impl<'n, R: Read> Walk<'n, R> {
    pub(super) fn new(name: &'n str, source: R, size: Option<u64>) -> Self {
        Self {
            window: Window::new(name, source),
            build: Builder::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::default(),
            memoised: 0,
            runs: Runs::default(),
            guess: Guess::default(),
            size,
        }
    }

    /// Reads to the end of the input.
    pub(super) fn read(mut self, short_ways: bool) -> Result<Rank> {
        self.protocol()?;
        let root = self.walk(short_ways)?;
        let name = self.window.name.to_owned();
        let end = self.window.offset();
        let build = self.build;
        let (bytes, crc32, behind) = self.window.drain()?;
        let mut rank = build.finish(root).map_err(|r| malformed(&name, end, &r))?;
        rank.skipped
            .count_many("byte behind the end of the pickle", behind, end);
        rank.source = Source {
            name,
            format: FORMAT.to_owned(),
            bytes,
            crc32,
        };
        Ok(rank)
    }

    fn protocol(&mut self) -> Result<()> {
        let head = self.window.take(2, "a pickle")?;
        match *head {
            [op::PROTO, 2..=5] => Ok(()),
            [op::PROTO, version] => Err(self.window.malformed_at(
                1,
                "pickle protocol 2, 3, 4 or 5",
                &format!("protocol {version}"),
                "write the snapshot with pickle.dump(snapshot, file, protocol=4)",
            )),
            _ => Err(self.window.malformed_at(
                0,
                "pickle protocol 2, 3, 4 or 5",
                "a pickle of protocol 0 or 1, or something else",
                "write the snapshot with pickle.dump(snapshot, file, protocol=4)",
            )),
        }
    }

    fn walk(&mut self, short_ways: bool) -> Result<Val> {
        loop {
            self.window.want(16)?;
            let Some(&code) = self.window.rest().first() else {
                return Err(self.window.cut_off("the end of the pickle (STOP)"));
            };
            if short_ways {
                if code == op::EMPTY_DICT && self.event()? {
                    continue;
                }
                if code == op::EMPTY_LIST && self.frame_list()? {
                    continue;
                }
            }
            self.window.at += 1;
            match code {
                op::BINGET => {
                    let slot = usize::from(self.bytes::<1>()?[0]);
                    self.get(slot)?;
                }
                op::LONG_BINGET => {
                    let slot = u32::from_le_bytes(self.bytes()?) as usize;
                    self.get(slot)?;
                }
                op::GET => {
                    let slot = self.slot_text()?;
                    self.get(slot)?;
                }
                op::MEMOIZE => self.put(self.memoised)?,
                op::BINPUT => {
                    let slot = usize::from(self.bytes::<1>()?[0]);
                    self.put(slot)?;
                }
                op::LONG_BINPUT => {
                    let slot = u32::from_le_bytes(self.bytes()?) as usize;
                    self.put(slot)?;
                }
                op::PUT => {
                    let slot = self.slot_text()?;
                    self.put(slot)?;
                }
                op::MARK => {
                    if self.marks.len() >= MAX_MARKS {
                        let most = format!("at most {MAX_MARKS} levels of nesting");
                        return Err(self.window.malformed(&most, "more", DAMAGED));
                    }
                    self.marks.push(self.stack.len());
                }
                op::STOP => return self.stop(),
                op::FRAME => {
                    // Frames only say how much to read ahead.
                    self.window.take(8, "the length of a frame")?;
                }
                op::PROTO => {
                    self.window.take(1, "a protocol")?;
                }
                op::POP => {
                    if self.marks.last() == Some(&self.stack.len()) {
                        self.marks.pop();
                    } else {
                        self.pop("POP")?;
                    }
                }
                op::POP_MARK => {
                    let start = self.mark("POP_MARK")?;
                    self.stack.truncate(start);
                }
                op::DUP => {
                    let top = self.top("DUP")?;
                    self.push(top)?;
                }
                _ => self.value_or_container(code)?,
            }
        }
    }

    fn value_or_container(&mut self, code: u8) -> Result<()> {
        match code {
            op::NONE => self.push(Val::None),
            op::NEWTRUE => self.push(Val::Bool(true)),
            op::NEWFALSE => self.push(Val::Bool(false)),
            op::BININT => {
                let value = i32::from_le_bytes(self.bytes()?);
                self.push(Val::Int(value.into()))
            }
            op::BININT1 => {
                let value = self.bytes::<1>()?[0];
                self.push(Val::Int(value.into()))
            }
            op::BININT2 => {
                let value = u16::from_le_bytes(self.bytes()?);
                self.push(Val::Int(value.into()))
            }
            op::BINFLOAT => {
                let value = f64::from_be_bytes(self.bytes()?);
                self.push(Val::Float(value))
            }
            op::LONG1 => {
                let length = usize::from(self.bytes::<1>()?[0]);
                self.long(length)
            }
            op::LONG4 => {
                let length = u32::from_le_bytes(self.bytes()?) as usize;
                self.long(length)
            }
            op::SHORT_BINUNICODE | op::SHORT_BINSTRING => {
                let length = usize::from(self.bytes::<1>()?[0]);
                self.text(length)
            }
            op::BINUNICODE | op::BINSTRING => {
                let length = u32::from_le_bytes(self.bytes()?) as usize;
                self.text(length)
            }
            op::BINUNICODE8 => {
                let length = self.length8()?;
                self.text(length)
            }
            op::SHORT_BINBYTES => {
                let length = usize::from(self.bytes::<1>()?[0]);
                self.blob(length)
            }
            op::BINBYTES => {
                let length = u32::from_le_bytes(self.bytes()?) as usize;
                self.blob(length)
            }
            op::BINBYTES8 | op::BYTEARRAY8 => {
                let length = self.length8()?;
                self.blob(length)
            }
            op::EMPTY_DICT => {
                self.build.offset = self.window.offset();
                let dict = self.build.new_dict();
                let dict = self.built(dict)?;
                self.push(dict)
            }
            op::EMPTY_LIST => {
                self.build.offset = self.window.offset();
                let list = self.build.new_list();
                let list = self.built(list)?;
                self.push(list)
            }
            op::EMPTY_TUPLE => self.push(Val::Empty),
            op::TUPLE1 => self.tuple(1, "TUPLE1"),
            op::TUPLE2 => self.tuple(2, "TUPLE2"),
            op::TUPLE3 => self.tuple(3, "TUPLE3"),
            op::TUPLE => {
                let start = self.mark("TUPLE")?;
                self.tuple(self.stack.len() - start, "TUPLE")
            }
            op::LIST | op::DICT => {
                let start = self.mark("LIST or DICT")?;
                let new = if code == op::LIST {
                    self.build.new_list()
                } else {
                    self.build.new_dict()
                };
                let new = self.built(new)?;
                self.fill(new, start, code == op::DICT)?;
                self.push(new)
            }
            op::APPEND => {
                let item = self.pop("APPEND")?;
                let list = self.top("APPEND")?;
                self.build.offset = self.window.offset();
                let done = self.build.extend(list, &[item]);
                self.built(done)
            }
            op::SETITEM => {
                let value = self.pop("SETITEM")?;
                let key = self.pop("SETITEM")?;
                let dict = self.top("SETITEM")?;
                self.build.offset = self.window.offset();
                let done = self.build.set(dict, &[key, value]);
                self.built(done)
            }
            op::APPENDS | op::SETITEMS => {
                let name = if code == op::APPENDS {
                    "APPENDS"
                } else {
                    "SETITEMS"
                };
                let start = self.mark(name)?;
                let below = start.checked_sub(1).and_then(|i| self.stack.get(i));
                let Some(&container) = below else {
                    return Err(self.short_of(name));
                };
                self.fill(container, start, code == op::SETITEMS)
            }
            other => Err(self.refuse(other)),
        }
    }

    /// Moves what is on the stack from `start` into a container.
    fn fill(&mut self, container: Val, start: usize, dict: bool) -> Result<()> {
        self.build.offset = self.window.offset();
        let items = self.stack.get(start..).unwrap_or_default();
        let done = if dict {
            self.build.set(container, items)
        } else {
            self.build.extend(container, items)
        };
        self.stack.truncate(start);
        self.built(done)
    }

    fn stop(&mut self) -> Result<Val> {
        match (self.stack.as_slice(), self.marks.is_empty()) {
            (&[root], true) => Ok(root),
            (rest, _) => {
                let found = format!("{} values", rest.len());
                Err(self
                    .window
                    .malformed("one value at the end of the pickle", &found, DAMAGED))
            }
        }
    }

    #[cold]
    fn refuse(&self, code: u8) -> Error {
        let at = self.window.offset() - 1;
        let window = &self.window;
        match op::refused(code) {
            Some((name, Why::Executes)) => window.malformed_at(
                at,
                "plain data",
                &format!("the opcode {name}, which imports or calls code"),
                "MemScope runs no code from a file: this is not what torch.cuda.memory._dump_snapshot writes",
            ),
            Some((name, Why::Old)) => window.malformed_at(
                at,
                "pickle protocol 2, 3, 4 or 5",
                &format!("the opcode {name} of protocol 0 or 1"),
                "write the snapshot with pickle.dump(snapshot, file, protocol=4)",
            ),
            Some((name, Why::Foreign)) => window.malformed_at(
                at,
                "dictionaries, lists, tuples, numbers and text",
                &format!("the opcode {name}"),
                "this is not what torch.cuda.memory._dump_snapshot writes",
            ),
            None => window.malformed_at(
                at,
                "an opcode of pickle",
                &format!("byte {code:#04x}"),
                DAMAGED,
            ),
        }
    }

    #[inline]
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        if let Some(&bytes) = self.window.rest().first_chunk::<N>() {
            self.window.at += N;
            return Ok(bytes);
        }
        let bytes = self.window.take(N, "the rest of an opcode")?;
        // `take` gave exactly N bytes.
        Ok(bytes.first_chunk::<N>().copied().unwrap_or([0; N]))
    }

    fn length8(&mut self) -> Result<usize> {
        let length = u64::from_le_bytes(self.bytes()?);
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn slot_text(&mut self) -> Result<usize> {
        let at = self.window.offset();
        let text = self.window.line(20)?;
        text.parse().map_err(|_| {
            let found = text.escape_default().to_string();
            self.window
                .malformed_at(at, "the number of a memo slot", &found, DAMAGED)
        })
    }

    fn long(&mut self, length: usize) -> Result<()> {
        let at = self.window.offset();
        if length > MAX_LONG {
            let found = format!("one of {length} bytes");
            return Err(self.window.malformed_at(
                at,
                "a whole number below 2^64",
                &found,
                "no address or size is that large: the file was damaged",
            ));
        }
        let bytes = self.window.take(length, "the bytes of a whole number")?;
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let value = i128::from_le_bytes(wide);
        let value = match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => Val::Int(value),
            (_, Ok(value)) => Val::Big(value),
            _ => {
                return Err(self.window.malformed_at(
                    at,
                    "a whole number between -2^63 and 2^64",
                    &value.to_string(),
                    "no address or size is that large: the file was damaged",
                ));
            }
        };
        self.push(value)
    }

    fn text(&mut self, length: usize) -> Result<()> {
        let at = self.window.offset();
        let bytes = self.window.take(length, "the bytes of a text")?;
        let id = match self.build.strings.find(bytes) {
            Some(id) => Ok(id),
            // Python writes lone surrogates with `surrogatepass`: shown as the mark for damage.
            None => self.build.intern(&String::from_utf8_lossy(bytes)),
        };
        match id {
            Ok(id) => self.push(Val::Str(id)),
            Err(refused) => Err(malformed(self.window.name, at, &refused)),
        }
    }

    fn blob(&mut self, length: usize) -> Result<()> {
        self.window.take(length, "the bytes of a bytes object")?;
        self.push(Val::Bytes)
    }

    fn tuple(&mut self, count: usize, name: &str) -> Result<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let start = self.stack.len().checked_sub(count);
        let Some(start) = start.filter(|&s| s >= floor) else {
            return Err(self.short_of(name));
        };
        let tuple = self
            .build
            .tuple(self.stack.get(start..).unwrap_or_default());
        let tuple = self.built(tuple)?;
        self.stack.truncate(start);
        self.push(tuple)
    }

    #[inline]
    pub(super) fn push(&mut self, value: Val) -> Result<()> {
        if self.stack.len() >= FREE {
            self.deep()?;
        }
        self.stack.push(value);
        Ok(())
    }

    #[cold]
    fn deep(&self) -> Result<()> {
        if self.stack.len() >= MAX_STACK {
            let most = format!("at most {MAX_STACK} values in one list");
            return Err(self.window.malformed(&most, "more", DAMAGED));
        }
        self.explained(self.stack.len(), PER_VALUE, "values in one list")
    }

    /// Refuses a file that holds far more of something than its length explains.
    fn explained(&self, count: usize, bytes: u64, what: &str) -> Result<()> {
        let most = FREE as u64 + self.window.offset() / bytes;
        if count as u64 > most {
            let most = format!("at most {most} {what} in so many bytes");
            let advice = "no PyTorch writes such a file: take the snapshot again";
            return Err(self.window.malformed(&most, "more", advice));
        }
        Ok(())
    }

    fn top(&mut self, name: &str) -> Result<Val> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(&value) if self.stack.len() > floor => Ok(value),
            _ => Err(self.short_of(name)),
        }
    }

    fn pop(&mut self, name: &str) -> Result<Val> {
        let value = self.top(name)?;
        self.stack.pop();
        Ok(value)
    }

    fn mark(&mut self, name: &str) -> Result<usize> {
        self.marks.pop().ok_or_else(|| self.short_of(name))
    }

    #[cold]
    fn short_of(&self, name: &str) -> Error {
        let found = format!("{name} with too few");
        self.window
            .malformed("values on the stack of the pickle", &found, DAMAGED)
    }

    #[inline]
    fn get(&mut self, slot: usize) -> Result<()> {
        match self.memo.get(slot) {
            Some(value) => self.push(value),
            None => {
                let found = format!("slot {slot}, which is empty");
                Err(self
                    .window
                    .malformed("a memo slot that was filled before", &found, DAMAGED))
            }
        }
    }

    #[inline]
    fn put(&mut self, slot: usize) -> Result<()> {
        let value = self.top("a memo opcode")?;
        if slot == self.memo.len() {
            if slot >= FREE {
                self.explained(slot, PER_SLOT, "slots of the memo")?;
            }
            self.memo.push(value);
            self.memoised += 1;
            return Ok(());
        }
        self.put_elsewhere(slot, value)
    }

    #[cold]
    fn put_elsewhere(&mut self, slot: usize, value: Val) -> Result<()> {
        // Writers number the slots in order, so a slot far ahead is no writer's.
        if slot > 2 * self.memoised + MAX_GAP {
            let found = format!("slot {slot}");
            let most = format!("a memo slot near {}", self.memoised);
            return Err(self.window.malformed(&most, &found, DAMAGED));
        }
        self.memo.grow(slot + 1);
        if self.memo.get(slot).is_none() {
            self.memoised += 1;
        }
        self.memo.set(slot, value);
        // What was known of bytes that name slots is no longer so.
        self.runs.forget();
        self.guess.forget();
        Ok(())
    }

    #[inline]
    pub(super) fn built<T>(&self, built: Built<T>) -> Result<T> {
        built.map_err(|r| malformed(self.window.name, self.window.offset(), &r))
    }
}

fn malformed(name: &str, offset: u64, refused: &Refused) -> Error {
    Error::Malformed {
        name: name.to_owned(),
        offset,
        expected: refused.expected.to_owned(),
        found: refused.found.clone(),
        advice: refused.advice.to_owned(),
    }
}
