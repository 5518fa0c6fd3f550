//! A look at the bytes ahead, which takes nothing.

use super::opcode as op;

/// Bytes being looked at.
pub(super) struct Bytes<'a> {
    pub(super) all: &'a [u8],
    pub(super) at: usize,
}

impl Bytes<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = *self.all.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    pub(super) fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let chunk = *self.all.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(chunk)
    }

    /// A whole number of `LONG1`, not negative.
    #[inline]
    pub(super) fn long(&mut self) -> Option<u64> {
        let length = usize::from(self.next()?);
        if let (1..=8, Some(&wide)) = (length, self.all.get(self.at..)?.first_chunk::<8>()) {
            self.at += length;
            let value = u64::from_le_bytes(wide) << (64 - 8 * length) >> (64 - 8 * length);
            // The sign is the highest bit of what is there.
            return (value >> (8 * length - 1) == 0).then_some(value);
        }
        let bytes = self.all.get(self.at..self.at + length)?;
        let (&[0], low) = bytes.split_last_chunk::<1>().map(|(low, top)| (top, low))? else {
            return None;
        };
        self.at += length;
        low.first_chunk::<8>()
            .filter(|_| low.len() == 8)
            .map(|&low| u64::from_le_bytes(low))
    }

    /// The memo slot that an opcode names.
    #[inline]
    pub(super) fn slot(&mut self, code: u8) -> Option<usize> {
        match code {
            op::BINGET => Some(usize::from(self.next()?)),
            op::LONG_BINGET => Some(u32::from_le_bytes(self.chunk()?) as usize),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn memoised(&mut self) -> bool {
        let yes = self.all.get(self.at) == Some(&op::MEMOIZE);
        self.at += usize::from(yes);
        yes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers() {
        for value in [
            0u64,
            1,
            127,
            128,
            255,
            256,
            1 << 47,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX,
        ] {
            let mut digits = value.to_le_bytes().to_vec();
            digits.push(0);
            while digits.len() > 1 && digits.ends_with(&[0]) && digits[digits.len() - 2] < 0x80 {
                digits.pop();
            }
            let mut all = vec![digits.len() as u8];
            all.extend(&digits);
            all.extend([0xff; 9]);
            let mut bytes = Bytes { all: &all, at: 0 };
            assert_eq!(bytes.long(), Some(value));
            assert_eq!(bytes.at, 1 + digits.len());
        }
        let negative = [1, 0xff, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            Bytes {
                all: &negative,
                at: 0
            }
            .long(),
            None
        );
    }
}
