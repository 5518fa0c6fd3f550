//! `memscope trace`: the history as lines of what looks like Python, with true running totals.

use std::fmt::Write as _;
use std::ops::Deref;

use report::analyze::snapshot::replay::Curve;
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::model::StringId;
use report::model::snapshot::{Action, TraceId, TraceRow};

use super::{frame, missing_since, pool, stream, title, when};
use crate::names::{pool_name, stream_name};
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text as column};
use crate::units::{bytes, count};
use crate::visible::short;
use crate::words::{Lang, Word};

/// Room for a statement before the totals.
const STATEMENT: usize = 62;

/// Bytes after an entry.
fn after(a: &Analysis, curve: &Curve, at: TraceId) -> Option<u64> {
    let row = at.0.checked_sub(a.replay.first)? as usize;
    curve.after.get(row).copied()
}

/// For a terminal: the entries of `rows`, with the annotations between them.
///
/// Totals are those after each entry, whichever entries are shown.
#[must_use]
pub fn trace_text(a: &Analysis, rows: &[TraceId], lang: Lang) -> String {
    let mut out = head(a, rows.len(), lang);
    let mut marks = marks(a).into_iter().peekable();
    // Annotations outside what is shown say nothing about it.
    let (first, last) = (rows.first().copied(), rows.last().copied());
    for &at in rows {
        while let Some((_, line)) = marks.next_if(|&(t, _)| t <= at) {
            out += &line;
        }
        let row = a.snapshot().events.row(at.index());
        let said = statement(a, at, &row, lang);
        let sum = |curve| after(a, curve, at).map_or_else(|| "–".to_owned(), bytes);
        let _ = write!(
            out,
            "{:<8} {said:<STATEMENT$} {:>9} {:>9} {:>9}",
            a.name(Named::Event(at)),
            sum(&a.replay.requested),
            sum(&a.replay.allocated),
            sum(&a.replay.reserved),
        );
        let tail = remarks(a, at, &row, lang);
        if !tail.is_empty() {
            let _ = write!(out, "  # {tail}");
        }
        out.push('\n');
    }
    if last == a.replay.last_event() {
        for (_, line) in marks {
            out += &line;
        }
    }
    if first.is_none() {
        out += match lang {
            Lang::En => "No entry matches.\n",
            Lang::Zh => "没有匹配的条目。\n",
        };
    }
    out
}

fn head(a: &Analysis, shown: usize, lang: Lang) -> String {
    let all = a.replay.events().len();
    let c = &a.replay.coverage;
    let mut out = format!("# {}: ", title(a, lang));
    out += &match lang {
        Lang::En if shown == all => format!("{} entries", count(all as u64)),
        Lang::En => format!("{} of {} entries", count(shown as u64), count(all as u64)),
        Lang::Zh if shown == all => format!("{} 个条目", count(all as u64)),
        Lang::Zh => format!(
            "{} 个条目中的 {} 个",
            count(all as u64),
            count(shown as u64)
        ),
    };
    if !c.whole {
        let (had, n) = (bytes(c.requested_before), count(c.allocations_before));
        out += &match lang {
            Lang::En => format!(
                "; {had} in {n} blocks and {} reserved were there before",
                bytes(c.reserved_before)
            ),
            Lang::Zh => format!(
                "；此前已有 {n} 个块共 {had}，保留 {}",
                bytes(c.reserved_before)
            ),
        };
    }
    if let Some(at) = a.event_of(Instant::Peak) {
        let peak = after(a, &a.replay.requested, at).map_or_else(|| "–".to_owned(), bytes);
        let place = when(a, Instant::Peak, lang);
        out += &match lang {
            Lang::En => format!("; highest {peak} {place}"),
            Lang::Zh => format!("；最高 {peak}，{place}"),
        };
    }
    let [e, s, q, l, v] = match lang {
        Lang::En => ["# entry", "statement", "requested", "allocated", "reserved"],
        Lang::Zh => ["# 条目", "语句", "已请求", "已分配", "已保留"],
    };
    let _ = write!(out, "\n{e:<8} {s:<STATEMENT$} {q:>9} {l:>9} {v:>9}\n");
    out
}

/// Lines for the starts and ends of annotations, by the entry that they stand before.
fn marks(a: &Analysis) -> Vec<(TraceId, String)> {
    let mut out: Vec<(TraceId, u64, String)> = Vec::new();
    for r in a.ranges() {
        let name = short(a.strings().get(r.name), super::TEXT);
        let pad = "  ".repeat(r.depth.min(20) as usize);
        out.push((r.start, r.start_ns, format!("# {pad}begin {name}\n")));
        if let Some(ns) = r.end_ns {
            out.push((r.end, ns, format!("# {pad}end {name}\n")));
        }
    }
    out.sort_by_key(|m| (m.0, m.1));
    out.into_iter().map(|(at, _, line)| (at, line)).collect()
}

