//! A rank: whichever tables its inputs gave. A report: the ranks of one run.

use serde::{Deserialize, Serialize};

use super::snapshot::Snapshot;
use super::{Events, Metadata, Series, Skipped, StringTable, Tensors};

/// Where a rank's tables came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the input, as its owner gave it (no directories above the run).
    pub name: String,
    /// Format of the input: `runtime_report.json`.
    pub format: String,
    /// Size of the input in bytes, uncompressed.
    pub bytes: u64,
    /// CRC-32 (IEEE) of the input, so that two reports can be told apart or matched.
    pub crc32: u32,
}

/// What the source itself calls its peak (`peak` of `runtime_report.json`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPeak {
    /// Phase of the event.
    pub phase: Option<String>,
    /// Module of the event.
    pub module: Option<String>,
    /// Step of the event.
    pub step: Option<i64>,
    /// Allocated at the event, in bytes.
    pub memory_bytes: Option<u64>,
    /// Reserved at the event, in bytes.
    pub reserved_bytes: Option<u64>,
}

/// One process on one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rank {
    /// Where this came from.
    pub source: Source,
    /// Other inputs of the same rank that were put together with the first, in the order in which
    /// they came.
    pub also: Vec<Source>,
    /// Facts about the run.
    pub metadata: Metadata,
    /// Figures that the source compares with its measurement, mostly a static estimate.
    pub comparisons: Metadata,
    /// The source's own peak.
    pub recorded_peak: Option<RecordedPeak>,
    /// The text of all tables.
    pub strings: StringTable,
    /// Module, gradient and step events.
    pub events: Events,
    /// The source's own selection of top events (`top_events`).
    pub recorded_top: Events,
    /// Tensors that events refer to.
    pub tensors: Tensors,
    /// The allocator's history and state, of a memory snapshot.
    pub snapshot: Option<Snapshot>,
    /// Memory by category, of a profiler's memory timeline.
    pub series: Option<Series>,
    /// What a recorder of MemScope knows beyond the public schema.
    #[cfg(feature = "snapshot")]
    pub recording: Option<super::recording::Recording>,
    /// What could not be used.
    pub skipped: Skipped,
}

impl Rank {
    /// Every input that this rank came from.
    pub fn sources(&self) -> impl Iterator<Item = &Source> + '_ {
        std::iter::once(&self.source).chain(&self.also)
    }

    /// The rank's number, where the source states it.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        self.metadata.integer("rank")
    }

    /// How many ranks the run had, where the source states it.
    #[must_use]
    pub fn world_size(&self) -> Option<i64> {
        self.metadata.integer("world_size")
    }

    /// The device's name (`NVIDIA H200`), else its ordinal (`cuda:0`).
    #[must_use]
    pub fn device(&self) -> Option<String> {
        self.metadata
            .text("device_name")
            .or_else(|| self.metadata.text("device"))
    }
}

/// The ranks of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Ordered by rank number, then by source name.
    pub ranks: Vec<Rank>,
}

impl Report {
    /// Puts ranks in their order: by number (unknown last), then by source name.
    #[must_use]
    pub fn of(mut ranks: Vec<Rank>) -> Self {
        ranks.sort_by(|a, b| {
            let key = |r: &Rank| (r.number().is_none(), r.number(), r.source.name.clone());
            key(a).cmp(&key(b))
        });
        Self { ranks }
    }
}
