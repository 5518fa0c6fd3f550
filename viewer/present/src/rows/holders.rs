//! [`HolderRows`].

use std::sync::Arc;

use report::analyze::holders::Holders;
use report::model::Rank;

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::sentences;
use crate::words::{Lang, Word};

/// The parts of the peak, largest first; they sum to the peak.
#[derive(Debug)]
pub struct HolderRows {
    rank: Arc<Rank>,
    /// The figures.
    pub holders: Holders,
}

impl HolderRows {
    /// Wraps the analysis.
    #[must_use]
    pub fn new(rank: Arc<Rank>, holders: Holders) -> Self {
        Self { rank, holders }
    }
}

impl Rows for HolderRows {
    fn name(&self) -> &'static str {
        "peak_parts"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("bytes", Word::Size),
                figure("share", Word::Share),
                text("part", Word::Part),
            ]
        }
    }

    fn len(&self) -> usize {
        self.holders.parts.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(part) = self.holders.parts.get(row) else {
            return BLANK;
        };
        match column {
            0 if part.bytes >= 0 => Cell::Bytes(Some(part.bytes.unsigned_abs())),
            0 => Cell::Delta(Some(part.bytes)),
            1 => Cell::Share(Some(part.bytes as f64 / self.holders.peak.max(1) as f64)),
            2 => Cell::Text(sentences::holder(&self.rank, part, lang).into()),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let event = self.holders.parts.get(row).and_then(|p| p.event);
        Subject {
            event,
            ..Subject::default()
        }
    }
}
