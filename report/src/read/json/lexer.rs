//! The window over the source, punctuation, and skipping.

use std::io::Read;

use super::{scan, string};
use crate::Error;
use crate::error::Result;

/// Deeper nesting is refused. Real reports nest 5 deep.
const MAX_DEPTH: u32 = 256;
const FIRST_WINDOW: usize = 256 << 10;

/// A JSON text being read.
pub(crate) struct Json<'n, R> {
    pub(super) name: &'n str,
    source: R,
    /// The window: `buf[pos..len]` is unread.
    pub(super) buf: Vec<u8>,
    pub(super) pos: usize,
    pub(super) len: usize,
    /// Offset of `buf[0]` in the source.
    base: u64,
    ended: bool,
    depth: u32,
    crc: crc32fast::Hasher,
    /// Unescaped strings are built here.
    pub(super) scratch: String,
    /// Lone surrogates met so far (kept as their escape's text).
    pub(crate) lone_surrogates: u64,
}

impl<'n, R: Read> Json<'n, R> {
    pub(crate) fn new(name: &'n str, source: R) -> Result<Self> {
        let mut this = Self {
            name,
            source,
            buf: vec![0; FIRST_WINDOW],
            pos: 0,
            len: 0,
            base: 0,
            ended: false,
            depth: 0,
            crc: crc32fast::Hasher::new(),
            scratch: String::new(),
            lone_surrogates: 0,
        };
        while this.len < 3 && this.more()? {}
        if this.buf[..this.len].starts_with(b"\xef\xbb\xbf") {
            this.pos = 3;
        }
        Ok(this)
    }

    /// Offset of the next unread byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Brings more bytes behind `len`, keeping `pos..`; false at the end of the source.
    #[cold]
    pub(super) fn more(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.pos > 0 {
            self.buf.copy_within(self.pos..self.len, 0);
            self.base += self.pos as u64;
            self.len -= self.pos;
            self.pos = 0;
        }
        if self.len == self.buf.len() {
            self.buf.resize(self.buf.len() * 2, 0);
        }
        loop {
            match self.source.read(&mut self.buf[self.len..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(n) => {
                    self.crc.update(&self.buf[self.len..self.len + n]);
                    self.len += n;
                    return Ok(true);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::reading(
                        self.name,
                        self.base + self.len as u64,
                        source,
                    ));
                }
            }
        }
    }

    /// The byte `ahead` of the position, or `None` at the end.
    #[inline]
    pub(super) fn byte(&mut self, ahead: usize) -> Result<Option<u8>> {
        while self.pos + ahead >= self.len {
            if !self.more()? {
                return Ok(None);
            }
        }
        Ok(Some(self.buf[self.pos + ahead]))
    }

