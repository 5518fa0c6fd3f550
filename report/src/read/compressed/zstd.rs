//! zstd: frames one after the other, as files may be put end to end.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Damaged, MAX_WINDOW};

pub(super) struct Zstd<R> {
    decoder: FrameDecoder,
    source: R,
    /// Whether a frame was begun and not ended.
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    pub(super) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW as u64);
        Self {
            decoder,
            source,
            inside: false,
        }
    }

    /// Begins the next frame that has content; `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                // Frames of other tools' own data, such as the index of a seekable file.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let mut skipped = self.source.by_ref().take(length);
                    if io::copy(&mut skipped, &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(said(&e)),
            }
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside {
                self.inside = self.begin()?;
                if !self.inside {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|e| said(&e))?;
            }
            let n = self.decoder.read(into)?;
            if n > 0 {
                return Ok(n);
            }
            self.inside = false;
            let stated = self.decoder.get_checksum_from_data();
            if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                return Err(damaged(
                    "zstd data that fits its checksum".to_owned(),
                    "data that does not".to_owned(),
                    "",
                ));
            }
        }
    }
}

fn damaged(expected: String, found: String, advice: &str) -> io::Error {
    Damaged {
        offset: 0,
        expected,
        found,
        advice: advice.to_owned(),
    }
    .into()
}

/// As for xz: what is to be said beyond that the data is damaged or ends.
fn said(error: &FrameDecoderError) -> io::Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { requested, .. } => damaged(
            format!("zstd data with a window of at most {MAX_WINDOW} bytes"),
            format!("one of {requested} bytes"),
            "decompress the file with `zstd -d --long=31` and give MemScope the result",
        ),
        FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_)) => {
            damaged(
                "another zstd frame or the end of the file".to_owned(),
                "something else".to_owned(),
                "",
            )
        }
        FrameDecoderError::DictNotProvided { .. } => damaged(
            "zstd data without a dictionary".to_owned(),
            "data that needs one".to_owned(),
            "decompress the file with `zstd -d -D` and give MemScope the result",
        ),
        _ => io::ErrorKind::InvalidData.into(),
    }
}
