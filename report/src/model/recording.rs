//! What a recorder of MemScope knows beyond the public schema: the key `memscope` of
//! `runtime_report.json`, and one slab of a container.
//!
//! Times are ns since [`Clock::monotonic_ns`], so that they survive programs whose numbers end at 2^53.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of these names.
pub const VERSION: u32 = 1;

/// A recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recording {
    /// See [`VERSION`].
    pub version: u32,
    /// Whether the recorder said that it was done. One that did not, died.
    pub complete: bool,
    /// How and where it ended.
    pub ending: Ending,
    /// The process.
    pub process: Process,
    /// Where its times begin.
    pub clock: Clock,
    /// The devices that it saw.
    pub devices: Vec<Device>,
    /// The ordinal of the device that the rank uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u64>,
    /// Versions of torch, driver, CUDA and so on.
    pub versions: BTreeMap<String, String>,
    /// `backend` and `conf` of the allocator.
    pub allocator: BTreeMap<String, String>,
    /// Where figures came from, and why some did not.
    pub sources: Vec<SourceStatus>,
    /// What the recorder was told.
    pub settings: BTreeMap<String, String>,
    /// More of each event of `runtime_trace`.
    pub columns: Columns,
    /// Where the high-water marks rose.
    pub peaks: Vec<Rise>,
    /// Requests that could not be met.
    pub ooms: Vec<Oom>,
    /// What is known by name.
    pub inventories: Vec<Inventory>,
    /// The driver's view.
    pub driver: Driver,
    /// Memory snapshots that were written.
    pub snapshots: Vec<SnapshotFile>,
    /// Points that the user named.
    pub marks: Vec<Mark>,
    /// What the recorder left out.
    pub dropped: Vec<Dropped>,
    /// What recording cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// Other processes that left a journal for the same rank.
    pub others: Vec<Other>,
}

/// How a recording ended, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// `exit`, `exception`, `keyboard_interrupt`, `signal`; `None` for one that died.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The exception's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of the last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// When the last record was written, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// The last step that a record names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The last phase that a record names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The last boundary that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<String>,
    /// The innermost module that had begun and not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
}

/// The process that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    /// `memscope 0.1.0`.
    pub tool: String,
    /// Who wrote: `python`, `rust`, `c`, `driver`.
    pub writers: Vec<String>,
    /// The run's name; empty when it has none.
    pub run: String,
    /// The host's name.
    pub host: String,
    /// The host's boot: monotonic clocks of one boot are the same clock.
    pub boot: String,
    /// Number of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// Number of its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u64>,
    /// The command line.
    pub command: Vec<String>,
    /// Number in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Number on the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_rank: Option<u64>,
    /// Processes of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_size: Option<u64>,
    /// What said the rank: `RANK`, `SLURM_PROCID`, …
    pub rank_source: String,
}

/// The two clocks at one moment: the first record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// `CLOCK_MONOTONIC`, ns: what the recording's times count from.
    pub monotonic_ns: u64,
    /// `CLOCK_REALTIME` then, ns since 1970; `None` when no record said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime_ns: Option<u64>,
}

/// A device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Its number among those that the process saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
    /// `NVIDIA H200`.
    pub name: String,
    /// `GPU-…`.
    pub uuid: String,
    /// Bus address.
    pub pci: String,
    /// Its memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A source of figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceStatus {
    /// `torch_stats`, `cupti_callbacks`, …
    pub name: String,
    /// `active`, `unavailable`, `denied`, `degraded`.
    pub status: String,
    /// Why, when it is not active.
    pub reason: String,
}

/// More of each event: as many rows as `runtime_trace`, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Columns {
    /// When, ns.
    pub time_ns: Vec<Option<u64>>,
    /// In use on the device by all processes, bytes.
    pub device_used: Vec<Option<u64>>,
    /// In use on the device by this process, bytes.
    pub process_used: Vec<Option<u64>>,
    /// Bytes in active blocks.
    pub active: Vec<Option<u64>>,
    /// Bytes that were asked for.
    pub requested: Vec<Option<u64>>,
    /// Allocation retries so far.
    pub retries: Vec<Option<u64>>,
    /// Failed requests so far.
    pub ooms: Vec<Option<u64>>,
    /// Micro-batch within the step.
    pub micro: Vec<Option<u64>>,
}

impl Columns {
    /// Every column with its name.
    pub fn each(&mut self) -> [&mut Vec<Option<u64>>; 8] {
        [
            &mut self.time_ns,
            &mut self.device_used,
            &mut self.process_used,
            &mut self.active,
            &mut self.requested,
            &mut self.retries,
            &mut self.ooms,
            &mut self.micro,
        ]
    }

    /// Appends the row of an event, in the order of the fields.
    pub fn push(&mut self, row: [Option<u64>; 8]) {
        for (column, value) in self.each().into_iter().zip(row) {
            column.push(value);
        }
    }
}

