//! [`DriverRows`], [`InventoryRows`], [`NameSumRows`], [`RankRows`]: a recorder's own facts as tables.

use std::sync::Arc;

use report::analyze::driver::{self, Split};
use report::analyze::recording::{self, Span, Sum};
use report::container::Headline;
use report::model::Rank;
use report::model::recording::Item;

use super::{BLANK, Cell, Column, Rows, figure, text};
use crate::units::{exact, seconds};
use crate::words::{Lang, Word};

/// One row of [`DriverRows`]: what, kind, bytes at the peak and at the end, allocations.
#[derive(Debug)]
struct DriverRow {
    name: Result<Word, String>,
    kind: String,
    peak: Option<i64>,
    end: Option<i64>,
    count: Option<u64>,
}

/// The device's memory at its peak and at the end, by who holds it.
#[derive(Debug)]
pub struct DriverRows {
    rows: Vec<DriverRow>,
    total: Option<u64>,
}

/// A figure of a moment, bytes.
type Pick = fn(&Split) -> Option<i64>;

fn signed(bytes: Option<u64>) -> Option<i64> {
    bytes.and_then(|b| i64::try_from(b).ok())
}

impl DriverRows {
    /// Asks the analysis.
    #[must_use]
    pub fn new(rank: &Rank) -> Self {
        let (peak, end) = (driver::peak(rank), driver::end(rank));
        let figure = |s: &Option<Split>, f: fn(&Split) -> Option<i64>| s.as_ref().and_then(f);
        let mut rows = Vec::new();
        let fixed: [(Word, Pick); 5] = [
            (Word::DeviceUsed, |s| signed(s.device_used)),
            (Word::AllocatorReserved, |s| signed(s.reserved)),
            (Word::DriverContext, |s| signed(s.context)),
            (Word::OtherProcesses, |s| signed(s.others)),
            (Word::DriverRest, |s| s.rest),
        ];
        for (word, of) in fixed {
            rows.push(DriverRow {
                name: Ok(word),
                kind: String::new(),
                peak: figure(&peak, of),
                end: figure(&end, of),
                count: None,
            });
        }
        let mut found: Vec<DriverRow> = Vec::new();
        for (split, at_peak) in [(&peak, true), (&end, false)] {
            let Some(split) = split else { continue };
            for part in split.libraries.iter().chain(&split.elsewhere) {
                let same = |r: &&mut DriverRow| {
                    r.kind == part.kind && r.name.as_ref().err() == Some(&part.lib)
                };
                let bytes = signed(Some(part.bytes));
                match found.iter_mut().find(same) {
                    Some(row) if at_peak => row.peak = bytes,
                    Some(row) => row.end = bytes,
                    None => found.push(DriverRow {
                        name: Err(part.lib.clone()),
                        kind: part.kind.clone(),
                        peak: bytes.filter(|_| at_peak),
                        end: bytes.filter(|_| !at_peak),
                        count: part.count,
                    }),
                }
            }
        }
        rows.splice(2..2, found);
        // A figure that nobody stated takes no row.
        rows.retain(|r| r.peak.is_some() || r.end.is_some());
        let total = peak.as_ref().and_then(|s| s.device_used);
        Self { rows, total }
    }
}

impl Rows for DriverRows {
    fn name(&self) -> &'static str {
        "device_memory"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("holder", Word::Holder),
                text("kind", Word::Kind),
                figure("peak", Word::AtPeak),
                figure("share", Word::Share),
                figure("end", Word::AtEnd),
                figure("count", Word::Allocations),
            ]
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(r) = self.rows.get(row) else {
            return BLANK;
        };
        // Only the rest can be below zero.
        let size = |v: Option<i64>| match v {
            Some(v) if v < 0 => Cell::Delta(Some(v)),
            v => Cell::Bytes(v.and_then(|v| u64::try_from(v).ok())),
        };
        match column {
            0 => match &r.name {
                Ok(word) => Cell::Text(word.text(lang).into()),
                Err(name) => Cell::Text(name.as_str().into()),
            },
            1 => Cell::Text(r.kind.as_str().into()),
            2 => size(r.peak),
            3 => Cell::Share(
                r.peak
                    .zip(self.total.filter(|&t| t > 0))
                    .map(|(v, t)| v as f64 / t as f64),
            ),
            4 => size(r.end),
            5 => Cell::Count(signed(r.count)),
            _ => BLANK,
        }
    }
}

