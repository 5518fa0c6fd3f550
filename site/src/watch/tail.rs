//! A growing file of records: only what is new is read.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value};

/// Read at once; what is beyond comes with the next look.
const MOST: u64 = 256 << 20;

/// The end of a file.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    at: u64,
    /// A line whose end has not been written yet.
    begun: Vec<u8>,
    /// When it was last written.
    pub(super) written: Option<SystemTime>,
}

impl Tail {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            at: 0,
            begun: Vec::new(),
            written: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The records that came since the last look. A file that went away has none.
    pub(super) fn news(&mut self) -> Vec<Map<String, Value>> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(self.at))?;
            file.take(MOST).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().unwrap_or_default();
        self.written = std::fs::metadata(&self.path)
            .and_then(|m| m.modified())
            .ok();
        self.at += bytes.len() as u64;
        self.begun.extend_from_slice(&bytes);
        let Some(end) = self.begun.iter().rposition(|&b| b == b'\n') else {
            return Vec::new();
        };
        let rest = self.begun.split_off(end + 1);
        let lines = std::mem::replace(&mut self.begun, rest);
        let lines = lines.split(|&b| b == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}
