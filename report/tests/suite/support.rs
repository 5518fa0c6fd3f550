//! Fixtures, and reading in odd ways.

use std::io::{self, Read};

use report::model::Rank;
use serde_json::Value;

/// The reports that the public MemScope wrote.
pub const FIXTURES: [&str; 3] = [
    "original_memscope/rank00000",
    "original_ddp/rank00000",
    "original_ddp/rank00001",
];

pub fn bytes(fixture: &str) -> Vec<u8> {
    let path = format!(
        "{}/../tests/fixtures/{fixture}/runtime_report.json",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A fixture as this crate reads it and as `serde_json` does.
pub fn load(fixture: &str) -> (Rank, Value) {
    let bytes = bytes(fixture);
    let rank = report::read::runtime_report::read("runtime_report.json", &bytes[..]).unwrap();
    (rank, serde_json::from_slice(&bytes).unwrap())
}

/// The first events of a fixture as a whole report, indented as Python does.
pub fn short(fixture: &str, events: usize) -> String {
    let mut json: Value = serde_json::from_slice(&bytes(fixture)).unwrap();
    json["runtime_trace"]
        .as_array_mut()
        .unwrap()
        .truncate(events);
    json["top_events"].as_array_mut().unwrap().truncate(1);
    serde_json::to_string_pretty(&json).unwrap()
}

/// Reads a report from text.
pub fn read(text: impl AsRef<[u8]>) -> Result<Rank, report::Error> {
    report::read::runtime_report::read("r.json", text.as_ref())
}

/// How often `what` was skipped.
pub fn skipped(rank: &Rank, what: &str) -> u64 {
    rank.skipped
        .iter()
        .filter(|s| s.what == what)
        .map(|s| s.count)
        .sum()
}

/// A small generator of numbers (xorshift64), so that tests repeat.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Hands out its bytes in pieces of random sizes, with an interruption now and then.
pub struct Pieces<'a> {
    pub rest: &'a [u8],
    pub most: usize,
    pub random: Random,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.most > 1 && self.random.below(50) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = (1 + self.random.below(self.most))
            .min(into.len())
            .min(self.rest.len());
        into[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        Ok(n)
    }
}

/// Hands out its bytes, then fails.
pub struct Failing<'a>(pub &'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the disk is gone"));
        }
        let n = self.0.len().min(into.len()).min(1000);
        into[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}