/// What an entry did, with the names of what it did it to.
fn statement(a: &Analysis, at: TraceId, row: &TraceRow, lang: Lang) -> String {
    let size = bytes(row.size);
    let address = format!("{:#x}", row.address);
    let entries = a.entries();
    let block = || match entries.allocation(at) {
        Some(id) => a.name(Named::Allocation(id)),
        None => format!("{address} ({})", unknown(lang)),
    };
    let ended = || match entries.ended(at).first() {
        Some(&id) => a.name(Named::Span(id)),
        None => format!("{address} ({})", unknown(lang)),
    };
    let made = || match entries.made(at) {
        Some(id) => a.name(Named::Span(id)),
        None => "?".to_owned(),
    };
    match row.action {
        Action::Alloc => {
            let id = entries.allocation(at);
            let allocation = id.and_then(|id| a.replay.allocations.get(id));
            let span = allocation.and_then(|al| al.span);
            let from = span.and_then(|s| Some((s, a.replay.spans.get(s)?)));
            match from {
                Some((s, range)) => format!(
                    "{} = {}[{:#x}:{size}]",
                    block(),
                    a.name(Named::Span(s)),
                    row.address.saturating_sub(range.address)
                ),
                None => format!("{} = MEM[{address}:{size}]", block()),
            }
        }
        Action::FreeRequested => format!("del {}  # {size}", block()),
        Action::FreeCompleted => format!("# free completed: {}, {size}", block()),
        Action::Free => format!("del {}  # {size}, completed", block()),
        Action::SegmentAlloc => format!("{} = cudaMalloc({address}, {size})", made()),
        Action::SegmentFree => format!("cudaFree({})  # {size}", ended()),
        Action::SegmentMap => format!("{} = cuMemMap({address}, {size})", made()),
        Action::SegmentUnmap => format!("cuMemUnmap({}, {address}, {size})", ended()),
        Action::Oom => format!("raise OutOfMemoryError  # {size} requested"),
        Action::Snapshot => format!("snapshot()  # {size} active"),
        Action::Annotate => {
            let text = short(a.strings().get(row.user_metadata), 40).into_owned();
            let live = a.replay.allocations.find(row.address, at, row.action);
            match live {
                Some(id) => format!("annotate({}, {text:?})", a.name(Named::Allocation(id))),
                None => format!("annotate({address}, {text:?})"),
            }
        }
        other => format!("# {} {address} {size}", other.word()),
    }
}

fn unknown(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not known",
        Lang::Zh => "未知",
    }
}

/// What else is to be said: free bytes of the device, what grew together, where, and names.
fn remarks(a: &Analysis, at: TraceId, row: &TraceRow, lang: Lang) -> String {
    let mut parts: Vec<String> = Vec::new();
    let size = |id| a.replay.spans.get(id).map_or(0, |s| s.size);
    match row.action {
        Action::Oom => parts.push(match (super::refused(a, at).1.map(bytes), lang) {
            (Some(free), Lang::En) => format!("{free} free on the device"),
            (Some(free), Lang::Zh) => format!("设备空闲 {free}"),
            (None, Lang::En) => "free on the device: –".to_owned(),
            (None, Lang::Zh) => "设备空闲：–".to_owned(),
        }),
        Action::SegmentMap => {
            let grown: Vec<String> = a
                .entries()
                .ended(at)
                .iter()
                .map(|&s| a.name(Named::Span(s)))
                .collect();
            if let Some(id) = a.entries().made(at).filter(|_| !grown.is_empty()) {
                let (with, whole) = (grown.join(", "), bytes(size(id)));
                parts.push(match lang {
                    Lang::En => format!("with {with}: {whole}"),
                    Lang::Zh => format!("与 {with} 合并为 {whole}"),
                });
            }
        }
        Action::SegmentUnmap => {
            if let Some(id) = a.entries().made(at) {
                let (name, left) = (a.name(Named::Span(id)), bytes(size(id)));
                parts.push(match lang {
                    Lang::En => format!("{name} is left with {left}"),
                    Lang::Zh => format!("剩余 {name} 为 {left}"),
                });
            }
        }
        _ => {}
    }
    if stream(a, row.stream) != "0" {
        parts.push(stream_name(a, row.stream, lang));
    }
    if pool(a, row.pool).is_some_and(|p| p != "default") {
        parts.push(pool_name(a, row.pool, lang));
    }
    if !row.action.is_free() && row.action != Action::Snapshot {
        let stack = a
            .entries()
            .allocation(at)
            .map_or(row.stack, |id| a.replay.allocations.stack(id));
        match stack.and_then(|s| Some((s, a.sites().place(s)?))) {
            Some((s, f)) => parts.push(format!(
                "{} {}",
                a.name(Named::Stack(s)),
                frame(a, f, false)
            )),
            None => {
                let made = a.entries().allocation(at);
                let made = made.and_then(|id| a.replay.allocations.get(id));
                let born = made.map_or(Some(at), |al| al.born);
                parts.push(missing_since(a, born, lang).to_owned());
            }
        }
    }
    if row.action != Action::Annotate {
        let text = a.strings().get(row.user_metadata);
        if !text.is_empty() {
            parts.push(short(text, 80).into_owned());
        }
    }
    parts.join("; ")
}

