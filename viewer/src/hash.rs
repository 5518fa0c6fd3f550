//! What the page shows, as the part of its address behind `#`. A link reopens the same view.
//!
//! `#view=top&rank=1&axis=step&zoom=0.25-0.5&sel=e412&q=lm_head&lang=zh&theme=dark&...`; what is at
//! its default is left out, what is not understood is ignored.

use present::Lang;
use present::chart::AxisKind;

use crate::state::{Shown, Sort, View};

/// Writes the hash without `#`.
#[must_use]
pub fn write(s: &Shown) -> String {
    let mut out: Vec<String> = Vec::new();
    let default = Shown::default();
    let mut put = |key: &str, value: &str| out.push(format!("{key}={}", escape(value)));
    if let Some(view) = s.view {
        put("view", view.word());
    }
    if let Some(rank) = s.rank {
        put("rank", &rank.to_string());
    }
    #[cfg(feature = "snapshot")]
    if let Some(device) = s.device {
        put("device", &device.word());
    }
    #[cfg(feature = "snapshot")]
    if let Some(with) = s.with {
        put("with", &with.to_string());
    }
    match s.axis {
        AxisKind::Event => {}
        AxisKind::Step => put("axis", "step"),
        AxisKind::Time => put("axis", "time"),
    }
    if s.zoom != default.zoom {
        put("zoom", &format!("{:.6}-{:.6}", s.zoom.0, s.zoom.1));
    }
    if let Some(sel) = &s.selection {
        put("sel", sel);
    }
    for (key, value) in [
        ("q", &s.query),
        ("step", &s.step),
        ("phase", &s.phase),
        ("type", &s.kind),
        ("role", &s.role),
        #[cfg(feature = "snapshot")]
        ("at", &s.at),
        #[cfg(feature = "snapshot")]
        ("pick", &s.pick),
        #[cfg(feature = "snapshot")]
        ("by", &s.by),
        #[cfg(feature = "snapshot")]
        ("atb", &s.at_b),
        #[cfg(feature = "snapshot")]
        ("change", &s.change),
        #[cfg(feature = "snapshot")]
        ("how", &s.how),
        #[cfg(feature = "snapshot")]
        ("flame", &s.flame),
        #[cfg(feature = "snapshot")]
        ("action", &s.action),
        #[cfg(feature = "snapshot")]
        ("min", &s.min),
        #[cfg(feature = "snapshot")]
        ("max", &s.max),
        #[cfg(feature = "snapshot")]
        ("keep", &s.keep),
        #[cfg(feature = "snapshot")]
        ("lay", &s.lay),
    ] {
        if !value.is_empty() {
            put(key, value);
        }
    }
    for (key, flag) in [("each", s.each), ("flat", s.flat)] {
        if flag {
            put(key, "1");
        }
    }
    if let Some(sort) = &s.sort {
        let direction = if sort.descending { "down" } else { "up" };
        put(
            "sort",
            &format!("{}.{}.{direction}", sort.table, sort.column),
        );
    }
    if let Some(lang) = s.lang {
        put("lang", if lang == Lang::Zh { "zh" } else { "en" });
    }
    if let Some(dark) = s.dark {
        put("theme", if dark { "dark" } else { "light" });
    }
    out.join("&")
}

/// Reads a hash, with or without `#`.
#[must_use]
pub fn read(hash: &str) -> Shown {
    let mut s = Shown::default();
    for pair in hash.trim_start_matches('#').split('&') {
        let Some((key, value)) = pair.split_once('=') else {
            continue;
        };
        let value = unescape(value);
        match key {
            "view" => s.view = View::of_word(&value),
            "rank" => s.rank = value.parse().ok(),
            "axis" if value == "step" => s.axis = AxisKind::Step,
            "axis" if value == "time" => s.axis = AxisKind::Time,
            "zoom" => s.zoom = zoom(&value).unwrap_or(s.zoom),
            "sel" => s.selection = Some(value),
            "q" => s.query = value,
            "step" => s.step = value,
            "phase" => s.phase = value,
            "type" => s.kind = value,
            "role" => s.role = value,
            #[cfg(feature = "snapshot")]
            "device" => s.device = report::model::snapshot::Device::of_word(&value),
            #[cfg(feature = "snapshot")]
            "at" => s.at = value,
            #[cfg(feature = "snapshot")]
            "pick" => s.pick = value,
            #[cfg(feature = "snapshot")]
            "by" => s.by = value,
            #[cfg(feature = "snapshot")]
            "atb" => s.at_b = value,
            #[cfg(feature = "snapshot")]
            "change" => s.change = value,
            #[cfg(feature = "snapshot")]
            "with" => s.with = value.parse().ok(),
            #[cfg(feature = "snapshot")]
            "how" => s.how = value,
            #[cfg(feature = "snapshot")]
            "flame" => s.flame = value,
            #[cfg(feature = "snapshot")]
            "action" => s.action = value,
            #[cfg(feature = "snapshot")]
            "min" => s.min = value,
            #[cfg(feature = "snapshot")]
            "max" => s.max = value,
            #[cfg(feature = "snapshot")]
            "keep" => s.keep = value,
            #[cfg(feature = "snapshot")]
            "lay" => s.lay = value,
            "each" => s.each = value == "1",
            "flat" => s.flat = value == "1",
            "sort" => s.sort = sort(&value),
            "lang" => s.lang = Some(Lang::of_tag(&value)),
            "theme" => s.dark = Some(value == "dark"),
            _ => {}
        }
    }
    s
}