/// What is known by name.
#[derive(Debug)]
pub struct InventoryRows {
    items: Vec<Item>,
}

impl InventoryRows {
    /// The inventory that is shown, largest first.
    #[must_use]
    pub fn new(rank: &Rank) -> Self {
        let found = rank.recording.as_ref().and_then(recording::inventory);
        let mut items = found.map_or_else(Vec::new, |i| i.items.clone());
        items.sort_by_key(|i| std::cmp::Reverse(i.bytes));
        Self { items }
    }
}

impl Rows for InventoryRows {
    fn name(&self) -> &'static str {
        "by_name"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("name", Word::Name),
                text("kind", Word::Kind),
                text("state", Word::OptimizerEntry),
                text("dtype", Word::Dtype),
                text("shape", Word::Shape),
                text("device", Word::Device),
                figure("bytes", Word::Size),
                figure("storage_bytes", Word::StorageSize),
            ]
        }
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(i) = self.items.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(i.name.as_str().into()),
            1 => Cell::Text(i.kind.as_str().into()),
            2 => Cell::Text(i.state.as_str().into()),
            3 => Cell::Text(i.dtype.as_str().into()),
            4 => {
                let dims: Vec<String> = i.shape.iter().map(ToString::to_string).collect();
                Cell::Text(format!("[{}]", dims.join(", ")).into())
            }
            5 => Cell::Text(i.device.as_str().into()),
            6 => Cell::Bytes(i.bytes),
            7 => Cell::Bytes(i.storage_bytes),
            _ => BLANK,
        }
    }
}

/// Sums of what is known by name.
#[derive(Debug)]
pub struct NameSumRows {
    rows: Vec<Sum>,
    modules: bool,
}

impl NameSumRows {
    /// By kind (`modules` false), or by kind and module.
    #[must_use]
    pub fn new(rank: &Rank, modules: bool) -> Self {
        let found = rank.recording.as_ref().and_then(recording::inventory);
        let mut rows = found.map(recording::sums).unwrap_or_default();
        rows.retain(|s| s.module.is_empty() != modules);
        if modules {
            rows.sort_by_key(|r| std::cmp::Reverse(r.bytes));
        }
        Self { rows, modules }
    }

    /// The first rows.
    #[must_use]
    pub fn first(mut self, most: usize) -> Self {
        self.rows.truncate(most);
        self
    }
}

impl Rows for NameSumRows {
    fn name(&self) -> &'static str {
        // Two tables of one page: sorting one must not sort the other.
        if self.modules {
            "by_module_sums"
        } else {
            "by_kind_sums"
        }
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("kind", Word::Kind),
                text("module", Word::Module),
                figure("bytes", Word::Size),
                figure("count", Word::Tensors),
                figure("shared", Word::SharedStorage),
            ]
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(s) = self.rows.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(s.kind.as_str().into()),
            1 => Cell::Text(s.module.as_str().into()),
            2 => Cell::Bytes(s.bytes),
            3 => Cell::Count(signed(Some(s.count))),
            4 => Cell::Count(signed(Some(s.shared))),
            _ => BLANK,
        }
    }
}

/// The ranks of a report side by side, on one time axis.
#[derive(Debug)]
pub struct RankRows {
    rows: Vec<(String, Headline, Option<u64>)>,
}

impl RankRows {
    /// From the headlines of a container, each with its source's name.
    #[must_use]
    pub fn new(headlines: Vec<(String, Headline)>) -> Self {
        let spans: Vec<Option<Span>> = headlines.iter().map(|(_, h)| h.span.clone()).collect();
        let offsets = recording::offsets(&spans);
        let rows = headlines.into_iter().zip(offsets);
        Self {
            rows: rows.map(|((name, h), at)| (name, h, at)).collect(),
        }
    }

    /// From ranks.
    #[must_use]
    pub fn of(ranks: &[Arc<Rank>]) -> Self {
        let each = ranks.iter();
        Self::new(
            each.map(|r| (r.source.name.clone(), Headline::of(r)))
                .collect(),
        )
    }

    /// The peaks, for [`recording::imbalance`].
    #[must_use]
    pub fn peaks(&self) -> Vec<Option<u64>> {
        self.rows.iter().map(|r| r.1.peak_allocated).collect()
    }

