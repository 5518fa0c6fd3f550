//! Packing a report.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::header::{Coding, ColumnEntry, Header, Headline, RankEntry};
use super::{MAGIC, PREFIX, VERSION, column};
use crate::model::{
    Bytes, Deltas, Events, Rank, Report, Series, SeriesCategory, StringId, TensorListId,
};

/// How hard to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(pub u32);

impl Default for Level {
    /// Deflate 6: on a report of a million events 9 took three times as long for 2 % less.
    fn default() -> Self {
        Self(6)
    }
}

/// A column before compression.
pub(super) struct Slab {
    entry: ColumnEntry,
    bytes: Vec<u8>,
}

/// Packs a report. The same report and level give the same bytes.
///
/// # Errors
/// Only when the header cannot be written as JSON, which no table makes happen.
pub fn pack(report: &Report, generator: &str, level: Level) -> Result<Vec<u8>, serde_json::Error> {
    let mut header = Header {
        generator: generator.to_owned(),
        ranks: Vec::new(),
    };
    let mut body = Vec::new();
    for rank in &report.ranks {
        let mut columns = Vec::new();
        for slab in slabs(rank) {
            columns.push(store(slab, &mut body, level));
        }
        #[cfg(feature = "snapshot")]
        if let Some(recording) = &rank.recording {
            let json = serde_json::to_vec(recording)?;
            let slab = slab(super::RECORDING, Coding::Raw, &[], json.len(), json);
            columns.push(store(slab, &mut body, level));
        }
        #[cfg(feature = "snapshot")]
        let snapshot = rank.snapshot.as_ref().map(|snapshot| {
            let (facts, slabs) = super::snapshot::slabs(snapshot);
            for slab in slabs {
                columns.push(store(slab, &mut body, level));
            }
            facts
        });
        header.ranks.push(RankEntry {
            #[cfg(feature = "snapshot")]
            snapshot,
            source: rank.source.clone(),
            also: rank.also.clone(),
            series: rank.series.as_ref().map(|s| s.len() as u64),
            metadata: rank.metadata.clone(),
            comparisons: rank.comparisons.clone(),
            recorded_peak: rank.recorded_peak.clone(),
            skipped: rank.skipped.clone(),
            headline: Headline::of(rank),
            events: rank.events.len() as u64,
            recorded_top: rank.recorded_top.len() as u64,
            #[cfg(not(feature = "snapshot"))]
            unread: None,
            columns,
        });
    }
    let head = serde_json::to_vec(&header)?;
    let mut out = Vec::with_capacity(PREFIX + head.len() + body.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(head.len() as u32).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&head);
    out.extend_from_slice(&body);
    Ok(out)
}

/// Compresses a slab and appends it to `body`.
fn store(slab: Slab, body: &mut Vec<u8>, level: Level) -> ColumnEntry {
    let mut entry = slab.entry;
    let start = body.len();
    let mut deflate = DeflateEncoder::new(&mut *body, Compression::new(level.0));
    // Writing into a Vec does not fail; were it to, the stored form below would take over.
    let compressed = deflate
        .write_all(&slab.bytes)
        .and_then(|()| deflate.finish().map(drop));
    entry.deflate = compressed.is_ok() && body.len() - start < slab.bytes.len();
    if !entry.deflate {
        body.truncate(start);
        body.extend_from_slice(&slab.bytes);
    }
    entry.offset = start as u64;
    entry.length = (body.len() - start) as u64;
    entry.raw = slab.bytes.len() as u64;
    entry.crc32 = crc32fast::hash(body.get(start..).unwrap_or_default());
    entry
}

pub(super) fn slab(
    name: &str,
    coding: Coding,
    refs: &[&str],
    count: usize,
    bytes: Vec<u8>,
) -> Slab {
    Slab {
        entry: ColumnEntry {
            name: name.to_owned(),
            coding,
            refs: refs.iter().map(|&r| r.to_owned()).collect(),
            count: count as u64,
            offset: 0,
            length: 0,
            raw: 0,
            deflate: false,
            crc32: 0,
        },
        bytes,
    }
}

pub(super) fn plain(name: &str, values: &[u64]) -> Slab {
    let bytes = column::encode(Coding::Plain, values, &[], &[]);
    slab(name, Coding::Plain, &[], values.len(), bytes)
}

/// Every column of a rank, in directory order: what a prediction refers to comes before it.
fn slabs(rank: &Rank) -> Vec<Slab> {
    let mut out = strings(rank);
    events("events", &rank.events, &mut out);
    events("top", &rank.recorded_top, &mut out);
    tensors(rank, &mut out);
    if let Some(series) = &rank.series {
        timeline(series, &mut out);
    }
    out
}

/// Columns `series.time` and `series.CATEGORY`.
fn timeline(series: &Series, out: &mut Vec<Slab>) {
    let mut put = |name: &str, values: &[u64]| {
        let bytes = column::encode(Coding::Delta, values, &[], &[]);
        let name = format!("series.{name}");
        out.push(slab(&name, Coding::Delta, &[], values.len(), bytes));
    };
    put("time", &series.time_ns);
    for (category, values) in SeriesCategory::ALL.iter().zip(&series.bytes) {
        put(category.word(), values);
    }
}

