//! How much may come out of what goes in.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::Damaged;

/// Bytes that any compressed file may unpack to.
const FREE: u64 = 1 << 30;
/// Bytes that may come out for each that went in, beyond [`FREE`]: snapshots are packed 26 to 60
/// times smaller, the most regular ones a hundred times.
const RATIO: u64 = 200;

/// Where reading of the compressed bytes stands.
#[derive(Default)]
pub(super) struct State {
    /// Bytes taken.
    taken: Cell<u64>,
    /// Whether there are no more.
    ended: Cell<bool>,
    /// Whether it was the source that failed.
    failed: Cell<bool>,
}

/// A source whose bytes are counted as they are taken.
pub(super) struct Counted<R> {
    source: R,
    state: Rc<State>,
}

impl<R> Counted<R> {
    pub(super) fn new(source: R) -> (Self, Rc<State>) {
        let state = Rc::new(State::default());
        let ours = Rc::clone(&state);
        (Self { source, state }, ours)
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = {
            let at_hand = self.fill_buf()?;
            let n = at_hand.len().min(into.len());
            if let (Some(to), Some(from)) = (into.get_mut(..n), at_hand.get(..n)) {
                to.copy_from_slice(from);
            }
            n
        };
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.source.fill_buf() {
            Ok(bytes) => {
                self.state.ended.set(bytes.is_empty());
                Ok(bytes)
            }
            Err(e) => {
                self.state
                    .failed
                    .set(e.kind() != io::ErrorKind::Interrupted);
                Err(e)
            }
        }
    }

    fn consume(&mut self, amount: usize) {
        self.state.taken.set(self.state.taken.get() + amount as u64);
        self.source.consume(amount);
    }
}

/// The output of a decoder, as far as it goes.
pub(super) struct Budget<R> {
    decoder: R,
    kind: &'static str,
    state: Rc<State>,
    made: u64,
}

impl<R> Budget<R> {
    pub(super) fn new(decoder: R, kind: &'static str, state: Rc<State>) -> Self {
        Self {
            decoder,
            kind,
            state,
            made: 0,
        }
    }
}

impl<R: Read> Read for Budget<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let taken = self.state.taken.get();
        let n = match self.decoder.read(into) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted || self.state.failed.get() => {
                return Err(e);
            }
            // The decoders' own words name their functions, not the file.
            Err(e) => return Err(self.damaged(&e).into()),
        };
        self.made += n as u64;
        if self.made > FREE.saturating_add(RATIO.saturating_mul(taken)) {
            return Err(Damaged {
                offset: self.state.taken.get(),
                expected: format!(
                    "at most {} bytes of {} data to unpack to {} bytes",
                    self.state.taken.get(),
                    self.kind,
                    FREE.saturating_add(RATIO.saturating_mul(taken))
                ),
                found: "more".to_owned(),
                advice: "no snapshot is packed so small; if it is one, decompress it and give \
                         MemScope the result"
                    .to_owned(),
            }
            .into());
        }
        Ok(n)
    }
}

impl<R> Budget<R> {
    fn damaged(&self, error: &io::Error) -> Damaged {
        let kind = self.kind;
        let own = error.get_ref().and_then(|e| e.downcast_ref::<Damaged>());
        let (expected, found) = match own {
            Some(own) => (own.expected.clone(), own.found.clone()),
            None if self.state.ended.get() => (
                format!("more {kind} data"),
                "the end of the file".to_owned(),
            ),
            None => (
                format!("{kind} data"),
                format!("damaged data, after {} unpacked bytes", self.made),
            ),
        };
        let advice = match own.map(|o| o.advice.as_str()) {
            Some(advice) if !advice.is_empty() => advice.to_owned(),
            _ if self.state.ended.get() => "the file was cut off: copy it again".to_owned(),
            _ => "the file was damaged: copy it again".to_owned(),
        };
        Damaged {
            offset: self.state.taken.get(),
            expected,
            found,
            advice,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_held_against_what_went_in() {
        // A decoder of nothing but zeros, `per` for each byte that it takes.
        struct Zeros<R>(R, u64);
        impl<R: BufRead> Read for Zeros<R> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                if self.0.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.0.consume(1);
                Ok((self.1 as usize).min(into.len()))
            }
        }
        let unpacked = |bytes: usize, per: u64| {
            let (source, state) = Counted::new(io::repeat(0).take(bytes as u64));
            let mut source = Budget::new(Zeros(io::BufReader::new(source.source), per), "z", state);
            let state = Rc::clone(&source.state);
            let mut piece = vec![0; per as usize];
            let mut all = 0;
            loop {
                // As `Counted` does.
                state.taken.set(state.taken.get() + 1);
                match source.read(&mut piece) {
                    Ok(0) => return Ok(all),
                    Ok(n) => all += n as u64,
                    Err(e) => return Err((all, e.to_string())),
                }
            }
        };
        // At the ratio nothing is refused, however long.
        assert_eq!(unpacked(9_000_000, RATIO), Ok(9_000_000 * RATIO));
        // At ten times the ratio: what is free, and the ratio's share of what was taken.
        let per = 100 * RATIO;
        let (all, message) = unpacked(9_000_000, per).unwrap_err();
        let most = FREE + FREE / 99 + 2 * per;
        assert!(all > FREE && all < most, "{all}");
        assert!(message.contains("of z data to unpack to"), "{message}");
    }
}
