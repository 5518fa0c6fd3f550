//! Lines of a journal's file, and what is wrong with some of them.

use std::io::Read;

use serde_json::{Map, Value};

use crate::model::Skipped;

/// A longer line is no record: an inventory of a hundred thousand tensors takes a quarter of this.
const MAX_LINE: usize = 64 << 20;

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    pub kind: String,
    pub seq: Option<u64>,
    pub t: Option<u64>,
    pub keys: Map<String, Value>,
    /// Where it begins in its file.
    pub offset: u64,
}

impl Record {
    pub fn number(&self, key: &str) -> Option<u64> {
        number(&self.keys, key)
    }

    pub fn signed(&self, key: &str) -> Option<i64> {
        self.keys
            .get(key)?
            .as_i64()
            .filter(|&v| v != i64::MIN && v != i64::MAX)
    }

    pub fn text(&self, key: &str) -> &str {
        text(&self.keys, key)
    }

    pub fn some(&self, key: &str) -> Option<String> {
        some(&self.keys, key)
    }

    pub fn objects(&self, key: &str) -> impl Iterator<Item = &Map<String, Value>> + '_ {
        let list = self.keys.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_object)
    }
}

/// A figure below 2^63: no device has more, and tables keep what is above as marks.
pub(super) fn number(keys: &Map<String, Value>, key: &str) -> Option<u64> {
    keys.get(key)?.as_u64().filter(|&v| v < 1 << 63)
}

pub(super) fn text<'a>(keys: &'a Map<String, Value>, key: &str) -> &'a str {
    keys.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn some(keys: &Map<String, Value>, key: &str) -> Option<String> {
    Some(text(keys, key))
        .filter(|t| !t.is_empty())
        .map(str::to_owned)
}

/// The records of one file.
pub(super) struct Lines<'a> {
    source: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// What one read brings.
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
    /// Offset of `buffer[at]`.
    pub offset: u64,
    pub crc: crc32fast::Hasher,
}

impl<'a> Lines<'a> {
    pub fn new(source: Box<dyn Read + 'a>) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            chunk: vec![0; 64 << 10],
            at: 0,
            ended: false,
            offset: 0,
            crc: crc32fast::Hasher::new(),
        }
    }

    /// Fetches more; false at the end.
    fn more(&mut self) -> std::io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let n = loop {
            match self.source.read(&mut self.chunk) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        let read = self.chunk.get(..n).unwrap_or_default();
        self.crc.update(read);
        self.buffer.extend_from_slice(read);
        self.ended = n == 0;
        Ok(n > 0)
    }

    /// The next record. What is no record is counted.
    pub fn next(&mut self, skipped: &mut Skipped) -> std::io::Result<Option<Record>> {
        loop {
            let mut seen = 0;
            let end = loop {
                let rest = self.buffer.get(self.at + seen..).unwrap_or_default();
                match rest.iter().position(|&b| b == b'\n') {
                    Some(n) => break Some(self.at + seen + n),
                    None => seen = self.buffer.len() - self.at,
                }
                if seen > MAX_LINE {
                    self.pass(seen);
                    skipped.count("part of a line that is too long", self.offset);
                    seen = 0;
                }
                if !self.more()? {
                    break None;
                }
            };
            let offset = self.offset;
            let stop = end.unwrap_or(self.buffer.len());
            let line = self.buffer.get(self.at..stop).unwrap_or_default();
            if end.is_none() {
                if !line.trim_ascii().is_empty() {
                    skipped.count("torn last line", offset);
                }
                return Ok(None);
            }
            let record = record(line, offset, skipped);
            self.pass(stop + 1 - self.at);
            if record.is_some() {
                return Ok(record);
            }
        }
    }

    fn pass(&mut self, n: usize) {
        self.at += n;
        self.offset += n as u64;
    }
}

/// A line as a record. File systems leave NULs where a host lost its power.
fn record(line: &[u8], offset: u64, skipped: &mut Skipped) -> Option<Record> {
    let nuls = line.iter().filter(|&&b| b == 0).count();
    skipped.count_many("NUL in a journal", nuls as u64, offset);
    let first = line.iter().position(|&b| b != 0).unwrap_or(line.len());
    let line = line.get(first..).unwrap_or_default().trim_ascii();
    if line.is_empty() {
        return None;
    }
    match serde_json::from_slice::<Map<String, Value>>(line) {
        Ok(mut keys) if keys.get("k").is_some_and(Value::is_string) => {
            let kind = match keys.remove("k") {
                Some(Value::String(kind)) => kind,
                _ => String::new(),
            };
            let seq = keys.remove("seq").and_then(|v| v.as_u64());
            let t = keys.remove("t").and_then(|v| v.as_u64());
            Some(Record {
                kind,
                seq,
                t,
                keys,
                offset,
            })
        }
        _ => {
            skipped.count("line that is no record", offset);
            None
        }
    }
}
