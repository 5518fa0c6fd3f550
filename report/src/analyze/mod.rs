//! Answers: one question a file. Pure functions from tables to figures.
//!
//! Sums saturate at the range of their type instead of wrapping; on the way they are wide.

pub mod diff;
#[cfg(feature = "snapshot")]
pub mod driver;
pub mod growth;
pub mod holders;
pub mod levels;
pub mod modules;
pub mod pairing;
pub mod path;
pub mod peak;
pub mod phases;
#[cfg(feature = "snapshot")]
pub mod recording;
pub mod search;
pub mod series;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod stacked;
pub mod steps;
pub mod summary;
pub mod tensors;
pub mod top;

use crate::model::{Rank, StringId};

/// Events of the training loop itself (`step_start`, `optimizer_step_end`, ...) have this kind.
pub const STEP_KIND: &str = "step";

/// The id of [`STEP_KIND`] in a rank, if it occurs.
#[must_use]
pub fn step_kind(rank: &Rank) -> Option<StringId> {
    rank.strings.find(STEP_KIND)
}

/// Narrows a wide sum, saturating.
pub(crate) fn narrow(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN + 1 } else { i64::MAX })
}

/// `after - before` for two byte counts.
#[must_use]
pub fn difference(after: u64, before: u64) -> i64 {
    narrow(i128::from(after) - i128::from(before))
}
