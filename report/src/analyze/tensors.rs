//! The largest tensors that events named.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::model::{Rank, StringId, TensorId};

/// What a tensor was to the event that named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// It went in.
    Input,
    /// It came out.
    Output,
    /// It is a gradient.
    Gradient,
}

/// The same tensor description in the same role at the same module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorUse {
    /// See [`Role`].
    pub role: Role,
    /// Module as the source names it.
    pub module: StringId,
    /// The description.
    pub tensor: TensorId,
    /// Its size in bytes.
    pub bytes: Option<u64>,
    /// How many times it was named.
    pub count: u64,
    /// The first event that named it.
    pub event: usize,
}

/// Every use, largest first; equals in order of their events. Inputs are taken from the event
/// before a module runs where there is one (both events of a pair name the same inputs).
#[must_use]
pub fn tensors(rank: &Rank) -> Vec<TensorUse> {
    let events = &rank.events;
    let pairing = super::pairing::pair(rank);
    let mut index = HashMap::with_hasher(FxBuildHasher);
    let mut out: Vec<TensorUse> = Vec::new();
    for i in 0..events.len() {
        let module = events.module[i];
        let earlier = matches!(pairing.partner(i), super::pairing::Partner::Event(p) if p < i);
        for (role, list) in [
            (Role::Input, events.inputs[i]),
            (Role::Output, events.outputs[i]),
            (Role::Gradient, events.grads[i]),
        ] {
            if role == Role::Input && earlier {
                continue;
            }
            for &tensor in rank.tensors.list(list) {
                let at = *index.entry((role, module, tensor)).or_insert_with(|| {
                    out.push(TensorUse {
                        role,
                        module,
                        tensor,
                        bytes: rank.tensors.get(tensor).and_then(|t| t.bytes),
                        count: 0,
                        event: i,
                    });
                    out.len() - 1
                });
                if let Some(row) = out.get_mut(at) {
                    row.count += 1;
                }
            }
        }
    }
    out.sort_by_key(|t| (Reverse(t.bytes), t.event));
    out
}