/// What stands before the entries in `memscope.trace`: the answer up to their array.
#[must_use]
pub fn entries_head(a: &Analysis) -> String {
    let about = serde_json::json!({
        "format": "memscope.trace", "version": 1,
        "skipped": report::analyze::summary::skipped(&a.rank),
        "source": a.rank.source.name, "rank": a.rank.number(),
        "device": if a.device.is_host() { None } else { Some(a.device.0) },
    });
    let about = about.to_string();
    let open = about.strip_suffix('}').unwrap_or(&about);
    format!("{open},\"entries\":")
}

/// Entries as a table: for CSV, JSON and Parquet. Holds a reference or an `Arc`.
#[derive(Debug)]
pub struct EntryRows<A> {
    a: A,
    rows: Vec<TraceId>,
}

impl<A: Deref<Target = Analysis>> EntryRows<A> {
    /// The entries of `rows`.
    #[must_use]
    pub fn new(a: A, rows: Vec<TraceId>) -> Self {
        Self { a, rows }
    }

    /// Every entry of the device.
    #[must_use]
    pub fn all(a: A) -> Self {
        let rows = a.replay.events().map(|i| TraceId(i as u32)).collect();
        Self { a, rows }
    }
}

impl<A: Deref<Target = Analysis> + Send + Sync> Rows for EntryRows<A> {
    fn name(&self) -> &'static str {
        "entries"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                column("entry", Word::EntryHead),
                figure("time_ns", Word::TimeHead),
                column("action", Word::ActionHead),
                column("address", Word::AddressHead),
                figure("size", Word::Size),
                column("allocation", Word::AllocationsHead),
                column("segment", Word::SegmentHead),
                column("stream", Word::StreamHead),
                column("pool", Word::PoolHead),
                figure("requested", Word::Requested),
                figure("allocated", Word::Allocated),
                figure("reserved", Word::Reserved),
                figure("device_free", Word::DeviceFreeHead),
                column("stack", Word::StackHead),
                column("line", Word::LineHead),
                column("function", Word::FunctionHead),
                column("user_metadata", Word::MetadataHead),
                column("compile_context", Word::CompileHead),
            ]
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, index: usize, _: Lang) -> Cell<'_> {
        let Some(&at) = self.rows.get(row) else {
            return BLANK;
        };
        let a: &Analysis = &self.a;
        let events = &a.snapshot().events;
        let r = events.row(at.index());
        let named = |n: Option<Named>| Cell::Text(n.map_or_else(String::new, |n| a.name(n)).into());
        let string = |id: StringId| Cell::Text(a.strings().get(id).into());
        let recorded = r.stack;
        let site = recorded.and_then(|s| a.sites().place(s));
        match index {
            0 => named(Some(Named::Event(at))),
            1 => Cell::Count(r.time_ns.and_then(|t| i64::try_from(t).ok())),
            2 => Cell::Text(r.action.word().into()),
            3 => Cell::Text(format!("{:#x}", r.address).into()),
            4 => Cell::Bytes(Some(r.size)),
            5 => named(a.entries().allocation(at).map(Named::Allocation)),
            6 => {
                let made = a.entries().made(at);
                let ended = a.entries().ended(at).first().copied();
                let id = a.entries().allocation(at);
                let within = id.and_then(|id| a.replay.allocations.get(id)?.span);
                named(made.or(ended).or(within).map(Named::Span))
            }
            7 => Cell::Text(stream(a, r.stream).into()),
            8 => Cell::Text(pool(a, r.pool).unwrap_or_default().into()),
            9 => Cell::Bytes(after(a, &a.replay.requested, at)),
            10 => Cell::Bytes(after(a, &a.replay.allocated, at)),
            11 => Cell::Bytes(after(a, &a.replay.reserved, at)),
            12 => Cell::Bytes(if r.action == Action::Oom {
                super::refused(a, at).1
            } else {
                None
            }),
            13 => named(recorded.map(Named::Stack)),
            14 => Cell::Text(
                site.map_or_else(String::new, |f| super::file_line(a, f, true))
                    .into(),
            ),
            15 => Cell::Text(
                site.map_or_else(String::new, |f| super::function(a, f))
                    .into(),
            ),
            16 => string(r.user_metadata),
            17 => string(r.compile_context),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: self.rows.get(row).map(|t| Pick::Entry(t.0)),
            ..Subject::default()
        }
    }
}
