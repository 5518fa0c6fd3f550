//! What the device's memory is made of, as far as driver and allocator say:
//!
//! ```text
//! device used = allocator reserved + libraries + context + other processes + rest
//! ```
//!
//! A part that nobody stated is unknown, and then in `rest`; nothing is 0 for lack of a figure.

use serde::Serialize;

use crate::model::Rank;
use crate::model::recording::{Live, LiveBy, Recording};

/// A library of the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its file's name, else as the recorder calls it.
    pub lib: String,
    /// `device`, `pool`, `vmm`, `array`.
    pub kind: String,
    /// Bytes.
    pub bytes: u64,
    /// Allocations.
    pub count: Option<u64>,
}

/// The device's memory at one moment, bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Split {
    /// ns since the recording began.
    pub time_ns: u64,
    /// In use by all processes.
    pub device_used: Option<u64>,
    /// What the device has.
    pub device_total: Option<u64>,
    /// Held by the framework's allocator.
    pub reserved: Option<u64>,
    /// By library, largest first; the framework's allocator is not among them when `reserved` is known.
    pub libraries: Vec<Part>,
    /// The process's context.
    pub context: Option<u64>,
    /// In use by other processes.
    pub others: Option<u64>,
    /// What is left; negative when the parts were taken at different moments.
    pub rest: Option<i64>,
    /// Beyond the device: pinned host memory, and managed memory, whose place is not known.
    pub elsewhere: Vec<Part>,
}

/// Whether the library is the framework's own allocator, whose calls are what `reserved` says.
fn allocator(lib: &str) -> bool {
    lib.contains("c10_cuda") || lib.contains("pytorch allocator")
}

/// Whether memory of this kind is on the device.
fn on_device(kind: &str) -> bool {
    !matches!(kind, "pinned" | "managed")
}

/// The library without its folders.
fn base(lib: &str) -> &str {
    lib.rsplit('/').next().unwrap_or(lib)
}

/// Bytes of each library on the device at one moment: what the picture over time stacks. Where
/// `reserved` is known the allocator's own calls are left out.
fn parts(live: &Live, reserved: bool, device: bool) -> Vec<Part> {
    let mine = |b: &&LiveBy| on_device(&b.kind) == device && !(reserved && allocator(&b.lib));
    let mut out: Vec<Part> = Vec::new();
    for by in live.by.iter().filter(mine) {
        let lib = base(&by.lib);
        match out.iter_mut().find(|p| p.lib == lib && p.kind == by.kind) {
            Some(part) => {
                part.bytes = part.bytes.saturating_add(by.bytes);
                part.count = part.count.zip(by.count).map(|(a, b)| a.saturating_add(b));
            }
            None => out.push(Part {
                lib: lib.to_owned(),
                kind: by.kind.clone(),
                bytes: by.bytes,
                count: by.count,
            }),
        }
    }
    out.retain(|p| p.bytes > 0);
    out.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.lib.cmp(&b.lib)));
    out
}

/// The last value of a column at or before a time.
fn at_time(
    r: &Recording,
    time_ns: u64,
    value: impl Fn(usize) -> Option<u64>,
) -> Option<(u64, u64)> {
    let times = &r.columns.time_ns;
    let past = times.partition_point(|t| t.is_some_and(|t| t <= time_ns));
    (0..past.min(times.len()))
        .rev()
        .find_map(|i| Some((times.get(i).copied().flatten()?, value(i)?)))
}

