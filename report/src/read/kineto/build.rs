//! From entries to the tables of a snapshot.

use std::cmp::Reverse;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::model::snapshot::{
    Action, Annotation, Device, DeviceTrace, Frame, FrameId, Snapshot, StackId, Stage, TraceRow,
};
use crate::model::{Interner, Skipped, StringId, StringTable};
use crate::read::snapshot::intern::{Frames, Stacks};

/// An operator, a Python function or an annotation. Times are nanoseconds above the trace's base.
pub(super) struct Op {
    pub(super) thread: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) name: StringId,
}

/// A memory event.
pub(super) struct Row {
    pub(super) device: u32,
    pub(super) start: i64,
    pub(super) thread: u32,
    pub(super) action: Action,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) allocated: Option<u64>,
    pub(super) reserved: Option<u64>,
}

#[derive(Default)]
pub(super) struct Build {
    pub(super) strings: Interner,
    pub(super) ops: Vec<Op>,
    pub(super) annotations: Vec<Op>,
    pub(super) rows: Vec<Row>,
    threads: HashMap<(i64, i64), u32, FxBuildHasher>,
    last: Option<((i64, i64), u32)>,
}

impl Build {
    /// The number of a thread.
    pub(super) fn thread(&mut self, process: i64, thread: i64) -> u32 {
        let key = (process, thread);
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let new = self.threads.len() as u32;
        let number = *self.threads.entry(key).or_insert(new);
        self.last = Some((key, number));
        number
    }

    /// The tables, with times above `base_ns`.
    pub(super) fn finish(mut self, base_ns: i64, skipped: &mut Skipped) -> (StringTable, Snapshot) {
        // Entries stand in the order of their threads; equal times keep their order.
        self.rows.sort_by_key(|r| (r.device, r.start));
        let mut snapshot = Snapshot::default();
        let stacks = self.stacks(&mut snapshot, skipped);
        let absolute = |ns: i64| u64::try_from(base_ns.saturating_add(ns)).ok();
        for (row, stack) in self.rows.iter().zip(stacks) {
            let n = snapshot.events.len() as u32;
            match snapshot.devices.last_mut() {
                Some(last) if last.device == Device(row.device) => last.end = n + 1,
                _ => snapshot.devices.push(DeviceTrace {
                    device: Device(row.device),
                    start: n,
                    end: n + 1,
                }),
            }
            snapshot.events.push(&TraceRow {
                action: row.action,
                address: row.address,
                size: row.bytes,
                stack,
                time_ns: absolute(row.start),
                ..TraceRow::default()
            });
            snapshot.events.total_allocated.push(row.allocated);
            snapshot.events.total_reserved.push(row.reserved);
        }
        let mut ends: Vec<(i64, bool, StringId)> = Vec::new();
        for op in &self.annotations {
            ends.push((op.start, true, op.name));
            ends.push((op.end, false, op.name));
        }
        // Of one moment, what ends comes before what starts.
        ends.sort_by_key(|&(time, start, _)| (time, start));
        for device in &snapshot.devices {
            for &(time, start, name) in &ends {
                snapshot.annotations.rows.push(Annotation {
                    stage: if start { Stage::Start } else { Stage::End },
                    name,
                    device: device.device,
                    time_ns: absolute(time),
                });
            }
        }
        (self.strings.finish(), snapshot)
    }

    /// The stack of every row: what surrounds it on its thread, innermost first.
    fn stacks(&mut self, snapshot: &mut Snapshot, skipped: &mut Skipped) -> Vec<Option<StackId>> {
        let mut out = vec![None; self.rows.len()];
        // Of operators that start together the longer one is around the other.
        self.ops
            .sort_by_key(|op| (op.thread, op.start, Reverse(op.end)));
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |&i: &u32| self.rows.get(i as usize).map(|r| (r.thread, r.start));
        order.sort_by_key(key);
        let (mut frames, mut stacks) = (Frames::default(), Stacks::default());
        let mut ids: HashMap<StringId, FrameId, FxBuildHasher> = HashMap::default();
        let mut open: Vec<&Op> = Vec::new();
        let mut ops = self.ops.iter().peekable();
        let mut list = Vec::new();
        let mut full = 0;
        for i in order {
            let Some(row) = self.rows.get(i as usize) else {
                continue;
            };
            let now = (row.thread, row.start);
            while let Some(op) = ops.next_if(|op| (op.thread, op.start) <= now) {
                open.retain(|o| o.thread == op.thread && o.end > op.start);
                open.push(op);
            }
            open.retain(|o| o.thread == row.thread && o.end >= row.start);
            list.clear();
            for op in open.iter().rev() {
                let frame = match ids.get(&op.name) {
                    Some(&frame) => Some(frame),
                    None => {
                        let frame = frame(&mut self.strings, op.name);
                        let id = frames.intern(&frame, None);
                        if let Some(id) = id {
                            ids.insert(op.name, id);
                        }
                        id
                    }
                };
                list.extend(frame);
            }
            if list.is_empty() {
                continue;
            }
            let stack = stacks.intern(&list);
            full += u64::from(stack.is_none());
            if let Some(slot) = out.get_mut(i as usize) {
                *slot = stack;
            }
        }
        skipped.count_many("stack beyond what a table takes", full, 0);
        snapshot.frames = frames.table;
        snapshot.stacks = stacks.table;
        out
    }
}

/// `train.py(12): step` is a function with its place; an operator is only a name.
fn frame(strings: &mut Interner, name: StringId) -> Frame {
    let bare = Frame {
        name,
        ..Frame::default()
    };
    let text = strings.table().get(name);
    let Some((file, line, function)) = place(text) else {
        return bare;
    };
    let (file, function) = (file.to_owned(), function.to_owned());
    match (strings.intern(&function), strings.intern(&file)) {
        (Some(name), Some(file)) => Frame { name, file, line },
        _ => bare,
    }
}

fn place(text: &str) -> Option<(&str, u32, &str)> {
    let (place, function) = text.split_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    Some((file, line.parse().ok()?, function))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn python_functions_have_a_place() {
        let full = place("torch/nn/modules/module.py(1775): _call_impl");
        assert_eq!(
            full,
            Some(("torch/nn/modules/module.py", 1775, "_call_impl"))
        );
        for text in [
            "aten::empty",
            "nn.Module: Conv2d_3",
            "f(x): y",
            "<built-in method a of b>",
        ] {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
