//! [`EventRows`].

use std::sync::Arc;

use report::analyze::pairing::{Pairing, Partner};
use report::analyze::top::listed;
use report::model::{Rank, StringId};

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// Single events, all or some.
#[derive(Debug)]
pub struct EventRows {
    rank: Arc<Rank>,
    pairing: Arc<Pairing>,
    /// Alphabetical position of every string, so that sorting a million rows compares numbers.
    alphabet: Arc<Vec<u32>>,
    /// The events shown.
    pub events: Vec<u32>,
}

impl EventRows {
    /// The alphabetical position of every string of a rank, to be shared by its tables.
    #[must_use]
    pub fn alphabet(rank: &Rank) -> Arc<Vec<u32>> {
        let mut ids: Vec<u32> = (0..rank.strings.len() as u32).collect();
        ids.sort_by_key(|&i| rank.strings.get(StringId(i)));
        let mut position = vec![0; ids.len()];
        for (p, &id) in ids.iter().enumerate() {
            if let Some(slot) = position.get_mut(id as usize) {
                *slot = p as u32;
            }
        }
        Arc::new(position)
    }

    /// The events that `keep` accepts, in order.
    #[must_use]
    pub fn new(
        rank: Arc<Rank>,
        pairing: Arc<Pairing>,
        alphabet: Arc<Vec<u32>>,
        keep: impl Fn(usize) -> bool,
    ) -> Self {
        let events = (0..listed(&rank).len())
            .filter(|&i| keep(i))
            .map(|i| i as u32)
            .collect();
        Self {
            rank,
            pairing,
            alphabet,
            events,
        }
    }
}

impl Rows for EventRows {
    fn name(&self) -> &'static str {
        "events"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("event", Word::Event),
                figure("step", Word::Step),
                text("phase", Word::Phase),
                text("module", Word::Module),
                text("event_type", Word::Type),
                figure("allocated_before", Word::AllocatedBefore),
                figure("allocated_after", Word::AllocatedAfter),
                figure("delta_allocated", Word::DeltaAllocated),
                figure("reserved_after", Word::ReservedAfter),
                figure("delta_reserved", Word::DeltaReserved),
                figure("max_allocated", Word::MaxAllocated),
                figure("max_reserved", Word::MaxReserved),
                text("partner", Word::Partner),
                text("notes", Word::Notes),
            ]
        }
    }

    fn len(&self) -> usize {
        self.events.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(i) = self.events.get(row).map(|&i| i as usize) else {
            return BLANK;
        };
        let r = listed(&self.rank).row(i);
        let string = |id| Cell::Text(self.rank.strings.get(id).into());
        match column {
            0 => Cell::Count(Some(i as i64)),
            1 => Cell::Count(r.step),
            2 => string(r.phase),
            3 => string(r.module),
            4 => string(r.kind),
            5 => Cell::Bytes(r.allocated_before),
            6 => Cell::Bytes(r.allocated_after),
            7 => Cell::Delta(r.delta_allocated),
            8 => Cell::Bytes(r.reserved_after),
            9 => Cell::Delta(r.delta_reserved),
            10 => Cell::Bytes(r.max_allocated),
            11 => Cell::Bytes(r.max_reserved),
            12 => Cell::Text(match self.pairing.partner(i) {
                Partner::Unpaired => "".into(),
                Partner::Event(other) => other.to_string().into(),
                Partner::Missing => Word::MissingPartner.text(lang).into(),
            }),
            13 => string(r.notes),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let Some(i) = self.events.get(row).map(|&i| i as usize) else {
            return Subject::default();
        };
        let r = listed(&self.rank).row(i);
        Subject {
            event: Some(i),
            single: true,
            module: Some(r.module),
            phase: Some(r.phase),
            step: r.step,
            node: None,
            pick: None,
        }
    }

    fn rank(&self, row: usize, column: usize) -> Option<u64> {
        let i = *self.events.get(row)? as usize;
        let r = listed(&self.rank).row(i);
        let string = |id: StringId| self.alphabet.get(id.0 as usize).map_or(0, |&p| p.into());
        // Unknown figures sort below every known one.
        let bytes = |v: Option<u64>| v.map_or(0, |b| b.saturating_add(1));
        let delta = |v: Option<i64>| v.map_or(0, |d| d as u64 ^ (1 << 63));
        Some(match column {
            0 => i as u64,
            1 => delta(r.step),
            2 => string(r.phase),
            3 => string(r.module),
            4 => string(r.kind),
            5 => bytes(r.allocated_before),
            6 => bytes(r.allocated_after),
            7 => delta(r.delta_allocated),
            8 => bytes(r.reserved_after),
            9 => delta(r.delta_reserved),
            10 => bytes(r.max_allocated),
            11 => bytes(r.max_reserved),
            12 => match self.pairing.partner(i) {
                Partner::Unpaired => 0,
                Partner::Missing => 1,
                Partner::Event(other) => other as u64 + 2,
            },
            _ => string(r.notes),
        })
    }
}
