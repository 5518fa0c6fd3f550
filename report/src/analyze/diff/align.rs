//! One axis for two histories: step by step, so that a step lies over the same step of the other
//! however many events each has in it.

use super::Which;

/// How two histories were laid over each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// Steps of the same number lie over each other.
    Steps {
        /// Steps that both have.
        shared: usize,
        /// Steps that only A has, and only B.
        only: (usize, usize),
    },
    /// No step number is in both: the first step of each lies over the first of the other, and so
    /// on.
    Order {
        /// Steps that both have.
        shared: usize,
    },
    /// A side has no steps: both are stretched to the same length.
    Stretched,
}

/// A part of the axis: a step, or what is before the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The step's number, A's where they differ; `None` for what belongs to no step.
    pub step: Option<i64>,
    /// Where it begins on the axis.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// A's positions in it, from and to; `None` when A has no such step.
    pub a: Option<(usize, usize)>,
    /// B's.
    pub b: Option<(usize, usize)>,
}

impl Part {
    fn of(&self, which: Which) -> Option<(usize, usize)> {
        match which {
            Which::A => self.a,
            Which::B => self.b,
        }
    }
}

/// The axis. It has as many units as the longer side has positions in each part.
#[derive(Debug, Clone, PartialEq)]
pub struct Align {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// How they came about.
    pub matched: Matched,
}

/// A step as this module needs it: its number and the position at which it begins.
pub type Start = (i64, usize);

impl Align {
    /// Lays two histories of `a` and `b` positions over each other. Steps are given by where they
    /// begin, in order; one reaches to the next.
    #[must_use]
    pub fn of(a: usize, a_steps: &[Start], b: usize, b_steps: &[Start]) -> Self {
        let (rows, matched) = if a_steps.is_empty() || b_steps.is_empty() {
            (vec![(None, Some((0, a)), Some((0, b)))], Matched::Stretched)
        } else {
            steps(a, a_steps, b, b_steps)
        };
        let mut at = 0.0;
        let parts = rows
            .into_iter()
            .map(|(step, a, b)| {
                let length = |r: Option<(usize, usize)>| r.map_or(0, |(from, to)| to - from);
                let start = at;
                at += length(a).max(length(b)) as f64;
                Part {
                    step,
                    start,
                    end: at,
                    a,
                    b,
                }
            })
            .filter(|p| p.end > p.start)
            .collect();
        Self { parts, matched }
    }

    /// Length of the axis.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.parts.last().map_or(0.0, |p| p.end)
    }

    /// Where a position of a side lies on the axis; `None` beyond its end.
    #[must_use]
    pub fn to_axis(&self, which: Which, position: usize) -> Option<f64> {
        self.parts.iter().find_map(|p| {
            let (from, to) = p.of(which)?;
            (from..to).contains(&position).then(|| {
                let share = (position - from) as f64 / (to - from) as f64;
                p.start + share * (p.end - p.start)
            })
        })
    }

    /// The positions of a side that lie between two places of the axis, at least one where the
    /// side has any there; `None` where it has none.
    #[must_use]
    pub fn positions(&self, which: Which, from: f64, to: f64) -> Option<(usize, usize)> {
        let mut out: Option<(usize, usize)> = None;
        let first = self.parts.partition_point(|p| p.end <= from);
        let inside = self.parts.iter().skip(first);
        for part in inside.take_while(|p| p.start < to || p.start <= from) {
            let Some((a, z)) = part.of(which).filter(|(a, z)| z > a) else {
                continue;
            };
            let per = (z - a) as f64 / (part.end - part.start);
            let place = |x: f64| (x.clamp(part.start, part.end) - part.start) * per;
            let low = (a + place(from) as usize).min(z - 1);
            let high = (a + place(to).ceil() as usize).clamp(low + 1, z);
            out = Some(out.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        }
        out
    }
}

type Row = (Option<i64>, Option<(usize, usize)>, Option<(usize, usize)>);

