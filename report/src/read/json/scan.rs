//! Looking at eight bytes at once.
//!
//! Half of an indented report is white space and most of the rest is text, so these two loops
//! decide how fast a report is read.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// How many bytes at the front are JSON's white space.
#[inline]
pub(super) fn white(bytes: &[u8]) -> usize {
    let mut n = 0;
    loop {
        match bytes.get(n) {
            Some(b' ') => n += spaces(bytes.get(n..).unwrap_or_default()),
            Some(b'\n' | b'\r' | b'\t') => n += 1,
            _ => return n,
        }
    }
}

/// How many bytes at the front are spaces: indentation.
#[inline]
fn spaces(bytes: &[u8]) -> usize {
    let mut n = 0;
    while let Some(word) = bytes.get(n..).and_then(|b| b.first_chunk::<8>()) {
        let other = u64::from_le_bytes(*word) ^ (ONES * b' ' as u64);
        if other != 0 {
            return n + other.trailing_zeros() as usize / 8;
        }
        n += 8;
    }
    n + bytes.iter().skip(n).take_while(|&&b| b == b' ').count()
}

/// How many bytes at the front can stand in a string as they are: all up to the first quote,
/// backslash or control character, or to the end.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut n = 0;
    while let Some(word) = bytes.get(n..).and_then(|b| b.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        // Exact up to and including the first hit, which is all that is looked at.
        let hits = (below(word, b' ') | equal(word, b'"') | equal(word, b'\\')) & TOPS;
        if hits != 0 {
            return n + hits.trailing_zeros() as usize / 8;
        }
        n += 8;
    }
    n + bytes
        .iter()
        .skip(n)
        .take_while(|&&b| !matches!(b, b'"' | b'\\' | 0..=0x1f))
        .count()
}

/// The top bit of each byte that is less than `limit` (at most 0x80).
#[inline]
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word
}

/// The top bit of each byte that is `byte`.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte value at every place of a stretch that crosses words, behind every filler.
    #[test]
    fn as_a_walk_byte_by_byte() {
        for fill in [b' ', b'a', b'!', 0x1f + 1, 0x7f, 0x80, 0xff] {
            for at in 0..20 {
                for byte in 0..=255u8 {
                    let mut text = [fill; 20];
                    text[at] = byte;
                    let walk =
                        |yes: &dyn Fn(u8) -> bool| text.iter().take_while(|&&b| yes(b)).count();
                    assert_eq!(
                        white(&text),
                        walk(&|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
                    );
                    assert_eq!(
                        plain(&text),
                        walk(&|b| !matches!(b, b'"' | b'\\' | 0..=0x1f))
                    );
                }
            }
        }
        assert_eq!((white(b""), plain(b"")), (0, 0));
    }
}
