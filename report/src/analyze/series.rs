//! A profiler's memory timeline: how high memory stood, and what it was for then.

use crate::model::{Series, SeriesCategory};

/// A moment of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Row of the series.
    pub row: usize,
    /// Nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// Live bytes over all categories.
    pub total: u64,
    /// Live bytes by [`SeriesCategory`].
    pub bytes: [u64; 8],
}

impl Moment {
    /// Live bytes of a category.
    #[must_use]
    pub fn of(&self, category: SeriesCategory) -> u64 {
        self.bytes.get(category as usize).copied().unwrap_or(0)
    }
}

/// Live bytes over all categories after a moment; 0 when there is no such row.
#[must_use]
pub fn total(series: &Series, row: usize) -> u64 {
    series.row(row).into_iter().fold(0, u64::saturating_add)
}

/// One moment; `None` when there is no such row.
#[must_use]
pub fn moment(series: &Series, row: usize) -> Option<Moment> {
    Some(Moment {
        row,
        time_ns: *series.time_ns.get(row)?,
        total: total(series, row),
        bytes: series.row(row),
    })
}

/// The moment at which most was live, the first of equals; `None` for an empty series.
#[must_use]
pub fn peak(series: &Series) -> Option<Moment> {
    let row = (0..series.len()).rev().max_by_key(|&i| total(series, i))?;
    moment(series, row)
}

/// What was live at a time: after the last moment that is not later. `None` before the first.
#[must_use]
pub fn at(series: &Series, time_ns: u64) -> Option<Moment> {
    let past = series.time_ns.partition_point(|&t| t <= time_ns);
    moment(series, past.checked_sub(1)?)
}
