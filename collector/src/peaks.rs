//! Where a high-water mark rose: between which two readings.
//!
//! The allocator's mark is only read, never reset: programs and other tools read the same one. That
//! it rose between two readings says where the peak was, to the distance of the readings.

use crate::figures::Figures;
use crate::journal::Journal;
use crate::records::At;

/// A mark that rose by less than this since the last record is not recorded again, bytes. The mark
/// itself stands in every sample, to the byte.
const LEAST: u64 = 1 << 20;
/// Nor one that rose by less than this part of itself.
const PART: u64 = 1000;

/// One high-water mark, bytes.
#[derive(Debug, Default)]
pub struct Mark {
    recorded: Option<u64>,
    last: Option<u64>,
}

impl Mark {
    /// Takes a reading; gives it back where it is a peak to record: the first, and each that lies
    /// more than 1 MiB and 0.1 % above the last recorded. After a reset the mark starts low again:
    /// what it passes a second time is no peak of the run.
    pub fn read(&mut self, now: Option<u64>) -> Option<u64> {
        let now = now?;
        self.last = Some(now);
        let rose = match self.recorded {
            None => now > 0,
            Some(before) => now > before.saturating_add(LEAST.max(before / PART)),
        };
        rose.then(|| {
            self.recorded = Some(now);
            now
        })
    }

    /// Whether the mark went down with this reading: somebody reset it. To be asked before
    /// [`read`](Self::read).
    #[must_use]
    pub fn was_reset(&self, now: Option<u64>) -> bool {
        matches!((self.last, now), (Some(last), Some(now)) if now < last)
    }
}

/// Watches the high-water marks from one edge to the next.
#[derive(Debug, Default)]
pub struct Peaks {
    allocated: Mark,
    reserved: Mark,
    last_edge: String,
}

/// What was seen of the marks at an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rose {
    /// The mark of allocated memory rose to a new peak.
    pub allocated: bool,
    /// The mark of reserved memory rose to a new peak.
    pub reserved: bool,
    /// A mark that the allocator keeps went down: somebody reset it.
    pub reset: bool,
}

impl Peaks {
    /// Looks at the figures of an edge, and writes a record for each mark that rose since the edge
    /// before. `before` is where the run stood until this edge: that is where it rose. Where the
    /// allocator keeps no mark, the figure itself counts, and can tell of no reset.
    pub fn look(&mut self, journal: &Journal, before: &At<'_>, edge: &str, f: &Figures) -> Rose {
        let marks = [
            (
                "allocated",
                f.max_allocated,
                f.allocated,
                &mut self.allocated,
            ),
            ("reserved", f.max_reserved, f.reserved, &mut self.reserved),
        ];
        let mut reset = false;
        let rose = marks.map(|(what, kept, figure, mark)| {
            reset |= kept.is_some() && mark.was_reset(kept);
            let rose = mark.read(kept.or(figure));
            if let Some(bytes) = rose {
                journal.peak(what, bytes, before, &self.last_edge, edge);
            }
            rose.is_some()
        });
        if self.last_edge != edge {
            self.last_edge.clear();
            self.last_edge.push_str(edge);
        }
        Rose {
            allocated: rose[0],
            reserved: rose[1],
            reset,
        }
    }
}

/// What a sample says besides its note where a mark was reset before it.
const RESET: &str = "high-water mark was reset";

/// A sample's note, with what there is to say of a reset mark.
#[must_use]
pub fn noted(note: &str, rose: Rose) -> String {
    match (rose.reset, note) {
        (false, note) => note.to_owned(),
        (true, "") => RESET.to_owned(),
        (true, note) => format!("{note}; {RESET}"),
    }
}