    /// What a rank is called.
    #[must_use]
    pub fn name_of(&self, row: usize) -> String {
        let Some((name, h, _)) = self.rows.get(row) else {
            return String::new();
        };
        h.rank.map_or_else(|| name.clone(), |n| n.to_string())
    }

    /// How the peaks differ, in a sentence; `None` for fewer than two known ones.
    #[must_use]
    pub fn imbalance(&self, lang: Lang) -> Option<String> {
        let found = recording::imbalance(&self.peaks());
        let name = self.name_of(usize::try_from(found.highest?).ok()?);
        let name = crate::visible::short(&name, 80).into_owned();
        let (more, ratio) = (crate::units::bytes(found.bytes?), found.ratio?);
        Some(match lang {
            Lang::En => {
                format!("Rank {name} peaks highest: {more} above the lowest rank ({ratio:.3} ×).")
            }
            Lang::Zh => format!("进程 {name} 峰值最高：比最低者高 {more}（{ratio:.3} 倍）。"),
        })
    }
}

impl Rows for RankRows {
    fn name(&self) -> &'static str {
        "ranks"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("rank", Word::Rank),
                figure("steps", Word::Steps),
                figure("peak_allocated", Word::PeakAllocated),
                figure("peak_reserved", Word::PeakReserved),
                figure("device_used", Word::DeviceUsed),
                text("begins", Word::Begins),
                text("lasts", Word::Lasts),
            ]
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some((_, h, at)) = self.rows.get(row) else {
            return BLANK;
        };
        let span = h.span.as_ref();
        let time = |ns: Option<u64>| Cell::Text(ns.map_or_else(String::new, seconds).into());
        match column {
            0 => Cell::Text(self.name_of(row).into()),
            1 => Cell::Count(signed(Some(h.steps))),
            2 => Cell::Bytes(h.peak_allocated),
            3 => Cell::Bytes(h.peak_reserved),
            4 => Cell::Bytes(span.and_then(|s| s.device_used)),
            5 => time(*at),
            6 => time(span.and_then(|s| s.length_ns)),
            _ => BLANK,
        }
    }
}

/// The recording's own facts, for a table of them.
#[must_use]
pub fn recording_facts(rank: &Rank, lang: Lang) -> Vec<(String, String)> {
    let Some(r) = &rank.recording else {
        return Vec::new();
    };
    let p = &r.process;
    let mut out: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: String| {
        if !value.is_empty() {
            out.push((key.to_owned(), value));
        }
    };
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    put("ending", crate::sentences::recording::ending(r, lang));
    put("command", p.command.join(" "));
    put("host", p.host.clone());
    put("pid", number(p.pid));
    put("run", p.run.clone());
    put("rank_source", p.rank_source.clone());
    put("tool", p.tool.clone());
    put("writers", p.writers.join(", "));
    for d in &r.devices {
        let total = d.total.map(exact).unwrap_or_default();
        let words = [d.name.as_str(), d.uuid.as_str(), d.pci.as_str(), &total];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        put(&format!("device {}", number(d.ordinal)), words.join(", "));
    }
    for (name, version) in &r.versions {
        put(name, version.clone());
    }
    for (name, value) in &r.allocator {
        put(&format!("allocator {name}"), value.clone());
    }
    for s in &r.sources {
        let value = if s.reason.is_empty() {
            s.status.clone()
        } else {
            format!("{}: {}", s.status, s.reason)
        };
        put(&format!("source {}", s.name), value);
    }
    for (name, value) in &r.settings {
        put(&format!("setting {name}"), value.clone());
    }
    if let Some(o) = &r.overhead {
        let c = recording::cost(o);
        let share = c.share.map(crate::units::percent).unwrap_or_default();
        put("overhead", share);
        put("records", o.records.to_string());
        for (name, ns) in [
            ("hook time a record", c.hook_ns_per_record),
            ("write time a record", c.native_ns_per_record),
        ] {
            put(name, ns.map(|ns| seconds(ns as u64)).unwrap_or_default());
        }
    }
    for d in &r.dropped {
        put(
            &format!("left out: {}", d.what),
            format!("{} ({})", number(d.count), d.reason),
        );
    }
    for s in &r.snapshots {
        put("snapshot", format!("{} ({})", s.file, s.reason));
    }
    for m in &r.marks {
        put("mark", format!("{} {}", m.name, seconds(m.time_ns)));
    }
    out
}
