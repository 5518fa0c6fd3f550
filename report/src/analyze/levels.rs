//! Levels of detail: the lowest, highest and last value of any range of a column, fast.
//!
//! A chart of a million events on a thousand pixel columns needs a thousand such answers a frame.
//! They come from a pyramid of blocks of 8, so that each looks at no more than some dozens of
//! values, and nothing between two pixels is lost: a peak of a single event stays visible.

use crate::model::Bytes;

const FAN: usize = 8;

/// The values of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Lowest, bytes.
    pub min: u64,
    /// Highest, bytes.
    pub max: u64,
    /// Last known, bytes.
    pub last: u64,
}

impl Span {
    fn join(self, later: Self) -> Self {
        Self {
            min: self.min.min(later.min),
            max: self.max.max(later.max),
            last: later.last,
        }
    }
}

/// The pyramid over one column.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    /// `levels[0]` has one entry for each `FAN` rows, and so on upwards.
    levels: Vec<Vec<Option<Span>>>,
}

impl Levels {
    /// Builds the pyramid.
    #[must_use]
    pub fn of(column: &Bytes) -> Self {
        let mut levels = Vec::new();
        let mut level: Vec<Option<Span>> = (0..column.len().div_ceil(FAN))
            .map(|block| rows(column, block * FAN, ((block + 1) * FAN).min(column.len())))
            .collect();
        while level.len() > 1 {
            let above = level
                .chunks(FAN)
                .map(|c| c.iter().flatten().copied().reduce(Span::join))
                .collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        levels.push(level);
        Self { levels }
    }

    /// The span of rows `start..end` of the column that this was built of; `None` when nothing in
    /// it is known.
    #[must_use]
    pub fn span(&self, column: &Bytes, start: usize, end: usize) -> Option<Span> {
        let end = end.min(column.len());
        if start >= end {
            return None;
        }
        self.walk(column, 0, start, end)
    }

    /// `start..end` counts in entries of the level below `depth` (rows for depth 0).
    fn walk(&self, column: &Bytes, depth: usize, start: usize, end: usize) -> Option<Span> {
        let direct = |a: usize, b: usize| match depth.checked_sub(1) {
            None => rows(column, a, b),
            Some(below) => self
                .levels
                .get(below)
                .and_then(|l| l.get(a..b))
                .and_then(|l| l.iter().flatten().copied().reduce(Span::join)),
        };
        let (first, last) = (start.div_ceil(FAN), end / FAN);
        if first >= last || depth >= self.levels.len() {
            return direct(start, end);
        }
        let parts = [
            direct(start, first * FAN),
            self.walk(column, depth + 1, first, last),
            direct(last * FAN, end),
        ];
        parts.into_iter().flatten().reduce(Span::join)
    }
}

fn rows(column: &Bytes, start: usize, end: usize) -> Option<Span> {
    (start..end)
        .filter_map(|i| column.get(i))
        .map(|v| Span {
            min: v,
            max: v,
            last: v,
        })
        .reduce(Span::join)
}
