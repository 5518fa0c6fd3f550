//! [`AllocationRows`]: every allocation with what is known of it.

use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::categories::Certainty;
use report::analyze::snapshot::{Analysis, Named};

use super::{between, file_line, function, pool, stream, whole_stack};
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// Allocations as a table: for CSV, JSON and Parquet.
#[derive(Debug)]
pub struct AllocationRows<'a> {
    a: &'a Analysis,
    ids: Vec<AllocationId>,
}

impl<'a> AllocationRows<'a> {
    /// The allocations of `ids`.
    #[must_use]
    pub fn new(a: &'a Analysis, ids: Vec<AllocationId>) -> Self {
        Self { a, ids }
    }

    /// Every allocation of the device.
    #[must_use]
    pub fn all(a: &'a Analysis) -> Self {
        let ids = a.replay.allocations.ids().collect();
        Self { a, ids }
    }
}

/// The word that scripts see for how sure a category is.
#[must_use]
pub(super) fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Recorded => "recorded",
        Certainty::Stated => "stated",
        Certainty::Likely => "likely",
        Certainty::Possible => "possible",
        Certainty::None => "unknown",
    }
}

impl Rows for AllocationRows<'_> {
    fn name(&self) -> &'static str {
        "allocations"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("name", Word::Name),
                text("address", Word::AddressHead),
                figure("size", Word::Size),
                figure("block_size", Word::BlockHead),
                text("block_size_known", Word::CertaintyHead),
                text("born", Word::BornHead),
                text("free_requested", Word::FreedAtHead),
                text("free_completed", Word::FreedAtHead),
                figure("born_ns", Word::TimeHead),
                figure("free_completed_ns", Word::TimeHead),
                figure("lifetime_entries", Word::EntriesHead),
                figure("lifetime_ns", Word::LifetimeHead),
                text("stream", Word::StreamHead),
                text("pool", Word::PoolHead),
                text("segment", Word::SegmentHead),
                text("category", Word::CategoryHead),
                text("certainty", Word::CertaintyHead),
                text("stack", Word::StackHead),
                text("line", Word::LineHead),
                text("function", Word::FunctionHead),
                text("frames", Word::FramesHead),
            ]
        }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let a = self.a;
        let Some(&id) = self.ids.get(row) else {
            return BLANK;
        };
        let Some(r) = a.replay.allocations.get(id) else {
            return BLANK;
        };
        let words = |t: Option<String>| Cell::Text(t.unwrap_or_default().into());
        let named = |n: Option<Named>| words(n.map(|n| a.name(n)));
        let number = |n: Option<u64>| Cell::Count(n.and_then(|n| i64::try_from(n).ok()));
        let time = |t: Option<report::model::snapshot::TraceId>| {
            number(t.and_then(|t| a.snapshot().events.time_ns.get(t.index())))
        };
        let life = r.born.zip(r.free_completed);
        let site = r.stack.and_then(|s| a.sites().place(s));
        match column {
            0 => named(Some(Named::Allocation(id))),
            1 => words(Some(format!("{:#x}", r.address))),
            2 => Cell::Bytes(Some(r.size)),
            3 => Cell::Bytes(Some(r.rounded)),
            4 => Cell::Text(if r.rounded_known { "true" } else { "false" }.into()),
            5 => named(r.born.map(Named::Event)),
            6 => named(r.free_requested.map(Named::Event)),
            7 => named(r.free_completed.map(Named::Event)),
            8 => time(r.born),
            9 => time(r.free_completed),
            10 => number(life.map(|(b, f)| u64::from(f.0.saturating_sub(b.0)))),
            11 => number(life.and_then(|(b, f)| between(a, b, f))),
            12 => words(Some(stream(a, r.stream))),
            13 => words(pool(a, r.pool)),
            14 => named(r.span.map(Named::Span)),
            15 => Cell::Text(a.categories().get(id).0.word().into()),
            16 => Cell::Text(certainty(a.categories().get(id).1).into()),
            17 => named(r.stack.map(Named::Stack)),
            18 => words(site.map(|f| file_line(a, f, true))),
            19 => words(site.map(|f| function(a, f))),
            20 => words(r.stack.map(|s| whole_stack(a, s).join(";"))),
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
