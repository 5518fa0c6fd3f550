//! xz, with files put end to end.

use std::io::{self, BufRead, Read};

use xz4rust::{XzDecoder, XzError, XzNextBlockResult};

use super::{Damaged, MAX_WINDOW};

pub(super) struct Xz<R> {
    source: R,
    decoder: XzDecoder<'static>,
    ended: bool,
}

impl<R: BufRead> Xz<R> {
    pub(super) fn new(source: R) -> Self {
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
            let result = self.decoder.decode(data, into).map_err(|e| said(&e))?;
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

/// An error of the decoder, said for the owner of the file; where there is nothing to say but that
/// the data is damaged or ends, that is left to the one who knows where.
fn said(error: &XzError) -> io::Error {
    let (expected, found, advice) = match error {
        XzError::DictionaryTooLarge(size) => (
            format!("xz data with a dictionary of at most {MAX_WINDOW} bytes"),
            format!("one of {size} bytes"),
            "decompress the file with `xz -d` and give MemScope the result",
        ),
        XzError::UnsupportedCheckType(_)
        | XzError::UnsupportedStreamHeaderOption
        | XzError::UnsupportedBlockHeaderOption => (
            "xz data as `xz` writes it".to_owned(),
            "an option that is not read".to_owned(),
            "decompress the file with `xz -d` and give MemScope the result",
        ),
        XzError::ContentCrc32Mismatch(..)
        | XzError::IndexCrc32Mismatch(..)
        | XzError::ContentCrc64Mismatch(..)
        | XzError::StreamHeaderCrc32Mismatch(..)
        | XzError::BlockHeaderCrc32Mismatch(..)
        | XzError::FooterCrc32Mismatch(..) => (
            "xz data that fits its checksum".to_owned(),
            "data that does not".to_owned(),
            "",
        ),
        XzError::StreamHeaderMagicNumberMismatch => (
            "another xz stream or the end of the file".to_owned(),
            "something else".to_owned(),
            "",
        ),
        _ => return io::ErrorKind::InvalidData.into(),
    };
    Damaged {
        offset: 0,
        expected,
        found,
        advice: advice.to_owned(),
    }
    .into()
}
