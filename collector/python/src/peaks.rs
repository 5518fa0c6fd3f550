//! Where a high-water mark rose: between which two readings.
//!
//! The allocator's mark is only read, never reset: programs and other tools read the same one. That
//! it rose between two readings says where the peak was, to the distance of the readings.

/// A mark that rose by less than this since the last record is not recorded again, bytes.
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
    pub fn was_reset(&self, now: Option<u64>) -> bool {
        matches!((self.last, now), (Some(last), Some(now)) if now < last)
    }
}
