//! [`StepRows`].

use report::analyze::steps::{Step, steps};
use report::model::Rank;

use super::{BLANK, Cell, Column, Rows, Subject, figure};
use crate::words::{Lang, Word};

/// One row a training step.
#[derive(Debug)]
pub struct StepRows {
    /// The figures.
    pub steps: Vec<Step>,
}

impl StepRows {
    /// Asks the analysis.
    #[must_use]
    pub fn new(rank: &Rank) -> Self {
        Self { steps: steps(rank) }
    }
}

impl Rows for StepRows {
    fn name(&self) -> &'static str {
        "steps"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("step", Word::Step),
                figure("count", Word::Count),
                figure("allocated_start", Word::StepStart),
                figure("sampled_peak", Word::StepPeak),
                figure("max_allocated", Word::MaxAllocated),
                figure("allocated_end", Word::StepEnd),
                figure("reserved_peak", Word::MaxReserved),
            ]
        }
    }

    fn len(&self) -> usize {
        self.steps.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(s) = self.steps.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Count(s.step),
            1 => Cell::Count(Some((s.end - s.start) as i64)),
            2 => Cell::Bytes(s.allocated_start),
            3 => Cell::Bytes(s.sampled_peak),
            4 => Cell::Bytes(s.high_water),
            5 => Cell::Bytes(s.allocated_end),
            6 => Cell::Bytes(s.reserved_peak),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        self.steps
            .get(row)
            .map_or_else(Subject::default, |s| Subject {
                event: Some(s.start),
                step: s.step,
                ..Subject::default()
            })
    }
}
