//! The machine-readable answer: what `memscope summary --format json` prints.
//!
//! Scripts rely on these names; new ones may come, these stay. A figure that the input does not
//! give is `null`.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

#[cfg(feature = "snapshot")]
use super::snapshot::figures;
use super::{growth, modules, pairing, peak, phases, steps, top};
use crate::model::{Metadata, Rank, Report, Value};

/// The whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Always `memscope.summary`.
    pub format: String,
    /// Version of these names.
    pub version: u32,
    /// One a rank, in the report's order.
    pub ranks: Vec<RankDetails>,
}

/// The answer for one rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RankSummary {
    /// Its number.
    pub rank: Option<i64>,
    /// Ranks of the run.
    pub world_size: Option<i64>,
    /// Device name.
    pub device: Option<String>,
    /// Whether the recording reached the end of its last step; `null` when it does not say.
    pub complete: Option<bool>,
    /// Number of steps.
    pub steps: u64,
    /// Number of events.
    pub events: u64,
    /// Peaks.
    pub peak: PeakSummary,
    /// Figures after the last event, bytes.
    pub end: EndSummary,
    /// What stays from step to step.
    pub growth: Vec<GrowthSummary>,
    /// What the reader could not use.
    pub skipped: Vec<SkippedSummary>,
}

/// Peaks of one rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PeakSummary {
    /// The allocator's high-water mark, with the event at which it showed.
    pub allocated: PeakAt,
    /// Highest reserved, with the event at which it showed.
    pub reserved: PeakAt,
    /// Highest requested (unrounded) bytes; runtime reports do not have it.
    pub requested: Amount,
    /// The highest allocated after an event: what `runtime_report.json` calls its peak.
    pub sampled: PeakAt,
}

/// A peak and its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PeakAt {
    /// Bytes.
    pub bytes: Option<u64>,
    /// Step.
    pub step: Option<i64>,
    /// Phase.
    pub phase: Option<String>,
    /// Module.
    pub module: Option<String>,
    /// Index of the event in the trace.
    pub event: Option<u64>,
}

/// A bare figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Amount {
    /// Bytes.
    pub bytes: Option<u64>,
}

/// Figures after the last event.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EndSummary {
    /// Allocated, bytes.
    pub allocated: Option<u64>,
    /// Reserved, bytes.
    pub reserved: Option<u64>,
    /// Requested, bytes; runtime reports do not have it.
    pub requested: Option<u64>,
    /// Active, bytes; runtime reports do not have it.
    pub active: Option<u64>,
    /// Inactive split, bytes; runtime reports do not have it.
    pub inactive_split: Option<u64>,
}

/// One finding about growth.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GrowthSummary {
    /// `leak`, `baseline`, `reserved` or `normal`.
    pub kind: String,
    /// Bytes that each step adds.
    pub bytes_per_step: Option<i64>,
    /// Since this step.
    pub since_step: Option<i64>,
    /// Bytes in all.
    pub bytes: Option<i64>,
    /// The phase in which it came, where that is known.
    pub place: Option<String>,
}

/// One kind of skipped content.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SkippedSummary {
    /// What.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// The answer for one rank with its tables.
#[derive(Debug, Clone, Serialize)]
pub struct RankDetails {
    /// The answer.
    #[serde(flatten)]
    pub summary: RankSummary,
    /// The input.
    pub source: String,
    /// One row a phase.
    pub phases: Vec<PhaseRow>,
    /// The 20 places with most allocated.
    pub top_events: Vec<TopRow>,
    /// Every module, parents before children.
    pub modules: Vec<ModuleRow>,
    /// What a recorder of MemScope adds; absent without one.
    #[cfg(feature = "snapshot")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<super::recording::Told>,
    /// Facts about the run.
    pub metadata: Facts,
    /// The source's comparisons.
    pub comparisons: Facts,
}

/// A phase.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseRow {
    /// Phase.
    pub phase: String,
    /// Events.
    pub count: u64,
    /// Highest allocated after an event, bytes.
    pub max_allocated: Option<u64>,
    /// Largest `delta_allocated`, bytes.
    pub max_delta: Option<i64>,
    /// Sum of `delta_allocated`, bytes.
    pub sum_delta: Option<i64>,
}

