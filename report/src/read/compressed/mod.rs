//! Compressed inputs: gzip, xz and zstd, told by their first bytes.
//!
//! What comes out is counted against what went in: a few megabytes that unpack to hundreds of
//! gigabytes are no snapshot, and are left off with a message long before.

mod budget;
mod damaged;
mod xz;
mod zstd;

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use budget::{Budget, Counted};
pub(crate) use damaged::Damaged;
use xz::Xz;
use zstd::Zstd;

/// The largest dictionary or window that is followed, bytes; `xz -9` and `zstd --long` ask for 64
/// and 128 MiB.
const MAX_WINDOW: usize = 128 << 20;

/// First bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// First bytes of an xz file.
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// First bytes of a zstd file.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether `head`, the first bytes of an input, is of a compressed one.
#[must_use]
pub fn is_compressed(head: &[u8]) -> bool {
    [GZIP, XZ, ZSTD].iter().any(|magic| head.starts_with(magic))
}

/// The uncompressed bytes of `source`; those of a source that is not compressed are its own.
///
/// # Errors
/// When the source cannot be read. What is wrong with compressed data shows while reading on.
pub fn uncompressed<'a, R: Read + 'a>(source: R) -> io::Result<Box<dyn Read + 'a>> {
    let mut source = BufReader::with_capacity(64 << 10, source);
    // Six bytes may come in six pieces.
    let mut head = Vec::new();
    source
        .by_ref()
        .take(XZ.len() as u64)
        .read_to_end(&mut head)?;
    let kind = [GZIP, XZ, ZSTD]
        .iter()
        .position(|magic| head.starts_with(magic));
    let source = BufReader::with_capacity(64 << 10, io::Cursor::new(head).chain(source));
    let (source, state) = Counted::new(source);
    Ok(match kind {
        Some(0) => Box::new(Budget::new(MultiGzDecoder::new(source), "gzip", state)),
        Some(1) => Box::new(Budget::new(Xz::new(source), "xz", state)),
        Some(_) => Box::new(Budget::new(Zstd::new(source), "zstd", state)),
        None => Box::new(source),
    })
}