fn zoom(text: &str) -> Option<(f64, f64)> {
    let (a, b) = text.split_once('-')?;
    let (a, b): (f64, f64) = (a.parse().ok()?, b.parse().ok()?);
    ((0.0..1.0).contains(&a) && b > a && b <= 1.0).then_some((a, b))
}

fn sort(text: &str) -> Option<Sort> {
    let mut parts = text.split('.');
    let sort = Sort {
        table: parts.next()?.to_owned(),
        column: parts.next()?.to_owned(),
        descending: parts.next()? == "down",
    };
    parts.next().is_none().then_some(sort)
}

/// Percent-encodes all but unreserved characters.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(b as char)
            }
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        let hex = (b == b'%')
            .then(|| text.get(i + 1..i + 3))
            .flatten()
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        match hex {
            Some(value) => {
                out.push(value);
                i += 3;
            }
            None => {
                out.push(b);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_reopens_the_same_view() {
        let shown = Shown {
            view: Some(View::Top),
            rank: Some(3),
            axis: AxisKind::Step,
            zoom: (0.25, 0.5),
            selection: Some("e412".to_owned()),
            query: "模块 & <b>=100%".to_owned(),
            step: "-1".to_owned(),
            phase: "forward".to_owned(),
            kind: "module".to_owned(),
            role: "weight".to_owned(),
            #[cfg(feature = "snapshot")]
            device: Some(report::model::snapshot::Device::HOST),
            #[cfg(feature = "snapshot")]
            at: "t412".to_owned(),
            #[cfg(feature = "snapshot")]
            pick: "b7f3c40000000_2".to_owned(),
            #[cfg(feature = "snapshot")]
            by: "line".to_owned(),
            #[cfg(feature = "snapshot")]
            how: "flame".to_owned(),
            #[cfg(feature = "snapshot")]
            lay: "address-together".to_owned(),
            #[cfg(feature = "snapshot")]
            at_b: "oom".to_owned(),
            #[cfg(feature = "snapshot")]
            change: "grown".to_owned(),
            #[cfg(feature = "snapshot")]
            with: Some(1),
            #[cfg(feature = "snapshot")]
            flame: "a.k12.3".to_owned(),
            #[cfg(feature = "snapshot")]
            action: "alloc".to_owned(),
            #[cfg(feature = "snapshot")]
            min: "1MiB".to_owned(),
            #[cfg(feature = "snapshot")]
            max: "2 GiB".to_owned(),
            #[cfg(feature = "snapshot")]
            keep: "3".to_owned(),
            each: true,
            flat: true,
            sort: Some(Sort {
                table: "events".to_owned(),
                column: "step".to_owned(),
                descending: true,
            }),
            lang: Some(Lang::Zh),
            dark: Some(true),
        };
        let hash = write(&shown);
        assert_eq!(read(&format!("#{hash}")), shown);
        assert!(hash.is_ascii() && !hash.contains('<'));
    }

    #[test]
    fn nonsense_is_ignored() {
        for hash in [
            "",
            "#",
            "#view=no&zoom=2-1&sort=a.b&rank=x&%%%=%",
            "#zoom=NaN-1",
            "#zoom=0.5-0.4",
        ] {
            assert_eq!(read(hash), Shown::default(), "{hash}");
        }
        assert_eq!(write(&Shown::default()), "");
    }
}
