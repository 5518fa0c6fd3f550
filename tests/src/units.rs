//! Sizes and numbers as the page must write them: three digits, binary units, a real minus sign.

/// `3.89 GiB`
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // The first unit in which fewer than four digits stand before the point.
    for (i, unit) in units.iter().enumerate() {
        let value = bytes as f64 / (1u64 << (10 * (i + 1))) as f64;
        let whole = format!("{value:.0}");
        if whole.len() > 3 && value >= 1023.5 {
            continue;
        }
        let two = format!("{value:.2}");
        let one = format!("{value:.1}");
        return match (two.len(), one.len()) {
            (4, _) => format!("{two} {unit}"),
            (_, 4) => format!("{one} {unit}"),
            _ => format!("{whole} {unit}"),
        };
    }
    unreachable!("2^64 bytes are 16 EiB")
}

/// `+64.0 MiB`, `−1.04 GiB`, `0 B`
#[must_use]
pub fn delta(bytes: i64) -> String {
    let sign = match bytes.signum() {
        1 => "+",
        -1 => "\u{2212}",
        _ => "",
    };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

/// `1,626`, `−1`
#[must_use]
pub fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|c| std::str::from_utf8(c).expect("digits"))
        .collect();
    format!(
        "{}{}",
        if n < 0 { "\u{2212}" } else { "" },
        groups.join(",")
    )
}

/// `12.3 %`, `100 %`
#[must_use]
pub fn share(part: f64) -> String {
    let percent = part * 100.0;
    let text = if percent.abs() < 99.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (67_108_864, "64.0 MiB"),
            (655_360_000, "625 MiB"),
            (4_178_647_040, "3.89 GiB"),
            (1_073_217_536, "1.00 GiB"),
            (10_475_274, "9.99 MiB"),
            (104_810_000, "100 MiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(number(-1_234_567), "\u{2212}1,234,567");
        assert_eq!(delta(-1024), "\u{2212}1.00 KiB");
    }
}
