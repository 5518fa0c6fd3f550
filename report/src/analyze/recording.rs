//! What a recorder's own facts say: what recording cost, what is known by name, and several ranks
//! side by side.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::model::Rank;
use crate::model::recording::{Inventory, Item, Overhead, Recording};

/// What recording cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Of the steps' time, 0 to 1.
    pub share: Option<f64>,
    /// Time spent in hooks, by record written, ns.
    pub hook_ns_per_record: Option<f64>,
    /// Time spent writing, by record written, ns.
    pub native_ns_per_record: Option<f64>,
}

/// What recording cost; figures without a divisor are unknown.
#[must_use]
pub fn cost(overhead: &Overhead) -> Cost {
    let by = |sum: u64, n: u64| (n > 0).then(|| sum as f64 / n as f64);
    Cost {
        share: by(overhead.hook_ns, overhead.step_ns),
        hook_ns_per_record: by(overhead.hook_ns, overhead.records),
        native_ns_per_record: by(overhead.native_ns, overhead.records),
    }
}

/// The inventory that is shown: the last one taken at the peak or at an out-of-memory, else the last
/// one with anything in it.
#[must_use]
pub fn inventory(recording: &Recording) -> Option<&Inventory> {
    let mut all = recording
        .inventories
        .iter()
        .rev()
        .filter(|i| !i.items.is_empty());
    let special = all.clone().find(|i| i.at == "peak" || i.at == "oom");
    special.or_else(|| all.next())
}

/// Bytes of one kind, or of one kind in one module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// `parameter`, `gradient`, …
    pub kind: String,
    /// The module; empty for the whole kind.
    pub module: String,
    /// Bytes of storages, each counted once in the whole inventory. `None` when one is unknown.
    pub bytes: Option<u64>,
    /// Tensors.
    pub count: u64,
    /// Of them such whose storage is another's.
    pub shared: u64,
}

/// Sums by kind and, below each kind, by module: what stands before the last dot of the name.
#[must_use]
pub fn sums(inventory: &Inventory) -> Vec<Sum> {
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    let mut rows: BTreeMap<(usize, String), Sum> = BTreeMap::new();
    let mut kinds: Vec<&str> = Vec::new();
    for item in &inventory.items {
        let at = kinds
            .iter()
            .position(|k| *k == item.kind)
            .unwrap_or_else(|| {
                kinds.push(&item.kind);
                kinds.len() - 1
            });
        let shared =
            !item.storage.is_empty() && !seen.insert((item.device.as_str(), item.storage.as_str()));
        let bytes = if shared { Some(0) } else { size(item) };
        for module in ["", module(&item.name)] {
            let row = rows.entry((at, module.to_owned())).or_insert_with(|| Sum {
                kind: item.kind.clone(),
                module: module.to_owned(),
                bytes: Some(0),
                count: 0,
                shared: 0,
            });
            row.bytes = row.bytes.zip(bytes).map(|(a, b)| a.saturating_add(b));
            row.count += 1;
            row.shared += u64::from(shared);
            if module.is_empty() && self::module(&item.name).is_empty() {
                break;
            }
        }
    }
    rows.into_values().collect()
}

/// What a tensor takes: its storage where that is known.
#[must_use]
pub fn size(item: &Item) -> Option<u64> {
    item.storage_bytes.or(item.bytes)
}

/// `model.layers.0.weight` is of `model.layers.0`.
#[must_use]
pub fn module(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(module, _)| module)
}

/// The highest use of the device by all processes, bytes.
#[must_use]
pub fn device_peak(recording: &Recording) -> Option<u64> {
    let live = recording.driver.live.iter().filter_map(|l| l.device_used);
    let samples = recording.columns.device_used.iter().flatten().copied();
    live.chain(samples).max()
}

/// When a recording began and how long it lasted, and whose clock says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The host's boot.
    pub boot: String,
    /// Monotonic clock at the first record, ns.
    pub monotonic_ns: u64,
    /// Wall clock then, ns since 1970.
    pub realtime_ns: Option<u64>,
    /// Until the last record, ns.
    pub length_ns: Option<u64>,
    /// The highest use of the device by all processes, bytes.
    pub device_used: Option<u64>,
    /// Whether the recorder said that it was done.
    pub complete: bool,
}

