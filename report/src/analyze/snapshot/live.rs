//! What lives after any event.

use super::allocations::{AllocationId, NEVER};
use super::replay::Replay;
use crate::model::snapshot::TraceId;

/// Events between two checkpoints at least; a window of them is walked for an answer.
const WINDOW: usize = 4096;
/// Checkpoints at most, as each holds everything that lives there.
const CHECKPOINTS: usize = 64;

/// Finds what lives after an event without walking the history from its beginning.
#[derive(Debug, Clone)]
pub struct LiveIndex {
    first: u32,
    window: usize,
    /// What lives after event `first + i * window - 1`.
    checkpoints: Vec<Vec<AllocationId>>,
    /// Allocations from before the history.
    olds: u32,
}

impl LiveIndex {
    /// Walks the history once.
    #[must_use]
    pub fn of(replay: &Replay) -> Self {
        let n = replay.events().len();
        let window = WINDOW.max(n.div_ceil(CHECKPOINTS));
        let a = &replay.allocations;
        let olds = a.born.iter().take_while(|&&b| b == NEVER).count();
        let mut live: Vec<AllocationId> = (0..olds as u32).map(AllocationId).collect();
        let mut checkpoints = vec![live.clone()];
        let mut next = olds;
        for start in (window..n.max(1)).step_by(window) {
            // The state before event `past`.
            let past = replay.first + start as u32;
            while a.born.get(next).is_some_and(|&b| b < past) {
                live.push(AllocationId(next as u32));
                next += 1;
            }
            live.retain(|id| a.completed.get(id.index()).is_some_and(|&c| c >= past));
            checkpoints.push(live.clone());
        }
        Self {
            first: replay.first,
            window,
            checkpoints,
            olds: olds as u32,
        }
    }

    /// Everything that counts as requested after event `at`, by id.
    #[must_use]
    pub fn after(&self, replay: &Replay, at: TraceId) -> Vec<AllocationId> {
        let a = &replay.allocations;
        let row = at.0.saturating_sub(self.first) as usize;
        let k = (row / self.window).min(self.checkpoints.len().saturating_sub(1));
        let past = self.first + (k * self.window) as u32;
        let born = a.born.get(self.olds as usize..).unwrap_or_default();
        let from = self.olds + born.partition_point(|&b| b < past) as u32;
        let to = self.olds + born.partition_point(|&b| b <= at.0) as u32;
        let kept = self.checkpoints.get(k).into_iter().flatten().copied();
        kept.chain((from..to).map(AllocationId))
            .filter(|id| a.completed.get(id.index()).is_some_and(|&c| c > at.0))
            .collect()
    }

    /// Everything from before the first event.
    #[must_use]
    pub fn before(&self) -> Vec<AllocationId> {
        (0..self.olds).map(AllocationId).collect()
    }
}

/// What lives at the peak of requested bytes.
#[must_use]
pub fn at_peak(replay: &Replay, index: &LiveIndex) -> Vec<AllocationId> {
    match replay.peak_requested().event {
        Some(at) => index.after(replay, at),
        None => index.before(),
    }
}

/// What lives at the end.
#[must_use]
pub fn at_end(replay: &Replay, index: &LiveIndex) -> Vec<AllocationId> {
    match replay.last_event() {
        Some(at) => index.after(replay, at),
        None => index.before(),
    }
}
