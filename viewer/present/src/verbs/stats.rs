//! `memscope stats`: how reserved memory is used, by segment in pages, by pool and stream.

use std::fmt::Write as _;

use report::analyze::snapshot::figures::Place;
use report::analyze::snapshot::findings::{Finding, FindingKind};
use report::analyze::snapshot::pages::{self, PAGE, Page, Part, Use};
use report::analyze::snapshot::state::{Fragmentation, State, fragmentation};
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::analyze::summary;
use report::model::Value;
use report::model::snapshot::{Size, TIME_RESOLUTION_NS};
use serde_json::json;

use super::table::{Table, number, size, text};
use super::{at_json, event_place, pool, pool_shown, stream, title, when};
use crate::export::aligned;
use crate::names::{pool_name, stream_name};
use crate::rows::{Column, figure, text as column};
use crate::units::{bytes, count, exact};
use crate::visible::short;
use crate::words::{Lang, Word};

const WIDTH: usize = 56;

/// Everything that the answer is made of.
struct Facts {
    state: State,
    sums: Fragmentation,
    requested: Option<u64>,
    /// Whether the source states totals and no segments.
    stated: bool,
    parts: Vec<Part>,
    /// Ranges of a page or more, smallest first, then by bytes in use, as torch prints them.
    spans: Vec<(usize, Use)>,
    /// Ranges below a page.
    small: Use,
}

impl Facts {
    fn of(a: &Analysis, at: Instant) -> Self {
        let state = a.state_at(at);
        let at_end = a.event_of(at) == a.replay.last_event();
        let figures = a.figures();
        // At the end the snapshot's own blocks count, whatever the history knows.
        let (sums, requested) = if at_end {
            (figures.end, figures.end_requested)
        } else {
            let sum = match a.event_of(at) {
                Some(event) => {
                    let row = event.0.saturating_sub(a.replay.first) as usize;
                    a.replay.requested.after.get(row).copied()
                }
                None => Some(a.replay.requested.start),
            };
            (fragmentation(&a.replay, &state), sum)
        };
        let mut spans: Vec<(usize, Use)> = Vec::new();
        let mut small = Use::default();
        for (i, here) in state.spans.iter().enumerate() {
            let used = pages::of_span(&a.replay, here);
            if used.reserved >= PAGE {
                spans.push((i, used));
            } else {
                small = small.with(&used);
            }
        }
        spans.sort_by_key(|(_, used)| (used.reserved, used.allocated()));
        Self {
            parts: pages::parts(&a.replay, &state),
            state,
            sums,
            requested,
            stated: a.replay.stated,
            spans,
            small,
        }
    }

    /// The totals with their names.
    fn totals(&self) -> [(&'static str, [&'static str; 2], Option<u64>); 11] {
        let s = &self.sums;
        let free = s.free_in_used.saturating_add(s.free_in_unused);
        // A source that states totals tells nothing of segments and of blocks that wait.
        let known = |bytes: u64| (!self.stated).then_some(bytes);
        [
            ("reserved", ["reserved", "已保留"], Some(s.reserved)),
            ("allocated", ["allocated", "已分配"], Some(s.allocated)),
            (
                "active",
                [
                    "active (allocated or pending free)",
                    "活跃（已分配或等待释放）",
                ],
                known(s.allocated.saturating_add(s.pending)),
            ),
            ("pending", ["pending free", "等待释放"], known(s.pending)),
            (
                "requested",
                ["requested, of active", "活跃中已请求"],
                self.requested,
            ),
            (
                "rounding",
                ["rounding loss, of active", "活跃中取整损失"],
                known(s.rounding),
            ),
            ("free", ["free", "空闲"], known(free)),
            (
                "free_in_used_segments",
                [
                    "free in segments that hold something",
                    "所在段仍被占用的空闲",
                ],
                known(s.free_in_used),
            ),
            (
                "free_in_unused_segments",
                ["free in segments that hold nothing", "所在段完全空闲的空闲"],
                known(s.free_in_unused),
            ),
            (
                "largest_free",
                ["largest free block", "最大空闲块"],
                known(s.largest_free),
            ),
            (
                "inactive_split",
                ["inactive split", "未活跃的分裂块"],
                known(s.inactive_split),
            ),
        ]
    }
}

