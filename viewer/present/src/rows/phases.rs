//! [`PhaseRows`].

use std::sync::Arc;

use report::analyze::phases::{Phase, phases};
use report::model::Rank;

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// One row a phase, in order of first occurrence.
#[derive(Debug)]
pub struct PhaseRows {
    rank: Arc<Rank>,
    /// The figures.
    pub phases: Vec<Phase>,
}

impl PhaseRows {
    /// Asks the analysis.
    #[must_use]
    pub fn new(rank: Arc<Rank>) -> Self {
        Self {
            phases: phases(&rank),
            rank,
        }
    }

    /// The phase's name.
    #[must_use]
    pub fn name_of(&self, row: usize) -> &str {
        self.phases
            .get(row)
            .map_or("", |p| self.rank.strings.get(p.phase))
    }
}

impl Rows for PhaseRows {
    fn name(&self) -> &'static str {
        "phases"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("phase", Word::Phase),
                figure("count", Word::Count),
                figure("max_allocated", Word::MaxAllocatedAfter),
                figure("max_delta", Word::MaxDelta),
                figure("sum_delta", Word::SumDelta),
            ]
        }
    }

    fn len(&self) -> usize {
        self.phases.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(p) = self.phases.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(self.rank.strings.get(p.phase).into()),
            1 => Cell::Count(Some(p.count as i64)),
            2 => Cell::Bytes(p.max_allocated),
            3 => Cell::Delta(p.max_delta),
            4 => Cell::Delta(p.sum_delta),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        self.phases
            .get(row)
            .map_or_else(Subject::default, |p| Subject {
                event: p.event,
                phase: Some(p.phase),
                ..Subject::default()
            })
    }
}
