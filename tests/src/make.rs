//! Reports of any size and shape.

use serde_json::{Value, json};

/// One event as the recorder writes it: `allocated` after it, the same reserved.
#[must_use]
pub fn event(module: &str, phase: &str, step: i64, allocated: u64) -> Value {
    json!({
        "event_type": "module", "module": module, "phase": phase, "step": step,
        "mem_allocated_before": allocated, "mem_allocated_after": allocated,
        "mem_reserved_before": allocated, "mem_reserved_after": allocated,
        "max_mem_allocated": allocated, "max_mem_reserved": allocated,
        "delta_allocated": 0, "delta_reserved": 0,
        "inputs": [], "outputs": [], "grads": [], "notes": format!("{module} {phase}"),
    })
}
