//! Memory of both sides over one axis.

use super::align::{Align, Start};
use super::{Side, Which};
use crate::analyze::levels::{Levels, Span};
use crate::analyze::{peak, steps};
use crate::model::Bytes;

/// What a curve shows. Both sides show the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Requested bytes: both sides have a snapshot.
    Requested,
    /// Allocated bytes.
    Allocated,
}

/// One side's curve.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Bytes at each position. A snapshot's position 0 is before its first event; a runtime
    /// report's position is its event.
    pub values: Bytes,
    levels: Levels,
    /// Where its peak stands, and how high; `None` when either is unknown.
    pub peak: Option<(usize, u64)>,
    starts: Vec<Start>,
}

/// The curves.
#[derive(Debug, Clone)]
pub struct Curves {
    /// What they show.
    pub shown: Shown,
    /// A's.
    pub a: Line,
    /// B's.
    pub b: Line,
    /// The axis.
    pub align: Align,
    /// Highest of both, bytes.
    pub top: u64,
}

impl Curves {
    /// The curves of two sides.
    #[must_use]
    pub fn of(a: &Side, b: &Side) -> Self {
        let shown = if a.has_snapshot() && b.has_snapshot() {
            Shown::Requested
        } else {
            Shown::Allocated
        };
        let (a, b) = (Line::of(a, shown), Line::of(b, shown));
        let align = Align::of(a.values.len(), &a.starts, b.values.len(), &b.starts);
        let top = |line: &Line| {
            let values = line.levels.span(&line.values, 0, line.values.len());
            let peak = line.peak.map_or(0, |p| p.1);
            values.map_or(0, |s| s.max).max(peak)
        };
        Self {
            top: top(&a).max(top(&b)),
            shown,
            align,
            a,
            b,
        }
    }

    /// One side's curve.
    #[must_use]
    pub fn line(&self, which: Which) -> &Line {
        match which {
            Which::A => &self.a,
            Which::B => &self.b,
        }
    }

    /// Lowest, highest and last bytes of a side between two places of the axis; `None` where the
    /// side has nothing there.
    #[must_use]
    pub fn span(&self, which: Which, from: f64, to: f64) -> Option<Span> {
        let (low, high) = self.align.positions(which, from, to)?;
        let line = self.line(which);
        line.levels.span(&line.values, low, high)
    }
}

impl Line {
    fn of(side: &Side, shown: Shown) -> Self {
        #[cfg(feature = "snapshot")]
        if let Some(snapshot) = &side.snapshot
            && (shown == Shown::Requested || !side.has_events())
        {
            return Self::of_snapshot(snapshot, shown);
        }
        let _ = shown;
        let events = &side.rank.events;
        let peak = peak::peak(&side.rank).allocated;
        let starts = steps::steps(&side.rank);
        Self {
            levels: Levels::of(&events.allocated_after),
            values: events.allocated_after.clone(),
            peak: peak.and_then(|p| Some((p.event?, p.bytes))),
            starts: starts
                .iter()
                .filter_map(|s| Some((s.step?, s.start)))
                .collect(),
        }
    }

    #[cfg(feature = "snapshot")]
    fn of_snapshot(snapshot: &crate::analyze::snapshot::Analysis, shown: Shown) -> Self {
        let replay = &snapshot.replay;
        let (curve, peak) = match shown {
            Shown::Requested => (&replay.requested, replay.peak_requested()),
            Shown::Allocated => (&replay.allocated, replay.peak_allocated()),
        };
        let mut values = Bytes::default();
        values.push(Some(curve.start));
        curve.after.iter().for_each(|&b| values.push(Some(b)));
        // The position after an event: that before the first event is 0.
        let position = |event: u32| (event - replay.first) as usize + 1;
        let starts = snapshot.steps().iter();
        Self {
            levels: Levels::of(&values),
            values,
            peak: Some((peak.event.map_or(0, |e| position(e.0)), peak.bytes)),
            starts: starts.map(|s| (s.number, position(s.start.0))).collect(),
        }
    }
}
