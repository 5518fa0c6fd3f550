//! [`SurvivorRows`], [`PendingRows`], [`BriefRows`].

use std::sync::Arc;

use report::analyze::snapshot::Named;
use report::analyze::snapshot::lifetimes::{Brief, Pending, Survivors};
use report::model::snapshot::StackId;

use super::{known, number, said};
use crate::names::Names;
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

fn of_stack(stack: Option<StackId>) -> Subject {
    Subject {
        pick: stack.map(|s| Pick::Stack(s.0)),
        ..Subject::default()
    }
}

fn yes(yes: bool, lang: Lang) -> Cell<'static> {
    said(if yes { Word::Yes } else { Word::No }, lang)
}

/// What stays from step to step, by stack.
#[derive(Debug)]
pub struct SurvivorRows {
    names: Arc<Names>,
    list: Vec<Survivors>,
}

impl SurvivorRows {
    /// Wraps the analysis.
    #[must_use]
    pub fn new(names: Arc<Names>, list: Vec<Survivors>) -> Self {
        Self { names, list }
    }
}

impl Rows for SurvivorRows {
    fn name(&self) -> &'static str {
        "survivors"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("bytes_per_step", Word::PerStep),
                figure("bytes", Word::AllBytes),
                figure("count", Word::HowMany),
                figure("steps", Word::InSteps),
                figure("of_steps", Word::OfSteps),
                figure("since", Word::Since),
                text("suspect", Word::AliveAtEnd),
                text("place", Word::Place),
                text("innermost", Word::Innermost),
            ]
        }
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(s) = self.list.get(row) else {
            return BLANK;
        };
        match column {
            // What came in one step only does not grow by the step.
            0 => Cell::Bytes((s.steps > 1).then_some(s.bytes_per_step)),
            1 => Cell::Bytes(Some(s.bytes)),
            2 => number(s.count),
            3 => number(s.steps),
            4 => number(s.of_steps),
            5 => Cell::Count(s.since),
            6 => yes(s.suspect, lang),
            7 => Cell::Text(self.names.site(s.stack, lang).into()),
            8 => known(self.names.innermost(s.stack).map(Into::into)),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        of_stack(self.list.get(row).and_then(|s| s.stack))
    }
}

/// Blocks that were freed but waited for another stream.
#[derive(Debug)]
pub struct PendingRows {
    names: Arc<Names>,
    list: Vec<Pending>,
}

impl PendingRows {
    /// Wraps the analysis.
    #[must_use]
    pub fn new(names: Arc<Names>, list: Vec<Pending>) -> Self {
        Self { names, list }
    }
}

impl Rows for PendingRows {
    fn name(&self) -> &'static str {
        "pending"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("events", Word::WaitedEvents),
                figure("bytes", Word::Size),
                text("open", Word::StillWaits),
                text("allocation", Word::Name),
                text("stream", Word::Stream),
                text("place", Word::Place),
                text("innermost", Word::Innermost),
            ]
        }
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let analysis = self.names.analysis();
        let Some(p) = self.list.get(row) else {
            return BLANK;
        };
        let Some(a) = analysis.replay.allocations.get(p.allocation) else {
            return BLANK;
        };
        match column {
            0 => number(p.events),
            1 => Cell::Bytes(Some(p.bytes)),
            2 => yes(p.open, lang),
            3 => Cell::Text(analysis.name(Named::Allocation(p.allocation)).into()),
            4 => Cell::Text(self.names.stream(a.stream, lang).into()),
            5 => Cell::Text(self.names.site_since(a.stack, a.born, lang).into()),
            6 => known(self.names.innermost(a.stack).map(Into::into)),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: self.list.get(row).map(|p| Pick::Allocation(p.allocation.0)),
            ..Subject::default()
        }
    }
}

/// Large allocations that live for a moment, by stack.
#[derive(Debug)]
pub struct BriefRows {
    names: Arc<Names>,
    list: Vec<Brief>,
}

impl BriefRows {
    /// Wraps the analysis.
    #[must_use]
    pub fn new(names: Arc<Names>, list: Vec<Brief>) -> Self {
        Self { names, list }
    }
}

impl Rows for BriefRows {
    fn name(&self) -> &'static str {
        "brief"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("largest", Word::Largest),
                figure("count", Word::HowMany),
                figure("bytes", Word::AllBytes),
                text("place", Word::Place),
                text("innermost", Word::Innermost),
            ]
        }
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(b) = self.list.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Bytes(Some(b.largest)),
            1 => number(b.count),
            2 => Cell::Bytes(Some(b.bytes)),
            3 => Cell::Text(self.names.site(b.stack, lang).into()),
            4 => known(self.names.innermost(b.stack).map(Into::into)),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        of_stack(self.list.get(row).and_then(|b| b.stack))
    }
}
