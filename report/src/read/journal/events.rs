//! Records as events of the public schema.

use serde_json::{Map, Value};

use super::line::{Record, number, text};
use crate::model::{EventRow, Interner, StringId, Tensor, TensorId, TensorInterner, TensorListId};

/// The texts and tensors of a rank that is being read.
#[derive(Default)]
pub(super) struct Tables {
    pub strings: Interner,
    tensors: TensorInterner,
    /// Texts that found no room.
    pub full: bool,
}

impl Tables {
    pub fn text(&mut self, text: &str) -> StringId {
        let id = self.strings.intern(text);
        self.full |= id.is_none();
        id.unwrap_or_default()
    }

    fn list(&mut self, record: &Record, key: &str) -> TensorListId {
        let mut items: Vec<TensorId> = Vec::new();
        for keys in record.objects(key) {
            let tensor = self.tensor(keys);
            items.extend(self.tensors.tensor(&tensor));
        }
        self.tensors.list(&items).unwrap_or_default()
    }

    fn tensor(&mut self, keys: &Map<String, Value>) -> Tensor {
        Tensor {
            name: self.text(text(keys, "name")),
            shape: shape(keys),
            dtype: self.text(text(keys, "dtype")),
            device: self.text(text(keys, "device")),
            requires_grad: keys.get("requires_grad").and_then(Value::as_bool),
            bytes: number(keys, "bytes"),
        }
    }

    pub fn finish(self) -> (crate::model::StringTable, crate::model::Tensors) {
        (self.strings.finish(), self.tensors.finish())
    }

    /// A boundary: memory is the same before and after it.
    pub fn sample(&mut self, record: &Record) -> EventRow {
        let edge = record.text("edge");
        let phase = record.text("phase");
        let own = matches!(
            phase,
            "" | "init" | "data" | "forward" | "backward" | "optimizer" | "other"
        );
        let module = if own && edge != "phase_start" && edge != "phase_end" {
            "train_step"
        } else {
            phase
        };
        let note = record.text("note");
        let notes = if note.is_empty() { phase } else { note };
        let mut row = self.still(record);
        row.module = self.text(module);
        row.phase = self.text(if edge.is_empty() { "sample" } else { edge });
        row.notes = self.text(notes);
        row
    }

    /// A request that could not be met.
    pub fn oom(&mut self, record: &Record) -> EventRow {
        let mut row = self.still(record);
        row.module = self.text(record.text("module"));
        row.phase = self.text("oom");
        row.notes = self.text(record.text("message"));
        row
    }

    fn still(&mut self, record: &Record) -> EventRow {
        let (allocated, reserved) = (record.number("allocated"), record.number("reserved"));
        EventRow {
            kind: self.text("step"),
            step: record.signed("step"),
            allocated_before: allocated,
            allocated_after: allocated,
            reserved_before: reserved,
            reserved_after: reserved,
            max_allocated: record.number("max_allocated"),
            max_reserved: record.number("max_reserved"),
            delta_allocated: allocated.map(|_| 0),
            delta_reserved: reserved.map(|_| 0),
            ..EventRow::default()
        }
    }

    /// A module begins or ends. `before`: allocated and reserved when it began.
    pub fn module(&mut self, record: &Record, before: [Option<u64>; 2]) -> EventRow {
        let name = record.text("name");
        let what = match record.text("phase") {
            "recompute" => "recompute",
            _ => "forward",
        };
        let phase = match record.text("edge") {
            "pre" => format!("{what}_pre"),
            "abort" => format!("{what}_abort"),
            _ => what.to_owned(),
        };
        let mut row = self.still(record);
        row.kind = self.text("module");
        row.module = self.text(name);
        row.notes = self.text(&format!("{name} {phase}"));
        row.phase = self.text(&phase);
        if record.text("edge") != "pre" {
            [row.allocated_before, row.reserved_before] = before;
            let delta = |key, after: Option<u64>, before: Option<u64>| {
                record
                    .signed(key)
                    .or_else(|| Some(crate::analyze::difference(after?, before?)))
            };
            row.delta_allocated = delta("delta_allocated", row.allocated_after, before[0]);
            row.delta_reserved = delta("delta_reserved", row.reserved_after, before[1]);
            let back = |after: Option<u64>, delta: Option<i64>| after?.checked_add_signed(-delta?);
            row.allocated_before = before[0].or(back(row.allocated_after, row.delta_allocated));
            row.reserved_before = before[1].or(back(row.reserved_after, row.delta_reserved));
        }
        row.inputs = self.list(record, "inputs");
        row.outputs = self.list(record, "outputs");
        row
    }

    /// A gradient came.
    pub fn grad(&mut self, record: &Record) -> EventRow {
        let name = record.text("name");
        let mut row = self.still(record);
        row.kind = self.text("tensor_grad");
        row.module = self.text(name);
        row.phase = self.text("backward");
        row.notes = self.text(&format!("{name} backward"));
        row.grads = self.list(record, "grads");
        row
    }
}

/// Sizes of dimensions; one that is not known is -1, as torch writes dynamic ones.
pub(super) fn shape(keys: &Map<String, Value>) -> Vec<i64> {
    let list = keys.get("shape").and_then(Value::as_array);
    let one = |v: &Value| v.as_i64().filter(|&v| v != i64::MIN).unwrap_or(-1);
    list.into_iter().flatten().map(one).collect()
}
