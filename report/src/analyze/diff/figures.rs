//! Peaks and ends of both sides.

use super::{Pair, Side};
use crate::analyze::peak;
#[cfg(feature = "snapshot")]
use crate::analyze::snapshot::figures::Place;
use crate::model::Bytes;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Peak allocated: the allocator's high-water mark.
    PeakAllocated,
    /// Peak reserved.
    PeakReserved,
    /// Peak requested; snapshots only.
    PeakRequested,
    /// Highest allocated after an event; runtime reports only.
    HighestSample,
    /// Allocated at the end.
    EndAllocated,
    /// Reserved at the end.
    EndReserved,
    /// Requested at the end; snapshots only.
    EndRequested,
}

impl Quantity {
    /// Every quantity, in order.
    pub const ALL: [Self; 7] = [
        Self::PeakAllocated,
        Self::PeakReserved,
        Self::PeakRequested,
        Self::HighestSample,
        Self::EndAllocated,
        Self::EndReserved,
        Self::EndRequested,
    ];

    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::PeakAllocated => "peak_allocated",
            Self::PeakReserved => "peak_reserved",
            Self::PeakRequested => "peak_requested",
            Self::HighestSample => "highest_sample",
            Self::EndAllocated => "end_allocated",
            Self::EndReserved => "end_reserved",
            Self::EndRequested => "end_requested",
        }
    }
}

/// A figure of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// What it counts.
    pub quantity: Quantity,
    /// Bytes.
    pub pair: Pair,
}

/// Every figure that a side has at least.
pub(super) fn figures(a: &Side, b: &Side) -> Vec<Figure> {
    let (a, b) = (of(a), of(b));
    Quantity::ALL
        .into_iter()
        .zip(a.into_iter().zip(b))
        .map(|(quantity, (a, b))| Figure {
            quantity,
            pair: Pair { a, b },
        })
        .filter(|f| f.pair.a.is_some() || f.pair.b.is_some())
        .collect()
}

/// The figures of one side in the order of [`Quantity::ALL`]. Where a side has both a runtime
/// report and a snapshot, the report's stay: they are the allocator's own.
fn of(side: &Side) -> [Option<u64>; 7] {
    let events = &side.rank.events;
    let peak = peak::peak(&side.rank);
    let last = |column: &Bytes| (0..column.len()).rev().find_map(|i| column.get(i));
    #[cfg_attr(
        not(feature = "snapshot"),
        expect(unused_mut, reason = "a snapshot adds")
    )]
    let mut out = [
        peak.allocated.map(|p| p.bytes),
        peak.reserved.map(|p| p.bytes),
        None,
        peak.sampled.map(|p| p.bytes),
        last(&events.allocated_after),
        last(&events.reserved_after),
        None,
    ];
    #[cfg(feature = "snapshot")]
    if let Some(snapshot) = &side.snapshot {
        let figures = snapshot.figures();
        let bytes = |place: Option<Place>| place.map(|p| p.bytes);
        let known = [
            bytes(figures.peak_allocated),
            bytes(figures.peak_reserved),
            bytes(figures.peak_requested),
            None,
            Some(figures.end.allocated),
            Some(figures.end.reserved),
            figures.end_requested,
        ];
        for (slot, known) in out.iter_mut().zip(known) {
            *slot = slot.or(known);
        }
    }
    out
}
