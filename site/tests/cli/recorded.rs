//! Journals on the command line: finalize, watch, and the other verbs on what they leave.

use std::path::Path;

use memscope::Figures;
use memscope::journal::{Journal, Limits};
use memscope::place::Place;
use memscope::records::At;

use crate::support::memscope;

/// A rank's journal: `steps` steps, with a footer or without.
fn record(folder: &Path, rank: u32, steps: u64, footer: bool) {
    let place = Place::resolve_in(Some(folder), Some(rank), &|_| None);
    let journal = Journal::create(&place, "python", Limits::default()).unwrap();
    journal.header(&place, "python");
    for step in 0..steps {
        let at = At {
            step: Some(step),
            phase: "forward",
            ..At::default()
        };
        let figures = Figures {
            allocated: Some((u64::from(rank) + 1) << 30),
            reserved: Some(4 << 30),
            max_allocated: Some((u64::from(rank) + 1) << 30),
            ..Figures::default()
        };
        journal.sample(&at, "step_start", None, &figures, "");
        journal.sample(&at, "step_end", None, &figures, "");
    }
    if footer {
        journal.footer("exit", "");
    }
}

#[test]
fn a_run_is_finalised_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), 0, 2, true);
    record(dir.path(), 1, 3, false);
    let first = memscope(["finalize", dir.path().to_str().unwrap()]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let lines: Vec<&str> = first.text().lines().collect();
    assert_eq!(
        lines,
        [
            "rank00000: complete; 2 steps, 4 events, peak 1.00 GiB",
            "rank00001: Incomplete recording: it died in step 2, forward, after step_end (last record 6); \
             3 steps, 6 events, peak 2.00 GiB"
        ]
    );
    let report = dir.path().join("rank00001/runtime_report.json");
    let written = std::fs::read(&report).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(json["runtime_trace"].as_array().unwrap().len(), 6);
    assert_eq!(json["memscope"]["complete"], false);
    let again = memscope(["finalize", dir.path().to_str().unwrap()]);
    assert_eq!((again.code, again.text()), (0, first.text()));
    assert_eq!(std::fs::read(&report).unwrap(), written, "the same bytes");
    assert!(dir.path().join("rank00001/journal").is_dir());

    // Report and journal are one rank; the summary says what happened.
    let summary = memscope(["summary", dir.path().to_str().unwrap(), "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(summary.ok()).unwrap();
    assert_eq!(json["ranks"].as_array().unwrap().len(), 2);
    assert_eq!(json["ranks"][1]["recording"]["ending"]["step"], 2);
    let text = memscope(["summary", dir.path().to_str().unwrap()]);
    assert!(text.ok().contains("ncomplete recording: it died in step 2"));
    assert!(text.ok().contains("Rank 1 peaks highest: 1.00 GiB above"));

    // One file of the journal is enough to name it.
    let folder = dir.path().join("rank00001/journal");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let alone = memscope(["summary", file.path().to_str().unwrap()]);
    assert!(alone.ok().contains("3 steps, 6 events"));
}

#[test]
fn running_ranks_are_watched() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), 0, 2, true);
    record(dir.path(), 1, 3, false);
    let path = dir.path().to_str().unwrap();
    let done = memscope(["watch", path, "--once", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(done.ok()).unwrap();
    let ranks = json["ranks"].as_array().unwrap();
    assert_eq!(ranks[0]["state"], "ended");
    // This test is the process, and it lives.
    assert_eq!(ranks[1]["state"], "running");
    assert_eq!(ranks[1]["step"], 2);
    assert_eq!(ranks[1]["peak_allocated"], 2u64 << 30);
    assert_eq!(ranks[1]["device_used"], serde_json::Value::Null);
    assert!(ranks[1]["step_ns"].as_u64().is_some());
    let text = memscope(["watch", path, "--once"]);
    assert!(text.ok().contains("4.00 GiB"));
    let none = memscope(["watch", "original_ddp", "--once"]);
    assert_eq!(none.code, 1);
}

/// A recording of a real run: what `finalize` writes says what its journal does.
#[test]
fn a_recorded_run_keeps_every_figure() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = crate::support::fixtures().join("recorded/train/rank00000");
    let folder = dir.path().join("rank00000");
    std::fs::create_dir_all(folder.join("journal")).unwrap();
    let mut lines: Vec<serde_json::Value> = Vec::new();
    for file in std::fs::read_dir(fixture.join("journal")).unwrap() {
        let path = file.unwrap().path();
        let to = folder.join("journal").join(path.file_name().unwrap());
        std::fs::copy(&path, to).unwrap();
        if path.to_string_lossy().contains(".python.") {
            let text = std::fs::read_to_string(&path).unwrap();
            lines.extend(
                text.lines()
                    .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()),
            );
        }
    }
    lines.sort_by_key(|l| l["seq"].as_u64());
    let done = memscope(["finalize", dir.path().to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = std::fs::read(folder.join("runtime_report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let trace = report["runtime_trace"].as_array().unwrap();
    let of = |kind: &str| lines.iter().filter(|l| l["k"] == kind).collect::<Vec<_>>();
    let count = |kind: &str| trace.iter().filter(|e| e["event_type"] == kind).count();
    assert_eq!(count("module"), of("module").len());
    assert_eq!(count("tensor_grad"), of("grad").len());
    // Each boundary with its figures, in order.
    let samples: Vec<(&serde_json::Value, &serde_json::Value)> = of("sample")
        .into_iter()
        .map(|s| (&s["allocated"], &s["reserved"]))
        .collect();
    let steps: Vec<(&serde_json::Value, &serde_json::Value)> = trace
        .iter()
        .filter(|e| e["event_type"] == "step")
        .map(|e| (&e["mem_allocated_after"], &e["mem_reserved_after"]))
        .collect();
    assert_eq!(steps, samples);
    let highest = of("sample")
        .iter()
        .filter_map(|s| s["max_allocated"].as_u64())
        .max();
    let written = trace
        .iter()
        .filter_map(|e| e["max_mem_allocated"].as_u64())
        .max();
    assert_eq!(written, highest);
    assert_eq!(report["memscope"]["complete"], true);
}
