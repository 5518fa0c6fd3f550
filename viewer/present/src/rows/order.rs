//! [`order`].

use super::Rows;
use crate::words::Lang;

/// The order of a table's rows by one column; equals keep their order.
#[must_use]
pub fn order(rows: &dyn Rows, column: usize, descending: bool, lang: Lang) -> Vec<u32> {
    let n = rows.len();
    if n > 0 && rows.rank(0, column).is_some() {
        let keyed = (0..n)
            .map(|i| {
                let key = rows.rank(i, column).unwrap_or(0);
                // Upside down instead of reversed, so that equals keep their order.
                (if descending { !key } else { key }, i as u32)
            })
            .collect();
        return radix(keyed);
    }
    let mut out: Vec<u32> = (0..n as u32).collect();
    out.sort_by(|&a, &b| {
        let order = rows
            .cell(a as usize, column, lang)
            .order(&rows.cell(b as usize, column, lang));
        if descending { order.reverse() } else { order }
    });
    out
}

/// Sorts by key, 11 bits at a time from the lowest; digits that all keys share cost one look. A
/// million keys take a few passes instead of twenty million comparisons.
fn radix(mut keyed: Vec<(u64, u32)>) -> Vec<u32> {
    const BITS: u32 = 11;
    const MASK: u64 = (1 << BITS) - 1;
    let first = keyed.first().map_or(0, |k| k.0);
    let differ = keyed.iter().fold(0, |all, k| all | (k.0 ^ first));
    let mut other = vec![(0, 0); keyed.len()];
    for shift in (0..u64::BITS).step_by(BITS as usize) {
        if differ >> shift & MASK == 0 {
            continue;
        }
        let digit = |key: u64| (key >> shift & MASK) as usize;
        let mut starts = vec![0usize; 1 << BITS];
        for &(key, _) in &keyed {
            starts[digit(key)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &row in &keyed {
            let slot = &mut starts[digit(row.0)];
            other[*slot] = row;
            *slot += 1;
        }
        std::mem::swap(&mut keyed, &mut other);
    }
    keyed.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radix_sorts_as_a_stable_sort_does() {
        let mut seed = 7u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for (n, mask) in [
            (0, u64::MAX),
            (1, 0),
            (2000, 0xff),
            (2000, u64::MAX),
            (2000, 0xff00_0000_0000_0000),
        ] {
            let keys: Vec<u64> = (0..n).map(|_| next() & mask).collect();
            let keyed = keys.iter().copied().zip(0..).collect();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            assert_eq!(radix(keyed), expected);
        }
    }
}
