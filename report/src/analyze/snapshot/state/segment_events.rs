//! Where reserved memory changes.

use super::super::analysis::Analysis;
use crate::model::snapshot::TraceId;

impl Analysis {
    /// The next event that reserves memory or gives it back; `at` is `None` before the first one.
    #[must_use]
    pub fn segment_event_after(&self, at: Option<TraceId>) -> Option<TraceId> {
        let range = self.replay.events();
        let from = at.map_or(range.start, |t| t.index() + 1).max(range.start);
        let action = &self.snapshot().events.action;
        let found = action.get(from..range.end)?.iter();
        let ahead = found.copied().position(|a| a.is_segment())?;
        Some(TraceId((from + ahead) as u32))
    }

    /// The last such event before event `at`.
    #[must_use]
    pub fn segment_event_before(&self, at: Option<TraceId>) -> Option<TraceId> {
        let range = self.replay.events();
        let past = at?.index().min(range.end);
        let action = &self.snapshot().events.action;
        let found = action.get(range.start..past)?.iter();
        let at = found.copied().rposition(|a| a.is_segment())?;
        Some(TraceId((range.start + at) as u32))
    }
}