/// What other processes use: the difference of two figures that were taken at the same moment, of the
/// last such moment. Of two moments it would be what this process got or gave back between them.
fn others(r: &Recording, live: usize, time_ns: u64) -> Option<u64> {
    let of = |device: Option<u64>, process: Option<u64>| device.zip(process);
    let told = r.driver.live.get(..live).unwrap_or(&[]).iter().rev();
    let told = told
        .into_iter()
        .find_map(|l| Some((l.time_ns, of(l.device_used, l.process_used)?)));
    let past = r
        .columns
        .time_ns
        .partition_point(|t| t.is_some_and(|t| t <= time_ns));
    let column = |c: &Vec<Option<u64>>, i: usize| c.get(i).copied().flatten();
    let sampled = (0..past).rev().find_map(|i| {
        let pair = of(
            column(&r.columns.device_used, i),
            column(&r.columns.process_used, i),
        )?;
        Some((r.columns.time_ns.get(i).copied().flatten()?, pair))
    });
    let (_, (device, process)) = match (told, sampled) {
        (Some(a), Some(b)) => {
            if a.0 >= b.0 {
                a
            } else {
                b
            }
        }
        (a, b) => a.or(b)?,
    };
    device.checked_sub(process)
}

/// The device's memory at a time; `None` for a rank without a recording.
#[must_use]
pub fn at(rank: &Rank, time_ns: u64) -> Option<Split> {
    let r = rank.recording.as_ref()?;
    let before = r.driver.live.partition_point(|l| l.time_ns <= time_ns);
    let live = before.checked_sub(1).and_then(|i| r.driver.live.get(i));
    let reserved = at_time(r, time_ns, |i| rank.events.reserved_after.get(i)).map(|(_, v)| v);
    let column = |c: &Vec<Option<u64>>| at_time(r, time_ns, |i| c.get(i).copied().flatten());
    // Of two figures the later one.
    let later = |own: Option<u64>, sampled: Option<(u64, u64)>| match (own, sampled) {
        (Some(own), Some((t, v))) => Some(if live.is_some_and(|l| l.time_ns >= t) {
            own
        } else {
            v
        }),
        (own, sampled) => own.or(sampled.map(|(_, v)| v)),
    };
    let device_used = later(
        live.and_then(|l| l.device_used),
        column(&r.columns.device_used),
    );
    let total = live.and_then(|l| l.device_total).or_else(|| {
        let device = r.devices.iter().find(|d| d.ordinal == r.device)?;
        device.total
    });
    let libraries = live.map_or_else(Vec::new, |l| parts(l, reserved.is_some(), true));
    let others = others(r, before, time_ns);
    let context = r.driver.live.iter().rev().find_map(|l| l.context);
    let known = [reserved, context, others].into_iter().flatten();
    let sum: u128 = known
        .chain(libraries.iter().map(|p| p.bytes))
        .map(u128::from)
        .sum();
    let rest = device_used
        .map(|used| super::narrow(i128::from(used) - i128::try_from(sum).unwrap_or(i128::MAX)));
    Some(Split {
        time_ns,
        device_used,
        device_total: total,
        reserved,
        libraries,
        context,
        others,
        rest,
        elsewhere: live.map_or_else(Vec::new, |l| parts(l, reserved.is_some(), false)),
    })
}

/// When something of the device's memory was written down, in order.
#[must_use]
pub fn moments(rank: &Rank) -> Vec<u64> {
    let Some(r) = &rank.recording else {
        return Vec::new();
    };
    let sampled = r.columns.time_ns.iter().zip(&r.columns.device_used);
    let sampled = sampled.filter_map(|(t, used)| used.and(*t));
    let mut out: Vec<u64> = r
        .driver
        .live
        .iter()
        .map(|l| l.time_ns)
        .chain(sampled)
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The moment at which most of the device was in use, the first of equals; where that is unknown the
/// one with most in libraries' hands.
#[must_use]
pub fn peak(rank: &Rank) -> Option<Split> {
    let r = rank.recording.as_ref()?;
    let live = |l: &Live| {
        (
            l.device_used,
            l.by.iter().map(|b| u128::from(b.bytes)).sum(),
        )
    };
    let mut best: Option<((Option<u64>, u128), u64)> = None;
    let sampled = r.columns.time_ns.iter().zip(&r.columns.device_used);
    let sampled = sampled.filter_map(|(t, used)| Some(((Some((*used)?), 0), (*t)?)));
    let all = r.driver.live.iter().map(|l| (live(l), l.time_ns));
    for (key, t) in all.chain(sampled) {
        let better =
            |b: &((Option<u64>, u128), u64)| (b.0.0, b.0.1) < key || (b.0 == key && t < b.1);
        if best.as_ref().is_none_or(better) {
            best = Some((key, t));
        }
    }
    at(rank, best?.1)
}

/// The last moment.
#[must_use]
pub fn end(rank: &Rank) -> Option<Split> {
    at(rank, *moments(rank).last()?)
}

/// Who a layer of [`Layers`] stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The framework's allocator.
    Reserved,
    /// A library.
    Library(String),
    /// Libraries beyond the first few.
    OtherLibraries,
    /// The process's context.
    Context,
    /// Other processes.
    Others,
    /// What nobody stated.
    Rest,
}

