//! What PyTorch's profiler writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use report::analyze::snapshot::Analysis;
use report::container::{Container, Level, pack};
use report::model::snapshot::{Action, Device};
use report::model::{Report, SeriesCategory};
use report::read::{Format, read_stream};
use serde_json::Value;

use super::fixtures::{load, plain, snapshot, truth};

const RUN: &str = "resnet50_profiler";
const TRACE: &str = "trace.json.xz";

/// The trace's own memory events of the device, in order of time.
fn events() -> Vec<Value> {
    let trace: Value = serde_json::from_slice(&plain(RUN, TRACE)).unwrap();
    let all = trace["traceEvents"].as_array().unwrap().clone();
    let mut events: Vec<Value> = all
        .into_iter()
        .filter(|e| e["name"] == "[memory]" && e["args"]["Device Type"] == 1)
        .collect();
    events.sort_by(|a, b| {
        a["ts"]
            .as_f64()
            .unwrap()
            .total_cmp(&b["ts"].as_f64().unwrap())
    });
    events
}

#[test]
fn a_trace_has_the_allocators_events_and_totals() {
    let rank = load(RUN, TRACE);
    assert_eq!(rank.device().as_deref(), Some("NVIDIA H200"));
    let events = events();
    assert_eq!(snapshot(&rank).trace(Device(0)).len(), events.len());
    let analysis = Analysis::of(Arc::new(rank)).unwrap();
    let s = analysis.snapshot();
    for (i, event) in events.iter().enumerate() {
        let (row, args) = (s.events.row(i), &event["args"]);
        let bytes = args["Bytes"].as_i64().unwrap();
        assert_eq!(Some(row.address), args["Addr"].as_u64());
        assert_eq!(row.size, bytes.unsigned_abs());
        assert_eq!(
            row.action,
            if bytes < 0 {
                Action::Free
            } else {
                Action::Alloc
            }
        );
        // The replay adds up by itself what the trace states.
        let replay = &analysis.replay;
        assert_eq!(
            Some(replay.allocated.after[i]),
            args["Total Allocated"].as_u64()
        );
        assert_eq!(
            Some(replay.reserved.after[i]),
            args["Total Reserved"].as_u64()
        );
        assert_eq!(replay.requested.after[i], replay.allocated.after[i]);
    }
    let figures = analysis.figures();
    assert_eq!(
        figures.peak_requested, None,
        "a trace has blocks, not requests"
    );
    let stat = |name: &str| truth(RUN)["memory_stats"][name].as_u64();
    assert_eq!(
        figures.peak_allocated.map(|p| p.bytes),
        stat("allocated_bytes.all.peak")
    );
    assert_eq!(
        figures.peak_reserved.map(|p| p.bytes),
        stat("reserved_bytes.all.peak")
    );
    assert_eq!(
        Some(figures.end.allocated),
        stat("allocated_bytes.all.current")
    );
    assert_eq!(
        Some(figures.end.reserved),
        stat("reserved_bytes.all.current")
    );
    assert!(
        analysis.replay.findings.rows.len() <= 1,
        "{:?}",
        analysis.replay.findings
    );
}