    /// What of the source is in the window and not passed.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        self.buf.get(self.pos..self.len).unwrap_or_default()
    }

    /// The next byte that is not white space, unread; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            self.pos += scan::white(self.unread());
            if let Some(&b) = self.unread().first() {
                return Ok(Some(b));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Reads `{`.
    pub(crate) fn open_object(&mut self) -> Result<()> {
        self.open(b'{', "an object")
    }

    /// Reads `[`.
    pub(crate) fn open_array(&mut self) -> Result<()> {
        self.open(b'[', "an array")
    }

    fn open(&mut self, bracket: u8, expected: &str) -> Result<()> {
        if self.peek()? != Some(bracket) {
            return Err(self.unexpected(expected));
        }
        self.deeper()?;
        self.pos += 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.malformed(
                &format!("at most {MAX_DEPTH} levels of nesting"),
                "one more",
                "no runtime report nests so deep: check what wrote this file",
            ));
        }
        Ok(())
    }

    /// In an object: reads up to the next key and its `:`, or the closing brace (then `None`).
    /// `first` must be true before the first key, and is cleared.
    pub(crate) fn key(&mut self, first: &mut bool) -> Result<Option<&str>> {
        match self.peek()? {
            Some(b'}') => {
                self.pos += 1;
                self.depth -= 1;
                return Ok(None);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                self.peek()?;
            }
            Some(b'"') if *first => {}
            _ => {
                let expected = if *first {
                    "a key in quotes or '}'"
                } else {
                    "',' or '}'"
                };
                return Err(self.unexpected(expected));
            }
        }
        *first = false;
        if self.peek()? != Some(b'"') {
            return Err(self.unexpected("a key in quotes"));
        }
        // The text stays valid: reading ':' may move the window, so it is read before borrowing.
        let span = self.string_span()?;
        match span {
            string::Span::Window { len } => {
                // `"key"` is at pos; look for ':' behind it without giving up the window.
                let mut ahead = len + 2;
                loop {
                    match self.byte(ahead)? {
                        Some(b' ' | b'\n' | b'\r' | b'\t') => ahead += 1,
                        Some(b':') => break,
                        _ => {
                            self.pos += ahead;
                            return Err(self.unexpected("':' after a key"));
                        }
                    }
                }
                let start = self.pos + 1;
                self.pos += ahead + 1;
                self.utf8(start, len).map(Some)
            }
            string::Span::Scratch => {
                if self.peek()? != Some(b':') {
                    return Err(self.unexpected("':' after a key"));
                }
                self.pos += 1;
                Ok(Some(&self.scratch))
            }
        }
    }

    /// As [`Self::key`], if the next key is `guess`, written without escapes, with its `:` right
    /// behind it and all of it in the window; else nothing is read. One comparison takes the place
    /// of looking for the key's end, checking its UTF-8 and telling which key it is.
    #[inline]
    pub(crate) fn key_is(&mut self, first: &mut bool, guess: &str) -> bool {
        let rest = self.unread();
        let mut at = scan::white(rest);
        if !*first {
            if rest.get(at) != Some(&b',') {
                return false;
            }
            at += 1;
            at += scan::white(rest.get(at..).unwrap_or_default());
        }
        let found = rest
            .get(at..)
            .and_then(|r| r.strip_prefix(b"\""))
            .and_then(|r| r.strip_prefix(guess.as_bytes()))
            .is_some_and(|r| r.starts_with(b"\":"));
        if found {
            self.pos += at + guess.len() + 3;
            *first = false;
        }
        found
    }

    /// In an array: whether another element follows. `first` as in [`Self::key`].
    pub(crate) fn element(&mut self, first: &mut bool) -> Result<bool> {
        match self.peek()? {
            Some(b']') => {
                self.pos += 1;
                self.depth -= 1;
                return Ok(false);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                if self.peek()? == Some(b']') {
                    return Err(self.unexpected("another element after ','"));
                }
            }
            Some(_) if *first => {}
            _ => return Err(self.unexpected("',' or ']'")),
        }
        *first = false;
        Ok(true)
    }

    /// Reads one of the words of JSON (`null`, `true`, ...), if it stands here.
    pub(crate) fn word(&mut self, word: &str) -> Result<bool> {
        for (i, expected) in word.bytes().enumerate() {
            if self.byte(i)? != Some(expected) {
                return Ok(false);
            }
        }
        self.pos += word.len();
        Ok(true)
    }

    /// Reads over one value of any kind, without recursion.
    pub(crate) fn skip(&mut self) -> Result<()> {
        // One bit a level: whether the container at that level is an object.
        let mut kinds = [0u64; (MAX_DEPTH as usize).div_ceil(64) + 1];
        let floor = self.depth;
        let mut first = true;
        loop {
            if self.depth > floor {
                let level = self.depth as usize;
                let object = kinds[level / 64] >> (level % 64) & 1 == 1;
                let more = if object {
                    self.key(&mut first)?.is_some()
                } else {
                    self.element(&mut first)?
                };
                if !more {
                    first = false;
                    if self.depth == floor {
                        return Ok(());
                    }
                    continue;
                }
            }
            match self.peek()? {
                Some(open @ (b'{' | b'[')) => {
                    self.deeper()?;
                    self.pos += 1;
                    let level = self.depth as usize;
                    let bit = 1u64 << (level % 64);
                    if open == b'{' {
                        kinds[level / 64] |= bit;
                    } else {
                        kinds[level / 64] &= !bit;
                    }
                    first = true;
                    continue;
                }
                _ => self.skip_scalar()?,
            }
            if self.depth == floor {
                return Ok(());
            }
        }
    }

    fn skip_scalar(&mut self) -> Result<()> {
        match self.peek()? {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'n') if self.word("null")? => Ok(()),
            Some(b't') if self.word("true")? => Ok(()),
            Some(b'f') if self.word("false")? => Ok(()),
            _ => self.number().map(|_| ()),
        }
    }

    /// Demands that nothing but white space follows, and returns size and CRC-32 of the source.
    pub(crate) fn end(mut self) -> Result<(u64, u32)> {
        if self.peek()?.is_some() {
            let found = self.found();
            return Err(self.malformed(
                "the end of the file after the report's closing '}'",
                &found,
                "the file holds more than one JSON text: split it",
            ));
        }
        Ok((self.base + self.len as u64, self.crc.finalize()))
    }

    /// What stands at the position, for messages.
    pub(crate) fn found(&mut self) -> String {
        /// 16 characters take no more.
        const ENOUGH: usize = 64;
        // The message must not depend on the pieces in which the source hands out its bytes. A
        // source that fails now has nothing to add to what is wrong already.
        while self.unread().len() < ENOUGH && matches!(self.more(), Ok(true)) {}
        let rest = self.unread();
        if rest.is_empty() {
            return "the end of the file".to_owned();
        }
        let shown: String = String::from_utf8_lossy(rest.get(..ENOUGH).unwrap_or(rest))
            .chars()
            .take(16)
            .flat_map(char::escape_debug)
            .collect();
        format!("`{shown}`")
    }

    /// An error at the position: `expected` is not what stands here.
    pub(crate) fn unexpected(&mut self, expected: &str) -> Error {
        let found = self.found();
        // A word, number or escape that runs to the end was cut off as well.
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'\\');
        let at_end = self.ended && self.unread().iter().all(part);
        let advice = if at_end {
            "the file is cut off: copy it again, or let the run that writes it finish"
        } else {
            "the file is damaged or was edited: write it again"
        };
        self.malformed(expected, &found, advice)
    }

    pub(crate) fn malformed(&self, expected: &str, found: &str, advice: &str) -> Error {
        self.malformed_at(self.offset(), expected, found, advice)
    }

    pub(crate) fn malformed_at(
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
