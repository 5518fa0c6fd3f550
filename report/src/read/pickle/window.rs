//! A sliding window over a stream.

use std::io::{ErrorKind, Read};

use crate::Error;
use crate::error::Result;

/// Bytes asked of the source at once.
const PIECE: usize = 256 << 10;
/// The largest single value, bytes: no text of a snapshot comes near it.
const MOST: usize = 64 << 20;

/// The bytes at hand and where they came from.
pub(super) struct Window<'n, R> {
    pub(super) name: &'n str,
    source: R,
    buffer: Vec<u8>,
    /// Position in `buffer`.
    pub(super) at: usize,
    filled: usize,
    /// Offset of `buffer` in the input, bytes.
    base: u64,
    ended: bool,
    crc: crc32fast::Hasher,
}

impl<'n, R: Read> Window<'n, R> {
    pub(super) fn new(name: &'n str, source: R) -> Self {
        Self {
            name,
            source,
            buffer: vec![0; PIECE],
            at: 0,
            filled: 0,
            base: 0,
            ended: false,
            crc: crc32fast::Hasher::new(),
        }
    }

    /// Offset of the position in the input, bytes.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// What is at hand from the position on.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.buffer.get(self.at..self.filled).unwrap_or_default()
    }

    /// Makes at least `count` bytes available, or all that are left.
    #[inline]
    pub(super) fn want(&mut self, count: usize) -> Result<()> {
        if self.filled - self.at < count && !self.ended {
            return self.fill(count);
        }
        Ok(())
    }

    #[cold]
    fn fill(&mut self, count: usize) -> Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        while self.filled < count && !self.ended {
            if self.buffer.len() - self.filled < PIECE / 2 {
                // Doubling only once the bytes are there: a length that lies reserves nothing.
                let more = self.buffer.len().min(MOST);
                self.buffer.resize(self.buffer.len() + more, 0);
            }
            let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
            match self.source.read(free) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    let new = self.buffer.get(self.filled..self.filled + n);
                    self.crc.update(new.unwrap_or_default());
                    self.filled += n;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::reading(
                        self.name,
                        self.base + self.filled as u64,
                        source,
                    ));
                }
            }
        }
        Ok(())
    }

    /// The next `count` bytes; what they are is said when they are missing.
    pub(super) fn take(&mut self, count: usize, what: &'static str) -> Result<&[u8]> {
        if count > MOST {
            let found = format!("{count} bytes");
            return Err(self.malformed(what, &found, "no snapshot has so long a text"));
        }
        self.want(count)?;
        if self.filled - self.at < count {
            return Err(self.cut_off(what));
        }
        let start = self.at;
        self.at += count;
        Ok(self.buffer.get(start..self.at).unwrap_or_default())
    }

    /// The rest of a line, without its line feed.
    pub(super) fn line(&mut self, most: usize) -> Result<String> {
        self.want(most + 1)?;
        let rest = self.rest();
        let head = rest.get(..most + 1).unwrap_or(rest);
        let Some(end) = head.iter().position(|&b| b == b'\n') else {
            let expected = "a number and a line feed";
            return Err(if head.len() > most {
                let advice = "the file was damaged: copy or take the snapshot again";
                self.malformed(expected, "a longer line", advice)
            } else {
                self.cut_off(expected)
            });
        };
        let text = String::from_utf8_lossy(head.get(..end).unwrap_or_default()).into_owned();
        self.at += end + 1;
        Ok(text)
    }

    /// Reads to the end of the input: its size in bytes and its CRC-32.
    pub(super) fn drain(mut self) -> Result<(u64, u32, u64)> {
        let behind = self.offset();
        while !self.ended {
            self.at = self.filled;
            self.fill(1)?;
        }
        let size = self.base + self.filled as u64;
        Ok((size, self.crc.finalize(), size - behind))
    }

    pub(super) fn cut_off(&self, expected: &str) -> Error {
        Error::Malformed {
            name: self.name.to_owned(),
            offset: self.base + self.filled as u64,
            expected: expected.to_owned(),
            found: "the end of the file".to_owned(),
            advice: "the file was cut off: copy or take the snapshot again".to_owned(),
        }
    }

    pub(super) fn malformed(&self, expected: &str, found: &str, advice: &str) -> Error {
        self.malformed_at(self.offset(), expected, found, advice)
    }

    pub(super) fn malformed_at(
        &self,
        offset: u64,
        expected: &str,
        found: &str,
        advice: &str,
    ) -> Error {
        Error::Malformed {
            name: self.name.to_owned(),
            offset,
            expected: expected.to_owned(),
            found: found.to_owned(),
            advice: advice.to_owned(),
        }
    }
}
