//! What lives at an instant of each of two memory snapshots, side by side.

pub mod answer;
pub mod flame;
pub mod frames;
pub mod groups;
mod lines;
mod renamed;

use std::sync::{Arc, OnceLock};

use super::{Pair, Which};
use crate::analyze::snapshot::allocations::AllocationId;
use crate::analyze::snapshot::flame::Direction;
use crate::analyze::snapshot::{Analysis, Instant};

use flame::Flame;
use frames::Frames;
use groups::{By, Row};

/// Two snapshots whose frames are matched.
#[derive(Debug)]
pub struct SnapshotDiff {
    /// What the other is held against.
    pub a: Arc<Analysis>,
    /// The other.
    pub b: Arc<Analysis>,
    frames: OnceLock<Frames>,
}

impl SnapshotDiff {
    pub(super) fn of(a: Arc<Analysis>, b: Arc<Analysis>) -> Self {
        Self {
            a,
            b,
            frames: OnceLock::new(),
        }
    }

    /// One side.
    #[must_use]
    pub fn side(&self, which: Which) -> &Arc<Analysis> {
        match which {
            Which::A => &self.a,
            Which::B => &self.b,
        }
    }

    /// The frames of both, matched.
    pub fn frames(&self) -> &Frames {
        self.frames.get_or_init(|| Frames::of(&self.a, &self.b))
    }

    /// What lives at an instant of each.
    #[must_use]
    pub fn at(self: &Arc<Self>, a: Instant, b: Instant) -> LiveDiff {
        let bytes = |side: &Analysis, ids: &[AllocationId]| {
            let sizes = ids.iter().map(|&id| side.replay.allocations.size(id));
            sizes.fold(0, u64::saturating_add)
        };
        let (x, y) = (self.a.live_at(a), self.b.live_at(b));
        LiveDiff {
            total: Pair {
                a: Some(bytes(&self.a, &x)),
                b: Some(bytes(&self.b, &y)),
            },
            diff: Arc::clone(self),
            at: (a, b),
            a: x,
            b: y,
        }
    }
}

/// What lives at an instant of each of two snapshots.
#[derive(Debug, Clone)]
pub struct LiveDiff {
    /// The snapshots.
    pub diff: Arc<SnapshotDiff>,
    /// The instants, A's and B's.
    pub at: (Instant, Instant),
    /// Requested bytes of both.
    pub total: Pair,
    a: Vec<AllocationId>,
    b: Vec<AllocationId>,
}

impl LiveDiff {
    /// What lives on a side, by id.
    #[must_use]
    pub fn ids(&self, which: Which) -> &[AllocationId] {
        match which {
            Which::A => &self.a,
            Which::B => &self.b,
        }
    }

    /// Groups of both sides, largest difference first. Their differences sum to that of
    /// [`Self::total`].
    #[must_use]
    pub fn groups(&self, by: By) -> Vec<Row> {
        groups::groups(self, by)
    }

    /// Both sides as one tree of frames.
    #[must_use]
    pub fn flame(&self, direction: Direction, fold: bool) -> Flame {
        flame::flame(self, direction, fold)
    }
}
