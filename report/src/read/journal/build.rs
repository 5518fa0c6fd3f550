//! From records to a rank.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};

use super::events::{Tables, shape};
use super::keys;
use super::line::{Record, number, some, text};
use crate::model::recording::{
    Device, Dropped, Ending, Inventory, Item, Live, LiveBy, Mark, Oom, Overhead, Recording, Rise,
    SnapshotFile, SourceStatus, VERSION,
};
use crate::model::{Events, Metadata, Rank, RecordedPeak, Skipped, Value as Fact};

/// Events of `top_events`, as the public MemScope has them.
const TOP: usize = 20;

/// What is being filled.
#[derive(Default)]
pub(super) struct Build {
    tables: Tables,
    events: Events,
    recording: Recording,
    metadata: Metadata,
    pub skipped: Skipped,
    /// Records so far.
    pub records: u64,
    /// Offset of the last record, for messages.
    pub read: u64,
    base: Option<u64>,
    /// Modules that began: call, name, allocated and reserved then.
    open: Vec<(Option<u64>, String, [Option<u64>; 2])>,
    /// The last `overhead` of each writer.
    overhead: BTreeMap<String, Overhead>,
    /// The writers that said how they ended.
    footers: Vec<String>,
    /// Rows of the driver's texts.
    texts: HashMap<String, u32, FxBuildHasher>,
}

impl Build {
    /// Takes a record in.
    pub fn record(&mut self, file_writer: &str, record: &Record) {
        let Some(known) = keys::of(&record.kind) else {
            let kind: String = record.kind.chars().take(60).collect();
            self.skipped
                .count(&format!("record of unknown kind {kind}"), record.offset);
            return;
        };
        for key in record.keys.keys() {
            if !known.iter().any(|k| k.contains(&key.as_str())) {
                let key: String = key.chars().take(60).collect();
                let what = format!("unknown key {key} of a {}", record.kind);
                self.skipped.count(&what, record.offset);
            }
        }
        self.records += 1;
        self.read = record.offset;
        let t = record.t.unwrap_or(0);
        let base = *self.base.get_or_insert(t);
        let now = t.saturating_sub(base);
        self.recording.ending.last_seq = record.seq;
        self.recording.ending.time_ns = Some(now);
        if let Some(step) = record.signed("step") {
            self.recording.ending.step = Some(step);
        }
        if let Some(phase) = record.some("phase") {
            self.recording.ending.phase = Some(phase);
        }
        match record.kind.as_str() {
            "header" | "update" => self.header(record, now),
            "sample" => {
                self.recording.ending.edge = record.some("edge");
                let row = self.tables.sample(record);
                self.push(&row, record, now);
            }
            "module" => self.module(record, now),
            "grad" => {
                let row = self.tables.grad(record);
                self.push(&row, record, now);
            }
            "oom" => self.oom(record, now),
            "peak" => self.recording.peaks.push(Rise {
                time_ns: now,
                what: record.text("what").to_owned(),
                bytes: record.number("bytes"),
                step: record.signed("step"),
                phase: record.text("phase").to_owned(),
                module: record.text("module").to_owned(),
                after: record.text("after").to_owned(),
                before: record.text("before").to_owned(),
            }),
            "inventory" => self.recording.inventories.push(Inventory {
                time_ns: now,
                at: record.text("at").to_owned(),
                step: record.signed("step"),
                items: record.objects("items").map(item).collect(),
            }),
            "live" => self.recording.driver.live.push(live(record, now)),
            "snapshot" => self.recording.snapshots.push(SnapshotFile {
                time_ns: now,
                file: record.text("file").to_owned(),
                reason: record.text("reason").to_owned(),
                step: record.signed("step"),
            }),
            "mark" => self.recording.marks.push(Mark {
                time_ns: now,
                name: record.text("name").to_owned(),
                step: record.signed("step"),
                phase: record.text("phase").to_owned(),
            }),
            "drop" => self.dropped(record),
            "overhead" => self.cost(file_writer, record),
            "footer" => self.footer(file_writer, record),
            "clock" => {}
            _ => self.call(record, now),
        }
    }

    fn push(&mut self, row: &crate::model::EventRow, record: &Record, now: u64) {
        self.events.push(row);
        self.recording.columns.push([
            Some(now),
            record.number("device_used"),
            record.number("process_used"),
            record.number("active"),
            record.number("requested"),
            record.number("retries"),
            record.number("ooms"),
            record.number("micro"),
        ]);
    }

