//! Lines of one function in two versions of its file.
//!
//! A snapshot has no source text, but it shows what each line calls. Lines keep their order when
//! code is added or taken out, so the best alignment in order is taken, where lines that call the
//! same functions count most and an equal number decides between equals.

use crate::model::snapshot::FrameId;

/// A line of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Its number.
    pub line: u32,
    /// The frames on it.
    pub frames: Vec<FrameId>,
    /// What it calls, as numbers that mean the same on both sides, ascending; empty when not
    /// looked up.
    pub calls: Vec<u32>,
}

/// Above this many pairs of lines only equal numbers match.
const MOST: usize = 1 << 20;

/// For each line of `a` the index of its partner in `b`.
pub(super) fn match_lines(a: &[Use], b: &[Use]) -> Vec<Option<usize>> {
    let equal = |x: &Use| b.binary_search_by_key(&x.line, |y| y.line).ok();
    if a.len().saturating_mul(b.len()) > MOST
        || a.iter().map(|x| x.line).eq(b.iter().map(|y| y.line))
    {
        return a.iter().map(equal).collect();
    }
    // Row i, column j: the best score of a[i..] with b[j..].
    let width = b.len() + 1;
    let mut best = vec![0u32; (a.len() + 1) * width];
    let at = |best: &[u32], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let matched = score(x, y) + at(&best, i + 1, j + 1);
            let found = matched.max(at(&best, i + 1, j)).max(at(&best, i, j + 1));
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = found;
            }
        }
    }
    let mut out = vec![None; a.len()];
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let here = at(&best, i, j);
        if here == score(x, y) + at(&best, i + 1, j + 1) {
            if let Some(slot) = out.get_mut(i) {
                *slot = Some(j);
            }
            (i, j) = (i + 1, j + 1);
        } else if here == at(&best, i + 1, j) {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

/// How well two lines go together.
fn score(a: &Use, b: &Use) -> u32 {
    let calls = if a.calls == b.calls {
        6
    } else if a.calls.iter().any(|c| b.calls.binary_search(c).is_ok()) {
        3
    } else {
        1
    };
    calls + if a.line == b.line { 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[(u32, &[u32])]) -> Vec<Use> {
        let of = |&(line, calls): &(u32, &[u32])| Use {
            line,
            frames: Vec::new(),
            calls: calls.to_vec(),
        };
        rows.iter().map(of).collect()
    }

    #[test]
    fn lines_that_moved_are_found_by_order_and_by_what_they_call() {
        // All moved by two, so that 12 is in both and means another line.
        let a = lines(&[(10, &[1]), (11, &[1]), (12, &[1])]);
        let b = lines(&[(12, &[1]), (13, &[1]), (14, &[1])]);
        assert_eq!(match_lines(&a, &b), [Some(0), Some(1), Some(2)]);
        // 11 was taken out, 13 came.
        let a = lines(&[(10, &[1]), (11, &[2]), (12, &[3])]);
        let b = lines(&[(10, &[1]), (12, &[3]), (13, &[4])]);
        assert_eq!(match_lines(&a, &b), [Some(0), None, Some(1)]);
        // A line came in between, the rest moved.
        let a = lines(&[(5, &[7]), (6, &[8])]);
        let b = lines(&[(5, &[7]), (6, &[9]), (7, &[8])]);
        assert_eq!(match_lines(&a, &b), [Some(0), Some(2)]);
        assert_eq!(match_lines(&a, &[]), [None, None]);
    }
}
