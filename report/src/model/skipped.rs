//! What a reader could not use. Nothing is dropped in silence.

use serde::{Deserialize, Serialize};

/// One kind of thing that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// What it was and why, as a short phrase.
    pub what: String,
    /// How often.
    pub count: u64,
    /// Byte offset of the first one in the source.
    pub first_offset: u64,
}

/// All that was not used, by kind, in order of first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped(Vec<Skip>);

impl Skipped {
    /// Kinds beyond this many are counted together, so that a hostile file cannot fill memory.
    pub const MAX_KINDS: usize = 200;
    const OTHER: &str = "other kinds of skipped content";

    /// Counts one more `what`, seen at `offset`.
    pub fn count(&mut self, what: &str, offset: u64) {
        self.count_many(what, 1, offset);
    }

    /// Counts `count` more `what`, the first of them at `offset`. Nothing happens for 0.
    pub fn count_many(&mut self, what: &str, count: u64, offset: u64) {
        if count == 0 {
            return;
        }
        if let Some(skip) = self.0.iter_mut().find(|s| s.what == what) {
            skip.count = skip.count.saturating_add(count);
        } else if self.0.len() < Self::MAX_KINDS {
            self.0.push(Skip {
                what: what.to_owned(),
                count,
                first_offset: offset,
            });
        } else if let Some(last) = self.0.last_mut() {
            if last.what != Self::OTHER {
                last.what = Self::OTHER.to_owned();
            }
            last.count = last.count.saturating_add(count);
        }
    }

    /// Adds what another reader could not use.
    pub fn extend(&mut self, other: &Self) {
        for skip in other.iter() {
            self.count_many(&skip.what, skip.count, skip.first_offset);
        }
    }

    /// Every kind.
    pub fn iter(&self) -> impl Iterator<Item = &Skip> + '_ {
        self.0.iter()
    }

    /// Total over all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|s| s.count).fold(0, u64::saturating_add)
    }

    /// Whether everything was used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