/// For a terminal.
#[must_use]
pub fn stats_text(a: &Analysis, at: Instant, lang: Lang) -> String {
    let facts = Facts::of(a, at);
    let mut out = format!("{}: {}\n\n", title(a, lang), when(a, at, lang));
    let mut totals = Table::new("totals", TOTALS);
    for (_, names, value) in facts.totals() {
        let name = names[usize::from(lang == Lang::Zh)];
        totals.push(vec![
            text(name),
            crate::rows::Cell::Bytes(value),
            text(value.map_or_else(String::new, exact)),
        ]);
    }
    out += &aligned(&totals, WIDTH, lang);
    out += &peaks(a, lang);
    if facts.stated {
        let (en, zh) = (
            "Segments are not recorded in this file.",
            "此文件未记录段。",
        );
        heading(&mut out, lang, en, zh);
    } else {
        out += &segments(a, &facts, lang);
        out += &parts(a, &facts, lang);
    }
    out += &coverage(a, lang);
    out += &findings(a, lang);
    out += &settings(a, lang);
    out
}

const TOTALS: &[Column] = &[
    column("what", Word::What),
    figure("bytes", Word::Size),
    figure("exact", Word::Bytes),
];

fn heading(out: &mut String, lang: Lang, en: &str, zh: &str) {
    let _ = writeln!(out, "\n{}", if lang == Lang::En { en } else { zh });
}

fn peaks(a: &Analysis, lang: Lang) -> String {
    let f = a.figures();
    let mut out = String::new();
    heading(&mut out, lang, "Peaks of the history", "历史峰值");
    let peaks = [
        ("requested", "已请求", f.peak_requested),
        ("allocated", "已分配", f.peak_allocated),
        ("reserved", "已保留", f.peak_reserved),
    ];
    for (en, zh, peak) in peaks {
        let name = if lang == Lang::En { en } else { zh };
        let said = match peak {
            Some(Place {
                bytes: b, event, ..
            }) => {
                let place = event.map_or_else(
                    || when(a, Instant::Start, lang),
                    |t| event_place(a, t, lang),
                );
                format!("{} ({}; {place})", bytes(b), exact(b))
            }
            None => "–".to_owned(),
        };
        let _ = writeln!(out, "  {name}: {said}");
    }
    out
}

/// Page maps with the signs of torch's printout.
fn segments(a: &Analysis, facts: &Facts, lang: Lang) -> String {
    let mut out = String::new();
    let page = bytes(PAGE);
    heading(
        &mut out,
        lang,
        &format!(
            "Segments of {page} and more, in pages of {page}: a letter is one block, a digit is how \
             many tenths several blocks fill, * is a page that several fill, a blank is free"
        ),
        &format!(
            "不小于 {page} 的段，每页 {page}：字母为单个块，数字为多个块占满的十分之几，* 为多个块占满，空白为空闲"
        ),
    );
    for (i, used) in &facts.spans {
        let Some(here) = facts.state.spans.get(*i) else {
            continue;
        };
        let span = a.replay.spans.get(here.span);
        let name = a.name(Named::Span(here.span));
        let map = page_map(&pages::pages(&a.replay, here, PAGE));
        let _ = write!(out, "  {name:<5} [{map}] {}", bytes(used.reserved));
        let free = used.free();
        if free > 0 {
            let _ = match lang {
                Lang::En => write!(out, ", {} free", bytes(free)),
                Lang::Zh => write!(out, "，空闲 {}", bytes(free)),
            };
        }
        for (value, en, zh) in [
            (used.pending, "pending free", "等待释放"),
            (used.rounding, "rounding", "取整损失"),
        ] {
            if value > 0 {
                let _ = match lang {
                    Lang::En => write!(out, ", {} {en}", bytes(value)),
                    Lang::Zh => write!(out, "，{zh} {}", bytes(value)),
                };
            }
        }
        if let Some(span) = span {
            let handle = stream(a, span.stream);
            if handle != "0" {
                let _ = write!(out, ", {}", stream_name(a, span.stream, lang));
            }
            if pool(a, span.pool).is_some_and(|p| p != "default") {
                let _ = write!(out, ", {}", pool_name(a, span.pool, lang));
            }
        }
        out.push('\n');
    }
    let s = facts.small;
    if s.spans > 0 {
        let (n, b) = (count(s.spans), bytes(s.reserved));
        let (used, free) = (bytes(s.allocated()), bytes(s.free()));
        let _ = match lang {
            Lang::En => writeln!(
                out,
                "  and {n} smaller ones with {b}: {used} allocated, {free} free"
            ),
            Lang::Zh => writeln!(
                out,
                "  另有 {n} 个较小的段共 {b}：已分配 {used}，空闲 {free}"
            ),
        };
    }
    out
}