fn strings(rank: &Rank) -> Vec<Slab> {
    let text = rank.strings.text.as_bytes().to_vec();
    let mut last = 0;
    let lengths: Vec<u64> = rank
        .strings
        .ends
        .iter()
        .map(|&end| {
            let length = end - last;
            last = end;
            u64::from(length)
        })
        .collect();
    vec![
        slab("strings.text", Coding::Raw, &[], text.len(), text),
        plain("strings.length", &lengths),
    ]
}

fn ids(column: &[StringId]) -> Vec<u64> {
    column.iter().map(|s| u64::from(s.0)).collect()
}

fn lists(column: &[TensorListId]) -> Vec<u64> {
    column.iter().map(|s| u64::from(s.0)).collect()
}

fn signed(column: &Deltas) -> Vec<u64> {
    column.0.iter().map(|&v| v as u64).collect()
}

fn events(table: &str, events: &Events, out: &mut Vec<Slab>) {
    let name = |column: &str| format!("{table}.{column}");
    let n = events.len();
    for (column, values) in [
        ("kind", ids(&events.kind)),
        ("module", ids(&events.module)),
        ("phase", ids(&events.phase)),
        ("notes", ids(&events.notes)),
        ("inputs", lists(&events.inputs)),
        ("outputs", lists(&events.outputs)),
        ("grads", lists(&events.grads)),
    ] {
        out.push(plain(&name(column), &values));
    }
    let mut push = |column: &str, coding, values: &[u64], a: (&str, &[u64]), b: (&str, &[u64])| {
        let refs: Vec<String> = [a.0, b.0]
            .iter()
            .filter(|r| !r.is_empty())
            .map(|r| name(r))
            .collect();
        let refs: Vec<&str> = refs.iter().map(String::as_str).collect();
        let bytes = column::encode(coding, values, a.1, b.1);
        out.push(slab(&name(column), coding, &refs, n, bytes));
    };
    const NONE: (&str, &[u64]) = ("", &[]);
    push("step", Coding::Delta, &signed(&events.step), NONE, NONE);
    memory(
        &mut push,
        "allocated",
        [
            &events.allocated_before,
            &events.allocated_after,
            &events.max_allocated,
        ],
        &events.delta_allocated,
    );
    memory(
        &mut push,
        "reserved",
        [
            &events.reserved_before,
            &events.reserved_after,
            &events.max_reserved,
        ],
        &events.delta_reserved,
    );
}

type Column<'a> = (&'a str, &'a [u64]);

/// After an event memory is mostly what it was before the next; the stated difference is the
/// difference; the high-water mark rises only to what was seen. So most residuals are 0.
fn memory(
    push: &mut impl FnMut(&str, Coding, &[u64], Column<'_>, Column<'_>),
    what: &str,
    [before, after, max]: [&Bytes; 3],
    delta: &Deltas,
) {
    const NONE: Column<'_> = ("", &[]);
    let (b, a, m, d) = (
        format!("{what}_before"),
        format!("{what}_after"),
        format!("max_{what}"),
        format!("delta_{what}"),
    );
    push(&a, Coding::Delta, &after.0, NONE, NONE);
    push(&b, Coding::Above, &before.0, (&a, &after.0), NONE);
    push(&m, Coding::HighWater, &max.0, (&a, &after.0), NONE);
    push(
        &d,
        Coding::Difference,
        &signed(delta),
        (&a, &after.0),
        (&b, &before.0),
    );
}

fn tensors(rank: &Rank, out: &mut Vec<Slab>) {
    let t = &rank.tensors;
    let each =
        |f: &dyn Fn(&crate::model::Tensor) -> u64| -> Vec<u64> { t.rows.iter().map(f).collect() };
    out.push(plain("tensors.name", &each(&|r| u64::from(r.name.0))));
    out.push(plain("tensors.dtype", &each(&|r| u64::from(r.dtype.0))));
    out.push(plain("tensors.device", &each(&|r| u64::from(r.device.0))));
    out.push(plain(
        "tensors.requires_grad",
        &each(&|r| match r.requires_grad {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        }),
    ));
    out.push(plain(
        "tensors.bytes",
        &each(&|r| r.bytes.map_or(0, |b| b.saturating_add(1))),
    ));
    out.push(plain("tensors.dims", &each(&|r| r.shape.len() as u64)));
    let shape: Vec<u64> = t
        .rows
        .iter()
        .flat_map(|r| r.shape.iter().map(|&d| d as u64))
        .collect();
    let bytes = column::encode(Coding::Beside, &shape, &[], &[]);
    out.push(slab(
        "tensors.shape",
        Coding::Beside,
        &[],
        shape.len(),
        bytes,
    ));
    let ends: Vec<u64> = t.list_ends.iter().map(|&e| u64::from(e)).collect();
    let bytes = column::encode(Coding::Delta, &ends, &[], &[]);
    out.push(slab("lists.end", Coding::Delta, &[], ends.len(), bytes));
    let items: Vec<u64> = t.items.iter().map(|i| u64::from(i.0)).collect();
    out.push(plain("lists.item", &items));
}
