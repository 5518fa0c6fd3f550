//! Categories that a recorder wrote down: it knows which storage is which parameter.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::allocations::AllocationId;
use super::categories::{Categories, Category, Certainty};
use super::replay::Replay;
use crate::model::recording::{Item, Recording};

/// The category of a kind of the inventory. Buffers are of the model, as weights are.
fn category(kind: &str) -> Option<Category> {
    Some(match kind {
        "parameter" | "buffer" => Category::Parameter,
        "gradient" => Category::Gradient,
        "optimizer_state" => Category::OptimizerState,
        "input" => Category::Input,
        _ => return None,
    })
}

fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Puts what the recorder knew in the place of what was told from places and lifetimes.
///
/// An address is used again and again, so only allocations that live at the history's end are named, and
/// only where their size is the storage's.
pub(super) fn exact(categories: &mut Categories, replay: &Replay, recording: &Recording) {
    let mut alive: HashMap<u64, AllocationId, FxBuildHasher> = HashMap::default();
    for (id, a) in replay.allocations.iter() {
        if a.free_requested.is_none() && a.free_completed.is_none() {
            alive.insert(a.address, id);
        }
    }
    let here = format!("cuda:{}", replay.device.0);
    let items = recording.inventories.iter().flat_map(|i| &i.items);
    let mine = |item: &&Item| item.device == here || item.device == "cuda";
    for item in items.filter(mine) {
        let found = address(&item.storage).and_then(|at| alive.get(&at).copied());
        let (Some(id), Some(category)) = (found, category(&item.kind)) else {
            continue;
        };
        let Some(a) = replay.allocations.get(id) else {
            continue;
        };
        // Where the history does not say what was asked for, the block's size stands there.
        let fits = |bytes: u64| {
            a.size == bytes
                || (bytes < a.size && a.size == a.rounded && a.rounded - bytes < (2 << 20))
        };
        if item.storage_bytes.is_some_and(fits) {
            categories.set(id, (category, Certainty::Recorded));
        }
    }
}
