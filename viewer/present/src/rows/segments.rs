//! [`SegmentRows`], [`PinRows`]: the allocator's state as tables.

use std::sync::Arc;

use report::analyze::snapshot::Instant;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::spans::Span;
use report::analyze::snapshot::state::{Pin, State, StateSpan, fragmentation_of};
use report::model::snapshot::{Size, TraceId};

use super::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::allocator::{allocation_name, span_name};
use crate::names::{Names, category_word};
use crate::words::{Lang, Word};

/// Every reserved range at an instant.
#[derive(Debug)]
pub struct SegmentRows {
    names: Arc<Names>,
    state: Arc<State>,
}

impl SegmentRows {
    /// Wraps a state.
    #[must_use]
    pub fn new(names: Arc<Names>, state: Arc<State>) -> Self {
        Self { names, state }
    }

    fn get(&self, row: usize) -> Option<(&StateSpan, &Span)> {
        let here = self.state.spans.get(row)?;
        Some((here, self.names.analysis().replay.spans.get(here.span)?))
    }
}

impl Rows for SegmentRows {
    fn name(&self) -> &'static str {
        "segments"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("name", Word::Name),
                figure("size", Word::Size),
                figure("allocated", Word::InUse),
                figure("pending", Word::PendingFree),
                figure("free", Word::Free),
                figure("largest_free", Word::LargestFree),
                figure("count", Word::Blocks),
                text("pool", Word::PoolColumn),
                text("stream", Word::StreamColumn),
                text("kind", Word::Type),
                text("born", Word::ReservedAt),
                text("address", Word::Address),
                text("what", Word::ReservedBy),
            ]
        }
    }

    fn len(&self) -> usize {
        self.state.spans.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some((here, span)) = self.get(row) else {
            return BLANK;
        };
        let f = || fragmentation_of(&self.names.analysis().replay, here);
        match column {
            0 => Cell::Text(span_name(self.names.analysis(), here.span).into()),
            1 => Cell::Bytes(Some(span.size)),
            2 => Cell::Bytes(Some(f().allocated)),
            3 => Cell::Bytes(Some(f().pending)),
            4 => Cell::Bytes(Some(f().free())),
            5 => Cell::Bytes(Some(f().largest_free)),
            6 => Cell::Count(Some(here.blocks.len() as i64)),
            7 => Cell::Text(self.names.pool(span.pool, lang).into()),
            8 => Cell::Text(self.names.stream(span.stream, lang).into()),
            9 => Cell::Text(kind(span, lang).into()),
            10 => Cell::Text(born(span.born, lang).into()),
            11 => Cell::Text(format!("0x{:x}", span.address).into()),
            12 => Cell::Text(self.names.site_since(span.stack, span.born, lang).into()),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: self.get(row).map(|(h, _)| Pick::Span(h.span.0)),
            ..Subject::default()
        }
    }
}

fn kind(span: &Span, lang: Lang) -> String {
    let size = match span.class {
        Size::Small => Word::SmallPool.text(lang),
        Size::Large => Word::LargePool.text(lang),
        Size::Unknown => "",
    };
    let expandable = if span.expandable {
        Word::Expandable.text(lang)
    } else {
        ""
    };
    let parts: Vec<_> = [size, expandable]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect();
    if parts.is_empty() {
        "–".to_owned()
    } else {
        parts.join(", ")
    }
}

/// The event that made something, by its name; what was there before the history has none.
fn born(at: Option<TraceId>, lang: Lang) -> String {
    at.map_or_else(
        || Word::FromBefore.text(lang).to_owned(),
        |t| Instant::Event(t).to_string(),
    )
}

/// The ranges that little keeps from going back to the device.
#[derive(Debug)]
pub struct PinRows {
    names: Arc<Names>,
    pins: Arc<Vec<Pin>>,
}

impl PinRows {
    /// Wraps the analysis.
    #[must_use]
    pub fn new(names: Arc<Names>, pins: Arc<Vec<Pin>>) -> Self {
        Self { names, pins }
    }

    /// The largest block of those that keep a range.
    fn largest(&self, pin: &Pin) -> Option<AllocationId> {
        let all = &self.names.analysis().replay.allocations;
        pin.by
            .iter()
            .copied()
            .max_by_key(|&id| (all.size(id), std::cmp::Reverse(id)))
    }
}

impl Rows for PinRows {
    fn name(&self) -> &'static str {
        "pins"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("held", Word::HeldFree),
                figure("live", Word::KeptBy),
                figure("count", Word::Blocks),
                text("segment", Word::Segment),
                text("block", Word::LargestBlock),
                figure("size", Word::Size),
                text("category", Word::CategoryColumn),
                text("born", Word::AllocatedAt),
                text("what", Word::AllocatedBy),
            ]
        }
    }

    fn len(&self) -> usize {
        self.pins.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(pin) = self.pins.get(row) else {
            return BLANK;
        };
        let all = &self.names.analysis().replay.allocations;
        let largest = self.largest(pin);
        let a = largest.and_then(|id| all.get(id));
        match column {
            0 => Cell::Bytes(Some(pin.held)),
            1 => Cell::Bytes(Some(pin.live)),
            2 => Cell::Count(Some(pin.by.len() as i64)),
            3 => Cell::Text(span_name(self.names.analysis(), pin.span).into()),
            4 => match largest {
                Some(id) => Cell::Text(allocation_name(self.names.analysis(), id).into()),
                None => BLANK,
            },
            5 => Cell::Bytes(a.map(|a| a.size)),
            6 => match largest {
                Some(id) => {
                    let (category, _) = self.names.analysis().categories().get(id);
                    Cell::Text(category_word(category).text(lang).into())
                }
                None => BLANK,
            },
            7 => Cell::Text(born(a.and_then(|a| a.born), lang).into()),
            8 => {
                let (stack, born) = (a.and_then(|a| a.stack), a.and_then(|a| a.born));
                Cell::Text(self.names.site_since(stack, born, lang).into())
            }
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let pin = self.pins.get(row);
        let largest = pin.and_then(|p| self.largest(p));
        Subject {
            pick: largest.map(|id| Pick::Allocation(id.0)),
            ..Subject::default()
        }
    }
}