    fn module(&mut self, record: &Record, now: u64) {
        let call = record.number("call");
        let figures = [record.number("allocated"), record.number("reserved")];
        let mut before = [None; 2];
        if record.text("edge") == "pre" {
            self.open
                .push((call, record.text("name").to_owned(), figures));
        } else {
            let same = |o: &(Option<u64>, String, _)| match call {
                Some(_) => o.0 == call,
                None => o.1 == record.text("name"),
            };
            if let Some(at) = self.open.iter().rposition(same) {
                before = self.open.remove(at).2;
            }
        }
        let row = self.tables.module(record, before);
        self.push(&row, record, now);
    }

    fn oom(&mut self, record: &Record, now: u64) {
        let stack = record.keys.get("stack").and_then(Value::as_array);
        self.recording.ooms.push(Oom {
            time_ns: now,
            source: record.text("source").to_owned(),
            requested: record.number("requested"),
            device_free: record.number("device_free"),
            device_total: record.number("device_total"),
            allocated: record.number("allocated"),
            reserved: record.number("reserved"),
            step: record.signed("step"),
            phase: record.text("phase").to_owned(),
            module: record.text("module").to_owned(),
            message: record.text("message").to_owned(),
            stack: stack
                .into_iter()
                .flatten()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect(),
        });
        // The driver's own refusals are not moments of the allocator's curve.
        if record.number("allocated").is_some() {
            let row = self.tables.oom(record);
            self.push(&row, record, now);
        }
    }

    fn header(&mut self, record: &Record, now: u64) {
        let r = &mut self.recording;
        let p = &mut r.process;
        for (key, to) in [
            ("tool", &mut p.tool),
            ("run", &mut p.run),
            ("host", &mut p.host),
            ("boot", &mut p.boot),
            ("rank_source", &mut p.rank_source),
        ] {
            if let Some(text) = record.some(key) {
                *to = text;
            }
        }
        for (key, to) in [
            ("pid", &mut p.pid),
            ("ppid", &mut p.ppid),
            ("rank", &mut p.rank),
            ("local_rank", &mut p.local_rank),
            ("world_size", &mut p.world_size),
            ("device", &mut r.device),
        ] {
            *to = record.number(key).or(*to);
        }
        if let Some(writer) = record.some("writer")
            && !p.writers.contains(&writer)
        {
            p.writers.push(writer);
        }
        if let Some(command) = record.keys.get("command").and_then(Value::as_array) {
            let words = command.iter().filter_map(|v| v.as_str());
            p.command = words.map(str::to_owned).collect();
        }
        if r.clock.realtime_ns.is_none() {
            let realtime = record.number("realtime");
            r.clock.realtime_ns = realtime.and_then(|wall| wall.checked_sub(now));
        }
        if record.keys.contains_key("devices") {
            r.devices = record.objects("devices").map(device).collect();
        }
        for source in record.objects("sources") {
            let source = SourceStatus {
                name: text(source, "name").to_owned(),
                status: text(source, "status").to_owned(),
                reason: text(source, "reason").to_owned(),
            };
            match r.sources.iter_mut().find(|s| s.name == source.name) {
                Some(old) => *old = source,
                None => r.sources.push(source),
            }
        }
        texts(&record.keys, "versions", &mut r.versions);
        texts(&record.keys, "allocator", &mut r.allocator);
        texts(&record.keys, "settings", &mut r.settings);
        if let Some(facts) = record.keys.get("metadata").and_then(Value::as_object) {
            for (key, value) in facts {
                self.metadata.set(key.clone(), fact(value));
            }
        }
    }

    fn dropped(&mut self, record: &Record) {
        let (what, reason) = (record.text("what"), record.text("reason"));
        let count = record.number("count");
        let all = &mut self.recording.dropped;
        match all
            .iter_mut()
            .find(|d| d.what == what && d.reason == reason)
        {
            Some(old) => {
                old.count = old.count.zip(count).map(|(a, b)| a.saturating_add(b));
            }
            None => all.push(Dropped {
                what: what.to_owned(),
                count,
                reason: reason.to_owned(),
            }),
        }
    }

