//! What each phase costs.

use super::narrow;
use crate::model::{Rank, StringId};

/// Figures over all events of one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// The phase.
    pub phase: StringId,
    /// Number of events.
    pub count: u64,
    /// Highest allocated after an event, bytes.
    pub max_allocated: Option<u64>,
    /// Highest reserved after an event, bytes.
    pub max_reserved: Option<u64>,
    /// Largest `delta_allocated` of an event, bytes.
    pub max_delta: Option<i64>,
    /// Sum of `delta_allocated`, bytes.
    pub sum_delta: Option<i64>,
    /// The event with the highest allocated.
    pub event: Option<usize>,
}

/// The phases in order of first occurrence.
#[must_use]
pub fn phases(rank: &Rank) -> Vec<Phase> {
    let events = &rank.events;
    let mut slot = vec![usize::MAX; rank.strings.len()];
    let mut out: Vec<Phase> = Vec::new();
    let mut sums: Vec<i128> = Vec::new();
    for (i, &phase) in events.phase.iter().enumerate() {
        let Some(at) = slot.get_mut(phase.0 as usize) else {
            continue;
        };
        if *at == usize::MAX {
            *at = out.len();
            sums.push(0);
            out.push(Phase {
                phase,
                count: 0,
                max_allocated: None,
                max_reserved: None,
                max_delta: None,
                sum_delta: None,
                event: None,
            });
        }
        let (row, sum) = (&mut out[*at], &mut sums[*at]);
        row.count += 1;
        let allocated = events.allocated_after.get(i);
        if allocated > row.max_allocated {
            row.max_allocated = allocated;
            row.event = Some(i);
        }
        row.max_reserved = row.max_reserved.max(events.reserved_after.get(i));
        if let Some(delta) = events.delta_allocated.get(i) {
            row.max_delta = row.max_delta.max(Some(delta));
            *sum += i128::from(delta);
            row.sum_delta = Some(narrow(*sum));
        }
    }
    out
}