#[test]
fn a_trace_and_a_snapshot_of_one_run_agree() {
    let of = |file: &str| Analysis::of(Arc::new(load(RUN, file))).unwrap();
    let (trace, dump) = (of(TRACE), of("snapshot.pickle.xz"));
    // Every allocation of the trace is in the snapshot: its address, block and time.
    let mut blocks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let time = |a: &Analysis, row: usize| a.snapshot().events.time_ns.get(row).unwrap();
    for (_, a) in dump.replay.allocations.iter() {
        if let Some(born) = a.born {
            let at = time(&dump, born.index());
            blocks.entry(a.address).or_default().push((at, a.rounded));
        }
    }
    let (mut same, mut all) = (0, 0);
    for (_, a) in trace.replay.allocations.iter() {
        let Some(born) = a.born else { continue };
        let at = time(&trace, born.index());
        all += 1;
        let near = |&&(t, size): &&(u64, u64)| t.abs_diff(at) < 10_000_000 && size == a.rounded;
        let found = blocks.get(&a.address).and_then(|b| b.iter().find(near));
        same += u32::from(found.is_some());
    }
    assert!(all > 1000 && same == all, "{same} of {all}");
    // Both have the optimizer's steps, and stacks that lead to the user's code.
    assert_eq!(trace.steps().len(), dump.steps().len());
    let functions = |a: &Analysis| -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for (id, _) in a.replay.allocations.iter() {
            let function = a
                .replay
                .allocations
                .stack(id)
                .and_then(|s| a.sites().function(s));
            let frame = function
                .map(|f| a.snapshot().frames.get(f))
                .unwrap_or_default();
            let file = a
                .strings()
                .get(frame.file)
                .rsplit('/')
                .next()
                .unwrap_or_default();
            if frame.line > 0 {
                let name = format!("{file}: {}", a.strings().get(frame.name));
                *out.entry(name).or_insert(0) += 1;
            }
        }
        out
    };
    let (mine, its) = (functions(&trace), functions(&dump));
    for function in ["resnet.py: forward", "resnet.py: _forward_impl"] {
        assert!(
            mine[function] >= 20 && mine[function] == its[function],
            "{mine:?} {its:?}"
        );
    }
}

#[test]
fn a_trace_goes_through_a_container() {
    for file in [
        TRACE,
        "memory_timeline.json.gz",
        "memory_timeline.raw.json.gz",
    ] {
        let report = Report {
            ranks: vec![load(RUN, file)],
        };
        let bytes = pack(&report, "test", Level(1)).unwrap();
        let again = Container::open("r", bytes).unwrap().report().unwrap();
        assert_eq!(again, report, "{file}");
    }
}

