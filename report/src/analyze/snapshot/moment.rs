//! What an instant is: its event, its step, what lives then and what the curves say.

use super::allocations::AllocationId;
use super::analysis::Analysis;
use super::instant::Instant;
use super::steps::step_of;
use crate::model::StringId;
use crate::model::snapshot::TraceId;

/// An instant of a history with its figures, bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The instant.
    pub instant: Instant,
    /// The event after which it is; `None` before the first.
    pub event: Option<TraceId>,
    /// The step of the event.
    pub step: Option<i64>,
    /// The innermost annotation around the event.
    pub phase: Option<StringId>,
    /// What lives then, by id.
    pub ids: Vec<AllocationId>,
    /// Requested bytes by the curve; those of [`Self::ids`] add up to the same.
    pub requested: u64,
    /// Bytes of blocks in use.
    pub allocated: u64,
    /// Reserved bytes.
    pub reserved: u64,
}

impl Analysis {
    /// Everything of an instant.
    #[must_use]
    pub fn moment(&self, instant: Instant) -> Moment {
        let event = self.event_of(instant);
        let after = |curve: &super::replay::Curve| match event {
            Some(e) => {
                let row = e.0.saturating_sub(self.replay.first) as usize;
                curve.after.get(row).copied().unwrap_or(curve.start)
            }
            None => curve.start,
        };
        let around = |at: TraceId| {
            let inside = self.ranges().iter().filter(|r| r.start <= at && at < r.end);
            inside.max_by_key(|r| r.depth).map(|r| r.name)
        };
        Moment {
            instant,
            event,
            step: event
                .and_then(|e| step_of(self.steps(), e))
                .map(|s| s.number),
            phase: event.and_then(around),
            ids: self.live_at(instant),
            requested: after(&self.replay.requested),
            allocated: after(&self.replay.allocated),
            reserved: after(&self.replay.reserved),
        }
    }

    /// The events that an allocation has lived for at an instant; `None` when it was there before
    /// the history began.
    #[must_use]
    pub fn age(&self, id: AllocationId, at: Option<TraceId>) -> Option<u64> {
        let born = self.replay.allocations.get(id)?.born?;
        Some(u64::from(at?.0.saturating_sub(born.0)))
    }

    /// The same in steps: how many ends of steps lie between; `None` without steps as well.
    #[must_use]
    pub fn age_in_steps(&self, id: AllocationId, at: Option<TraceId>) -> Option<u64> {
        let born = self.replay.allocations.get(id)?.born?;
        let at = at?;
        let steps = self.steps();
        if steps.is_empty() {
            return None;
        }
        let past = |event: TraceId| steps.partition_point(|s| s.end <= event) as u64;
        Some(past(at).saturating_sub(past(born)))
    }
}