impl Span {
    /// Of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        Self {
            boot: recording.process.boot.clone(),
            monotonic_ns: recording.clock.monotonic_ns,
            realtime_ns: recording.clock.realtime_ns,
            length_ns: recording.ending.time_ns,
            device_used: device_peak(recording),
            complete: recording.complete,
        }
    }
}

/// Where each recording begins on the axis of all, ns behind the first; `None` where no clock says.
/// One boot has one monotonic clock: among those the offsets are exact. Else wall clocks say, as well
/// as the hosts keep them.
#[must_use]
pub fn offsets(spans: &[Option<Span>]) -> Vec<Option<u64>> {
    let one = spans.iter().flatten().map(|s| s.boot.as_str());
    let mut boots: Vec<&str> = one.collect();
    boots.dedup();
    let exact = boots.len() == 1 && boots.first().is_some_and(|b| !b.is_empty());
    let begins: Vec<Option<u64>> = spans
        .iter()
        .map(|s| {
            let s = s.as_ref()?;
            if exact {
                Some(s.monotonic_ns)
            } else {
                s.realtime_ns
            }
        })
        .collect();
    let first = begins.iter().flatten().min().copied().unwrap_or(0);
    begins.into_iter().map(|b| Some(b? - first)).collect()
}

/// How ranks differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Imbalance {
    /// Row of the rank that peaks highest.
    pub highest: Option<u64>,
    /// Its peak allocated over that of the lowest.
    pub ratio: Option<f64>,
    /// Its peak allocated less that of the lowest, bytes.
    pub bytes: Option<u64>,
}

/// How peaks differ, of one rank each; unknown ones are passed over. Nothing for fewer than two.
#[must_use]
pub fn imbalance(peaks: &[Option<u64>]) -> Imbalance {
    let known = || {
        peaks
            .iter()
            .enumerate()
            .filter_map(|(i, p)| Some((i, (*p)?)))
    };
    // The first of equals.
    let highest = known().reduce(|a, b| if b.1 > a.1 { b } else { a });
    let lowest = known().map(|(_, p)| p).min();
    match (highest, lowest) {
        (Some((row, most)), Some(least)) if known().count() > 1 => Imbalance {
            highest: Some(row as u64),
            ratio: (least > 0).then(|| most as f64 / least as f64),
            bytes: Some(most - least),
        },
        _ => Imbalance::default(),
    }
}

/// What the machine-readable summary says of a recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// Whether the recorder said that it was done.
    pub complete: bool,
    /// How and where it ended.
    pub ending: crate::model::recording::Ending,
    /// Of the steps' time, 0 to 1, that recording took.
    pub overhead: Option<f64>,
    /// Time spent writing a record, ns.
    pub native_ns_per_record: Option<f64>,
    /// Requests that could not be met.
    pub ooms: Vec<crate::model::recording::Oom>,
    /// Records that were left out.
    pub dropped: Vec<crate::model::recording::Dropped>,
    /// Where figures came from.
    pub sources: Vec<crate::model::recording::SourceStatus>,
    /// What is known by name, summed.
    pub by_name: Vec<Sum>,
    /// The device's memory at its peak.
    pub device_at_peak: Option<super::driver::Split>,
    /// The device's memory at the end.
    pub device_at_end: Option<super::driver::Split>,
}

impl Told {
    /// Of a rank; `None` without a recording.
    #[must_use]
    pub fn of(rank: &Rank) -> Option<Self> {
        let r = rank.recording.as_ref()?;
        let cost = r.overhead.as_ref().map(cost);
        Some(Self {
            complete: r.complete,
            ending: r.ending.clone(),
            overhead: cost.and_then(|c| c.share),
            native_ns_per_record: cost.and_then(|c| c.native_ns_per_record),
            ooms: r.ooms.clone(),
            dropped: r.dropped.clone(),
            sources: r.sources.clone(),
            by_name: inventory(r).map(sums).unwrap_or_default(),
            device_at_peak: super::driver::peak(rank),
            device_at_end: super::driver::end(rank),
        })
    }
}