fn steps(a: usize, a_steps: &[Start], b: usize, b_steps: &[Start]) -> (Vec<Row>, Matched) {
    let before = |steps: &[Start]| (0, steps.first().map_or(0, |s| s.1));
    let range = |steps: &[Start], i: usize, past: usize| {
        let from = steps.get(i).map_or(past, |s| s.1);
        let to = steps.get(i + 1).map_or(past, |s| s.1);
        (from, to.max(from))
    };
    let mut rows: Vec<Row> = vec![(None, Some(before(a_steps)), Some(before(b_steps)))];
    let number = |steps: &[Start], i: usize| steps.get(i).map(|s| s.0);
    if !a_steps.iter().any(|s| b_steps.iter().any(|t| t.0 == s.0)) {
        for i in 0..a_steps.len().max(b_steps.len()) {
            let here = |steps: &[Start], past| (i < steps.len()).then(|| range(steps, i, past));
            rows.push((
                number(a_steps, i).or(number(b_steps, i)),
                here(a_steps, a),
                here(b_steps, b),
            ));
        }
        let shared = a_steps.len().min(b_steps.len());
        return (rows, Matched::Order { shared });
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    loop {
        let (x, y) = (number(a_steps, i), number(b_steps, j));
        match (x, y) {
            (None, None) => break,
            (Some(x), Some(y)) if x == y => {
                rows.push((
                    Some(x),
                    Some(range(a_steps, i, a)),
                    Some(range(b_steps, j, b)),
                ));
                (i, j, shared) = (i + 1, j + 1, shared + 1);
            }
            // The lower number goes first: the other side has not come to it or has passed it.
            (Some(x), y) if y.is_none_or(|y| x < y) => {
                rows.push((Some(x), Some(range(a_steps, i, a)), None));
                i += 1;
            }
            (_, y) => {
                rows.push((y, None, Some(range(b_steps, j, b))));
                j += 1;
            }
        }
    }
    let only = (a_steps.len() - shared, b_steps.len() - shared);
    (rows, Matched::Steps { shared, only })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_step_lies_over_the_same_step() {
        // A: 10 positions before step 0, then 20 a step; B: 5 before, steps 0 and 2 of 40.
        let a = [(0, 10), (1, 30), (2, 50)];
        let b = [(0, 5), (2, 45)];
        let align = Align::of(70, &a, 85, &b);
        assert_eq!(
            align.matched,
            Matched::Steps {
                shared: 2,
                only: (1, 0)
            }
        );
        let starts: Vec<_> = align
            .parts
            .iter()
            .map(|p| (p.step, p.start, p.end))
            .collect();
        assert_eq!(
            starts,
            [
                (None, 0.0, 10.0),
                (Some(0), 10.0, 50.0),
                (Some(1), 50.0, 70.0),
                (Some(2), 70.0, 110.0)
            ]
        );
        for (which, position, x) in [
            (Which::A, 0, 0.0),
            (Which::A, 10, 10.0),
            (Which::A, 20, 30.0),
            (Which::A, 50, 70.0),
            (Which::B, 5, 10.0),
            (Which::B, 25, 30.0),
            (Which::B, 45, 70.0),
            (Which::B, 84, 109.0),
        ] {
            assert_eq!(align.to_axis(which, position), Some(x));
            let (low, high) = align.positions(which, x, x + 0.5).unwrap();
            assert_eq!((low, high), (position, position + 1), "{which:?} {x}");
        }
        assert_eq!(align.to_axis(Which::A, 70), None);
        assert_eq!(
            align.positions(Which::B, 50.0, 70.0),
            None,
            "B has no step 1"
        );
        assert_eq!(align.positions(Which::B, 0.0, 110.0), Some((0, 85)));
    }

    #[test]
    fn without_common_numbers_or_steps() {
        let align = Align::of(30, &[(5, 0), (6, 10)], 8, &[(0, 2), (1, 5)]);
        assert_eq!(align.matched, Matched::Order { shared: 2 });
        assert_eq!(
            align.to_axis(Which::A, 0),
            align.to_axis(Which::B, 2),
            "first over first"
        );
        let align = Align::of(100, &[], 10, &[(0, 0)]);
        assert_eq!(align.matched, Matched::Stretched);
        assert_eq!(align.to_axis(Which::B, 5), Some(50.0));
        let none = Align::of(0, &[], 0, &[]);
        assert_eq!((none.length(), none.parts.len()), (0.0, 0));
        assert_eq!(none.positions(Which::A, 0.0, 1.0), None);
    }

    #[test]
    fn every_position_is_somewhere() {
        let align = Align::of(
            97,
            &[(1, 3), (2, 40), (4, 41)],
            55,
            &[(2, 0), (3, 20), (4, 21), (9, 54)],
        );
        for (which, n) in [(Which::A, 97), (Which::B, 55)] {
            for i in 0..n {
                let x = align.to_axis(which, i).unwrap();
                let (low, high) = align.positions(which, x, x).unwrap();
                assert!(low <= i && i <= high, "{which:?} {i}: {low}..{high}");
            }
        }
    }
}
