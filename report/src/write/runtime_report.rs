//! `runtime_report.json` in the public MemScope's schema, with what a recorder knows beyond it in
//! the one key `memscope`. What the reader reads comes back as it was.

use std::io::{self, Write};

use serde::ser::{SerializeMap as _, SerializeSeq as _, SerializeStruct as _};
use serde::{Serialize, Serializer};

use crate::analyze::summary::Facts;
use crate::model::{Events, Rank, RecordedPeak, StringId, TensorId, TensorListId};
use crate::read::runtime_report::RECORDING;

/// Writes the report of a rank, indented as Python's `json.dump(…, indent=2)` does. Give a buffered writer.
///
/// # Errors
/// From `to`.
pub fn write(rank: &Rank, to: impl Write) -> io::Result<()> {
    let mut out = serde_json::Serializer::pretty(to);
    Report(rank).serialize(&mut out).map_err(io::Error::from)
}

struct Report<'a>(&'a Rank);

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rank = self.0;
        let mut map = to.serialize_map(None)?;
        let trace = |events| Trace { rank, events };
        map.serialize_entry("runtime_trace", &trace(&rank.events))?;
        map.serialize_entry("peak", &rank.recorded_peak.as_ref().map(Peak))?;
        map.serialize_entry("top_events", &trace(&rank.recorded_top))?;
        map.serialize_entry("metadata", &Facts(rank.metadata.clone()))?;
        map.serialize_entry("comparisons", &Facts(rank.comparisons.clone()))?;
        if let Some(recording) = &rank.recording {
            // Indented like the rest it would take several times the room.
            let text = serde_json::to_string(recording).map_err(serde::ser::Error::custom)?;
            let raw = serde_json::value::RawValue::from_string(text);
            let raw = raw.map_err(serde::ser::Error::custom)?;
            map.serialize_entry(RECORDING, &raw)?;
        }
        map.end()
    }
}

struct Peak<'a>(&'a RecordedPeak);

impl Serialize for Peak<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let p = self.0;
        let mut out = to.serialize_struct("peak", 5)?;
        out.serialize_field("phase", &p.phase)?;
        out.serialize_field("module", &p.module)?;
        out.serialize_field("step", &p.step)?;
        out.serialize_field("memory_bytes", &p.memory_bytes)?;
        out.serialize_field("reserved_bytes", &p.reserved_bytes)?;
        out.end()
    }
}

struct Trace<'a> {
    rank: &'a Rank,
    events: &'a Events,
}

impl Serialize for Trace<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.events.len()))?;
        for i in 0..self.events.len() {
            list.serialize_element(&Row {
                rank: self.rank,
                events: self.events,
                i,
            })?;
        }
        list.end()
    }
}

struct Row<'a> {
    rank: &'a Rank,
    events: &'a Events,
    i: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rank = self.rank;
        let row = self.events.row(self.i);
        let text = |id: StringId| rank.strings.get(id);
        let list = |id: TensorListId| List { rank, id };
        let mut out = to.serialize_struct("event", 16)?;
        out.serialize_field("event_type", text(row.kind))?;
        out.serialize_field("module", text(row.module))?;
        out.serialize_field("phase", text(row.phase))?;
        out.serialize_field("step", &row.step)?;
        out.serialize_field("mem_allocated_before", &row.allocated_before)?;
        out.serialize_field("mem_allocated_after", &row.allocated_after)?;
        out.serialize_field("mem_reserved_before", &row.reserved_before)?;
        out.serialize_field("mem_reserved_after", &row.reserved_after)?;
        out.serialize_field("max_mem_allocated", &row.max_allocated)?;
        out.serialize_field("max_mem_reserved", &row.max_reserved)?;
        out.serialize_field("delta_allocated", &row.delta_allocated)?;
        out.serialize_field("delta_reserved", &row.delta_reserved)?;
        out.serialize_field("inputs", &list(row.inputs))?;
        out.serialize_field("outputs", &list(row.outputs))?;
        out.serialize_field("grads", &list(row.grads))?;
        out.serialize_field("notes", text(row.notes))?;
        out.end()
    }
}

struct List<'a> {
    rank: &'a Rank,
    id: TensorListId,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ids = self.rank.tensors.list(self.id);
        to.collect_seq(ids.iter().map(|&id| Tensor {
            rank: self.rank,
            id,
        }))
    }
}

struct Tensor<'a> {
    rank: &'a Rank,
    id: TensorId,
}

impl Serialize for Tensor<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let tensor = self.rank.tensors.get(self.id).cloned().unwrap_or_default();
        let text = |id: StringId| self.rank.strings.get(id);
        let mut out = to.serialize_struct("tensor", 6)?;
        out.serialize_field("name", text(tensor.name))?;
        out.serialize_field("shape", &tensor.shape)?;
        out.serialize_field("dtype", text(tensor.dtype))?;
        out.serialize_field("device", text(tensor.device))?;
        out.serialize_field("requires_grad", &tensor.requires_grad)?;
        out.serialize_field("bytes", &tensor.bytes)?;
        out.end()
    }
}
