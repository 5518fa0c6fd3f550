//! The events at which most was allocated, one row a place.

use std::cmp::Reverse;

use rustc_hash::FxBuildHasher;

use crate::model::{Events, Rank, StringId};

/// A place: what happened to which module in which phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// Kind of event.
    pub kind: StringId,
    /// Module as the source names it.
    pub module: StringId,
    /// Phase.
    pub phase: StringId,
}

impl Place {
    /// The place of an event.
    #[must_use]
    pub fn of(events: &Events, event: usize) -> Self {
        let row = |c: &[StringId]| c.get(event).copied().unwrap_or_default();
        Self {
            kind: row(&events.kind),
            module: row(&events.module),
            phase: row(&events.phase),
        }
    }
}

/// All events of one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The place.
    pub place: Place,
    /// Number of events there.
    pub count: u64,
    /// The event with the highest allocated (the first of equals).
    pub event: usize,
    /// Highest allocated after an event, bytes.
    pub max_allocated: Option<u64>,
    /// Largest `delta_allocated`, bytes.
    pub max_delta: Option<i64>,
    /// Lowest step number.
    pub first_step: Option<i64>,
    /// Highest step number.
    pub last_step: Option<i64>,
}

/// Groups the events that `keep` accepts by place, highest allocated first; equals in order of
/// their events.
#[must_use]
pub fn groups(events: &Events, keep: impl Fn(usize) -> bool) -> Vec<Group> {
    let mut index = std::collections::HashMap::with_hasher(FxBuildHasher);
    let mut out: Vec<Group> = Vec::new();
    for i in 0..events.len() {
        if !keep(i) {
            continue;
        }
        let place = Place::of(events, i);
        let at = *index.entry(place).or_insert_with(|| {
            out.push(Group {
                place,
                count: 0,
                event: i,
                max_allocated: None,
                max_delta: None,
                first_step: None,
                last_step: None,
            });
            out.len() - 1
        });
        let Some(group) = out.get_mut(at) else {
            continue;
        };
        group.count += 1;
        let allocated = events.allocated_after.get(i);
        if allocated > group.max_allocated {
            group.max_allocated = allocated;
            group.event = i;
        }
        group.max_delta = group.max_delta.max(events.delta_allocated.get(i));
        if let Some(step) = events.step.get(i) {
            group.first_step = Some(group.first_step.map_or(step, |s| s.min(step)));
            group.last_step = group.last_step.max(Some(step));
        }
    }
    out.sort_by_key(|g| (Reverse(g.max_allocated), g.event));
    out
}

/// The events to list: the trace, or the source's own selection where there is no trace.
#[must_use]
pub fn listed(rank: &Rank) -> &Events {
    if rank.events.is_empty() {
        &rank.recorded_top
    } else {
        &rank.events
    }
}
