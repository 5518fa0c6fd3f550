//! Numbers, exact where they are whole.

use std::io::Read;

use super::Json;
use crate::error::Result;

/// A number as it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// Written without point and exponent, and within `i128`'s exact use here (20 digits).
    Int(i128),
    /// Written with point or exponent, or with more digits than any figure has.
    Float(f64),
    /// `NaN`, `Infinity` or `-Infinity`, as Python's `json` writes them.
    NotFinite(&'static str),
}

impl Number {
    /// Beyond the range of floats, and so of every figure.
    pub(crate) const TOO_LARGE: Self =
        Self::NotFinite("a number beyond the range of 64-bit floats");

    /// The number if it is whole (`12`, `12.0`) and exact.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            Self::Int(i) => Some(i),
            // Beyond 2^53 a float no longer tells neighbours apart; torch's floats stay below.
            Self::Float(f) if f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0 => {
                Some(f as i128)
            }
            Self::Float(_) | Self::NotFinite(_) => None,
        }
    }
}

impl<R: Read> Json<'_, R> {
    /// Reads a number.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<Number> {
        let first = self.peek()?;
        if let Some(whole) = self.digits() {
            return Ok(Number::Int(i128::from(whole)));
        }
        self.slow_number(first)
    }

    /// The common case: a whole number of at most 18 digits that ends within the window, at the
    /// position. Else nothing is read.
    #[inline]
    pub(crate) fn digits(&mut self) -> Option<i64> {
        let rest = self.unread();
        let negative = rest.first() == Some(&b'-');
        let digits = rest.get(usize::from(negative)..)?;
        let mut value: i64 = 0;
        for (i, &b) in digits.iter().take(19).enumerate() {
            match b {
                b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add(i64::from(b - b'0')),
                b'.' | b'e' | b'E' | b'+' | b'-' => return None,
                _ if i == 0 || (i > 1 && digits.first() == Some(&b'0')) => return None,
                _ => {
                    self.pos += i + usize::from(negative);
                    return Some(if negative { -value } else { value });
                }
            }
        }
        None
    }

    #[cold]
    fn slow_number(&mut self, first: Option<u8>) -> Result<Number> {
        match first {
            Some(b'N') if self.word("NaN")? => return Ok(Number::NotFinite("NaN")),
            Some(b'I') if self.word("Infinity")? => return Ok(Number::NotFinite("Infinity")),
            Some(b'-') if self.byte(1)? == Some(b'I') && self.word("-Infinity")? => {
                return Ok(Number::NotFinite("-Infinity"));
            }
            Some(b'-' | b'0'..=b'9') => {}
            _ => return Err(self.unexpected("a value")),
        }
        let mut n = 0;
        while let Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') = self.byte(n)? {
            n += 1;
            if n > 400 {
                return Err(self.unexpected("a number of at most 400 characters"));
            }
        }
        let text = std::str::from_utf8(&self.buf[self.pos..self.pos + n]).unwrap_or("");
        let number = parse(text);
        match number {
            Some(number) => {
                self.pos += n;
                Ok(number)
            }
            None => Err(self.unexpected("a number as JSON writes it")),
        }
    }
}

/// Checks JSON's grammar, which is narrower than Rust's.
fn parse(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = unsigned.split_at_checked(digits)?;
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    if rest.is_empty() {
        return Some(match text.parse() {
            Ok(i) if whole.len() <= 20 => Number::Int(i),
            _ => float(text)?,
        });
    }
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix('.') {
        let n = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if n == 0 {
            return None;
        }
        rest = fraction.get(n..)?;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    float(text)
}

fn float(text: &str) -> Option<Number> {
    let value: f64 = text.parse().ok()?;
    Some(if value.is_finite() {
        Number::Float(value)
    } else {
        Number::TOO_LARGE
    })
}
