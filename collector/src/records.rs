//! The kinds of records of `docs/journal.md`, typed: what the recorder, the Python package and the
//! library that the driver loads all write.

use crate::figures::Figures;
use crate::journal::{Journal, Line, Weight, clock, quote};
use crate::place::Place;

/// The version of the journal's format.
pub const VERSION: u64 = 1;

/// A device as the driver names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Its number among those that the process sees.
    pub ordinal: u64,
    /// `NVIDIA H200`.
    pub name: String,
    /// `GPU-…`; empty when unknown.
    pub uuid: String,
    /// Its memory in bytes.
    pub total: Option<u64>,
}

/// Whether a source of figures works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// `torch_stats`, `torch_history`, `cupti_callbacks`, `poll`, `cuda_pool`, …
    pub name: &'static str,
    /// See [`Status`].
    pub status: Status,
    /// Why it does not, in a sentence; empty when it does.
    pub reason: String,
}

/// How a source of figures stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It works.
    Active,
    /// It is not there.
    Unavailable,
    /// It is there and held by another tool, or forbidden.
    Denied,
    /// It gives less than it should.
    Degraded,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Unavailable => "unavailable",
            Self::Denied => "denied",
            Self::Degraded => "degraded",
        }
    }
}

/// Where in a run something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct At<'a> {
    /// Step, from 0; `None` before the first.
    pub step: Option<u64>,
    /// Micro-batch within the step.
    pub micro: Option<u64>,
    /// `forward`, `backward`, `optimizer`, … or what the user named.
    pub phase: &'a str,
    /// Dotted path of the module.
    pub module: &'a str,
}

impl Line {
    /// The keys of an [`At`].
    #[must_use]
    pub fn at(self, at: &At<'_>) -> Self {
        self.number("step", at.step)
            .number("micro", at.micro)
            .text("phase", at.phase)
            .text("module", at.module)
    }

    /// The keys of [`Figures`].
    #[must_use]
    pub fn figures(self, f: &Figures) -> Self {
        self.number("allocated", f.allocated)
            .number("reserved", f.reserved)
            .number("active", f.active)
            .number("requested", f.requested)
            .number("max_allocated", f.max_allocated)
            .number("max_reserved", f.max_reserved)
            .number("device_used", f.device_used)
            .number("device_total", f.device_total)
            .number("process_used", f.process_used)
            .number("retries", f.retries)
            .number("ooms", f.ooms)
    }
}

/// A JSON list of texts.
#[must_use]
pub fn texts<S: AsRef<str>>(list: impl IntoIterator<Item = S>) -> String {
    let mut out = vec![b'['];
    for text in list {
        if out.len() > 1 {
            out.push(b',');
        }
        quote(&mut out, text.as_ref());
    }
    out.push(b']');
    String::from_utf8_lossy(&out).into_owned()
}

