//! How high memory rose, and where.
//!
//! Three figures are easily mixed up:
//!
//! * **peak allocated**: the allocator's own high-water mark (`torch.cuda.max_memory_allocated`),
//!   the highest of the events' `max_mem_allocated`. It counts what lived between two events.
//! * **highest sample**: the highest `mem_allocated_after` of an event. The public MemScope calls
//!   this its peak; it is lower wherever temporaries are freed before the next event.
//! * **peak reserved**: the highest `max_mem_reserved`, what the process took from the device.

use crate::model::{Bytes, Rank};

/// A figure and the event at which it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Bytes.
    pub bytes: u64,
    /// The event; `None` when the figure stood so high before the first event already.
    pub event: Option<usize>,
}

/// The peaks of a rank. `None` where the source has no such figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peak {
    /// Peak allocated: the high-water mark where stated, else the highest sample.
    pub allocated: Option<At>,
    /// Highest allocated after an event.
    pub sampled: Option<At>,
    /// Peak reserved.
    pub reserved: Option<At>,
}

impl Peak {
    /// Bytes by which the peak exceeds every sample: memory that lived between two events only.
    #[must_use]
    pub fn between_events(&self) -> Option<u64> {
        let (peak, sampled) = (self.allocated?, self.sampled?);
        peak.bytes.checked_sub(sampled.bytes).filter(|&b| b > 0)
    }
}

/// Finds the peaks.
#[must_use]
pub fn peak(rank: &Rank) -> Peak {
    let e = &rank.events;
    let sampled = highest(&e.allocated_after);
    Peak {
        allocated: higher(mark(&e.max_allocated, &e.allocated_before), sampled),
        sampled,
        reserved: higher(
            mark(&e.max_reserved, &e.reserved_before),
            highest(&e.reserved_after),
        ),
    }
}

fn highest(column: &Bytes) -> Option<At> {
    let mut best: Option<At> = None;
    for (i, value) in column.iter().enumerate() {
        if let Some(bytes) = value
            && best.is_none_or(|b| bytes > b.bytes)
        {
            best = Some(At {
                bytes,
                event: Some(i),
            });
        }
    }
    best
}

/// The highest high-water mark. One that stands above memory at the very first event was reached
/// before the recording, at an unknown place.
fn mark(column: &Bytes, before: &Bytes) -> Option<At> {
    let mut best = highest(column)?;
    if best.event == Some(0) && before.get(0).is_some_and(|b| b < best.bytes) {
        best.event = None;
    }
    Some(best)
}

/// The mark, unless samples are higher (a recorder that resets its marks loses them).
fn higher(mark: Option<At>, sampled: Option<At>) -> Option<At> {
    match (mark, sampled) {
        (Some(m), Some(s)) if s.bytes > m.bytes => Some(s),
        (m, s) => m.or(s),
    }
}
