//! Compressed inputs: gzip, xz and zstd, told by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use xz4rust::{XzDecoder, XzNextBlockResult};

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
    Ok(match kind {
        Some(0) => Box::new(MultiGzDecoder::new(source)),
        Some(1) => Box::new(Xz::new(source)),
        Some(_) => Box::new(Zstd {
            decoder: None,
            source: Some(source),
        }),
        None => Box::new(source),
    })
}

struct Xz<R> {
    source: R,
    decoder: XzDecoder<'static>,
    ended: bool,
}

impl<R: BufRead> Xz<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            decoder: XzDecoder::with_alloc_dict_size(1 << 20, MAX_WINDOW),
            ended: false,
        }
    }
}

impl<R: BufRead> Read for Xz<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let data = self.source.fill_buf()?;
            if self.ended {
                // Files may be put end to end, and padded with zeros.
                let zeros = data.iter().take_while(|&&b| b == 0).count();
                if data.is_empty() {
                    return Ok(0);
                }
                if zeros == 0 {
                    self.decoder = XzDecoder::with_alloc_dict_size(1 << 20, MAX_WINDOW);
                    self.ended = false;
                }
                self.source.consume(zeros);
                continue;
            }
            let at_end = data.is_empty();
            let result = self
                .decoder
                .decode(data, into)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
            let (used, made) = match result {
                XzNextBlockResult::NeedMoreData(used, made) => (used, made),
                XzNextBlockResult::EndOfStream(used, made) => {
                    self.ended = true;
                    (used, made)
                }
            };
            self.source.consume(used);
            if made > 0 {
                return Ok(made);
            }
            if at_end && used == 0 && !self.ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Frames one after the other, as zstd files may be put end to end.
struct Zstd<R: BufRead> {
    decoder: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
    source: Option<R>,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(decoder) = &mut self.decoder {
                let n = decoder.read(into)?;
                if n > 0 {
                    return Ok(n);
                }
                self.source = self.decoder.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut source) = self.source.take() else {
                return Ok(0);
            };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let decoder = StreamingDecoder::new_with_max_window_size(source, MAX_WINDOW as u64)
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
            self.decoder = Some(decoder);
        }
    }
}
