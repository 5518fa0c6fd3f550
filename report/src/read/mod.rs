//! Readers: one source format a file, all turning bytes into tables.
//!
//! ```
//! let error = report::read::read(report::read::Input { name: "notes.txt", bytes: b"hello" }).unwrap_err();
//! assert!(error.to_string().starts_with("notes.txt: at byte 0: expected "));
//! ```

#[cfg(feature = "snapshot")]
pub mod compressed;
pub mod html;
#[cfg(feature = "snapshot")]
pub mod journal;
pub(crate) mod json;
#[cfg(feature = "snapshot")]
pub mod kineto;
#[cfg(feature = "snapshot")]
pub mod memory_timeline;
#[cfg(feature = "snapshot")]
pub(crate) mod pickle;
pub mod runtime_report;
#[cfg(feature = "snapshot")]
pub mod snapshot;
#[cfg(feature = "snapshot")]
mod stream;

use std::io::Read;

use crate::error::Result;
use crate::model::Report;
use crate::{Error, container};

#[cfg(feature = "snapshot")]
pub use stream::{read_sized, read_stream};

/// An input held in memory.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// What to call it in messages.
    pub name: &'a str,
    /// All of it.
    pub bytes: &'a [u8],
}

/// The kinds of input, told by their first bytes (never by the file's name).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// JSON: `runtime_report.json` of the public MemScope.
    RuntimeReport,
    /// A container (`.memscope`).
    Container,
    /// An HTML report made by `memscope render`.
    Html,
    /// A pickled PyTorch memory snapshot.
    #[cfg(feature = "snapshot")]
    Snapshot,
    /// A PyTorch memory snapshot as JSON.
    #[cfg(feature = "snapshot")]
    SnapshotJson,
    /// A trace of PyTorch's profiler: see [`kineto`].
    #[cfg(feature = "snapshot")]
    Trace,
    /// A memory timeline of PyTorch's profiler: see [`memory_timeline`].
    #[cfg(feature = "snapshot")]
    MemoryTimeline,
    /// A recorder's journal: see [`journal`].
    #[cfg(feature = "snapshot")]
    Journal,
    /// Any of the others, compressed: see [`compressed`].
    #[cfg(feature = "snapshot")]
    Compressed,
}

/// How many first bytes [`Format::detect`] wants to see.
pub const DETECT_BYTES: usize = 512;

