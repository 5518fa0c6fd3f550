//! Opening a snapshot.

use super::{Last, SnapshotEntry};
use crate::container::decode::Columns;
use crate::container::varint::unzigzag;
use crate::error::Result;
use crate::model::snapshot::{
    Action, Annotation, Annotations, BlockState, Blocks, Device, FrameId, FrameTable, FxNode,
    PoolIndex, SegmentRow, Segments, Size, Snapshot, StackId, StackTable, Stage, StreamIndex,
    TraceEvents, TraceId,
};
use crate::model::{Bytes, StringId};

/// How many rows each table has, for the checks of ids.
struct Limits {
    strings: usize,
    stacks: usize,
    streams: usize,
    pools: usize,
}

impl Columns<'_> {
    /// The snapshot of a rank.
    pub(in crate::container) fn snapshot(&self, entry: &SnapshotEntry) -> Result<Snapshot> {
        let strings = self.find("strings.length")?.count as usize;
        let frames = self.frames(strings)?;
        let stacks = self.stacks(frames.len())?;
        let limits = Limits {
            strings,
            stacks: stacks.len(),
            streams: entry.streams.len(),
            pools: entry.pools.len(),
        };
        let events = self.trace(entry, &limits)?;
        let (segments, blocks) = self.state(&limits)?;
        let annotations = self.annotations(entry, &limits)?;
        let n = events.len();
        let mut sorted = entry.devices.clone();
        sorted.sort_unstable_by_key(|d| (d.start, d.end));
        let apart = sorted.is_sorted_by(|a, b| a.end <= b.start);
        if !apart || sorted.iter().any(|d| d.start > d.end || d.end as usize > n) {
            return Err(self.bad("snapshot.trace.action", "devices with rows of their own"));
        }
        Ok(Snapshot {
            frames,
            stacks,
            devices: entry.devices.clone(),
            events,
            segments,
            blocks,
            annotations,
            streams: entry.streams.clone(),
            pools: entry.pools.clone(),
            settings: entry.settings.clone(),
        })
    }

    fn column(&self, name: &str, rows: Option<u64>) -> Result<Vec<u64>> {
        self.numbers(&format!("snapshot.{name}"), rows)
    }

    fn below(&self, name: &str, rows: Option<u64>, limit: usize) -> Result<Vec<u32>> {
        self.ids(&format!("snapshot.{name}"), rows, limit)
    }

    fn texts(&self, name: &str, rows: Option<u64>, strings: usize) -> Result<Vec<StringId>> {
        let ids = self.below(name, rows, strings)?;
        Ok(ids.into_iter().map(StringId).collect())
    }

    fn damaged_trace(&self, name: &str) -> crate::Error {
        self.bad(&format!("snapshot.{name}"), "values of the tables")
    }

    fn frames(&self, strings: usize) -> Result<FrameTable> {
        let name = self.texts("frames.name", None, strings)?;
        let rows = Some(name.len() as u64);
        let file = self.texts("frames.file", rows, strings)?;
        let line = self.below("frames.line", rows, usize::MAX)?;
        let frame = self.below("fx.frame", None, name.len())?;
        if !frame.is_sorted_by(|a, b| a < b) {
            return Err(self.damaged_trace("fx.frame"));
        }
        let rows = Some(frame.len() as u64);
        let [op, fx, target, trace] = [
            self.texts("fx.op", rows, strings)?,
            self.texts("fx.name", rows, strings)?,
            self.texts("fx.target", rows, strings)?,
            self.texts("fx.trace", rows, strings)?,
        ];
        let nodes = op.into_iter().zip(fx).zip(target).zip(trace);
        let nodes = nodes.map(|(((op, name), target), original_trace)| FxNode {
            op,
            name,
            target,
            original_trace,
        });
        Ok(FrameTable {
            name,
            file,
            line,
            fx: frame.into_iter().map(FrameId).zip(nodes).collect(),
        })
    }

    fn stacks(&self, frames: usize) -> Result<StackTable> {
        let items = self.below("stacks.frame", None, frames)?;
        let ends = self.below("stacks.end", None, items.len() + 1)?;
        if ends.first() != Some(&0) || !ends.is_sorted() {
            return Err(self.damaged_trace("stacks.end"));
        }
        Ok(StackTable {
            ends,
            frames: items.into_iter().map(FrameId).collect(),
        })
    }

    fn times(&self, name: &str, rows: u64, unit: u64) -> Result<Bytes> {
        let mut last = 0u64;
        let decode = |code: u64| match code.checked_sub(1) {
            None => Some(Bytes::ABSENT),
            Some(code) => {
                last = last.wrapping_add(unzigzag(code) as u64);
                last.checked_mul(unit).filter(|&t| t < 1 << 63)
            }
        };
        let codes = self.column(name, Some(rows))?;
        let times: Option<Vec<u64>> = codes.into_iter().map(decode).collect();
        Ok(Bytes(times.ok_or_else(|| self.damaged_trace(name))?))
    }

    fn repeats(&self, name: &str, rows: u64, strings: usize) -> Result<Vec<StringId>> {
        let mut last = StringId::EMPTY;
        let codes = self.below(name, Some(rows), strings.saturating_add(1))?;
        Ok(codes
            .into_iter()
            .map(|code| {
                if let Some(id) = code.checked_sub(1) {
                    last = StringId(id);
                }
                last
            })
            .collect())
    }

    fn trace(&self, entry: &SnapshotEntry, limits: &Limits) -> Result<TraceEvents> {
        let rows = entry.events;
        let action = self.below("trace.action", Some(rows), Action::ALL.len())?;
        let action = action
            .into_iter()
            .filter_map(|a| Action::ALL.get(a as usize).copied())
            .collect();
        let addresses = self.column("trace.addresses", None)?;
        let address = self.below("trace.address", Some(rows), addresses.len() + 1)?;
        let size = self.column("trace.size", Some(rows))?;
        let stack = self.below("trace.stack", Some(rows), limits.stacks + 2)?;
        let stream = self.below("trace.stream", Some(rows), limits.streams.max(1) + 1)?;
        let pool = self.below("trace.pool", Some(rows), limits.pools + 2)?;
        let mut events = TraceEvents {
            action,
            time_ns: self.times("trace.time", rows, entry.time_unit)?,
            compile_context: self.repeats("trace.compile_context", rows, limits.strings)?,
            user_metadata: self.repeats("trace.user_metadata", rows, limits.strings)?,
            ..TraceEvents::default()
        };
        let n = address.len();
        events.address.reserve_exact(n);
        events.size.reserve_exact(n);
        events.stack.reserve_exact(n);
        events.stream.reserve_exact(n);
        events.pool.reserve_exact(n);
        let mut last = vec![Last::default(); addresses.len()];
        let mut place = 0usize;
        let codes = address
            .into_iter()
            .zip(size)
            .zip(stack)
            .zip(stream)
            .zip(pool);
        for ((((address, size), stack), stream), pool) in codes {
            if let Some(new) = address.checked_sub(1) {
                place = new as usize;
            }
            let (Some(&address), Some(now)) = (addresses.get(place), last.get_mut(place)) else {
                return Err(self.damaged_trace("trace.address"));
            };
            if size > 0 {
                now.size = size - 1;
            }
            // One up for "not the same", and once more for "not absent".
            if let Some(code) = stack.checked_sub(1) {
                now.stack = code.checked_sub(1).unwrap_or(StackId::ABSENT);
            }
            if let Some(code) = stream.checked_sub(1) {
                now.stream = u16::try_from(code).unwrap_or(u16::MAX);
            }
            if let Some(code) = pool.checked_sub(1) {
                now.pool = code.checked_sub(1).unwrap_or(u32::MAX);
            }
            events.address.push(address);
            events.size.push(now.size);
            events.stack.push(now.stack);
            events.stream.push(StreamIndex(now.stream));
            events.pool.push(now.pool);
        }
        events.forward_frames = self.sparse("forward_frames", n, limits)?;
        events.internal_metadata = self.sparse("internal_metadata", n, limits)?;
        events.category = self.sparse("category", n, limits)?;
        let row = self.below("device_free.row", None, n)?;
        let free = self.column("device_free.bytes", Some(row.len() as u64))?;
        events.device_free = row.into_iter().map(TraceId).zip(free).collect();
        Ok(events)
    }

    fn sparse(&self, name: &str, n: usize, limits: &Limits) -> Result<Vec<(TraceId, StringId)>> {
        let row = self.below(&format!("{name}.row"), None, n)?;
        let rows = Some(row.len() as u64);
        let text = self.texts(&format!("{name}.text"), rows, limits.strings)?;
        Ok(row.into_iter().map(TraceId).zip(text).collect())
    }

    fn devices(&self, name: &str, rows: Option<u64>) -> Result<Vec<Device>> {
        let codes = self.below(name, rows, usize::MAX)?;
        let device = |code: u32| code.checked_sub(1).map_or(Device::HOST, Device);
        Ok(codes.into_iter().map(device).collect())
    }

    fn state(&self, limits: &Limits) -> Result<(Segments, Blocks)> {
        let address = self.column("blocks.address", None)?;
        let rows = Some(address.len() as u64);
        let known = |v: &u64| v.checked_sub(1).unwrap_or(Bytes::ABSENT);
        let stack = self.below("blocks.stack", rows, limits.stacks + 1)?;
        let state = self.below("blocks.state", rows, 3)?;
        let blocks = Blocks {
            address,
            size: self.column("blocks.size", rows)?,
            requested: Bytes(
                self.column("blocks.requested", rows)?
                    .iter()
                    .map(known)
                    .collect(),
            ),
            state: state
                .into_iter()
                .map(|s| match s {
                    0 => BlockState::Inactive,
                    1 => BlockState::Allocated,
                    _ => BlockState::PendingFree,
                })
                .collect(),
            stack: stack
                .into_iter()
                .map(|s| s.checked_sub(1).unwrap_or(StackId::ABSENT))
                .collect(),
        };
        let device = self.devices("segments.device", None)?;
        let rows = Some(device.len() as u64);
        let address = self.column("segments.address", rows)?;
        let total = self.column("segments.total", rows)?;
        let allocated = self.column("segments.allocated", rows)?;
        let active = self.column("segments.active", rows)?;
        let requested = self.column("segments.requested", rows)?;
        let stream = self.below("segments.stream", rows, limits.streams.max(1))?;
        let size = self.below("segments.size", rows, 3)?;
        let pool = self.below("segments.pool", rows, limits.pools + 1)?;
        let expandable = self.below("segments.expandable", rows, 3)?;
        let stack = self.below("segments.stack", rows, limits.stacks + 1)?;
        let first = self.below("segments.first", rows, blocks.len() + 1)?;
        let count = self.below("segments.blocks", rows, blocks.len() + 1)?;
        let mut segments = Segments::default();
        for (i, &device) in device.iter().enumerate() {
            // Every column has as many rows as `device`.
            if first[i] as usize + count[i] as usize > blocks.len() {
                return Err(self.damaged_trace("segments.blocks"));
            }
            segments.push(SegmentRow {
                device,
                address: address[i],
                total_size: total[i],
                allocated_size: allocated[i].checked_sub(1),
                active_size: active[i].checked_sub(1),
                requested_size: requested[i].checked_sub(1),
                stream: StreamIndex(u16::try_from(stream[i]).unwrap_or(u16::MAX)),
                size: [Size::Unknown, Size::Small, Size::Large][size[i] as usize],
                pool: pool[i].checked_sub(1).map(PoolIndex),
                expandable: [None, Some(false), Some(true)][expandable[i] as usize],
                stack: stack[i].checked_sub(1).map(StackId),
                first_block: first[i],
                blocks: count[i],
            });
        }
        Ok((segments, blocks))
    }

    fn annotations(&self, entry: &SnapshotEntry, limits: &Limits) -> Result<Annotations> {
        let stage = self.below("annotations.stage", None, 2)?;
        let rows = stage.len() as u64;
        let name = self.texts("annotations.name", Some(rows), limits.strings)?;
        let device = self.devices("annotations.device", Some(rows))?;
        let time = self.times("annotations.time", rows, entry.time_unit)?;
        let all = stage.into_iter().zip(name).zip(device).enumerate();
        Ok(Annotations {
            rows: all
                .map(|(i, ((stage, name), device))| Annotation {
                    stage: if stage == 1 { Stage::End } else { Stage::Start },
                    name,
                    device,
                    time_ns: time.get(i),
                })
                .collect(),
        })
    }
}