/// One sign a page.
fn page_map(pages: &[Page]) -> String {
    let sign = |p: &Page| match p {
        Page::Free => ' ',
        Page::One(n) => char::from(b'a' + (n % 26) as u8),
        Page::Part(tenths) => char::from(b'0' + tenths.min(&9)),
        Page::Full => '*',
    };
    pages.iter().map(sign).collect()
}

const PARTS: &[Column] = &[
    column("pool", Word::PoolHead),
    column("stream", Word::StreamHead),
    column("requests", Word::Type),
    figure("segments", Word::SegmentsHead),
    figure("reserved", Word::Reserved),
    figure("allocated", Word::Allocated),
    figure("pending", Word::PendingFree),
    figure("free", Word::FreeHead),
    figure("largest_free", Word::LargestFreeHead),
    figure("rounding", Word::RoundingHead),
];

fn class(size: Size) -> &'static str {
    match size {
        Size::Small => "small",
        Size::Large => "large",
        Size::Unknown => "–",
    }
}

fn parts(a: &Analysis, facts: &Facts, lang: Lang) -> String {
    let mut table = Table::new("parts", PARTS);
    for p in &facts.parts {
        let u = &p.used;
        table.push(vec![
            text(pool_shown(a, p.pool)),
            text(stream(a, p.stream)),
            text(class(p.class)),
            number(u.spans),
            size(u.reserved),
            size(u.allocated()),
            size(u.pending),
            size(u.free()),
            size(u.largest_free),
            size(u.rounding),
        ]);
    }
    let mut out = String::new();
    heading(&mut out, lang, "By pool and stream", "按内存池和流");
    out + &aligned(&table, WIDTH, lang)
}

fn coverage(a: &Analysis, lang: Lang) -> String {
    let c = &a.replay.coverage;
    let n = count(a.replay.events().len() as u64);
    let mut out = String::new();
    heading(&mut out, lang, "History", "历史");
    let line = match (a.replay.events().is_empty(), c.whole, lang) {
        (true, _, Lang::En) => "none was recorded: only the state at the end is known".to_owned(),
        (true, _, Lang::Zh) => "未记录：仅知道结束时的状态".to_owned(),
        (false, true, Lang::En) => format!("whole: {n} entries from the first byte on"),
        (false, true, Lang::Zh) => format!("完整：从第一个字节起共 {n} 个条目"),
        (false, false, lang) => {
            let first = a.name(Named::Event(report::model::snapshot::TraceId(
                a.replay.first,
            )));
            let since = c.since_ns.map(utc);
            let (had, blocks) = (bytes(c.requested_before), count(c.allocations_before));
            let reserved = bytes(c.reserved_before);
            match lang {
                Lang::En => format!(
                    "{n} entries; it begins at {first}{}: {had} in {blocks} blocks and {reserved} \
                     reserved were there before, stacks not recorded",
                    since.map_or_else(String::new, |us| format!(" ({us} UTC)"))
                ),
                Lang::Zh => format!(
                    "{n} 个条目；始于 {first}{}：此前已有 {blocks} 个块共 {had}，保留 {reserved}，其调用栈未记录",
                    since.map_or_else(String::new, |us| format!("（UTC {us}）"))
                ),
            }
        }
    };
    let _ = writeln!(out, "  {line}");
    out
}

