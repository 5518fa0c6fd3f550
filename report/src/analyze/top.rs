//! The events at which most was allocated, one row a place.

use std::cmp::Reverse;
use std::collections::HashMap;

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

/// The place of every event, looked up once, so that grouping by other filters again is a pass over
/// an array.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The distinct places, in order of first occurrence.
    pub list: Vec<Place>,
    of: Vec<u32>,
}

impl Places {
    /// Looks up the places of all events.
    #[must_use]
    pub fn new(events: &Events) -> Self {
        let mut index = HashMap::with_hasher(FxBuildHasher);
        let mut list = Vec::new();
        let of = (0..events.len())
            .map(|i| {
                let place = Place::of(events, i);
                *index.entry(place).or_insert_with(|| {
                    list.push(place);
                    list.len() as u32 - 1
                })
            })
            .collect();
        Self { list, of }
    }

    /// Index in [`Self::list`] of an event's place; `None` for an event that is not there.
    #[inline]
    #[must_use]
    pub fn of(&self, event: usize) -> Option<usize> {
        self.of.get(event).map(|&p| p as usize)
    }

    /// Groups the events that `keep` accepts by place, highest allocated first; equals in order of
    /// their events. `events` are those that this was made of.
    #[must_use]
    pub fn groups(&self, events: &Events, keep: impl Fn(usize) -> bool) -> Vec<Group> {
        let mut slots: Vec<Option<Group>> = vec![None; self.list.len()];
        for (i, &place) in self.of.iter().enumerate() {
            if !keep(i) {
                continue;
            }
            let Some(slot) = slots.get_mut(place as usize) else {
                continue;
            };
            let group = slot.get_or_insert_with(|| Group {
                place: self.list[place as usize],
                count: 0,
                event: i,
                max_allocated: None,
                max_delta: None,
                first_step: None,
                last_step: None,
            });
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
        let mut out: Vec<Group> = slots.into_iter().flatten().collect();
        out.sort_by_key(|g| (Reverse(g.max_allocated), g.event));
        out
    }
}

/// [`Places::groups`] of events that are grouped once only.
#[must_use]
pub fn groups(events: &Events, keep: impl Fn(usize) -> bool) -> Vec<Group> {
    Places::new(events).groups(events, keep)
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
