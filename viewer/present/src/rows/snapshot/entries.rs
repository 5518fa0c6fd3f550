//! [`EntryTable`].

use std::sync::{Arc, OnceLock};

use report::analyze::snapshot::steps::step_of;
use report::model::snapshot::{FrameId, TraceId};

use super::known;
use crate::names::Names;
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::units::seconds;
use crate::verbs::EntryRows;
use crate::words::{Lang, Word};

/// Entries of the trace for reading: the cells of [`EntryRows`] with time since the first entry,
/// step and short names.
#[derive(Debug)]
pub struct EntryTable {
    names: Arc<Names>,
    whole: EntryRows<Arc<report::analyze::snapshot::Analysis>>,
    rows: Vec<TraceId>,
    first_ns: Option<u64>,
    /// Position of every frame's place in the alphabet, so that a million rows compare numbers.
    alphabet: OnceLock<Vec<u32>>,
}

/// Columns of [`EntryRows`] that are shown as they are: own column, theirs.
const SHARED: [(usize, usize); 7] = [(0, 0), (3, 2), (4, 4), (5, 5), (6, 9), (7, 11), (10, 3)];

impl EntryTable {
    /// The entries of `rows`.
    #[must_use]
    pub fn new(names: Arc<Names>, rows: Vec<TraceId>) -> Self {
        let a = names.analysis();
        let events = a.replay.events();
        Self {
            first_ns: a.snapshot().events.time_ns.get(events.start),
            whole: EntryRows::new(Arc::clone(a), rows.clone()),
            names,
            rows,
            alphabet: OnceLock::new(),
        }
    }

    fn since(&self, at: TraceId) -> Option<u64> {
        let now = self
            .names
            .analysis()
            .snapshot()
            .events
            .time_ns
            .get(at.index())?;
        now.checked_sub(self.first_ns?)
    }

    fn site(&self, at: TraceId) -> Option<FrameId> {
        let a = self.names.analysis();
        let stack = a.snapshot().events.stack(at.index())?;
        a.sites().place(stack)
    }

    fn position(&self, frame: FrameId) -> u64 {
        let all = self.alphabet.get_or_init(|| {
            let frames = &self.names.analysis().snapshot().frames;
            let mut ids: Vec<(String, u32)> = frames
                .iter()
                .map(|(id, _)| (self.names.place(id), id.0))
                .collect();
            ids.sort_unstable();
            let mut position = vec![0; ids.len()];
            for (p, (_, id)) in ids.iter().enumerate() {
                if let Some(slot) = position.get_mut(*id as usize) {
                    *slot = p as u32 + 1;
                }
            }
            position
        });
        all.get(frame.0 as usize).copied().unwrap_or(0).into()
    }
}

impl Rows for EntryTable {
    fn name(&self) -> &'static str {
        "entries"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("entry", Word::Entry),
                figure("time", Word::Time),
                figure("step", Word::Step),
                text("action", Word::Action),
                figure("size", Word::Size),
                text("allocation", Word::Allocation),
                figure("requested", Word::Requested),
                figure("reserved", Word::Reserved),
                text("place", Word::Place),
                text("function", Word::FunctionName),
                text("address", Word::Address),
                text("stream", Word::Stream),
            ]
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(&at) = self.rows.get(row) else {
            return BLANK;
        };
        if let Some((_, theirs)) = SHARED.iter().find(|(own, _)| *own == column) {
            return self.whole.cell(row, *theirs, lang);
        }
        let a = self.names.analysis();
        match column {
            1 => known(self.since(at).map(|ns| seconds(ns).into())),
            2 => Cell::Count(step_of(a.steps(), at).map(|s| s.number)),
            8 => match self.site(at) {
                Some(frame) => Cell::Text(self.names.place(frame).into()),
                None => Cell::Text(
                    crate::names::missing_word(a.missing_since(Some(at)))
                        .text(lang)
                        .into(),
                ),
            },
            9 => known(self.site(at).map(|f| self.names.function(f))),
            11 => {
                let stream = a.snapshot().events.row(at.index()).stream;
                Cell::Text(self.names.stream(stream, lang).into())
            }
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: self.rows.get(row).map(|t| Pick::Entry(t.0)),
            ..Subject::default()
        }
    }

    fn rank(&self, row: usize, column: usize) -> Option<u64> {
        let at = *self.rows.get(row)?;
        let a = self.names.analysis();
        let after = |curve: &report::analyze::snapshot::replay::Curve| {
            let index = (at.0 - a.replay.first) as usize;
            curve.after.get(index).copied().unwrap_or(0)
        };
        let event = a.snapshot().events.row(at.index());
        Some(match column {
            0 => at.0.into(),
            1 => self.since(at).map_or(0, |ns| ns.saturating_add(1)),
            2 => step_of(a.steps(), at).map_or(0, |s| s.number as u64 ^ (1 << 63)),
            3 => event.action as u64,
            4 => event.size,
            5 => a
                .entries()
                .allocation(at)
                .map_or(0, |id| u64::from(id.0) + 1),
            6 => after(&a.replay.requested),
            7 => after(&a.replay.reserved),
            8 | 9 => self.site(at).map_or(0, |f| self.position(f)),
            10 => event.address,
            _ => event.stream.0.into(),
        })
    }
}
