//! Any input from a stream.

use std::io::Read;

use super::{
    DETECT_BYTES, Format, Input, compressed, journal, kineto, memory_timeline, read,
    read_runtime_report, snapshot,
};
use crate::error::Result;
use crate::model::Report;
use crate::{Error, container};

/// Reads any supported input from a stream, compressed or not. Reports and snapshots need memory
/// for their tables but not for their bytes.
///
/// # Errors
/// See [`Error`].
pub fn read_stream(name: &str, source: impl Read) -> Result<Report> {
    read_sized(name, source, None)
}

/// As [`read_stream`], told how many bytes `source` has: its tables are then made as large as they
/// will be at once. A size that is wrong costs memory or time, no more.
///
/// # Errors
/// See [`Error`].
pub fn read_sized(name: &str, source: impl Read, size: Option<u64>) -> Result<Report> {
    let io = |source| Error::reading(name, 0, source);
    let mut source = compressed::uncompressed(source).map_err(io)?;
    let mut head = Vec::new();
    source
        .by_ref()
        .take(DETECT_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(io)?;
    let format = Format::detect(name, &head)?;
    let mut source = std::io::Cursor::new(head).chain(source);
    match format {
        Format::RuntimeReport => read_runtime_report(name, source),
        Format::Snapshot => Ok(Report::of(vec![crate::read::pickle::read(
            name, source, size,
        )?])),
        Format::SnapshotJson => Ok(Report::of(vec![snapshot::read_json(name, source)?])),
        Format::Trace => Ok(Report::of(vec![kineto::read(name, source)?])),
        Format::MemoryTimeline => Ok(Report::of(vec![memory_timeline::read(name, source)?])),
        Format::Journal => {
            let part = journal::Part {
                name: name
                    .rsplit(['/', '\\'])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                source: Box::new(source),
            };
            Ok(Report::of(vec![journal::read(name, vec![part])?]))
        }
        Format::Compressed => Err(Error::Unsupported {
            name: name.to_owned(),
            expected: "an input that is compressed once".to_owned(),
            found: "one that is compressed again".to_owned(),
        }),
        Format::Container | Format::Html => {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes).map_err(io)?;
            match format {
                Format::Html => read(Input {
                    name,
                    bytes: &bytes,
                }),
                _ => container::Container::open(name, bytes)?.report(),
            }
        }
    }
}
