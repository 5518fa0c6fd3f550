//! Strings: borrowed from the window where they have no escapes.

use std::io::Read;

use super::{Json, scan};
use crate::Error;
use crate::error::Result;

/// A string that was read, not yet known to be UTF-8. Valid until the next read.
pub(crate) enum Text {
    /// In the window.
    Window { start: usize, len: usize },
    /// In `scratch`.
    Scratch,
}

/// Where a string that was found lies.
pub(super) enum Span {
    /// In the window: `len` bytes behind the opening quote at `pos`, not yet passed.
    Window { len: usize },
    /// In `scratch`, unescaped, and passed.
    Scratch,
}

impl<R: Read> Json<'_, R> {
    /// Reads a string.
    pub(crate) fn string(&mut self) -> Result<&str> {
        if self.peek()? != Some(b'"') {
            return Err(self.unexpected("a string"));
        }
        let text = self.string_at_quote()?;
        self.text(&text)
    }

    /// Reads a string without checking that it is UTF-8. The position is at its quote.
    #[inline]
    pub(crate) fn string_at_quote(&mut self) -> Result<Text> {
        Ok(match self.string_span()? {
            Span::Window { len } => {
                let start = self.pos + 1;
                self.pos += len + 2;
                Text::Window { start, len }
            }
            Span::Scratch => Text::Scratch,
        })
    }

    /// The bytes of a string that was read.
    #[inline]
    pub(crate) fn bytes(&self, text: &Text) -> &[u8] {
        match *text {
            Text::Window { start, len } => self.buf.get(start..start + len).unwrap_or_default(),
            Text::Scratch => self.scratch.as_bytes(),
        }
    }

    /// The text of a string that was read.
    pub(crate) fn text(&self, text: &Text) -> Result<&str> {
        match *text {
            Text::Window { start, len } => self.utf8(start, len),
            Text::Scratch => Ok(&self.scratch),
        }
    }

    fn control_character(&self, byte: u8) -> Error {
        self.malformed(
            "no raw control character inside a string",
            &format!("byte 0x{byte:02x}"),
            "JSON writes it as \\u00xx: write the file again",
        )
    }

    /// The position is at an opening quote.
    pub(super) fn string_span(&mut self) -> Result<Span> {
        let mut ahead = 1;
        loop {
            ahead += scan::plain(self.unread().get(ahead..).unwrap_or_default());
            match self.unread().get(ahead) {
                Some(b'"') => return Ok(Span::Window { len: ahead - 1 }),
                Some(b'\\') => return self.unescape(ahead).map(|()| Span::Scratch),
                Some(&b) => {
                    self.pos += ahead;
                    return Err(self.control_character(b));
                }
                None => {}
            }
            if !self.more()? {
                self.pos = self.len;
                return Err(self.unexpected("the closing quote of a string"));
            }
        }
    }

    pub(super) fn utf8(&self, start: usize, len: usize) -> Result<&str> {
        let bytes = &self.buf[start..start + len];
        std::str::from_utf8(bytes).map_err(|e| {
            let behind = (self.pos - start) as u64;
            self.malformed_at(
                self.offset() - behind + e.valid_up_to() as u64,
                "UTF-8 text",
                &format!(
                    "byte 0x{:02x}",
                    bytes.get(e.valid_up_to()).copied().unwrap_or(0)
                ),
                "save the file as UTF-8",
            )
        })
    }

    /// Builds the string in `scratch`; the first backslash is `ahead` of the opening quote.
    #[cold]
    fn unescape(&mut self, ahead: usize) -> Result<()> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        text.push_str(self.utf8_ahead(1, ahead - 1)?);
        self.pos += ahead;
        loop {
            match self.byte(0)? {
                Some(b'"') => {
                    self.pos += 1;
                    self.scratch = text;
                    return Ok(());
                }
                Some(b'\\') => self.escape(&mut text)?,
                None => return Err(self.unexpected("the closing quote of a string")),
                Some(b @ 0..=0x1f) => return Err(self.control_character(b)),
                Some(_) => {
                    let mut n = 0;
                    loop {
                        n += scan::plain(self.unread().get(n..).unwrap_or_default());
                        // A character may lie across the window's edge, so it is moved, not cut.
                        if n < self.unread().len() || !self.more()? {
                            break;
                        }
                    }
                    text.push_str(self.utf8_ahead(0, n)?);
                    self.pos += n;
                }
            }
        }
    }

    fn utf8_ahead(&self, ahead: usize, len: usize) -> Result<&str> {
        let bytes = &self.buf[self.pos + ahead..self.pos + ahead + len];
        std::str::from_utf8(bytes).map_err(|e| {
            self.malformed_at(
                self.offset() + (ahead + e.valid_up_to()) as u64,
                "UTF-8 text",
                &format!(
                    "byte 0x{:02x}",
                    bytes.get(e.valid_up_to()).copied().unwrap_or(0)
                ),
                "save the file as UTF-8",
            )
        })
    }

    /// The position is at a backslash.
    fn escape(&mut self, text: &mut String) -> Result<()> {
        let c = match self.byte(1)? {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(text),
            _ => return Err(self.unexpected("an escape that JSON knows")),
        };
        self.pos += 2;
        text.push(c);
        Ok(())
    }

    fn unicode(&mut self, text: &mut String) -> Result<()> {
        let high = self.hex4(2)?;
        if let Some(c) = char::from_u32(high) {
            self.pos += 6;
            text.push(c);
            return Ok(());
        }
        // A surrogate: with its partner one character, alone nothing that Unicode can hold.
        if (0xd800..0xdc00).contains(&high)
            && self.byte(6)? == Some(b'\\')
            && self.byte(7)? == Some(b'u')
        {
            let low = self.hex4(8)?;
            if (0xdc00..0xe000).contains(&low) {
                let c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                text.extend(char::from_u32(c));
                self.pos += 12;
                return Ok(());
            }
        }
        // Kept as its escape's own text, so that it shows literally, and counted.
        self.lone_surrogates += 1;
        text.push_str(&format!("\\u{high:04x}"));
        self.pos += 6;
        Ok(())
    }

    fn hex4(&mut self, ahead: usize) -> Result<u32> {
        let mut value = 0;
        for i in 0..4 {
            let digit = self.byte(ahead + i)?.and_then(|b| (b as char).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("four hexadecimal digits after \\u"));
            };
            value = value * 16 + digit;
        }
        Ok(value)
    }
}
