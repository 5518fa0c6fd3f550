//! The tables of a PyTorch memory snapshot (`torch.cuda.memory._dump_snapshot`).
//!
//! Text is in the rank's [`StringTable`](crate::model::StringTable). Sizes are bytes, addresses are
//! virtual addresses as the allocator gave them, times are nanoseconds since the Unix epoch with
//! the source's resolution of a microsecond.

mod annotations;
mod devices;
mod frames;
mod segments;
mod stacks;
mod trace;

pub use annotations::{Annotation, Annotations, Stage};
pub use devices::{Device, DeviceTrace, PoolId, PoolIndex, StreamIndex};
pub use frames::{Frame, FrameId, FrameTable, FxNode};
pub use segments::{BlockId, BlockRow, BlockState, Blocks, SegmentId, SegmentRow, Segments, Size};
pub use stacks::{StackId, StackTable};
pub use trace::{Action, TraceEvents, TraceId, TraceRow};

use super::{Metadata, StringId};

/// Nanoseconds in the resolution of the source's times (`time_us`).
pub const TIME_RESOLUTION_NS: u64 = 1_000;

/// Everything that one snapshot file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Distinct frames.
    pub frames: FrameTable,
    /// Distinct stacks of frames.
    pub stacks: StackTable,
    /// Which rows of [`Self::events`] belong to which device, in the order of the file.
    pub devices: Vec<DeviceTrace>,
    /// The history of all devices.
    pub events: TraceEvents,
    /// The state when the snapshot was taken.
    pub segments: Segments,
    /// The blocks of [`Self::segments`].
    pub blocks: Blocks,
    /// `record_function` ranges.
    pub annotations: Annotations,
    /// Raw `cudaStream_t` handles by [`StreamIndex`], in order of first appearance.
    pub streams: Vec<u64>,
    /// Memory pools by [`PoolIndex`].
    pub pools: Vec<PoolId>,
    /// `allocator_settings` as the source wrote them.
    pub settings: Metadata,
}

impl Snapshot {
    /// The rows of one device's history; empty when it has none.
    #[must_use]
    pub fn trace(&self, device: Device) -> std::ops::Range<usize> {
        self.devices
            .iter()
            .find(|d| d.device == device)
            .map_or(0..0, DeviceTrace::range)
    }

    /// Shows every text's id to `see`, which may change it.
    pub(crate) fn texts(&mut self, see: &mut dyn FnMut(&mut StringId)) {
        let frames = &mut self.frames;
        let nodes = frames.fx.iter_mut().flat_map(|(_, n)| {
            let FxNode {
                op,
                name,
                target,
                original_trace,
            } = n;
            [op, name, target, original_trace]
        });
        let events = &mut self.events;
        let sparse = [
            &mut events.forward_frames,
            &mut events.internal_metadata,
            &mut events.category,
        ];
        frames
            .name
            .iter_mut()
            .chain(&mut frames.file)
            .chain(nodes)
            .chain(&mut events.compile_context)
            .chain(&mut events.user_metadata)
            .chain(sparse.into_iter().flatten().map(|(_, text)| text))
            .chain(self.annotations.rows.iter_mut().map(|a| &mut a.name))
            .for_each(see);
    }

    /// Every device that has a history or segments, in ascending order.
    #[must_use]
    pub fn device_list(&self) -> Vec<Device> {
        let mut list: Vec<Device> = self
            .devices
            .iter()
            .filter(|d| d.start < d.end)
            .map(|d| d.device)
            .chain(self.segments.device.iter().copied())
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Bytes of a device's segments when the snapshot was taken; `None` when it lists none.
    #[must_use]
    pub fn reserved(&self, device: Device) -> Option<u64> {
        let mut own = self.segments.iter().filter(|s| s.device == device);
        let first = own.next()?.total_size;
        Some(own.fold(first, |sum, s| sum.saturating_add(s.total_size)))
    }

    /// The device that is meant by a choice: the chosen one where it is there, else the main one.
    #[must_use]
    pub fn device_or_main(&self, chosen: Option<Device>) -> Option<Device> {
        chosen
            .filter(|d| self.device_list().contains(d))
            .or_else(|| self.main_device())
    }

    /// The device that a first view shows: the one with the longest history, else the one with
    /// most reserved bytes. `None` for a snapshot without content.
    #[must_use]
    pub fn main_device(&self) -> Option<Device> {
        self.device_list()
            .into_iter()
            .filter(|d| !d.is_host())
            .max_by_key(|&d| {
                let reserved = self.reserved(d);
                (self.trace(d).len(), reserved, std::cmp::Reverse(d))
            })
    }
}
