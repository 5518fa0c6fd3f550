//! The machine-readable answer: what `memscope compare --format json` prints.
//!
//! Scripts rely on these names; new ones may come, these stay. A figure that a side does not have
//! is `null`; differences are B minus A, in bytes.

use serde::Serialize;

use super::align::Matched;
use super::runtime::{Both, RuntimeDiff};
use super::{Cannot, Comparison, Pair, Side, Which};
use crate::analyze::holders::{Holder, What};
use crate::analyze::modules::Figures;
use crate::analyze::phases::Phase;
use crate::analyze::steps::Step;

/// The whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Always `memscope.compare`.
    pub format: &'static str,
    /// Version of these names.
    pub version: u32,
    /// What the other is held against.
    pub a: SideAnswer,
    /// The other.
    pub b: SideAnswer,
    /// Peaks and ends.
    pub figures: Vec<FigureAnswer>,
    /// How the two were laid over each other.
    pub aligned: Aligned,
    /// Two runtime reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeAnswer>,
    /// Two snapshots.
    #[cfg(feature = "snapshot")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<super::snapshot::answer::SnapshotAnswer>,
    /// What only one side has: `allocations` or `events`, and which side.
    pub cannot: Vec<CannotAnswer>,
}

/// One side.
#[derive(Debug, Clone, Serialize)]
pub struct SideAnswer {
    /// The input.
    pub source: String,
    /// The rank's number.
    pub rank: Option<i64>,
    /// Device name.
    pub device: Option<String>,
    /// What the reader could not use.
    pub skipped: Vec<crate::analyze::summary::SkippedSummary>,
}

/// Bytes of both sides.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PairAnswer {
    /// A's.
    pub a: Option<u64>,
    /// B's.
    pub b: Option<u64>,
    /// B's minus A's.
    pub delta: Option<i64>,
}

impl From<Pair> for PairAnswer {
    fn from(pair: Pair) -> Self {
        Self {
            a: pair.a,
            b: pair.b,
            delta: pair.delta(),
        }
    }
}

/// A figure.
#[derive(Debug, Clone, Serialize)]
pub struct FigureAnswer {
    /// Its name.
    pub figure: &'static str,
    /// Bytes.
    #[serde(flatten)]
    pub pair: PairAnswer,
}

/// How the two were laid over each other.
#[derive(Debug, Clone, Serialize)]
pub struct Aligned {
    /// `steps`: by number; `order`: first over first; `stretched`: a side has no steps.
    pub by: &'static str,
    /// Steps that lie over each other.
    pub shared_steps: usize,
    /// Steps that only A has.
    pub only_a: usize,
    /// Steps that only B has.
    pub only_b: usize,
}

/// What cannot be compared.
#[derive(Debug, Clone, Serialize)]
pub struct CannotAnswer {
    /// `allocations` or `events`.
    pub what: &'static str,
    /// The side that has it: `A` or `B`.
    pub only: &'static str,
}

/// Two runtime reports.
#[derive(Debug, Clone, Serialize)]
pub struct RuntimeAnswer {
    /// Parts of both peaks; `null` when a peak could not be taken apart.
    pub parts: Option<Vec<PartAnswer>>,
    /// Phases.
    pub phases: Vec<RowAnswer<PhaseAnswer>>,
    /// Modules.
    pub modules: Vec<RowAnswer<ModuleAnswer>>,
    /// Steps.
    pub steps: Vec<RowAnswer<StepAnswer>>,
}

/// A part of the peaks.
#[derive(Debug, Clone, Serialize)]
pub struct PartAnswer {
    /// `before`, `optimizer`, `baseline`, `leak`, `kept`, `module`, `inside` or `between`.
    pub kind: &'static str,
    /// The module, where it is one's.
    pub module: Option<String>,
    /// What became of it.
    pub status: &'static str,
    /// Bytes in A; `null` when it has no such part.
    pub a: Option<i64>,
    /// Bytes in B.
    pub b: Option<i64>,
    /// B's minus A's.
    pub delta: i64,
}

/// A row of both sides.
#[derive(Debug, Clone, Serialize)]
pub struct RowAnswer<T> {
    /// The phase, the module's path, the step's number.
    pub name: String,
    /// A's figures; `null` when it has no such row.
    pub a: Option<T>,
    /// B's.
    pub b: Option<T>,
}

/// A phase's figures.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseAnswer {
    /// Events.
    pub count: u64,
    /// Highest allocated after an event, bytes.
    pub max_allocated: Option<u64>,
    /// Sum of `delta_allocated`, bytes.
    pub sum_delta: Option<i64>,
}