impl Format {
    /// Tells the format from the first [`DETECT_BYTES`] (or all, if fewer).
    ///
    /// # Errors
    /// [`Error::Unsupported`] names what was found when it is none of the known kinds.
    pub fn detect(name: &str, head: &[u8]) -> Result<Self> {
        if head.starts_with(container::MAGIC) {
            return Ok(Self::Container);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let text = text.trim_ascii_start();
        #[cfg(feature = "snapshot")]
        {
            if compressed::is_compressed(head) {
                return Ok(Self::Compressed);
            }
            if let [0x80, _, ..] = head {
                return Ok(Self::Snapshot);
            }
            // A file system that lost its power leaves NULs ahead of the records.
            let zeros = text.iter().take_while(|b| **b == 0).count();
            if journal::begins(text.get(zeros..).unwrap_or_default().trim_ascii_start()) {
                return Ok(Self::Journal);
            }
            if list_of_lists(text) {
                return Ok(Self::MemoryTimeline);
            }
            if first_key(text, &TRACE_KEYS) {
                return Ok(Self::Trace);
            }
            if text.first() == Some(&b'[') || first_key(text, &SNAPSHOT_KEYS) {
                return Ok(Self::SnapshotJson);
            }
        }
        if text.first() == Some(&b'{') {
            return Ok(Self::RuntimeReport);
        }
        if text.first() == Some(&b'<') {
            return Ok(Self::Html);
        }
        Err(Error::Unsupported {
            name: name.to_owned(),
            expected: if cfg!(feature = "snapshot") {
                "a runtime_report.json, a journal, a PyTorch memory snapshot, a trace or memory timeline of \
                 its profiler, a .memscope container or an HTML report of MemScope"
            } else {
                "a runtime_report.json, a .memscope container or an HTML report of MemScope"
            }
            .to_owned(),
            found: describe_head(head),
        })
    }
}

fn describe_head(head: &[u8]) -> String {
    match head {
        [] => "an empty input".to_owned(),
        head if head.trim_ascii().is_empty() => "only white space".to_owned(),
        #[cfg(not(feature = "snapshot"))]
        [0x80, 2..=5, ..] => {
            "a Python pickle. This page shows runtime reports only: drop a memory snapshot on the \
             page that `memscope viewer` writes, or use `memscope render`"
                .to_owned()
        }
        #[cfg(not(feature = "snapshot"))]
        [0x1f, 0x8b, ..] => {
            "gzip-compressed data, which this page does not read: decompress it, or drop it on the \
             page that `memscope viewer` writes"
                .to_owned()
        }
        #[cfg(not(feature = "snapshot"))]
        [b'[', ..] => "a JSON list (a runtime report is a JSON object)".to_owned(),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16 text (save it as UTF-8)".to_owned(),
        [b'P', b'K', 3, 4, ..] => "a ZIP archive (extract it first)".to_owned(),
        [b'(', ..] | [b'c', ..] if head.contains(&b'\n') => {
            "what may be a Python pickle of protocol 0 or 1 (write it with protocol=4)".to_owned()
        }
        _ => {
            let shown: String = String::from_utf8_lossy(head.get(..24).unwrap_or(head))
                .chars()
                .flat_map(char::escape_default)
                .collect();
            format!("\"{shown}\"")
        }
    }
}

#[cfg(feature = "snapshot")]
const SNAPSHOT_KEYS: [&str; 6] = [
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
];

#[cfg(feature = "snapshot")]
const TRACE_KEYS: [&str; 7] = [
    "schemaVersion",
    "deviceProperties",
    "distributedInfo",
    "displayTimeUnit",
    "baseTimeNanoseconds",
    "traceEvents",
    "traceName",
];

/// Whether an object's first key is one of these.
#[cfg(feature = "snapshot")]
fn first_key(text: &[u8], keys: &[&str]) -> bool {
    let Some(text) = text.strip_prefix(b"{") else {
        return false;
    };
    keys.iter().any(|key| {
        let rest = text.trim_ascii_start().strip_prefix(b"\"");
        rest.and_then(|r| r.strip_prefix(key.as_bytes()))
            .is_some_and(|r| r.first() == Some(&b'"'))
    })
}

/// Whether a list begins with a list of numbers, or an empty one.
#[cfg(feature = "snapshot")]
fn list_of_lists(text: &[u8]) -> bool {
    let inside = text
        .strip_prefix(b"[")
        .and_then(|t| t.trim_ascii_start().strip_prefix(b"["));
    let first = inside.and_then(|t| t.trim_ascii_start().first());
    matches!(first, Some(b'0'..=b'9' | b'-' | b']'))
}

/// Reads any supported input from memory.
///
/// # Errors
/// See [`Error`]. Nothing is half-read: either every rank of the input comes back, or an error.
pub fn read(input: Input<'_>) -> Result<Report> {
    let head = input.bytes.get(..DETECT_BYTES).unwrap_or(input.bytes);
    match Format::detect(input.name, head)? {
        #[cfg(feature = "snapshot")]
        Format::Snapshot
        | Format::SnapshotJson
        | Format::Trace
        | Format::MemoryTimeline
        | Format::Journal
        | Format::Compressed => read_sized(input.name, input.bytes, Some(input.bytes.len() as u64)),
        Format::RuntimeReport => read_runtime_report(input.name, input.bytes),
        Format::Container => container::Container::open(input.name, input.bytes.to_vec())?.report(),
        Format::Html => {
            container::Container::open(input.name, html::container(input.name, input.bytes)?)?
                .report()
        }
    }
}

/// Reads a `runtime_report.json` from a stream, with memory for its tables but not for its text.
///
/// # Errors
/// See [`Error`].
pub fn read_runtime_report(name: &str, source: impl Read) -> Result<Report> {
    Ok(Report::of(vec![runtime_report::read(name, source)?]))
}
