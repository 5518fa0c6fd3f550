//! Reserved ranges over time: segments of `cudaMalloc`, mapped ranges of expandable segments.

use std::collections::BTreeMap;

use super::allocations::SpanId;
use super::rounding::SMALL_BUFFER;
use crate::model::snapshot::{
    Action, Device, PoolIndex, Size, Snapshot, StackId, StreamIndex, TraceId, TraceRow,
};

/// A range of addresses that was reserved for some time. A mapped range that grows or shrinks is
/// another span from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The event that made it; `None` when it was there before the history began.
    pub born: Option<TraceId>,
    /// The event that ended it; `None` when it is there at the end.
    pub died: Option<TraceId>,
    /// Stream.
    pub stream: StreamIndex,
    /// Pool; `None` when the source does not say.
    pub pool: Option<PoolIndex>,
    /// Whether it belongs to an expandable segment.
    pub expandable: bool,
    /// Which requests it serves.
    pub class: Size,
    /// Where it was reserved; `None` when not recorded.
    pub stack: Option<StackId>,
}

impl Span {
    /// The address behind the last.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }

    /// Whether it is reserved after event `at`.
    #[must_use]
    pub fn lives_after(&self, at: TraceId) -> bool {
        self.born.is_none_or(|b| b <= at) && self.died.is_none_or(|d| d > at)
    }
}

/// Every span of a device in order of birth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// The rows.
    pub rows: Vec<Span>,
}

impl Spans {
    /// One span.
    #[must_use]
    pub fn get(&self, id: SpanId) -> Option<&Span> {
        self.rows.get(id.0 as usize)
    }

    /// The spans that are reserved after event `at`, by address.
    #[must_use]
    pub fn after(&self, at: TraceId) -> Vec<SpanId> {
        self.those(|s| s.lives_after(at))
    }

    /// The spans from before the first event, by address.
    #[must_use]
    pub fn before(&self) -> Vec<SpanId> {
        self.those(|s| s.born.is_none())
    }

    fn those(&self, is: impl Fn(&Span) -> bool) -> Vec<SpanId> {
        let mut live: Vec<SpanId> = (0..self.rows.len() as u32)
            .map(SpanId)
            .filter(|&id| self.get(id).is_some_and(&is))
            .collect();
        live.sort_unstable_by_key(|&id| self.get(id).map(|s| s.address));
        live
    }
}

/// Final segments of a device as spans without a birth.
pub(super) fn last(snapshot: &Snapshot, device: Device) -> BTreeMap<u64, Span> {
    let rows = snapshot.segments.iter().filter(|s| s.device == device);
    rows.filter(|s| s.total_size > 0)
        .map(|s| {
            let span = Span {
                address: s.address,
                size: s.total_size,
                born: None,
                died: None,
                stream: s.stream,
                pool: s.pool,
                expandable: s.expandable.unwrap_or(false),
                class: s.size,
                stack: s.stack,
            };
            (s.address, span)
        })
        .collect()
}

/// What a segment event reserves, as a span.
pub(super) fn of_event(row: &TraceRow) -> Span {
    let expandable = matches!(row.action, Action::SegmentMap | Action::SegmentUnmap);
    Span {
        address: row.address,
        size: row.size,
        born: None,
        died: None,
        stream: row.stream,
        pool: row.pool,
        expandable,
        // Segments of the large pool have at least 20 MiB, or what a request of 10 MiB rounds to.
        class: if expandable {
            Size::Unknown
        } else if row.size == SMALL_BUFFER {
            Size::Small
        } else {
            Size::Large
        },
        stack: row.stack.filter(|&s| s != StackId::EMPTY),
    }
}

/// The span that holds `address`.
pub(super) fn holding(live: &BTreeMap<u64, Span>, address: u64) -> Option<&Span> {
    let (_, span) = live.range(..=address).next_back()?;
    (address < span.end()).then_some(span)
}

/// Where a range ends; `None` beyond the last address. A range may hold that: its end counts as
/// one less, as everywhere.
fn end(address: u64, size: u64) -> Option<u64> {
    address.checked_add(size.saturating_sub(1))?;
    Some(address.saturating_add(size))
}

/// Takes a range out of `live`, splitting the span that holds it. Whether there was one.
pub(super) fn cut(live: &mut BTreeMap<u64, Span>, address: u64, size: u64) -> Option<Span> {
    let whole = *holding(live, address)?;
    let end = end(address, size)?;
    if end > whole.end() {
        return None;
    }
    live.remove(&whole.address);
    if whole.address < address {
        let left = Span {
            size: address - whole.address,
            ..whole
        };
        live.insert(left.address, left);
    }
    if end < whole.end() {
        let right = Span {
            address: end,
            size: whole.end() - end,
            ..whole
        };
        live.insert(end, right);
    }
    Some(whole)
}

/// Puts a range into `live`; an expandable one merges with neighbours of its stream. `None` when
/// it would lie over another.
pub(super) fn join(live: &mut BTreeMap<u64, Span>, span: Span) -> Option<Span> {
    let end = end(span.address, span.size)?;
    if live
        .range(..end)
        .next_back()
        .is_some_and(|(_, s)| s.end() > span.address)
    {
        return None;
    }
    let mut new = span;
    if span.expandable {
        let same = |other: &Span| {
            other.expandable
                && other.stream == span.stream
                && (other.pool == span.pool || span.pool.is_none() || other.pool.is_none())
        };
        let left = live.range(..span.address).next_back().map(|(_, s)| *s);
        if let Some(left) = left.filter(|l| l.end() == span.address && same(l)) {
            live.remove(&left.address);
            new = Span {
                size: left.size + span.size,
                ..left
            };
        }
        if let Some(right) = live.get(&end).copied().filter(same) {
            live.remove(&right.address);
            new.size += right.size;
            new.pool = new.pool.or(right.pool);
            if new.class == Size::Unknown {
                new.class = right.class;
            }
        }
    }
    live.insert(new.address, new);
    Some(new)
}
