//! [`TopRows`].

use std::sync::Arc;

use report::analyze::top::{Group, Places, groups, listed};
use report::model::Rank;

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// One row a place (module, type, phase) with the steps in which it occurs.
#[derive(Debug)]
pub struct TopRows {
    rank: Arc<Rank>,
    /// The figures, highest allocated first.
    pub groups: Vec<Group>,
}

impl TopRows {
    /// The places of the events that `keep` accepts. `places` are those of [`listed`].
    #[must_use]
    pub fn new(rank: Arc<Rank>, places: &Places, keep: impl Fn(usize) -> bool) -> Self {
        let groups = places.groups(listed(&rank), keep);
        Self { rank, groups }
    }

    /// The first `most` places of all events.
    #[must_use]
    pub fn first(rank: Arc<Rank>, most: usize) -> Self {
        let mut groups = groups(listed(&rank), |_| true);
        groups.truncate(most);
        Self { rank, groups }
    }

    fn steps(group: &Group) -> String {
        match (group.first_step, group.last_step) {
            (Some(a), Some(b)) if a == b => a.to_string(),
            (Some(a), Some(b)) => format!("{a}–{b}"),
            _ => "–".to_owned(),
        }
    }
}

impl Rows for TopRows {
    fn name(&self) -> &'static str {
        "top_events"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("allocated_after", Word::AllocatedAfter),
                text("module", Word::Module),
                text("phase", Word::Phase),
                text("event_type", Word::Type),
                figure("count", Word::Count),
                text("steps", Word::StepsColumn),
                figure("step", Word::Step),
                figure("max_delta", Word::MaxDelta),
            ]
        }
    }

    fn len(&self) -> usize {
        self.groups.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(g) = self.groups.get(row) else {
            return BLANK;
        };
        let events = listed(&self.rank);
        let string = |id| Cell::Text(self.rank.strings.get(id).into());
        match column {
            0 => Cell::Bytes(g.max_allocated),
            1 => string(g.place.module),
            2 => string(g.place.phase),
            3 => string(g.place.kind),
            4 => Cell::Count(Some(g.count as i64)),
            5 => Cell::Text(Self::steps(g).into()),
            6 => Cell::Count(events.step.get(g.event)),
            7 => Cell::Delta(g.max_delta),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        self.groups
            .get(row)
            .map_or_else(Subject::default, |g| Subject {
                event: Some(g.event),
                module: Some(g.place.module),
                phase: Some(g.place.phase),
                ..Subject::default()
            })
    }
}