/// A place.
#[derive(Debug, Clone, Serialize)]
pub struct TopRow {
    /// Kind of event.
    pub event_type: String,
    /// Module as the source names it.
    pub module: String,
    /// Phase.
    pub phase: String,
    /// Events there.
    pub count: u64,
    /// Step of the highest.
    pub step: Option<i64>,
    /// Highest allocated after, bytes.
    pub max_allocated: Option<u64>,
    /// Largest `delta_allocated`, bytes.
    pub max_delta: Option<i64>,
}

/// A module, figures rolled up.
#[derive(Debug, Clone, Serialize)]
pub struct ModuleRow {
    /// Dotted path.
    pub module: String,
    /// Events in it and below.
    pub count: u64,
    /// Highest allocated after, bytes.
    pub max_allocated: Option<u64>,
    /// Largest `delta_allocated`, bytes.
    pub max_delta: Option<i64>,
    /// Sum of `delta_allocated`, bytes; see [`modules::Module::rolled`].
    pub total_delta: Option<i64>,
    /// Bytes of outputs, over all events.
    pub output_bytes: u64,
    /// Bytes of gradients, over all events.
    pub grad_bytes: u64,
    /// Share of what all modules added.
    pub share: Option<f64>,
    /// Events without their partner.
    pub unpaired: u64,
}

/// How many places [`RankDetails::top_events`] has.
pub const TOP: usize = 20;

/// The answer for a report.
#[must_use]
pub fn summary(report: &Report) -> Summary {
    Summary {
        format: "memscope.summary".to_owned(),
        version: 1,
        ranks: report.ranks.iter().map(details).collect(),
    }
}

/// The answer for one rank.
#[must_use]
pub fn rank(rank: &Rank) -> RankSummary {
    let steps = steps::steps(rank);
    let peak = peak::peak(rank);
    let last = |column: &crate::model::Bytes| (0..column.len()).rev().find_map(|i| column.get(i));
    #[cfg_attr(
        not(feature = "snapshot"),
        expect(unused_mut, reason = "a snapshot adds to it")
    )]
    let mut summary = RankSummary {
        rank: rank.number(),
        world_size: rank.world_size(),
        device: rank.device(),
        complete: steps::complete(rank, &steps),
        steps: steps::count(&steps) as u64,
        events: rank.events.len() as u64,
        peak: PeakSummary {
            allocated: at(rank, peak.allocated),
            reserved: at(rank, peak.reserved),
            requested: Amount::default(),
            sampled: at(rank, peak.sampled),
        },
        end: EndSummary {
            allocated: last(&rank.events.allocated_after),
            reserved: last(&rank.events.reserved_after),
            ..EndSummary::default()
        },
        growth: growth::growth(rank)
            .iter()
            .map(|g| grown(rank, g))
            .collect(),
        skipped: skipped(rank),
    };
    #[cfg(feature = "snapshot")]
    if let Some(figures) = figures::figures(rank) {
        with_snapshot(rank, &figures, &mut summary);
    }
    summary
}

/// What the reader could not use, kind by kind; every answer for scripts has it.
#[must_use]
pub fn skipped(rank: &Rank) -> Vec<SkippedSummary> {
    rank.skipped
        .iter()
        .map(|s| SkippedSummary {
            what: s.what.clone(),
            count: s.count,
        })
        .collect()
}

/// Adds what a memory snapshot knows. What the events of a runtime report say stays.
#[cfg(feature = "snapshot")]
fn with_snapshot(rank: &Rank, figures: &figures::Figures, summary: &mut RankSummary) {
    let place = |place: figures::Place| PeakAt {
        bytes: Some(place.bytes),
        step: place.step,
        phase: place.phase.map(|p| rank.strings.get(p).to_owned()),
        module: None,
        event: place.event.map(|e| e.0.into()),
    };
    summary.peak.requested.bytes = figures.peak_requested.map(|p| p.bytes);
    let end = figures.end;
    summary.end.requested = figures.end_requested;
    if figures.blocks_known {
        summary.end.active = Some(end.allocated.saturating_add(end.pending));
        summary.end.inactive_split = Some(end.inactive_split);
    }
    if !rank.events.is_empty() {
        return;
    }
    summary.events = figures.events;
    summary.steps = figures.steps.len() as u64;
    summary.peak.allocated = figures.peak_allocated.map(place).unwrap_or_default();
    summary.peak.reserved = figures.peak_reserved.map(place).unwrap_or_default();
    summary.end.allocated = Some(end.allocated);
    summary.end.reserved = Some(end.reserved);
    let frames = rank.snapshot.as_ref().map(|s| &s.frames);
    let line = |f: crate::model::snapshot::FrameId| {
        let frame = frames.map(|t| t.get(f)).unwrap_or_default();
        format!("{}:{}", rank.strings.get(frame.file), frame.line)
    };
    summary.growth = figures
        .growth
        .iter()
        .map(|g| GrowthSummary {
            kind: "leak".to_owned(),
            bytes_per_step: i64::try_from(g.survivors.bytes_per_step).ok(),
            since_step: None,
            bytes: i64::try_from(g.survivors.bytes).ok(),
            place: g.line.map(line),
        })
        .collect();
}

