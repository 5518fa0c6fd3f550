//! Opening the history, the one table of a snapshot that is long: column after column straight into
//! the table, in pieces.

use super::{Last, SnapshotEntry};
use crate::container::decode::{Codes, Columns};
use crate::container::varint::unzigzag;
use crate::error::Result;
use crate::model::snapshot::{Action, StackId, StreamIndex, TraceEvents, TraceId};
use crate::model::{Bytes, StringId};
use crate::pause::{PIECE, Pauses, piece};

/// How many rows the other tables have, for the checks of ids.
pub(super) struct Limits {
    pub(super) strings: usize,
    pub(super) stacks: usize,
    pub(super) streams: usize,
    pub(super) pools: usize,
}

impl Columns<'_> {
    fn codes(&self, name: &str, rows: u64) -> Result<Codes<'_>> {
        self.plain(&format!("snapshot.{name}"), rows)
    }

    /// Calls `take` for each code of a column.
    async fn each(
        &self,
        name: &str,
        rows: u64,
        pauses: Pauses<'_>,
        mut take: impl FnMut(u64) -> Option<()>,
    ) -> Result<()> {
        let mut codes = self.codes(name, rows)?;
        for start in (0..rows as usize).step_by(PIECE) {
            pauses.here().await;
            piece(|| {
                for _ in start..(start + PIECE).min(rows as usize) {
                    let code = codes.next()?;
                    take(code).ok_or_else(|| codes.bad("values of the tables"))?;
                }
                Ok(())
            })?;
        }
        codes.end()
    }

    /// Nanoseconds, from differences in units of `unit`.
    pub(super) async fn times(
        &self,
        name: &str,
        rows: u64,
        unit: u64,
        pauses: Pauses<'_>,
    ) -> Result<Bytes> {
        let mut out = Vec::new();
        let mut last = 0u64;
        let take = |code: u64| {
            out.push(match code.checked_sub(1) {
                None => Bytes::ABSENT,
                Some(code) => {
                    last = last.wrapping_add(unzigzag(code) as u64);
                    last.checked_mul(unit).filter(|&t| t < 1 << 63)?
                }
            });
            Some(())
        };
        self.each(name, rows, pauses, take).await?;
        Ok(Bytes(out))
    }

    async fn repeats(
        &self,
        name: &str,
        rows: u64,
        strings: usize,
        pauses: Pauses<'_>,
    ) -> Result<Vec<StringId>> {
        let mut out = Vec::new();
        let mut last = StringId::EMPTY;
        let take = |code: u64| {
            if let Some(id) = code.checked_sub(1) {
                last = StringId(
                    u32::try_from(id)
                        .ok()
                        .filter(|&id| (id as usize) < strings)?,
                );
            }
            out.push(last);
            Some(())
        };
        self.each(name, rows, pauses, take).await?;
        Ok(out)
    }

    /// The history of all devices.
    pub(super) async fn history(
        &self,
        entry: &SnapshotEntry,
        limits: &Limits,
        pauses: Pauses<'_>,
    ) -> Result<TraceEvents> {
        let rows = entry.events;
        let mut events = TraceEvents::default();
        let actions = &mut events.action;
        let take = |code: u64| {
            actions.push(*Action::ALL.get(usize::try_from(code).ok()?)?);
            Some(())
        };
        self.each("trace.action", rows, pauses, take).await?;
        events.time_ns = self
            .times("trace.time", rows, entry.time_unit, pauses)
            .await?;
        let context = self.repeats("trace.compile_context", rows, limits.strings, pauses);
        events.compile_context = context.await?;
        let metadata = self.repeats("trace.user_metadata", rows, limits.strings, pauses);
        events.user_metadata = metadata.await?;
        self.blocks(rows, &mut events, limits, pauses).await?;
        let n = events.len();
        events.forward_frames = self.sparse("forward_frames", n, limits)?;
        events.internal_metadata = self.sparse("internal_metadata", n, limits)?;
        events.category = self.sparse("category", n, limits)?;
        if self.find("snapshot.trace.total_allocated").is_ok() {
            events.total_allocated = Bytes(self.column("trace.total_allocated", Some(rows))?);
            events.total_reserved = Bytes(self.column("trace.total_reserved", Some(rows))?);
        }
        let row = self.below("device_free.row", None, n)?;
        let free = self.column("device_free.bytes", Some(row.len() as u64))?;
        events.device_free = row.into_iter().map(TraceId).zip(free).collect();
        Ok(events)
    }

    /// What the last event at the same address had.
    async fn blocks(
        &self,
        rows: u64,
        events: &mut TraceEvents,
        limits: &Limits,
        pauses: Pauses<'_>,
    ) -> Result<()> {
        let addresses = self.column("trace.addresses", None)?;
        let mut address = self.codes("trace.address", rows)?;
        let mut size = self.codes("trace.size", rows)?;
        let mut stack = self.codes("trace.stack", rows)?;
        let mut stream = self.codes("trace.stream", rows)?;
        let mut pool = self.codes("trace.pool", rows)?;
        // Every column has a byte a row, so this is no more than the file allows.
        let n = rows as usize;
        events.address.reserve_exact(n);
        events.size.reserve_exact(n);
        events.stack.reserve_exact(n);
        events.stream.reserve_exact(n);
        events.pool.reserve_exact(n);
        let mut last = vec![Last::default(); addresses.len()];
        let mut place = 0usize;
        for start in (0..n).step_by(PIECE) {
            pauses.here().await;
            piece(|| {
                for _ in start..(start + PIECE).min(n) {
                    if let Some(new) = address.next()?.checked_sub(1) {
                        place = usize::try_from(new).unwrap_or(usize::MAX);
                    }
                    let (Some(&at), Some(now)) = (addresses.get(place), last.get_mut(place)) else {
                        return Err(address.bad("values of the tables"));
                    };
                    if let Some(new) = size.next()?.checked_sub(1) {
                        now.size = new;
                    }
                    // One up for "not the same", and once more for "not absent".
                    if let Some(code) = stack.below(limits.stacks + 2)?.checked_sub(1) {
                        now.stack = code.checked_sub(1).unwrap_or(StackId::ABSENT);
                    }
                    if let Some(code) = stream.below(limits.streams.max(1) + 1)?.checked_sub(1) {
                        now.stream = u16::try_from(code).unwrap_or(u16::MAX);
                    }
                    if let Some(code) = pool.below(limits.pools + 2)?.checked_sub(1) {
                        now.pool = code.checked_sub(1).unwrap_or(u32::MAX);
                    }
                    events.address.push(at);
                    events.size.push(now.size);
                    events.stack.push(now.stack);
                    events.stream.push(StreamIndex(now.stream));
                    events.pool.push(now.pool);
                }
                Ok(())
            })?;
        }
        address.end()?;
        size.end()?;
        stack.end()?;
        stream.end()?;
        pool.end()
    }

    fn sparse(&self, name: &str, n: usize, limits: &Limits) -> Result<Vec<(TraceId, StringId)>> {
        let row = self.below(&format!("{name}.row"), None, n)?;
        let rows = Some(row.len() as u64);
        let text = self.texts(&format!("{name}.text"), rows, limits.strings)?;
        Ok(row.into_iter().map(TraceId).zip(text).collect())
    }
}