/// Nanoseconds since the Unix epoch as date and time of day: `2026-11-29 20:57:33.123456`.
fn utc(ns: u64) -> String {
    let micros = ns / TIME_RESOLUTION_NS;
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, in cycles of 400 years, so that leap days come last.
    let day = days + 719_468;
    let (cycle, of_cycle) = (day / 146_097, day % 146_097);
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = cycle * 400 + year + carry;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

fn findings(a: &Analysis, lang: Lang) -> String {
    let mut out = String::new();
    let rows = &a.replay.findings.rows;
    if rows.is_empty() {
        return out;
    }
    heading(
        &mut out,
        lang,
        "What does not fit, or is not known",
        "不一致或未知之处",
    );
    for f in rows {
        let _ = write!(out, "  {}", said(f.kind, lang));
        let _ = match lang {
            Lang::En => write!(out, ": {} ×, {}", count(f.count), bytes(f.bytes)),
            Lang::Zh => write!(out, "：{} 次，{}", count(f.count), bytes(f.bytes)),
        };
        if let Some(at) = f.first {
            let _ = match lang {
                Lang::En => write!(out, ", first at {}", a.name(Named::Event(at))),
                Lang::Zh => write!(out, "，首次在 {}", a.name(Named::Event(at))),
            };
        }
        out.push('\n');
    }
    out
}

/// A kind of finding in words.
fn said(kind: FindingKind, lang: Lang) -> &'static str {
    use FindingKind as K;
    let (en, zh) = match kind {
        K::NoHistory => ("no history was recorded", "未记录历史"),
        K::StartsLate => (
            "memory was there before the history began",
            "历史开始之前已有显存",
        ),
        K::Overflowed => ("the history's buffer overflowed", "历史缓冲区溢出"),
        K::AllocatedTwice => (
            "handed out at an address that was in use",
            "在使用中的地址上再次分配",
        ),
        K::FreeOfUnknown => ("freed what was not in use", "释放了未使用的地址"),
        K::FreedTwice => ("freed twice", "重复释放"),
        K::OutsideSegments => ("handed out where nothing was reserved", "在未保留处分配"),
        K::SegmentMismatch => (
            "reserved over another segment, or released where none was",
            "段重叠或释放了不存在的段",
        ),
        K::NotInSnapshot => (
            "lives at the end, but not in the snapshot's state",
            "历史末尾存活但快照状态中没有",
        ),
        K::SizeMismatch => (
            "has another size in the snapshot's state",
            "与快照状态中的大小不同",
        ),
        K::NotInHistory => (
            "in use in the snapshot's state, but never handed out",
            "快照状态中在用但历史中从未分配",
        ),
        K::RequestedMismatch => (
            "the history leads to other requested bytes than the state has",
            "历史推得的请求字节与状态不符",
        ),
        K::ReservedMismatch => (
            "the history leads to other reserved bytes than the state has",
            "历史推得的保留字节与状态不符",
        ),
        K::PendingAtEnd => (
            "still waits for another stream at the end",
            "结束时仍在等待其他流",
        ),
        K::BlocksMismatch => (
            "a segment's blocks do not add up to its size",
            "段内各块之和与段大小不符",
        ),
        _ => ("something else", "其他"),
    };
    if lang == Lang::En { en } else { zh }
}

fn settings(a: &Analysis, lang: Lang) -> String {
    let mut out = String::new();
    let settings = &a.snapshot().settings;
    if settings.iter().next().is_none() {
        return out;
    }
    heading(&mut out, lang, "Allocator settings", "分配器设置");
    for (key, value) in settings.iter() {
        let shown = setting(value);
        let _ = writeln!(out, "  {} = {}", short(key, 80), short(&shown, 200));
    }
    out
}

