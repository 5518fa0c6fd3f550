//! The JSON header of a container.

use serde::{Deserialize, Serialize};

#[cfg(feature = "snapshot")]
use super::snapshot::SnapshotEntry;
#[cfg(feature = "snapshot")]
use crate::analyze::snapshot::figures;
use crate::analyze::{peak, steps};
use crate::model::{Metadata, Rank, RecordedPeak, Skipped, Source};

/// What stands before the columns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// `memscope` and its version.
    pub generator: String,
    /// One entry a rank, in the report's order.
    pub ranks: Vec<RankEntry>,
}

/// Everything of a rank but its columns.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RankEntry {
    /// Where the rank came from.
    pub source: Source,
    /// Other inputs of the same rank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Source>,
    /// Facts about the run.
    pub metadata: Metadata,
    /// The source's comparisons.
    pub comparisons: Metadata,
    /// The source's own peak.
    pub recorded_peak: Option<RecordedPeak>,
    /// What the reader could not use.
    pub skipped: Skipped,
    /// Figures for lists of ranks and reports, so that they need no column.
    pub headline: Headline,
    /// Number of events.
    pub events: u64,
    /// Number of events in the source's own selection.
    pub recorded_top: u64,
    /// What the rank's memory snapshot holds besides columns.
    #[cfg(feature = "snapshot")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotEntry>,
    /// Moments of the rank's memory timeline; `None` when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<u64>,
    /// There is a memory snapshot, of which this program knows nothing.
    #[cfg(not(feature = "snapshot"))]
    #[serde(default, rename = "snapshot", skip_serializing)]
    pub(crate) unread: Option<serde::de::IgnoredAny>,
    /// Directory of the rank's columns.
    pub columns: Vec<ColumnEntry>,
}

/// The figures that a list of ranks shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// The rank's number.
    pub rank: Option<i64>,
    /// Number of steps.
    pub steps: u64,
    /// Peak allocated, bytes.
    pub peak_allocated: Option<u64>,
    /// Peak reserved, bytes.
    pub peak_reserved: Option<u64>,
    /// When it was recorded, and how much of the device was in use.
    #[cfg(feature = "snapshot")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<crate::analyze::recording::Span>,
}

impl Headline {
    /// Asks the analyses.
    #[must_use]
    pub fn of(rank: &Rank) -> Self {
        let peak = peak::peak(rank);
        #[cfg(feature = "snapshot")]
        if rank.events.is_empty()
            && let Some(figures) = figures::figures(rank)
        {
            return Self {
                rank: rank.number(),
                steps: figures.steps.len() as u64,
                peak_allocated: figures.peak_allocated.map(|p| p.bytes),
                peak_reserved: figures.peak_reserved.map(|p| p.bytes),
                span: rank
                    .recording
                    .as_ref()
                    .map(crate::analyze::recording::Span::of),
            };
        }
        Self {
            rank: rank.number(),
            steps: steps::count(&steps::steps(rank)) as u64,
            peak_allocated: peak.allocated.map(|p| p.bytes),
            peak_reserved: peak.reserved.map(|p| p.bytes),
            #[cfg(feature = "snapshot")]
            span: rank
                .recording
                .as_ref()
                .map(crate::analyze::recording::Span::of),
        }
    }
}

/// How the values of a column were turned into the numbers that are stored as LEB128.
///
/// All but [`Coding::Plain`] and [`Coding::Raw`] store `zigzag(value - prediction)`, wrapping in
/// 64 bits; predictions use columns that come before in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// Bytes as they are (text).
    Raw,
    /// The value itself.
    Plain,
    /// Prediction: the row above.
    Delta,
    /// Prediction: the row above of another column.
    Above,
    /// Prediction: the same row of another column.
    Beside,
    /// Prediction: another column minus a third, same row.
    Difference,
    /// Prediction: the larger of the row above and the same row of another column.
    HighWater,
}

/// One column of the directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ColumnEntry {
    /// `table.column`.
    pub name: String,
    /// See [`Coding`].
    pub coding: Coding,
    /// The columns that the prediction uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
    /// Number of values (bytes for [`Coding::Raw`]).
    pub count: u64,
    /// Offset of the slab from the end of the header, in bytes.
    pub offset: u64,
    /// Size of the slab as stored, in bytes.
    pub length: u64,
    /// Size of the slab before compression, in bytes.
    pub raw: u64,
    /// Whether the slab is raw deflate (else stored as it is).
    pub deflate: bool,
    /// CRC-32 (IEEE) of the slab as stored.
    pub crc32: u32,
}