    fn cost(&mut self, writer: &str, record: &Record) {
        let figure = |key| record.number(key).unwrap_or(0);
        let cost = Overhead {
            records: figure("records"),
            native_ns: figure("native_ns"),
            hook_ns: figure("hook_ns"),
            steps: figure("steps"),
            step_ns: figure("step_ns"),
        };
        self.overhead.insert(writer.to_owned(), cost);
    }

    fn footer(&mut self, writer: &str, record: &Record) {
        // How the program ended is known to the one inside of it, not to the driver's library.
        let inside = writer != "driver";
        if inside || self.footers.is_empty() {
            let ending = &mut self.recording.ending;
            ending.reason = record.some("reason");
            ending.error = record.some("error");
        }
        self.footers.push(writer.to_owned());
    }

    fn row(&mut self, text: &str) -> u32 {
        if let Some(&row) = self.texts.get(text) {
            return row;
        }
        let all = &mut self.recording.driver.events.texts;
        let row = u32::try_from(all.len()).unwrap_or(0);
        all.push(text.to_owned());
        self.texts.insert(text.to_owned(), row);
        row
    }

    /// A call of the driver.
    fn call(&mut self, record: &Record, now: u64) {
        // The first text is the empty one.
        self.row("");
        let first = |keys: [&'static str; 2]| {
            let found = keys.into_iter().find_map(|k| record.some(k));
            found.unwrap_or_default()
        };
        let rows = [
            record.kind.clone(),
            first(["api", "op"]),
            first(["ptr", "handle"]),
            first(["kind", "name"]),
            record.text("lib").to_owned(),
            record.text("stream").to_owned(),
            backtrace(record),
        ]
        .map(|text| self.row(&text));
        let e = &mut self.recording.driver.events;
        e.time_ns.push(now);
        e.op.push(rows[0]);
        e.api.push(rows[1]);
        e.ptr.push(rows[2]);
        e.kind.push(rows[3]);
        e.lib.push(rows[4]);
        e.stream.push(rows[5]);
        e.stack.push(rows[6]);
        e.size.push(record.number("size"));
        e.rc.push(record.number("rc"));
    }

    /// Numbers that no record had, but for those that the recorder said it left out.
    pub fn missing(&mut self, count: u64, at: u64) {
        let told = self.recording.dropped.iter();
        let told = told
            .filter(|d| d.reason == "size limit")
            .filter_map(|d| d.count)
            .fold(0, u64::saturating_add);
        let lost = count.saturating_sub(told);
        self.skipped
            .count_many("record that is missing: a gap in the numbers", lost, at);
    }

