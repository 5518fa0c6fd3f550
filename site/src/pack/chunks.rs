//! The container as base64 in elements that no browser runs.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use report::read::html::{CHUNK_CLOSE, CHUNK_OPEN};

/// Raw bytes of a chunk: 16 MiB of base64. A multiple of 3, so that each chunk is base64 by itself.
const CHUNK: usize = (16 << 20) / 4 * 3;
/// Raw bytes that are encoded at a time; a multiple of 3.
const BLOCK: usize = 48 << 10;

/// Writes all chunks, one a line.
pub(super) fn write(data: &[u8], to: &mut dyn Write) -> std::io::Result<()> {
    let mut text = vec![0; BLOCK / 3 * 4];
    for (i, chunk) in data.chunks(CHUNK).enumerate() {
        if i > 0 {
            to.write_all(b"\n")?;
        }
        to.write_all(CHUNK_OPEN.as_bytes())?;
        for block in chunk.chunks(BLOCK) {
            let n = STANDARD
                .encode_slice(block, &mut text)
                .map_err(std::io::Error::other)?;
            to.write_all(text.get(..n).unwrap_or_default())?;
        }
        to.write_all(CHUNK_CLOSE.as_bytes())?;
    }
    Ok(())
}

/// Size of `raw` bytes once they stand in the file, elements included.
pub(super) fn encoded(raw: u64) -> u64 {
    let chunks = raw.div_ceil(CHUNK as u64);
    let elements =
        chunks * (CHUNK_OPEN.len() + CHUNK_CLOSE.len()) as u64 + chunks.saturating_sub(1);
    raw.div_ceil(3) * 4 + elements
}
