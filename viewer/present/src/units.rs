//! Sizes and counts for people. Binary units, three significant digits; exact bytes on demand.

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A size in the largest unit that leaves at least 1: `3.89 GiB`, `64.0 MiB`, `512 B`.
///
/// ```
/// use present::units::bytes;
/// assert_eq!(bytes(0), "0 B");
/// assert_eq!(bytes(4_178_647_040), "3.89 GiB");
/// assert_eq!(bytes(1_048_575), "1.00 MiB");
/// ```
#[must_use]
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut unit = 0;
    let mut value = bytes as f64;
    // 1023.5 and more would round up to a fourth digit: it belongs to the next unit.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A difference with its sign: `+64.0 MiB`, `−1.04 GiB`, `0 B`.
#[must_use]
pub fn delta(bytes_: i64) -> String {
    match bytes_ {
        0 => bytes(0),
        1.. => format!("+{}", bytes(bytes_.unsigned_abs())),
        _ => format!("−{}", bytes(bytes_.unsigned_abs())),
    }
}

/// A whole number with a comma every three digits: `4,178,647,040`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// As [`count`], with a minus sign where needed.
#[must_use]
pub fn signed(n: i64) -> String {
    let sign = if n < 0 { "−" } else { "" };
    format!("{sign}{}", count(n.unsigned_abs()))
}

/// Exact bytes: `4,178,647,040 B`.
#[must_use]
pub fn exact(bytes: u64) -> String {
    format!("{} B", count(bytes))
}

/// Exact bytes with sign.
#[must_use]
pub fn exact_delta(bytes: i64) -> String {
    let plus = if bytes > 0 { "+" } else { "" };
    format!("{plus}{} B", signed(bytes))
}

/// A share in percent: `12.3 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() >= 99.95 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
    .replace('-', "−")
}

/// A share in percent with its sign: `−21.2 %`, `+3.0 %`.
#[must_use]
pub fn percent_signed(share: f64) -> String {
    let text = percent(share);
    if share > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// Reads a size as people write it: `512`, `64KiB`, `1.5 GiB`, `2m`; binary units only. `None` for
/// anything else.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    let value: f64 = number.parse().ok()?;
    Some((value * (1u64 << shift) as f64).round() as u64)
}

/// A span of time given in nanoseconds, three significant digits: `2.04 s`, `14.0 ms`, `3 µs`.
#[must_use]
pub fn seconds(ns: u64) -> String {
    let (value, unit) = match ns {
        0..=999 => return format!("{ns} ns"),
        1_000..=999_499 => (ns as f64 / 1e3, "µs"),
        999_500..=999_499_999 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// Values for the marks of a byte axis from 0 to `max`: multiples of 1, 2 or 5 (or of a power of
/// two below 10) of a unit, at most `most` of them.
#[must_use]
pub fn axis(max: u64, most: usize) -> Vec<u64> {
    let mut unit = 1u64;
    while unit <= max / 1024 {
        unit = unit.saturating_mul(1024);
    }
    let most = most.max(2) as u64;
    // In units: 1, 2, 5, 10, 20, ...; below one unit: halves down to an eighth.
    let steps = [unit / 8, unit / 4, unit / 2]
        .into_iter()
        .chain([1u64, 2, 5, 10, 20, 50, 100, 200, 500, 1024].map(|m| unit.saturating_mul(m)))
        .filter(|&s| s > 0);
    let step = steps
        .into_iter()
        .find(|&s| max / s < most)
        .unwrap_or(max.max(1));
    (0..=max / step).map(|i| i * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_and_binary_units() {
        for (n, text) in [
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (10_240, "10.0 KiB"),
            (104_857_600, "100 MiB"),
            (1_073_217_536, "1.00 GiB"),
            (67_108_864, "64.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(delta(-1024), "−1.00 KiB");
        assert_eq!(delta(1 << 20), "+1.00 MiB");
        assert_eq!(exact(1_234_567), "1,234,567 B");
        assert_eq!(exact_delta(-1_234), "−1,234 B");
        assert_eq!(percent_signed(-0.7496), "−75.0 %");
        assert_eq!(percent(0.9999), "100 %");
    }

    #[test]
    fn axis_marks_are_round_few_and_within() {
        for max in [0, 1, 999, 5_000, 4_178_647_040, 4_678_746_112, u64::MAX / 2] {
            let marks = axis(max, 6);
            assert!(marks.len() <= 6, "{max}: {marks:?}");
            assert!(marks.iter().all(|&m| m <= max));
        }
        assert_eq!(
            axis(4_678_746_112, 6),
            [0, 1 << 30, 2 << 30, 3 << 30, 4 << 30]
        );
    }
}
