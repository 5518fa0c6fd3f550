//! A `runtime_report.json`, read by serde_json alone.

use std::path::Path;

use serde_json::Value;

/// A tensor that an event names.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// `name`
    pub name: String,
    /// `shape`
    pub shape: Vec<i64>,
    /// `dtype`
    pub dtype: String,
    /// `device`
    pub device: String,
    /// `requires_grad`
    pub requires_grad: Option<bool>,
    /// `bytes`
    pub bytes: Option<u64>,
}

/// An event of `runtime_trace`.
#[derive(Debug, Clone)]
pub struct Event {
    /// `event_type`
    pub kind: String,
    /// `module`
    pub module: String,
    /// `phase`
    pub phase: String,
    /// `step`
    pub step: Option<i64>,
    /// `mem_allocated_before`
    pub before: Option<u64>,
    /// `mem_allocated_after`
    pub after: Option<u64>,
    /// `mem_reserved_after`
    pub reserved: Option<u64>,
    /// `max_mem_allocated`
    pub max_allocated: Option<u64>,
    /// `max_mem_reserved`
    pub max_reserved: Option<u64>,
    /// `delta_allocated`
    pub delta: Option<i64>,
    /// `delta_reserved`
    pub delta_reserved: Option<i64>,
    /// `inputs`
    pub inputs: Vec<Tensor>,
    /// `outputs`
    pub outputs: Vec<Tensor>,
    /// `grads`
    pub grads: Vec<Tensor>,
    /// `notes`
    pub notes: String,
}

/// A rank's report.
#[derive(Debug, Clone)]
pub struct Run {
    /// All of the file.
    pub json: Value,
    /// Its events.
    pub events: Vec<Event>,
}

fn text(v: &Value) -> String {
    v.as_str().unwrap_or_default().to_owned()
}

fn tensors(v: &Value) -> Vec<Tensor> {
    let tensor = |t: &Value| Tensor {
        name: text(&t["name"]),
        shape: t["shape"]
            .as_array()
            .map_or_else(Vec::new, |d| d.iter().filter_map(Value::as_i64).collect()),
        dtype: text(&t["dtype"]),
        device: text(&t["device"]),
        requires_grad: t["requires_grad"].as_bool(),
        bytes: t["bytes"].as_u64(),
    };
    v.as_array()
        .map_or_else(Vec::new, |list| list.iter().map(tensor).collect())
}

impl Run {
    /// Reads a file.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::of(serde_json::from_slice(&bytes).expect("the fixture is JSON"))
    }

    /// From JSON.
    #[must_use]
    pub fn of(json: Value) -> Self {
        let event = |e: &Value| Event {
            kind: text(&e["event_type"]),
            module: text(&e["module"]),
            phase: text(&e["phase"]),
            step: e["step"].as_i64(),
            before: e["mem_allocated_before"].as_u64(),
            after: e["mem_allocated_after"].as_u64(),
            reserved: e["mem_reserved_after"].as_u64(),
            max_allocated: e["max_mem_allocated"].as_u64(),
            max_reserved: e["max_mem_reserved"].as_u64(),
            delta: e["delta_allocated"].as_i64(),
            delta_reserved: e["delta_reserved"].as_i64(),
            inputs: tensors(&e["inputs"]),
            outputs: tensors(&e["outputs"]),
            grads: tensors(&e["grads"]),
            notes: text(&e["notes"]),
        };
        let events = json["runtime_trace"]
            .as_array()
            .expect("runtime_trace")
            .iter()
            .map(event)
            .collect();
        Self { json, events }
    }

    /// A field of `metadata`.
    #[must_use]
    pub fn meta(&self, key: &str) -> String {
        text(&self.json["metadata"][key])
    }

    /// The highest high-water mark and the first event that has it.
    #[must_use]
    pub fn peak(&self) -> (u64, usize) {
        self.first_highest(|e| e.max_allocated)
    }

    /// The highest reserved.
    #[must_use]
    pub fn peak_reserved(&self) -> u64 {
        self.first_highest(|e| e.max_reserved).0
    }

    /// The highest of a figure and the first event that has it.
    pub fn first_highest(&self, figure: impl Fn(&Event) -> Option<u64>) -> (u64, usize) {
        let highest = self
            .events
            .iter()
            .filter_map(&figure)
            .max()
            .expect("figures");
        let at = self
            .events
            .iter()
            .position(|e| figure(e) == Some(highest))
            .expect("its event");
        (highest, at)
    }

    /// Where each `X_pre` event has its `X` event, and back. Every event of the fixtures has.
    #[must_use]
    pub fn partners(&self) -> Vec<Option<usize>> {
        let mut out = vec![None; self.events.len()];
        let mut open: Vec<usize> = Vec::new();
        for (i, e) in self.events.iter().enumerate() {
            if e.phase.ends_with("_pre") {
                open.push(i);
            } else if let Some(at) = open.iter().rposition(|&p| {
                let pre = &self.events[p];
                pre.module == e.module
                    && pre.phase == format!("{}_pre", e.phase)
                    && pre.step == e.step
            }) {
                let pre = open[at];
                open.truncate(at);
                out[pre] = Some(i);
                out[i] = Some(pre);
            }
        }
        out
    }
}
