//! Where each training step begins and ends, and what memory did in it.

use crate::model::Rank;

/// A run of consecutive events with the same step number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The step's number; `None` for events outside any step.
    pub step: Option<i64>,
    /// Index of its first event.
    pub start: usize,
    /// Index behind its last event.
    pub end: usize,
    /// Allocated before its first event, bytes.
    pub allocated_start: Option<u64>,
    /// Allocated after its last event, bytes.
    pub allocated_end: Option<u64>,
    /// Reserved after its last event, bytes.
    pub reserved_end: Option<u64>,
    /// Highest allocated after an event of the step, bytes.
    pub sampled_peak: Option<u64>,
    /// Highest high-water mark stated in the step, bytes.
    pub high_water: Option<u64>,
    /// Highest reserved stated in the step, bytes.
    pub reserved_peak: Option<u64>,
}

/// The steps in order. A number that comes back later is a step of its own.
#[must_use]
pub fn steps(rank: &Rank) -> Vec<Step> {
    let events = &rank.events;
    let mut out: Vec<Step> = Vec::new();
    for i in 0..events.len() {
        let number = events.step.get(i);
        let row_after = events.allocated_after.get(i);
        match out.last_mut() {
            Some(step) if step.step == number => step.end = i + 1,
            _ => out.push(Step {
                step: number,
                start: i,
                end: i + 1,
                allocated_start: events.allocated_before.get(i).or(row_after),
                allocated_end: None,
                reserved_end: None,
                sampled_peak: None,
                high_water: None,
                reserved_peak: None,
            }),
        }
        if let Some(step) = out.last_mut() {
            step.allocated_end = row_after.or(step.allocated_end);
            step.reserved_end = events.reserved_after.get(i).or(step.reserved_end);
            step.sampled_peak = step.sampled_peak.max(row_after);
            step.high_water = step.high_water.max(events.max_allocated.get(i));
            step.reserved_peak = step
                .reserved_peak
                .max(events.max_reserved.get(i))
                .max(events.reserved_after.get(i));
        }
    }
    out
}

/// How many steps have a number.
#[must_use]
pub fn count(steps: &[Step]) -> usize {
    steps.iter().filter(|s| s.step.is_some()).count()
}

/// Whether the last step reached the boundary that the other steps end with. `None` when no step
/// states an end, so that nothing can be said.
#[must_use]
pub fn complete(rank: &Rank, steps: &[Step]) -> Option<bool> {
    let end = rank.strings.find("step_end")?;
    let ended = |s: &Step| {
        rank.events
            .phase
            .get(s.start..s.end)
            .is_some_and(|p| p.contains(&end))
    };
    if !steps.iter().any(ended) {
        return None;
    }
    steps.iter().rev().find(|s| s.step.is_some()).map(ended)
}
