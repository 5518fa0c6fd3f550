//! Recorded snapshots and what the allocator said about them.

use report::analyze::snapshot::replay::{Replay, replay};
use report::model::Rank;
use report::model::snapshot::{Device, Snapshot};
use serde_json::Value;

/// Every snapshot with its folder and file, and whether its history is whole.
pub const SNAPSHOTS: [(&str, &str, bool); 18] = [
    ("annotated", "snapshot.pickle.xz", true),
    ("cuda_graphs", "snapshot.pickle", true),
    ("cycle_garbage", "snapshot.pickle", true),
    ("expandable_same_work", "snapshot.pickle", true),
    ("gpt2_adamw_amp", "snapshot.pickle.xz", true),
    ("gpt2_adamw_fp32", "snapshot.pickle.xz", true),
    ("multi_stream", "snapshot.pickle.xz", true),
    ("oom_fragmentation", "snapshot.pickle", true),
    ("oom_too_big", "snapshot.pickle.xz", true),
    ("other_process", "snapshot.pickle", true),
    ("outside_allocator", "snapshot.pickle", true),
    ("ring_overflow", "snapshot.pickle.xz", false),
    ("kv_cache_generate", "snapshot.pickle.xz", false),
    ("eval_accumulates", "snapshot.pickle.xz", true),
    ("resnet50_profiler", "snapshot.pickle.xz", true),
    ("ddp/rank00000", "snapshot.pickle.xz", true),
    ("ddp/rank00001", "snapshot.pickle.xz", true),
    ("cpp_pickle", "snapshot.pickle.zst", true),
];

pub fn path(fixture: &str, file: &str) -> String {
    format!(
        "{}/../tests/fixtures/{fixture}/{file}",
        env!("CARGO_MANIFEST_DIR")
    )
}

pub fn bytes(fixture: &str, file: &str) -> Vec<u8> {
    let path = path(fixture, file);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The bytes as PyTorch wrote them.
pub fn plain(fixture: &str, file: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = bytes(fixture, file);
    let mut source = report::read::compressed::uncompressed(&bytes[..]).unwrap();
    std::io::Read::read_to_end(&mut source, &mut out).unwrap();
    out
}

pub fn load(fixture: &str, file: &str) -> Rank {
    let report = report::read::read_stream(file, &bytes(fixture, file)[..]);
    report
        .unwrap_or_else(|e| panic!("{fixture}: {e}"))
        .ranks
        .remove(0)
}

pub fn truth(fixture: &str) -> Value {
    serde_json::from_slice(&bytes(fixture, "truth.json")).unwrap()
}

pub fn snapshot(rank: &Rank) -> &Snapshot {
    rank.snapshot.as_ref().unwrap()
}

/// The replay of the device that the run used.
pub fn main_replay(rank: &Rank) -> (Device, Replay) {
    let snapshot = snapshot(rank);
    let device = snapshot.main_device().unwrap();
    (device, replay(snapshot, device))
}
