//! Tables: typed cells, so that each is shown, sorted and exported by the same rules.

mod about;
mod events;
mod holders;
mod modules;
mod order;
mod phases;
#[cfg(feature = "snapshot")]
mod recorded;
#[cfg(feature = "snapshot")]
mod segments;
#[cfg(feature = "snapshot")]
mod series;
#[cfg(feature = "snapshot")]
pub mod snapshot;
mod steps;
mod tensors;
mod top;
#[cfg(feature = "snapshot")]
mod watch;

use std::borrow::Cow;
use std::cmp::Ordering;

use report::analyze::modules::ModuleId;
use report::model::StringId;

use crate::units;
use crate::visible::visible;
use crate::words::{Lang, Word};

pub use about::{FactRows, PartRows, SkippedRows};
pub use events::EventRows;
pub use holders::HolderRows;
pub use modules::ModuleRows;
pub use order::order;
pub use phases::PhaseRows;
#[cfg(feature = "snapshot")]
pub use recorded::{DriverRows, InventoryRows, NameSumRows, RankRows, recording_facts};
#[cfg(feature = "snapshot")]
pub use segments::{PinRows, SegmentRows};
#[cfg(feature = "snapshot")]
pub use series::SeriesRows;
pub use steps::StepRows;
pub use tensors::TensorRows;
pub use top::TopRows;
#[cfg(feature = "snapshot")]
pub use watch::{Standing, WatchRows, Watched};

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name in exports and links; never changes.
    pub id: &'static str,
    /// Head.
    pub label: Word,
    /// Whether its cells are figures: aligned right, sorted largest first.
    pub figure: bool,
}

/// A column of figures.
pub(crate) const fn figure(id: &'static str, label: Word) -> Column {
    Column {
        id,
        label,
        figure: true,
    }
}

/// A column of text.
pub(crate) const fn text(id: &'static str, label: Word) -> Column {
    Column {
        id,
        label,
        figure: false,
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Text of the source or of a translation.
    Text(Cow<'a, str>),
    /// A size in bytes; `None` is unknown.
    Bytes(Option<u64>),
    /// A difference in bytes; `None` is unknown.
    Delta(Option<i64>),
    /// A plain number; `None` is unknown or does not apply.
    Count(Option<i64>),
    /// A share of a whole, 0 to 1; `None` is unknown.
    Share(Option<f64>),
}

impl Cell<'_> {
    /// As shown: rounded, with unit.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(t) => visible(t).into_owned(),
            Self::Bytes(Some(b)) => units::bytes(*b),
            Self::Delta(Some(d)) => units::delta(*d),
            Self::Count(Some(n)) => units::signed(*n),
            Self::Share(Some(s)) => units::percent(*s),
            Self::Bytes(None) | Self::Delta(None) | Self::Count(None) | Self::Share(None) => {
                "–".to_owned()
            }
        }
    }

    /// The exact figure, where [`Self::shown`] rounds.
    #[must_use]
    pub fn exact(&self) -> Option<String> {
        match self {
            Self::Bytes(Some(b)) => Some(units::exact(*b)),
            Self::Delta(Some(d)) => Some(units::exact_delta(*d)),
            _ => None,
        }
    }

    /// As exported: the exact number without unit or grouping, or the text unchanged.
    #[must_use]
    pub fn raw(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Text(t) => Cow::Borrowed(t),
            Self::Bytes(v) => Cow::Owned((*v)?.to_string()),
            Self::Delta(v) | Self::Count(v) => Cow::Owned((*v)?.to_string()),
            Self::Share(v) => Cow::Owned((*v)?.to_string()),
        })
    }

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Delta(a), Self::Delta(b)) | (Self::Count(a), Self::Count(b)) => a.cmp(b),
            (Self::Share(a), Self::Share(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        }
    }
}

/// Something of a memory snapshot; numbers are rows of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pick {
    /// An entry of the trace.
    Entry(u32),
    /// An allocation.
    Allocation(u32),
    /// A stack.
    Stack(u32),
    /// A reserved range.
    Span(u32),
}

/// What a row is about, so that a selection made in one view is found in the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subject {
    /// The event that shows it best.
    pub event: Option<usize>,
    /// Whether the row is that very event (not a group that contains it).
    pub single: bool,
    /// Module as the source names it.
    pub module: Option<StringId>,
    /// Module of the tree, for rows that stand for one with all below it.
    pub node: Option<ModuleId>,
    /// Phase.
    pub phase: Option<StringId>,
    /// Step.
    pub step: Option<i64>,
    /// Something of a memory snapshot.
    pub pick: Option<Pick>,
}

/// A table. Rows are computed on demand, so a table of a million rows costs nothing until shown.
pub trait Rows: Send + Sync {
    /// Its name in exports.
    fn name(&self) -> &'static str;
    /// Its columns.
    fn columns(&self) -> &'static [Column];
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A cell. Rows and columns out of range give an empty text.
    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_>;
    /// What a row is about.
    fn subject(&self, _row: usize) -> Subject {
        Subject::default()
    }
    /// What stands below a column: a sum over all rows. Exports leave it out.
    fn total(&self, _column: usize) -> Option<Cell<'static>> {
        None
    }
    /// A number that orders a column as its cells would, for tables where comparing texts of
    /// every pair of rows is too slow.
    fn rank(&self, _row: usize, _column: usize) -> Option<u64> {
        None
    }
}

/// An empty text cell, for what is out of range.
pub(crate) const BLANK: Cell<'static> = Cell::Text(Cow::Borrowed(""));
