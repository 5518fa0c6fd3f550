//! [`AllocationRows`].

use std::sync::Arc;

use report::analyze::snapshot::Named;
use report::analyze::snapshot::allocations::AllocationId;
use report::model::snapshot::TraceId;

use super::{number, said};
use crate::names::{Names, category_word};
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// Allocations one by one, as they are after an event.
#[derive(Debug)]
pub struct AllocationRows {
    names: Arc<Names>,
    ids: Vec<AllocationId>,
    at: Option<TraceId>,
}

impl AllocationRows {
    /// The `most` largest of `ids`, largest first; ages count to event `at`.
    #[must_use]
    pub fn largest(
        names: Arc<Names>,
        mut ids: Vec<AllocationId>,
        most: usize,
        at: Option<TraceId>,
    ) -> Self {
        let allocations = &names.analysis().replay.allocations;
        ids.sort_by_key(|&id| std::cmp::Reverse(allocations.size(id)));
        ids.truncate(most);
        Self { names, ids, at }
    }
}

impl Rows for AllocationRows {
    fn name(&self) -> &'static str {
        "allocations"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("bytes", Word::Size),
                text("allocation", Word::Name),
                text("born", Word::Born),
                figure("age_events", Word::AgeEvents),
                figure("age_steps", Word::AgeSteps),
                text("category", Word::Category),
                text("stream", Word::Stream),
                text("pool", Word::Pool),
            ]
        }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let analysis = self.names.analysis();
        let id = self.ids.get(row).copied();
        let Some((id, a)) = id.and_then(|id| Some((id, analysis.replay.allocations.get(id)?)))
        else {
            return BLANK;
        };
        let count = |n: Option<u64>| n.map_or(Cell::Count(None), number);
        match column {
            0 => Cell::Bytes(Some(a.size)),
            1 => Cell::Text(analysis.name(Named::Allocation(id)).into()),
            2 => match a.born {
                Some(t) => Cell::Text(analysis.name(Named::Event(t)).into()),
                None => said(Word::BeforeHistory, lang),
            },
            3 => count(analysis.age(id, self.at)),
            4 => count(analysis.age_in_steps(id, self.at)),
            5 => said(category_word(analysis.categories().get(id).0), lang),
            6 => Cell::Text(self.names.stream(a.stream, lang).into()),
            7 => Cell::Text(self.names.pool(a.pool, lang).into()),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: self.ids.get(row).map(|id| Pick::Allocation(id.0)),
            ..Subject::default()
        }
    }
}