    /// The rank.
    pub fn finish(mut self) -> Rank {
        let r = &mut self.recording;
        r.version = VERSION;
        r.clock.monotonic_ns = self.base.unwrap_or(0);
        let inside = r.process.writers.iter().any(|w| w != "driver");
        r.complete = self.footers.iter().any(|w| w != "driver" || !inside);
        if r.complete {
            r.ending.module = None;
        } else {
            let Ending { reason, error, .. } = &mut r.ending;
            (*reason, *error) = (None, None);
            r.ending.module = self.open.last().map(|o| o.1.clone());
        }
        r.overhead = sum(self.overhead.values());
        facts(&mut self.metadata, r);
        if self.tables.full {
            self.skipped
                .count("text beyond 1 GiB of distinct text", self.read);
        }
        let mut rank = Rank {
            metadata: self.metadata,
            recorded_peak: peak(&self.events, &self.tables),
            recorded_top: top(&self.events),
            events: self.events,
            skipped: self.skipped,
            recording: Some(self.recording),
            ..Rank::default()
        };
        if let Some(bytes) = rank.recorded_peak.as_ref().and_then(|p| p.memory_bytes) {
            let key = "runtime_peak_memory_bytes".to_owned();
            rank.comparisons.set(key, Fact::Float(bytes as f64));
        }
        (rank.strings, rank.tensors) = self.tables.finish();
        rank
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Overhead>) -> Option<Overhead> {
    all.copied().reduce(|a, b| Overhead {
        records: a.records.saturating_add(b.records),
        native_ns: a.native_ns.saturating_add(b.native_ns),
        hook_ns: a.hook_ns.saturating_add(b.hook_ns),
        // Steps are those of one clock: the writers saw the same ones.
        steps: a.steps.max(b.steps),
        step_ns: a.step_ns.max(b.step_ns),
    })
}

/// The facts that the public schema has, where the recorder's own words do not have them.
fn facts(metadata: &mut Metadata, r: &Recording) {
    let device = r.device.map(|d| format!("cuda:{d}"));
    let named = r.device.and_then(|d| {
        let found = r.devices.iter().find(|x| x.ordinal == Some(d))?;
        Some(found.name.clone()).filter(|n| !n.is_empty())
    });
    for (key, value) in [
        ("mode", Some("runtime".to_owned())),
        ("rank", r.process.rank.map(|n| n.to_string())),
        ("world_size", r.process.world_size.map(|n| n.to_string())),
        ("device", device),
        ("device_name", named),
    ] {
        if let Some(value) = value
            && metadata.get(key).is_none()
        {
            metadata.set(key.to_owned(), Fact::Text(value));
        }
    }
}

/// What the public MemScope calls the peak: the highest allocated after an event, the first of equals.
fn peak(events: &Events, tables: &Tables) -> Option<RecordedPeak> {
    let most = (0..events.len())
        .rev()
        .filter(|&i| events.allocated_after.get(i).is_some())
        .max_by_key(|&i| events.allocated_after.get(i))?;
    let row = events.row(most);
    let text = |id| Some(tables.strings.table().get(id).to_owned());
    Some(RecordedPeak {
        phase: text(row.phase),
        module: text(row.module),
        step: row.step,
        memory_bytes: row.allocated_after,
        reserved_bytes: row.reserved_after,
    })
}

/// The events with most allocated, the earlier of equals first.
fn top(events: &Events) -> Events {
    let mut order: Vec<usize> = (0..events.len())
        .filter(|&i| events.allocated_after.get(i).is_some())
        .collect();
    order.sort_by_key(|&i| std::cmp::Reverse(events.allocated_after.get(i)));
    let mut out = Events::default();
    for i in order.into_iter().take(TOP) {
        out.push(&events.row(i));
    }
    out
}

fn device(keys: &Map<String, Value>) -> Device {
    Device {
        ordinal: number(keys, "ordinal"),
        name: text(keys, "name").to_owned(),
        uuid: text(keys, "uuid").to_owned(),
        pci: text(keys, "pci").to_owned(),
        total: number(keys, "total"),
    }
}

fn item(keys: &Map<String, Value>) -> Item {
    Item {
        kind: text(keys, "kind").to_owned(),
        name: text(keys, "name").to_owned(),
        dtype: text(keys, "dtype").to_owned(),
        shape: shape(keys),
        device: text(keys, "device").to_owned(),
        bytes: number(keys, "bytes"),
        storage: some(keys, "storage").unwrap_or_default(),
        storage_bytes: number(keys, "storage_bytes"),
        state: text(keys, "state").to_owned(),
        requires_grad: keys.get("requires_grad").and_then(Value::as_bool),
    }
}

fn live(record: &Record, now: u64) -> Live {
    let by = record.objects("by").filter_map(|keys| {
        Some(LiveBy {
            lib: text(keys, "lib").to_owned(),
            kind: text(keys, "kind").to_owned(),
            bytes: number(keys, "bytes")?,
            count: number(keys, "count"),
        })
    });
    Live {
        time_ns: now,
        by: by.collect(),
        device_used: record.number("device_used"),
        device_total: record.number("device_total"),
        process_used: record.number("process_used"),
        context: record.number("context"),
    }
}

/// `[[library, "0xoffset"], …]` as one text.
fn backtrace(record: &Record) -> String {
    let frames = record.keys.get("bt").and_then(Value::as_array);
    let frame = |f: &Value| {
        let words = f.as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        words.join("+")
    };
    let all: Vec<String> = frames.into_iter().flatten().map(frame).collect();
    all.join(";")
}

fn texts(keys: &Map<String, Value>, key: &str, to: &mut BTreeMap<String, String>) {
    for (name, value) in keys
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        match value {
            Value::Null => {}
            Value::String(text) => drop(to.insert(name.clone(), text.clone())),
            other => drop(to.insert(name.clone(), other.to_string())),
        }
    }
}

fn fact(value: &Value) -> Fact {
    match value {
        Value::Null => Fact::Null,
        Value::Bool(b) => Fact::Bool(*b),
        Value::String(text) => Fact::Text(text.clone()),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Fact::Int(i),
            (None, Some(f)) => Fact::Float(f),
            _ => Fact::Text(n.to_string()),
        },
        other => Fact::Json(other.to_string()),
    }
}