fn at(rank: &Rank, at: Option<peak::At>) -> PeakAt {
    let event = at.and_then(|a| a.event);
    let row = event.map(|e| rank.events.row(e));
    PeakAt {
        bytes: at.map(|a| a.bytes),
        step: row.and_then(|r| r.step),
        phase: row.map(|r| rank.strings.get(r.phase).to_owned()),
        module: row.map(|r| rank.strings.get(r.module).to_owned()),
        event: event.map(|e| e as u64),
    }
}

fn grown(rank: &Rank, g: &growth::Growth) -> GrowthSummary {
    let place = g
        .during
        .map(|(event, _)| event)
        .or((g.kind == growth::Kind::Reserved).then_some(g.event));
    GrowthSummary {
        kind: g.kind.word().to_owned(),
        bytes_per_step: Some(g.bytes_per_step),
        since_step: Some(g.since_step),
        bytes: Some(g.bytes),
        place: place.map(|e| rank.strings.get(rank.events.row(e).phase).to_owned()),
    }
}

fn details(of: &Rank) -> RankDetails {
    let text = |id| of.strings.get(id).to_owned();
    let listed = top::listed(of);
    let tree = modules::modules(of, &pairing::pair(of));
    RankDetails {
        summary: rank(of),
        source: of.source.name.clone(),
        phases: phases::phases(of)
            .iter()
            .map(|p| PhaseRow {
                phase: text(p.phase),
                count: p.count,
                max_allocated: p.max_allocated,
                max_delta: p.max_delta,
                sum_delta: p.sum_delta,
            })
            .collect(),
        top_events: top::groups(listed, |_| true)
            .iter()
            .take(TOP)
            .map(|g| TopRow {
                event_type: text(g.place.kind),
                module: text(g.place.module),
                phase: text(g.place.phase),
                count: g.count,
                step: listed.step.get(g.event),
                max_allocated: g.max_allocated,
                max_delta: g.max_delta,
            })
            .collect(),
        modules: tree
            .rows
            .iter()
            .enumerate()
            .map(|(i, m)| {
                let id = modules::ModuleId(i as u32);
                ModuleRow {
                    module: tree.path(id),
                    count: m.rolled.count,
                    max_allocated: m.rolled.max_allocated,
                    max_delta: m.rolled.max_delta,
                    total_delta: m.rolled.total_delta,
                    output_bytes: m.rolled.output_bytes,
                    grad_bytes: m.rolled.grad_bytes,
                    share: tree.share(id),
                    unpaired: m.rolled.unpaired,
                }
            })
            .collect(),
        #[cfg(feature = "snapshot")]
        recording: super::recording::Told::of(of),
        metadata: Facts(of.metadata.clone()),
        comparisons: Facts(of.comparisons.clone()),
    }
}

/// Key-value facts, written as a JSON object in the order of the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts(pub Metadata);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0.iter() {
            match value {
                Value::Null => map.serialize_entry(key, &()),
                Value::Bool(b) => map.serialize_entry(key, b),
                Value::Int(i) => map.serialize_entry(key, i),
                Value::Float(f) => map.serialize_entry(key, f),
                Value::Text(t) => map.serialize_entry(key, t),
                // As it stood in the source; where it was cut it is no JSON any more.
                Value::Json(t) => match RawValue::from_string(t.clone()) {
                    Ok(raw) => map.serialize_entry(key, &raw),
                    Err(_) => map.serialize_entry(key, t),
                },
            }?;
        }
        map.end()
    }
}
