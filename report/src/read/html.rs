//! The container inside an HTML report.
//!
//! The packer writes it as base64 in `<script type="application/octet-stream" class="memscope-data">`
//! elements of at most 16 MiB each, because browsers drop single scripts of 512 MiB in silence.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Error;
use crate::error::Result;

/// Opens one chunk of the container.
pub const CHUNK_OPEN: &str = r#"<script type="application/octet-stream" class="memscope-data">"#;
/// Closes a chunk.
pub const CHUNK_CLOSE: &str = "</script>";

/// Takes the container's bytes out of an HTML report.
///
/// # Errors
/// [`Error::Malformed`] when the page carries no container (a page of another tool, or the viewer
/// without data) or a chunk is cut off.
pub fn container(name: &str, page: &[u8]) -> Result<Vec<u8>> {
    let bad = |offset: usize, expected: &str, found: &str, advice: &str| Error::Malformed {
        name: name.to_owned(),
        offset: offset as u64,
        expected: expected.to_owned(),
        found: found.to_owned(),
        advice: advice.to_owned(),
    };
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(open) = find(page, at, CHUNK_OPEN.as_bytes()) {
        let start = open + CHUNK_OPEN.len();
        let end = find(page, start, CHUNK_CLOSE.as_bytes()).ok_or_else(|| {
            bad(
                start,
                "the end of a data chunk",
                "the end of the file",
                "the page was cut off on its way: copy it again",
            )
        })?;
        STANDARD
            .decode_vec(page[start..end].trim_ascii(), &mut out)
            .map_err(|e| {
                bad(
                    start,
                    "base64",
                    &e.to_string(),
                    "the page was changed on its way: copy it again",
                )
            })?;
        at = end;
    }
    if out.is_empty() {
        return Err(bad(
            page.len(),
            "an HTML report of MemScope with its data",
            "a page without",
            "give the page that `memscope render` wrote",
        ));
    }
    Ok(out)
}

fn find(haystack: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        let rest = haystack.get(at..)?;
        at += rest.iter().position(|&b| b == first)?;
        if haystack.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}