/// A module's figures.
#[derive(Debug, Clone, Serialize)]
pub struct ModuleAnswer {
    /// Events in it and below.
    pub count: u64,
    /// Highest allocated after, bytes.
    pub max_allocated: Option<u64>,
    /// Sum of `delta_allocated`, bytes.
    pub total_delta: Option<i64>,
    /// Bytes of outputs.
    pub output_bytes: u64,
    /// Bytes of gradients.
    pub grad_bytes: u64,
}

/// A step's figures.
#[derive(Debug, Clone, Serialize)]
pub struct StepAnswer {
    /// Events.
    pub count: u64,
    /// Highest allocated after an event, bytes.
    pub sampled_peak: Option<u64>,
    /// Highest high-water mark, bytes.
    pub max_allocated: Option<u64>,
    /// Allocated after the last event, bytes.
    pub allocated_end: Option<u64>,
}

/// How much of the lists is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Rows of each list at most; `None` for all.
    pub rows: Option<usize>,
}

impl Most {
    fn of<T>(self, rows: impl Iterator<Item = T>) -> Vec<T> {
        rows.take(self.rows.unwrap_or(usize::MAX)).collect()
    }
}

/// The answer without snapshots.
#[must_use]
pub fn answer(of: &Comparison, most: Most) -> Answer {
    let (by, shared_steps, (only_a, only_b)) = match of.curves.align.matched {
        Matched::Steps { shared, only } => ("steps", shared, only),
        Matched::Order { shared } => ("order", shared, (0, 0)),
        Matched::Stretched => ("stretched", 0, (0, 0)),
    };
    Answer {
        format: "memscope.compare",
        version: 1,
        a: side(&of.a),
        b: side(&of.b),
        figures: of
            .figures
            .iter()
            .map(|f| FigureAnswer {
                figure: f.quantity.word(),
                pair: f.pair.into(),
            })
            .collect(),
        aligned: Aligned {
            by,
            shared_steps,
            only_a,
            only_b,
        },
        runtime: of.runtime.as_ref().map(|r| runtime(r, most)),
        #[cfg(feature = "snapshot")]
        snapshot: None,
        cannot: of
            .cannot
            .iter()
            .map(|c| {
                let (what, only): (_, &Which) = match c {
                    Cannot::Allocations(which) => ("allocations", which),
                    Cannot::Events(which) => ("events", which),
                };
                CannotAnswer {
                    what,
                    only: only.letter(),
                }
            })
            .collect(),
    }
}

fn side(of: &Side) -> SideAnswer {
    SideAnswer {
        source: of.rank.source.name.clone(),
        rank: of.rank.number(),
        device: of.rank.device(),
        skipped: crate::analyze::summary::skipped(&of.rank),
    }
}

fn row<T, U>(both: &Both<T>, figures: impl Fn(&T) -> U) -> RowAnswer<U> {
    RowAnswer {
        name: both.name.clone(),
        a: both.a.as_ref().map(&figures),
        b: both.b.as_ref().map(&figures),
    }
}

fn runtime(of: &RuntimeDiff, most: Most) -> RuntimeAnswer {
    let part = |p: &super::runtime::Part| {
        let holder: Option<&Holder> = p.a.as_ref().or(p.b.as_ref());
        let (kind, module) = holder.map_or(("kept", None), |h| what(&h.what));
        PartAnswer {
            kind,
            module,
            status: p.status().word(),
            a: p.a.as_ref().map(|h| h.bytes),
            b: p.b.as_ref().map(|h| h.bytes),
            delta: p.delta(),
        }
    };
    let phase = |p: &Phase| PhaseAnswer {
        count: p.count,
        max_allocated: p.max_allocated,
        sum_delta: p.sum_delta,
    };
    let module = |f: &Figures| ModuleAnswer {
        count: f.count,
        max_allocated: f.max_allocated,
        total_delta: f.total_delta,
        output_bytes: f.output_bytes,
        grad_bytes: f.grad_bytes,
    };
    let step = |s: &Step| StepAnswer {
        count: (s.end - s.start) as u64,
        sampled_peak: s.sampled_peak,
        max_allocated: s.high_water,
        allocated_end: s.allocated_end,
    };
    RuntimeAnswer {
        parts: of.parts.as_ref().map(|p| most.of(p.iter().map(part))),
        phases: of.phases.iter().map(|p| row(p, phase)).collect(),
        modules: most.of(of.modules.iter().map(|m| row(m, module))),
        steps: of.steps.iter().map(|s| row(s, step)).collect(),
    }
}

fn what(of: &What) -> (&'static str, Option<String>) {
    match of {
        What::Before => ("before", None),
        What::Optimizer(_) => ("optimizer", None),
        What::Baseline(_) => ("baseline", None),
        What::Leak(_) => ("leak", None),
        What::Kept => ("kept", None),
        What::Module { path, .. } => ("module", Some(path.clone())),
        What::Inside(module) => ("inside", Some(module.clone())),
        What::Between(..) => ("between", None),
    }
}
