//! `external_annotations`: ranges that `record_function` and the optimizer hooks left.

use super::Device;
use crate::model::StringId;

/// Which end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stage {
    /// `START`.
    #[default]
    Start,
    /// `END`.
    End,
}

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotation {
    /// Start or end.
    pub stage: Stage,
    /// Its name.
    pub name: StringId,
    /// The device that was current.
    pub device: Device,
    /// Nanoseconds since the Unix epoch; `None` when the source does not say.
    pub time_ns: Option<u64>,
}

/// All annotations in the order of the source. Starts and ends may nest, cross and lack a partner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// One an entry.
    pub rows: Vec<Annotation>,
}

impl Annotations {
    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
