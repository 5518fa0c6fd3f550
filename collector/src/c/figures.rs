//! `memscope_figures`.

use crate::figures::Figures;

/// `MEMSCOPE_UNKNOWN`.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// How many figures follow `size`.
const COUNT: usize = 11;

/// `memscope_figures`: `size`, then the figures in the order of [`Figures`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CFigures {
    size: usize,
    figures: [u64; COUNT],
}

impl CFigures {
    pub(super) fn unknown() -> Self {
        Self {
            size: size_of::<Self>(),
            figures: [UNKNOWN; COUNT],
        }
    }

    /// What is known.
    pub(super) fn known(&self) -> Figures {
        let [
            a,
            r,
            active,
            requested,
            max_a,
            max_r,
            used,
            total,
            process,
            retries,
            ooms,
        ] = self.figures.map(|f| (f != UNKNOWN).then_some(f));
        Figures {
            allocated: a,
            reserved: r,
            active,
            requested,
            max_allocated: max_a,
            max_reserved: max_r,
            device_used: used,
            device_total: total,
            process_used: process,
            retries,
            ooms,
        }
    }

    /// The figures of a program that may have been built with another version of the header; `None` for
    /// NULL.
    ///
    /// # Safety
    /// `from` is NULL or points to as many bytes as its `size` says.
    pub(super) unsafe fn read(from: *const Self) -> Option<Figures> {
        if from.is_null() {
            return None;
        }
        let mut figures = Self::unknown();
        // SAFETY: `size` is the first field of every version.
        let size = unsafe { (&raw const (*from).size).read() };
        let given = (size.saturating_sub(size_of::<usize>()) / size_of::<u64>()).min(COUNT);
        for (i, figure) in figures.figures.iter_mut().enumerate().take(given) {
            // SAFETY: i is below what `size` says is there, and below what this version has.
            *figure = unsafe { (&raw const (*from).figures).cast::<u64>().add(i).read() };
        }
        Some(figures.known())
    }
}