/// A setting as Python would write it.
fn setting(value: &Value) -> String {
    match value {
        Value::Text(t) => format!("{t:?}"),
        other => other.text(),
    }
}

fn setting_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Float(f) => json!(f),
        Value::Text(t) => json!(t),
        Value::Json(t) => serde_json::from_str(t).unwrap_or_else(|_| json!(t)),
    }
}

/// For scripts: `memscope.stats`.
#[must_use]
pub fn stats_json(a: &Analysis, at: Instant) -> String {
    let facts = Facts::of(a, at);
    let event = |e: Option<report::model::snapshot::TraceId>| e.map(|t| a.name(Named::Event(t)));
    let peak = |p: Option<Place>| {
        json!({
            "bytes": p.map(|p| p.bytes),
            "entry": event(p.and_then(|p| p.event)),
            "step": p.and_then(|p| p.step),
            "phase": p.and_then(|p| p.phase).map(|n| a.strings().get(n)),
        })
    };
    let used = |u: &Use| {
        json!({
            "segments": u.spans, "blocks": u.blocks, "reserved": u.reserved,
            "requested": u.requested, "rounding": u.rounding, "allocated": u.allocated(),
            "pending": u.pending, "free": u.free(), "largest_free": u.largest_free,
        })
    };
    let f = a.figures();
    let c = &a.replay.coverage;
    let spans: Vec<_> = facts
        .spans
        .iter()
        .filter_map(|(i, u)| {
            let here = facts.state.spans.get(*i)?;
            let span = a.replay.spans.get(here.span)?;
            Some(json!({
                "name": a.name(Named::Span(here.span)),
                "address": span.address,
                "pages": page_map(&pages::pages(&a.replay, here, PAGE)),
                "stream": stream(a, span.stream),
                "pool": pool(a, span.pool),
                "use": used(u),
            }))
        })
        .collect();
    let totals: serde_json::Map<_, _> = facts
        .totals()
        .iter()
        .map(|(id, _, value)| ((*id).to_owned(), json!(value)))
        .collect();
    let answer = json!({
        "format": "memscope.stats", "version": 1,
        "skipped": summary::skipped(&a.rank),
        "source": a.rank.source.name, "rank": a.rank.number(),
        "device": if a.device.is_host() { None } else { Some(a.device.0) },
        "at": at_json(a, at),
        "totals": totals,
        "peaks": {
            "requested": peak(f.peak_requested),
            "allocated": peak(f.peak_allocated),
            "reserved": peak(f.peak_reserved),
        },
        "page_bytes": PAGE,
        "segments": spans,
        "smaller_segments": used(&facts.small),
        "parts": facts.parts.iter().map(|p| json!({
            "pool": pool(a, p.pool), "stream": stream(a, p.stream), "requests": class(p.class),
            "use": used(&p.used),
        })).collect::<Vec<_>>(),
        "history": {
            "entries": a.replay.events().len(), "whole": c.whole, "since_ns": c.since_ns,
            "requested_before": c.requested_before, "reserved_before": c.reserved_before,
            "allocations_before": c.allocations_before,
        },
        "findings": a.replay.findings.rows.iter().map(|f: &Finding| json!({
            "what": said(f.kind, Lang::En), "count": f.count, "bytes": f.bytes,
            "entry": event(f.first),
        })).collect::<Vec<_>>(),
        "settings": a.snapshot().settings.iter()
            .map(|(k, v)| (k.to_owned(), setting_json(v)))
            .collect::<serde_json::Map<_, _>>(),
    });
    serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn times_are_those_of_a_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01 00:00:00.000000"),
            (951_782_399, "2000-02-28 23:59:59.000000"),
            (951_868_800, "2000-03-01 00:00:00.000000"),
            (1_709_164_800, "2024-02-29 00:00:00.000000"),
            (4_107_542_400, "2100-03-01 00:00:00.000000"),
        ] {
            assert_eq!(utc(seconds * 1_000_000_000), shown);
        }
        assert_eq!(utc(1_234_567_890), "1970-01-01 00:00:01.234567");
    }
}