/// A JSON object of texts.
#[must_use]
pub fn object<K: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (K, V)>) -> String {
    let mut out = vec![b'{'];
    for (key, value) in pairs {
        if out.len() > 1 {
            out.push(b',');
        }
        quote(&mut out, key.as_ref());
        out.push(b':');
        quote(&mut out, value.as_ref());
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

/// A JSON list of sources.
#[must_use]
pub fn sources(list: &[Source]) -> String {
    list_of(list.iter().map(|source| {
        object([
            ("name", source.name),
            ("status", source.status.word()),
            ("reason", source.reason.as_str()),
        ])
    }))
}

/// A JSON list of devices.
#[must_use]
pub fn devices(list: &[Device]) -> String {
    list_of(list.iter().map(|device| {
        let mut out = format!("{{\"ordinal\":{}", device.ordinal).into_bytes();
        for (key, value) in [("name", &device.name), ("uuid", &device.uuid)] {
            if !value.is_empty() {
                out.extend_from_slice(format!(",\"{key}\":").as_bytes());
                quote(&mut out, value);
            }
        }
        if let Some(total) = device.total {
            out.extend_from_slice(format!(",\"total\":{total}").as_bytes());
        }
        out.push(b'}');
        String::from_utf8_lossy(&out).into_owned()
    }))
}

fn list_of(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

impl Journal {
    /// The first record: whose journal this is. Everything else about the process may follow in an
    /// `update`, which has the same keys.
    pub fn header(&self, place: &Place, writer: &str) {
        let line = Line::new("header")
            .number("v", Some(VERSION))
            .text("tool", concat!("memscope ", env!("CARGO_PKG_VERSION")))
            .text("writer", writer)
            .text("run", &place.run)
            .text("host", &place.host)
            .text("boot", &boot_id())
            .number("pid", Some(u64::from(std::process::id())))
            .number("ppid", Some(parent()))
            .json("command", &texts(command()))
            .number("realtime", Some(clock::realtime()))
            .number("rank", Some(u64::from(place.rank.rank)))
            .number("local_rank", place.rank.local.map(u64::from))
            .number("world_size", place.rank.world.map(u64::from))
            .text("rank_source", &place.rank.source);
        self.write(Weight::Essential, &line);
    }

    /// Figures at a boundary (`edge`) of the run, with what the recorder noticed there.
    pub fn sample(&self, at: &At<'_>, edge: &str, device: Option<u64>, f: &Figures, note: &str) {
        let line = Line::new("sample")
            .at(at)
            .text("edge", edge)
            .number("dev", device)
            .figures(f)
            .text("note", note);
        self.write(Weight::Step(at.step.unwrap_or(0)), &line);
    }

    /// A high-water mark (`what`: `allocated`, `reserved`) rose between two edges.
    pub fn peak(&self, what: &str, bytes: u64, at: &At<'_>, after: &str, before: &str) {
        let line = Line::new("peak")
            .text("what", what)
            .number("bytes", Some(bytes))
            .at(at)
            .text("after", after)
            .text("before", before);
        self.write(Weight::Essential, &line);
    }

    /// A request could not be met. Synced to disk.
    pub fn oom(&self, source: &str, oom: &Oom<'_>, at: &At<'_>) {
        let line = Line::new("oom")
            .text("source", source)
            .number("requested", oom.requested)
            .number("device_free", oom.device_free)
            .number("device_total", oom.device_total)
            .number("allocated", oom.allocated)
            .number("reserved", oom.reserved)
            .at(at)
            .text("message", oom.message)
            .json("stack", &texts(oom.stack));
        self.write(Weight::Essential, &line);
        self.sync();
    }

    /// What recording cost so far.
    pub fn overhead(&self, overhead: &Overhead, last: bool) {
        let line = Line::new("overhead")
            .number("records", Some(overhead.records))
            .number("native_ns", Some(overhead.native_ns))
            .number("hook_ns", Some(overhead.hook_ns))
            .number("sample_records", overhead.samples.map(|c| c.records))
            .number("sample_ns", overhead.samples.map(|c| c.ns))
            .number("module_records", overhead.modules.map(|c| c.records))
            .number("module_ns", overhead.modules.map(|c| c.ns))
            .number("steps", Some(overhead.steps))
            .number("step_ns", Some(overhead.step_ns));
        let weight = if last {
            Weight::Essential
        } else {
            Weight::Periodic
        };
        self.write(weight, &line);
    }

    /// A point that the user named.
    pub fn mark(&self, name: &str, at: &At<'_>) {
        self.write(
            Weight::Periodic,
            &Line::new("mark").text("name", name).at(at),
        );
    }

    /// The wall clock again: shows where it was set.
    pub fn clock(&self) {
        let line = Line::new("clock").number("realtime", Some(clock::realtime()));
        self.write(Weight::Periodic, &line);
    }

    /// A memory snapshot was written beside (`file`, relative to the rank's folder).
    pub fn snapshot(&self, file: &str, reason: &str, step: Option<u64>) {
        let line = Line::new("snapshot")
            .text("file", file)
            .text("reason", reason)
            .number("step", step);
        self.write(Weight::Essential, &line);
    }

    /// The last record. `reason`: `exit`, `exception`, `keyboard_interrupt`, `signal`.
    pub fn footer(&self, reason: &str, error: &str) {
        self.sync();
        let line = Line::new("footer")
            .text("reason", reason)
            .text("error", error);
        self.write(Weight::Essential, &line);
        self.sync();
    }
}

/// What is known of a request that could not be met. Bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Oom<'a> {
    /// What was asked for.
    pub requested: Option<u64>,
    /// What the device had free.
    pub device_free: Option<u64>,
    /// What the device has.
    pub device_total: Option<u64>,
    /// What the allocator had given out.
    pub allocated: Option<u64>,
    /// What the allocator held.
    pub reserved: Option<u64>,
    /// What the allocator said.
    pub message: &'a str,
    /// Where it was asked for, innermost first.
    pub stack: &'a [String],
}

/// Records of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// How many were written.
    pub records: u64,
    /// Time spent writing them, ns.
    pub ns: u64,
}

/// What recording cost: cumulative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Records written.
    pub records: u64,
    /// Time spent writing them, ns.
    pub native_ns: u64,
    /// Time spent in hooks, ns, writing included.
    pub hook_ns: u64,
    /// Samples among the records; `None` where they are not told apart.
    pub samples: Option<Cost>,
    /// Records of modules among them; `None` where they are not told apart.
    pub modules: Option<Cost>,
    /// Steps that ended.
    pub steps: u64,
    /// Wall time of those steps, ns.
    pub step_ns: u64,
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

fn parent() -> u64 {
    rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get() as u64)
}

/// The command line, at most 64 arguments of at most 512 characters.
fn command() -> Vec<String> {
    let shorten = |a: std::ffi::OsString| a.to_string_lossy().chars().take(512).collect();
    std::env::args_os().take(64).map(shorten).collect()
}
