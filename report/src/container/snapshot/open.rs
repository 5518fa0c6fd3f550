//! Opening a snapshot.

use super::SnapshotEntry;
use super::history::Limits;
use crate::container::decode::Columns;
use crate::error::Result;
use crate::model::snapshot::{
    Annotation, Annotations, BlockState, Blocks, Device, FrameId, FrameTable, FxNode, PoolIndex,
    SegmentRow, Segments, Size, Snapshot, StackId, StackTable, Stage, StreamIndex,
};
use crate::model::{Bytes, StringId};
use crate::pause::Pauses;

impl Columns<'_> {
    /// The snapshot of a rank.
    pub(in crate::container) async fn snapshot(
        &self,
        entry: &SnapshotEntry,
        pauses: Pauses<'_>,
    ) -> Result<Snapshot> {
        let strings = self.find("strings.length")?.count as usize;
        let frames = self.frames(strings)?;
        let stacks = self.stacks(frames.len())?;
        let limits = Limits {
            strings,
            stacks: stacks.len(),
            streams: entry.streams.len(),
            pools: entry.pools.len(),
        };
        let events = self.history(entry, &limits, pauses).await?;
        let (segments, blocks) = self.state(&limits)?;
        let annotations = self.annotations(entry, &limits, pauses).await?;
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

    pub(super) fn column(&self, name: &str, rows: Option<u64>) -> Result<Vec<u64>> {
        self.numbers(&format!("snapshot.{name}"), rows)
    }

    pub(super) fn below(&self, name: &str, rows: Option<u64>, limit: usize) -> Result<Vec<u32>> {
        self.ids(&format!("snapshot.{name}"), rows, limit)
    }

    pub(super) fn texts(
        &self,
        name: &str,
        rows: Option<u64>,
        strings: usize,
    ) -> Result<Vec<StringId>> {
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

    async fn annotations(
        &self,
        entry: &SnapshotEntry,
        limits: &Limits,
        pauses: Pauses<'_>,
    ) -> Result<Annotations> {
        let stage = self.below("annotations.stage", None, 2)?;
        let rows = stage.len() as u64;
        let name = self.texts("annotations.name", Some(rows), limits.strings)?;
        let device = self.devices("annotations.device", Some(rows))?;
        let time = self
            .times("annotations.time", rows, entry.time_unit, pauses)
            .await?;
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
