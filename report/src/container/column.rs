//! From values to stored numbers and back, by [`Coding`].

use super::header::Coding;
use super::varint::{put, take, unzigzag, zigzag};

/// Encodes `values`; `a` and `b` are the columns that the coding refers to.
pub(super) fn encode(coding: Coding, values: &[u64], a: &[u64], b: &[u64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * 2);
    if matches!(coding, Coding::Plain | Coding::Raw) {
        for &v in values {
            put(&mut out, v);
        }
        return out;
    }
    let mut above = 0;
    for (i, &v) in values.iter().enumerate() {
        let p = predict(coding, above, i, a, b);
        put(&mut out, zigzag(v.wrapping_sub(p) as i64));
        above = v;
    }
    out
}

/// Decodes `count` values; `None` when the slab ends early or has bytes left.
pub(super) fn decode(
    coding: Coding,
    mut slab: &[u8],
    count: usize,
    a: &[u64],
    b: &[u64],
) -> Option<Vec<u64>> {
    // Every value takes at least a byte: a count that lies cannot make us reserve memory.
    if count > slab.len() {
        return None;
    }
    let mut out = Vec::with_capacity(count);
    if matches!(coding, Coding::Plain | Coding::Raw) {
        for _ in 0..count {
            out.push(take(&mut slab)?);
        }
    } else {
        let mut above = 0;
        for i in 0..count {
            let p = predict(coding, above, i, a, b);
            above = p.wrapping_add(unzigzag(take(&mut slab)?) as u64);
            out.push(above);
        }
    }
    slab.is_empty().then_some(out)
}

#[inline]
fn predict(coding: Coding, above: u64, row: usize, a: &[u64], b: &[u64]) -> u64 {
    let at = |c: &[u64], i: usize| c.get(i).copied().unwrap_or(0);
    match coding {
        Coding::Raw | Coding::Plain => 0,
        Coding::Delta => above,
        Coding::Above => row.checked_sub(1).map_or(0, |i| at(a, i)),
        Coding::Beside => at(a, row),
        Coding::Difference => at(a, row).wrapping_sub(at(b, row)),
        Coding::HighWater => above.max(at(a, row)),
    }
}
