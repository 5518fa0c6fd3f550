//! The keys of each kind of record: others are counted.

const HEADER: &[&str] = &[
    "v",
    "tool",
    "writer",
    "run",
    "host",
    "boot",
    "pid",
    "ppid",
    "command",
    "realtime",
    "rank",
    "local_rank",
    "world_size",
    "rank_source",
    "devices",
    "device",
    "versions",
    "allocator",
    "sources",
    "settings",
    "metadata",
];
const FIGURES: &[&str] = &[
    "allocated",
    "reserved",
    "active",
    "requested",
    "max_allocated",
    "max_reserved",
    "device_used",
    "device_total",
    "process_used",
    "retries",
    "ooms",
];
const AT: &[&str] = &["step", "micro", "phase", "module"];
const CALL: &[&str] = &[
    "api", "ptr", "size", "kind", "dev", "stream", "pool", "lib", "rc", "tid", "free", "total",
    "bt", "handle", "offset", "op", "name", "ctx",
];
const TENSORS: &[&str] = &["inputs", "outputs", "grads"];

/// The keys that a record of this kind may have; `None` for a kind that is not known.
pub(super) fn of(kind: &str) -> Option<[&'static [&'static str]; 3]> {
    const NONE: &[&str] = &[];
    Some(match kind {
        "header" | "update" => [HEADER, NONE, NONE],
        "sample" => [FIGURES, AT, &["edge", "dev", "note"]],
        "peak" => [AT, &["what", "bytes", "after", "before", "dev"], NONE],
        "oom" => [
            FIGURES,
            AT,
            &["source", "device_free", "message", "stack", "dev"],
        ],
        "inventory" => [AT, &["at", "items", "dev"], NONE],
        "live" => [FIGURES, &["by", "context", "dev"], NONE],
        "snapshot" => [AT, &["file", "reason"], NONE],
        "mark" => [AT, &["name"], NONE],
        "clock" => [&["realtime"], NONE, NONE],
        "drop" => [&["what", "count", "reason"], NONE, NONE],
        "overhead" => [
            &[
                "records",
                "native_ns",
                "hook_ns",
                "sample_records",
                "sample_ns",
                "module_records",
                "module_ns",
                "steps",
                "step_ns",
            ],
            NONE,
            NONE,
        ],
        "footer" => [&["reason", "error"], NONE, NONE],
        "module" => [
            FIGURES,
            AT,
            &[
                "edge",
                "call",
                "name",
                "class",
                "depth",
                "delta_allocated",
                "delta_reserved",
                "peak_rose",
                "inputs",
                "outputs",
                "dev",
                "tid",
            ],
        ],
        "grad" => [FIGURES, AT, const { &["name", "grads", "dev"] }],
        "alloc" | "free" | "create" | "release" | "map" | "unmap" | "pool" | "user" => {
            [CALL, AT, TENSORS]
        }
        _ => return None,
    })
}