#[test]
fn a_raw_timeline_adds_up_to_the_other_one() {
    let rank = load(RUN, "memory_timeline.json.gz");
    let coarse = rank.series.unwrap();
    let fine = load(RUN, "memory_timeline.raw.json.gz").series.unwrap();
    let json: Value = serde_json::from_slice(&plain(RUN, "memory_timeline.json.gz")).unwrap();
    assert_eq!(coarse.len(), json[0].as_array().unwrap().len());
    for i in 0..coarse.len() {
        assert_eq!(
            Some(coarse.time_ns[i]),
            json[0][i].as_u64().map(|t| t * 1000)
        );
        let row: Vec<u64> = json[1][i].as_array().unwrap()[1..]
            .iter()
            .map(|v| v.as_u64().unwrap())
            .collect();
        assert_eq!(coarse.row(i).to_vec(), row);
        if i == 0 {
            // What was there before the first change.
            assert_eq!(fine.row(0), coarse.row(0));
            continue;
        }
        // What the raw one says at the end of that microsecond.
        let past = fine
            .time_ns
            .partition_point(|&t| t < coarse.time_ns[i] + 1000);
        assert_eq!(fine.row(past - 1), coarse.row(i), "moment {i}");
    }
    let sum = |row: [u64; 8]| row.iter().sum::<u64>();
    let peak = (0..coarse.len()).map(|i| sum(coarse.row(i))).max().unwrap();
    assert_eq!(peak, 3_077_862_216);
    assert_eq!(
        SeriesCategory::ALL.map(|c| c as usize),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
}

#[test]
fn formats_are_told_by_their_first_bytes() {
    for (text, format) in [
        ("\n  {\n    \"schemaVersion\": 1", Format::Trace),
        ("{\"traceEvents\": [", Format::Trace),
        ("[[1, 2], [[0, 1", Format::MemoryTimeline),
        (" [ [-1, 1, 37632, 0]", Format::MemoryTimeline),
        ("[]", Format::SnapshotJson),
        ("[{\"device\": 0", Format::SnapshotJson),
        ("{\"runtime_trace\": []}", Format::RuntimeReport),
    ] {
        assert_eq!(
            Format::detect("x", text.as_bytes()).unwrap(),
            format,
            "{text}"
        );
    }
}

#[test]
fn odd_traces_and_timelines() {
    let read = |text: &str| read_stream("x", text.as_bytes());
    // Out of order, on two devices, of the host, and without what is needed.
    let text = r#"{"traceEvents": [
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5.002,
         "args": {"Device Type": 1, "Device Id": 1, "Addr": 8192, "Bytes": -512, "Total Allocated": 0, "Total Reserved": 4096}},
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5.001,
         "args": {"Device Type": 1, "Device Id": 1, "Addr": 8192, "Bytes": 512, "Total Allocated": 512, "Total Reserved": 4096}},
        {"args": {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 1, "Total Allocated": 9, "Total Reserved": 10},
         "name": "[memory]", "ts": 1, "tid": 2, "pid": 1},
        {"name": "[memory]", "ts": 1, "args": {"Device Type": 0, "Device Id": -1, "Addr": 1, "Bytes": 1}},
        {"name": "[memory]", "ts": 1, "args": {"Device Type": 1}},
        {"name": "[memory]", "args": {}}, 7,
        {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 2, "ts": 4.5, "dur": 0.6},
        {"ph": "X", "cat": "cpu_op", "name": "elsewhere", "pid": 1, "tid": 3, "ts": 4.5, "dur": 9},
        {"ph": "X", "cat": "python_function", "name": "train.py(7): step", "pid": 1, "tid": 2, "ts": 4, "dur": 2},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 2, "ts": 4, "dur": 9}
    ], "baseTimeNanoseconds": 1000000}"#;
    let rank = read(text).unwrap().ranks.remove(0);
    let skipped: Vec<_> = rank.skipped.iter().map(|s| s.count).collect();
    assert_eq!(skipped, [1, 1, 1, 1], "{:?}", rank.skipped);
    let s = snapshot(&rank);
    assert_eq!(s.devices.len(), 2);
    assert_eq!(
        s.events.action,
        [Action::Alloc, Action::Alloc, Action::Free]
    );
    assert_eq!(s.events.time_ns.get(1), Some(1_005_001));
    let frames = |row: usize| -> Vec<_> {
        let stack = s.events.stack(row).unwrap();
        let frames = s.stacks.get(stack).iter().map(|&f| s.frames.get(f));
        frames
            .map(|f| (rank.strings.get(f.name), rank.strings.get(f.file), f.line))
            .collect()
    };
    let python = ("step", "train.py", 7);
    assert_eq!(frames(1), [("aten::empty", "", 0), python]);
    assert_eq!(frames(2), [("aten::empty", "", 0), python]);
    assert_eq!(s.events.stack(0), None);
    // Nine bytes after one of one: eight were there before.
    let first = Analysis::on(Arc::new(rank.clone()), Device(0)).unwrap();
    assert_eq!(
        (first.replay.allocated.start, first.replay.allocated.end()),
        (8, 9)
    );
    let second = Analysis::on(Arc::new(rank), Device(1)).unwrap();
    assert!(second.replay.coverage.whole);
    assert_eq!(second.steps()[0].number, 4);
    for (text, message) in [
        ("{\"traceEvents\": []}", "memory events of a device"),
        ("{\"displayTimeUnit\": \"ms\"}", "traceEvents"),
        ("{\"traceEvents\": [", "found the end of the file"),
        ("[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]]", "fewer"),
        ("[[1], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0]]]", "more"),
        ("[[1], [[0, 1, 2, 3, 4, 5, 6, 7, 8]], 3]", "a third part"),
        ("[[1, 2, 3]]", "3 numbers"),
        ("[[1, 2, 3, 4], [1, \"x\", 3, 4]]", "a whole number"),
        ("[[1, 2, 3, 99999999999999999999]]", "a whole number"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    let series = |text: &str| read(text).unwrap().ranks.remove(0).series.unwrap();
    assert_eq!(series("[[], []]").len(), 0);
    let one = series("[[-1, 1, 64, 0], [2000, 2, 8, 7], [2000, 3, -8, 7], [2500, 4, -64, 0]]");
    assert_eq!(one.time_ns, [2000, 2000, 2500]);
    assert_eq!((one.row(0)[0], one.row(0)[7]), (64, 0));
    assert_eq!((one.row(1), one.row(2)), (one.row(0), [0; 8]));
}
