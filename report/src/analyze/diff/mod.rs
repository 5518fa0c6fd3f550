//! Two recordings side by side: what differs, by how much, and why.
//!
//! Side A is what the other is held against; differences are B minus A. Nothing is matched by id:
//! two recordings have different tables, so names and frames are matched by their text.
//!
//! * [`figures`](mod@figures): peaks and ends of both sides.
//! * [`align`]: one axis for both, step by step. [`curves`]: memory of both over that axis.
//! * [`runtime`]: the peak's parts, phases, modules and steps of two runtime reports.
//! * `snapshot` (feature `snapshot`): what lives at an instant of each of two memory snapshots, by
//!   stack, line, function and category, and as one tree.
//! * [`answer`]: all of it for scripts.

pub mod align;
pub mod answer;
pub mod curves;
pub mod figures;
pub mod runtime;
#[cfg(feature = "snapshot")]
pub mod snapshot;

use std::sync::Arc;

use super::difference;
use crate::model::Rank;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The one that the other is held against.
    A,
    /// The other.
    B,
}

impl Which {
    /// Its letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// What became of something from A to B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Only in B.
    New,
    /// Only in A.
    Gone,
    /// More in B.
    Grown,
    /// Less in B.
    Shrunk,
    /// As much in both.
    Same,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::New, Self::Gone, Self::Grown, Self::Shrunk, Self::Same];

    /// From where it is, and how the figures compare (B with A).
    #[must_use]
    pub fn of(in_a: bool, in_b: bool, b_with_a: std::cmp::Ordering) -> Self {
        match (in_a, in_b, b_with_a) {
            (false, true, _) => Self::New,
            (true, false, _) => Self::Gone,
            (_, _, std::cmp::Ordering::Greater) => Self::Grown,
            (_, _, std::cmp::Ordering::Less) => Self::Shrunk,
            (_, _, std::cmp::Ordering::Equal) => Self::Same,
        }
    }

    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Grown => "grown",
            Self::Shrunk => "shrunk",
            Self::Same => "same",
        }
    }

    /// From its word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.word() == word)
    }
}

/// A figure of both sides, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair {
    /// A's; `None` is unknown.
    pub a: Option<u64>,
    /// B's.
    pub b: Option<u64>,
}

impl Pair {
    /// B minus A; `None` unless both are known.
    #[must_use]
    pub fn delta(self) -> Option<i64> {
        Some(difference(self.b?, self.a?))
    }
}

/// One of the two recordings with its analyses.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its tables.
    pub rank: Arc<Rank>,
    /// Its memory snapshot, played; `None` when it has none.
    #[cfg(feature = "snapshot")]
    pub snapshot: Option<Arc<super::snapshot::Analysis>>,
}

impl Side {
    /// Plays the rank's snapshot where there is one.
    #[must_use]
    pub fn of(rank: Arc<Rank>) -> Self {
        Self {
            #[cfg(feature = "snapshot")]
            snapshot: super::snapshot::Analysis::of(Arc::clone(&rank)).map(Arc::new),
            rank,
        }
    }

    /// As [`Self::of`], with the history of this device; `None` where the snapshot has none of it.
    #[cfg(feature = "snapshot")]
    #[must_use]
    pub fn on(rank: Arc<Rank>, device: crate::model::snapshot::Device) -> Option<Self> {
        let played = super::snapshot::Analysis::on(Arc::clone(&rank), device)?;
        Some(Self {
            snapshot: Some(Arc::new(played)),
            rank,
        })
    }

    /// Whether it has the events of a runtime report.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.rank.events.is_empty()
    }

    /// Whether it has a memory snapshot.
    #[must_use]
    pub fn has_snapshot(&self) -> bool {
        #[cfg(feature = "snapshot")]
        return self.snapshot.is_some();
        #[cfg(not(feature = "snapshot"))]
        false
    }
}

/// Something that one side has and the other has not, so that it cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cannot {
    /// Allocations by stack, line, function and category: only this side has a snapshot.
    Allocations(Which),
    /// Phases, modules and steps: only this side has events of modules.
    Events(Which),
}

/// Two recordings side by side.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What the other is held against.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// Peaks and ends.
    pub figures: Vec<figures::Figure>,
    /// Memory of both over one axis.
    pub curves: Arc<curves::Curves>,
    /// What two runtime reports have in common; `None` unless both have events.
    pub runtime: Option<Arc<runtime::RuntimeDiff>>,
    /// What two snapshots have in common; `None` unless both have one.
    #[cfg(feature = "snapshot")]
    pub snapshot: Option<Arc<snapshot::SnapshotDiff>>,
    /// What cannot be compared.
    pub cannot: Vec<Cannot>,
}

impl Comparison {
    /// Compares.
    #[must_use]
    pub fn of(a: Side, b: Side) -> Self {
        let only = |a: bool, b: bool| match (a, b) {
            (true, false) => Some(Which::A),
            (false, true) => Some(Which::B),
            _ => None,
        };
        let mut cannot = Vec::new();
        cannot.extend(only(a.has_snapshot(), b.has_snapshot()).map(Cannot::Allocations));
        cannot.extend(only(a.has_events(), b.has_events()).map(Cannot::Events));
        Self {
            figures: figures::figures(&a, &b),
            curves: Arc::new(curves::Curves::of(&a, &b)),
            runtime: (a.has_events() && b.has_events())
                .then(|| Arc::new(runtime::RuntimeDiff::of(&a.rank, &b.rank))),
            #[cfg(feature = "snapshot")]
            snapshot: a
                .snapshot
                .as_ref()
                .zip(b.snapshot.as_ref())
                .map(|(a, b)| Arc::new(snapshot::SnapshotDiff::of(Arc::clone(a), Arc::clone(b)))),
            a,
            b,
            cannot,
        }
    }

    /// One side.
    #[must_use]
    pub fn side(&self, which: Which) -> &Side {
        match which {
            Which::A => &self.a,
            Which::B => &self.b,
        }
    }
}
