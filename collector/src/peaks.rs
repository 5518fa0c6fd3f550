//! Where the high-water marks rose.

use crate::figures::Figures;
use crate::journal::Journal;
use crate::records::At;

/// A rise is told when it is larger than this, or larger than a thousandth of the mark. The mark
/// itself stands in every sample, to the byte.
const THRESHOLD: u64 = 1 << 20;

/// Watches the high-water marks from one boundary to the next.
#[derive(Debug, Default)]
pub struct Peaks {
    allocated: u64,
    reserved: u64,
    last_edge: String,
}

/// Which marks rose at a boundary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rose {
    /// The mark of allocated memory.
    pub allocated: bool,
    /// The mark of reserved memory.
    pub reserved: bool,
}

impl Peaks {
    /// Looks at the figures of a boundary (`edge`), and writes a record for each mark that rose since
    /// the boundary before. Where the allocator keeps no mark, the figure itself counts.
    pub fn look(&mut self, journal: &Journal, at: &At<'_>, edge: &str, f: &Figures) -> Rose {
        let marks = [
            (
                "allocated",
                f.max_allocated.max(f.allocated),
                &mut self.allocated,
            ),
            (
                "reserved",
                f.max_reserved.max(f.reserved),
                &mut self.reserved,
            ),
        ];
        let rose = marks.map(|(what, now, mark)| {
            let Some(now) = now else { return false };
            let rose = now > mark.saturating_add(THRESHOLD.max(*mark / 1000));
            if rose {
                *mark = now;
                journal.peak(what, now, at, &self.last_edge, edge);
            }
            rose
        });
        if self.last_edge != edge {
            self.last_edge.clear();
            self.last_edge.push_str(edge);
        }
        Rose {
            allocated: rose[0],
            reserved: rose[1],
        }
    }
}