/// A high-water mark rose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rise {
    /// When, ns.
    pub time_ns: u64,
    /// `allocated` or `reserved`.
    pub what: String,
    /// To this, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// In this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// In this phase.
    pub phase: String,
    /// In this module.
    pub module: String,
    /// Behind this boundary.
    pub after: String,
    /// Ahead of this one.
    pub before: String,
}

/// A request that could not be met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Oom {
    /// When, ns.
    pub time_ns: u64,
    /// `torch`, `driver` or `user`.
    pub source: String,
    /// Asked for, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<u64>,
    /// Free on the device, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_free: Option<u64>,
    /// The device has, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_total: Option<u64>,
    /// Allocated then, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated: Option<u64>,
    /// Reserved then, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u64>,
    /// Step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Phase.
    pub phase: String,
    /// Module.
    pub module: String,
    /// What the allocator said.
    pub message: String,
    /// Where, innermost first.
    pub stack: Vec<String>,
}

/// What is known by name at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// When, ns.
    pub time_ns: u64,
    /// An edge, `oom` or `peak`.
    pub at: String,
    /// Step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// The tensors.
    pub items: Vec<Item>,
}

/// A tensor with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    /// `parameter`, `gradient`, `optimizer_state`, `buffer`, `input`.
    pub kind: String,
    /// Dotted name.
    pub name: String,
    /// `float32`, …
    pub dtype: String,
    /// Sizes of its dimensions.
    pub shape: Vec<i64>,
    /// `cuda:0`, `cpu`.
    pub device: String,
    /// Bytes of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Address of the storage, `0x…`; empty when unknown.
    pub storage: String,
    /// Bytes of the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_bytes: Option<u64>,
    /// Which state of the optimizer: `exp_avg`.
    pub state: String,
    /// Whether autograd tracks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_grad: Option<bool>,
}

/// What the driver gave to the process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Driver {
    /// Sums over time.
    pub live: Vec<Live>,
    /// Calls, as columns.
    pub events: DriverEvents,
}

/// What stood at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Live {
    /// When, ns.
    pub time_ns: u64,
    /// By who asked and what for.
    pub by: Vec<LiveBy>,
    /// In use on the device by all processes, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_used: Option<u64>,
    /// The device has, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_total: Option<u64>,
    /// In use on the device by this process, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_used: Option<u64>,
    /// Lost to the process's context, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

/// A part of [`Live`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveBy {
    /// The library that asked.
    pub lib: String,
    /// `device`, `pool`, `vmm`, `pinned`, `managed`, `array`.
    pub kind: String,
    /// Bytes.
    pub bytes: u64,
    /// Allocations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Calls of the driver, one row each. Texts are numbers of rows of `texts`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriverEvents {
    /// The texts; the first is empty.
    pub texts: Vec<String>,
    /// When, ns.
    pub time_ns: Vec<u64>,
    /// `alloc`, `free`, `create`, `release`, `map`, `unmap`, `pool`, `user`.
    pub op: Vec<u32>,
    /// The function, or `op` of `pool` and `user`.
    pub api: Vec<u32>,
    /// Address or handle.
    pub ptr: Vec<u32>,
    /// Bytes.
    pub size: Vec<Option<u64>>,
    /// Kind of memory.
    pub kind: Vec<u32>,
    /// Who asked.
    pub lib: Vec<u32>,
    /// Stream.
    pub stream: Vec<u32>,
    /// `CUresult`.
    pub rc: Vec<Option<u64>>,
    /// Backtrace, innermost first: `lib+0xoffset;…`.
    pub stack: Vec<u32>,
}

/// A memory snapshot that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotFile {
    /// When, ns.
    pub time_ns: u64,
    /// Relative to the rank's folder.
    pub file: String,
    /// `oom`, `peak`, `step`, `manual`.
    pub reason: String,
    /// Step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
}

/// A point that the user named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// When, ns.
    pub time_ns: u64,
    /// Its name.
    pub name: String,
    /// Step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Phase.
    pub phase: String,
}

/// Records that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dropped {
    /// Kind of record.
    pub what: String,
    /// How many; `None` when the recorder could not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Why.
    pub reason: String,
}

/// What recording cost, over all writers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overhead {
    /// Records written.
    pub records: u64,
    /// Time spent writing them, ns.
    pub native_ns: u64,
    /// Time spent in hooks, ns, writing included.
    pub hook_ns: u64,
    /// Steps that ended.
    pub steps: u64,
    /// Wall time of those steps, ns.
    pub step_ns: u64,
}

/// Another process that left a journal for the same rank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Other {
    /// Its host.
    pub host: String,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// Whether it ended by itself.
    pub complete: bool,
    /// Events that it left.
    pub events: u64,
}