/// The device's memory over time, as layers that sum to what was in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    /// Moments, ns since the recording began.
    pub time_ns: Vec<u64>,
    /// Each layer with its bytes at each moment, from the bottom up.
    pub layers: Vec<(Layer, Vec<u64>)>,
}

/// Libraries with a layer of their own.
const OWN: usize = 6;

/// The layers at no more than `most` moments; of those that fall together the highest is kept.
#[must_use]
pub fn layers(rank: &Rank, most: usize) -> Layers {
    let all = moments(rank);
    let (Some(&first), Some(&last)) = (all.first(), all.last()) else {
        return Layers::default();
    };
    let span = u128::from(last - first) + 1;
    let bucket = |t: u64| u128::from(t - first) * most.max(1) as u128 / span;
    let height = |s: &Split| {
        let parts: u64 = s
            .libraries
            .iter()
            .map(|p| p.bytes)
            .fold(0, u64::saturating_add);
        s.device_used
            .unwrap_or(0)
            .max(parts.saturating_add(s.reserved.unwrap_or(0)))
    };
    let mut kept: Vec<Split> = Vec::new();
    for t in all {
        let Some(split) = at(rank, t) else { continue };
        match kept.last_mut() {
            Some(before) if bucket(before.time_ns) == bucket(t) => {
                if height(&split) > height(before) {
                    *before = split;
                }
            }
            _ => kept.push(split),
        }
    }
    let mut libs: Vec<(String, u64)> = Vec::new();
    for part in kept.iter().flat_map(|s| &s.libraries) {
        match libs.iter_mut().find(|l| l.0 == part.lib) {
            Some(lib) => lib.1 = lib.1.max(part.bytes),
            None => libs.push((part.lib.clone(), part.bytes)),
        }
    }
    libs.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    libs.truncate(OWN);
    let own = |lib: &str| libs.iter().any(|l| l.0 == lib);
    let of = |s: &Split, pick: &dyn Fn(&str) -> bool| {
        let parts = s.libraries.iter().filter(|p| pick(&p.lib));
        parts.map(|p| p.bytes).fold(0, u64::saturating_add)
    };
    let column = |f: &dyn Fn(&Split) -> u64| kept.iter().map(f).collect::<Vec<u64>>();
    let mut layers = vec![(Layer::Reserved, column(&|s| s.reserved.unwrap_or(0)))];
    for (lib, _) in &libs {
        let bytes = column(&|s| of(s, &|l| l == lib));
        layers.push((Layer::Library(lib.clone()), bytes));
    }
    layers.push((Layer::OtherLibraries, column(&|s| of(s, &|l| !own(l)))));
    layers.push((Layer::Context, column(&|s| s.context.unwrap_or(0))));
    layers.push((Layer::Others, column(&|s| s.others.unwrap_or(0))));
    let rest = |s: &Split| s.rest.and_then(|r| u64::try_from(r).ok()).unwrap_or(0);
    layers.push((Layer::Rest, column(&rest)));
    layers.retain(|(_, bytes)| bytes.iter().any(|&b| b > 0));
    Layers {
        time_ns: kept.iter().map(|s| s.time_ns).collect(),
        layers,
    }
}
