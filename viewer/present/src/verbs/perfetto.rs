//! Traces for <https://ui.perfetto.dev> and `chrome://tracing`: Chrome's JSON trace format.

use std::io::{self, Write};

use report::analyze::snapshot::steps::Range;
use report::analyze::snapshot::{Analysis, Named};
use report::model::snapshot::{Action, TraceId};
use serde_json::json;

use super::title;
use crate::words::Lang;

/// Counters of requested, allocated and reserved bytes, annotations as slices, and out-of-memory
/// and other rare entries as marks.
///
/// Entries of the same microsecond are a nanosecond apart, so that their order and the true peak
/// stay. Without times (before torch 2.2) an entry takes a microsecond.
///
/// # Errors
/// What `out` reports.
pub fn perfetto(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let events = &a.snapshot().events;
    let times = Times::of(a);
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut first = true;
    let mut line = |text: &str| {
        out.write_all(if std::mem::take(&mut first) {
            b"\n"
        } else {
            b",\n"
        })?;
        out.write_all(text.as_bytes())
    };
    let name =
        json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": title(a, Lang::En)}});
    line(&name.to_string())?;
    for (ranges, lane) in lanes(a).into_iter().zip(1..) {
        let thread = json!({"ph": "M", "pid": 1, "tid": lane, "name": "thread_name",
            "args": {"name": if lane == 1 { "annotations".to_owned() } else { format!("annotations {lane}") }}});
        line(&thread.to_string())?;
        for r in ranges {
            let end = r.end_ns.unwrap_or(times.end).max(r.start_ns);
            let slice = json!({"ph": "X", "pid": 1, "tid": lane, "cat": "annotation",
                "name": a.strings().get(r.name)});
            let times = format!(
                "\"ts\":{},\"dur\":{}",
                micros(r.start_ns),
                micros(end - r.start_ns)
            );
            line(&with(&slice.to_string(), &times))?;
        }
    }
    let curves = [
        ("requested", &a.replay.requested),
        ("allocated", &a.replay.allocated),
        ("reserved", &a.replay.reserved),
    ];
    let mut last = [None; 3];
    for (i, (name, curve)) in curves.iter().enumerate() {
        if let Some(start) = times.start {
            line(&counter(name, start, curve.start))?;
            last[i] = Some(curve.start);
        }
    }
    for (n, row) in a.replay.events().enumerate() {
        let at = times.at(n);
        for (i, (name, curve)) in curves.iter().enumerate() {
            let value = curve.after.get(n).copied();
            if value != last[i]
                && let Some(value) = value
            {
                line(&counter(name, at, value))?;
                last[i] = Some(value);
            }
        }
        let r = events.row(row);
        let rare = matches!(
            r.action,
            Action::Oom | Action::Snapshot | Action::Annotate | Action::UserDefined
        );
        if rare {
            let id = TraceId(row as u32);
            let free = events.device_free.iter().find(|f| f.0 == id).map(|f| f.1);
            let mark = json!({"ph": "i", "s": "g", "pid": 1, "tid": 1, "cat": "allocator",
                "name": r.action.word(),
                "args": {"entry": a.name(Named::Event(id)), "size": r.size, "device_free": free,
                    "user_metadata": a.strings().get(r.user_metadata)}});
            line(&with(&mark.to_string(), &format!("\"ts\":{}", micros(at))))?;
        }
    }
    let about = json!({
        "exporter": concat!("memscope ", env!("CARGO_PKG_VERSION")),
        "source": a.rank.source.name,
        "time": if times.recorded { "microseconds since 1970" } else { "entries" },
    });
    writeln!(out, "\n],\"otherData\":{about}}}")
}

fn counter(name: &str, at: u64, value: u64) -> String {
    format!(
        "{{\"ph\":\"C\",\"pid\":1,\"name\":\"{name}\",\"ts\":{},\"args\":{{\"bytes\":{value}}}}}",
        micros(at)
    )
}

/// A JSON object with more in it: times are decimals that a float would round.
fn with(object: &str, more: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    format!("{open},{more}}}")
}

/// Nanoseconds as microseconds, exactly.
fn micros(ns: u64) -> String {
    match ns % 1000 {
        0 => (ns / 1000).to_string(),
        rest => format!("{}.{rest:03}", ns / 1000),
    }
}

/// A time for every entry, nanoseconds, none before the one before it.
struct Times {
    recorded: bool,
    ns: Vec<u64>,
    start: Option<u64>,
    end: u64,
}

impl Times {
    fn of(a: &Analysis) -> Self {
        let events = &a.snapshot().events;
        let mut ns: Vec<u64> = Vec::with_capacity(a.replay.events().len());
        let mut recorded = false;
        for (n, row) in a.replay.events().enumerate() {
            let time = events.time_ns.get(row);
            recorded |= time.is_some();
            let time = time.unwrap_or(n as u64 * 1000);
            // After more than a thousand entries of one microsecond the next ones come later, too.
            ns.push(ns.last().map_or(time, |&last| time.max(last + 1)));
        }
        Self {
            recorded,
            start: ns.first().copied(),
            end: ns.last().copied().unwrap_or(0),
            ns,
        }
    }

    fn at(&self, n: usize) -> u64 {
        self.ns.get(n).copied().unwrap_or(self.end)
    }
}

/// Ranges in lanes in which they nest: those of several threads may cross.
fn lanes(a: &Analysis) -> Vec<Vec<Range>> {
    let mut lanes: Vec<(Vec<Range>, Vec<u64>)> = Vec::new();
    for &range in a.ranges() {
        let end = range.end_ns.unwrap_or(u64::MAX);
        let fits = lanes.iter_mut().position(|(_, open)| {
            while open.last().is_some_and(|&e| e <= range.start_ns) {
                open.pop();
            }
            open.last().is_none_or(|&e| end <= e)
        });
        let at = fits.unwrap_or_else(|| {
            lanes.push((Vec::new(), Vec::new()));
            lanes.len() - 1
        });
        if let Some((ranges, open)) = lanes.get_mut(at) {
            ranges.push(range);
            open.push(end);
        }
    }
    lanes.into_iter().map(|(ranges, _)| ranges).collect()
}
