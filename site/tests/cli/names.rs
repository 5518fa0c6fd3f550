//! What the reader skipped is said by every verb, and every name that one prints is taken by all.

use serde_json::{Value, json};

use crate::support::{directory, memscope, put};

/// A snapshot with one device an inner list: each entry an allocation of so many bytes, and one
/// entry of no known shape at its end.
fn snapshot(devices: &[&[u64]], odd: &Value) -> Value {
    let traces: Vec<Vec<Value>> = devices
        .iter()
        .enumerate()
        .map(|(device, sizes)| {
            let entry = |(i, size): (usize, &u64)| {
                json!({
                    "action": "alloc", "addr": 0x1000_0000 + (device * 1000 + i) * 0x10_0000,
                    "size": size, "stream": 0, "time_us": i,
                    "frames": [{"name": format!("f{i}"), "filename": "/u/a.py", "line": i + 1}],
                })
            };
            let mut all: Vec<Value> = sizes.iter().enumerate().map(entry).collect();
            all.push(odd.clone());
            all
        })
        .collect();
    json!({ "segments": [], "device_traces": traces })
}

#[test]
fn every_verb_says_what_was_skipped() {
    let dir = directory();
    let odd = json!({"addr": 1});
    let content = snapshot(&[&[512, 1024]], &odd).to_string();
    let path = put(dir.path(), "odd.json", &content);
    let path = path.to_str().unwrap();
    let at = content.find("{\"addr\":1}").unwrap() as u64;
    for verb in ["stats", "trace", "segments", "memory", "lines"] {
        let done = memscope([verb, path]);
        let said: Vec<&str> = done.stderr.lines().collect();
        assert_eq!(said.len(), 1, "{verb}: {}", done.stderr);
        assert!(
            said[0].contains("odd.json: 1 not used: entry that is not an event ×1"),
            "{verb}: {}",
            said[0]
        );
        let done = memscope([verb, path, "--format", "json"]);
        let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
        let expected = json!([{"what": "entry that is not an event", "count": 1}]);
        assert_eq!(answer["skipped"], expected, "{verb}");
    }
    for format in ["csv", "folded", "perfetto"] {
        let done = memscope(["export", path, "--format", format]);
        assert!(
            done.stderr.contains("1 not used"),
            "{format}: {}",
            done.stderr
        );
    }
    let done = memscope(["compare", path, path]);
    assert_eq!(
        done.stderr.matches("1 not used").count(),
        2,
        "{}",
        done.stderr
    );
    let done = memscope(["compare", path, path, "--format", "json"]);
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(answer["a"]["skipped"], answer["b"]["skipped"]);
    assert_eq!(answer["a"]["skipped"][0]["count"], 1);
    // As the summary counts it; with the offset of the first.
    let done = memscope(["summary", path, "--format", "json"]);
    let summary: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(summary["ranks"][0]["skipped"], answer["a"]["skipped"]);
    let text = memscope(["summary", path]);
    let line = text
        .ok()
        .lines()
        .find(|l| l.contains("not an event"))
        .unwrap()
        .to_owned();
    let offset: u64 = line
        .split_whitespace()
        .last()
        .unwrap()
        .replace(',', "")
        .parse()
        .unwrap();
    assert!(offset >= at && offset <= at + 12, "{line}: {at}");
}

#[test]
fn an_empty_snapshot_is_called_one() {
    let dir = directory();
    let path = put(
        dir.path(),
        "empty.json",
        r#"{"segments": [], "device_traces": [[], []]}"#,
    );
    let path = path.to_str().unwrap();
    for format in ["text", "markdown"] {
        let done = memscope(["summary", path, "--format", format]);
        let said = done.ok();
        assert!(said.contains("The memory snapshot is empty"), "{said}");
        assert!(said.contains("0 segments, 0 entries"), "{said}");
        assert!(
            !said.contains("0 steps") && !said.contains("No events"),
            "{said}"
        );
    }
    let done = memscope(["stats", path]);
    assert!(done.code != 0 && done.stderr.contains("the snapshot is empty"));
}

/// The requested bytes of both sides of a comparison.
fn requested(arguments: &[&str]) -> (u64, u64) {
    let all = ["compare", "--format", "json"].iter().chain(arguments);
    let done = memscope(all);
    let answer: Value =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr));
    let r = &answer["snapshot"]["requested"];
    (r["a"].as_u64().unwrap(), r["b"].as_u64().unwrap())
}

#[test]
fn compare_takes_devices_and_every_name() {
    let dir = directory();
    let sizes: [&[u64]; 2] = [&[512, 1024, 4096], &[100, 2000]];
    let path = put(
        dir.path(),
        "two.json",
        snapshot(&sizes, &Value::Null).to_string(),
    );
    let path = path.to_str().unwrap();
    let sum = |device: usize, n: usize| sizes[device].iter().take(n).sum::<u64>();
    assert_eq!(requested(&[path, path]), (sum(0, 3), sum(0, 3)));
    assert_eq!(
        requested(&[path, path, "--device", "1"]),
        (sum(1, 2), sum(1, 2))
    );
    assert_eq!(
        requested(&[path, path, "--device", "1", "--device-b", "0"]),
        (sum(1, 2), sum(0, 3))
    );
    let wrong = memscope(["compare", path, path, "--device-b", "7"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("it has 0, 1"),
        "{}",
        wrong.stderr
    );
    // Every name of a trace, in compare and in another verb: what lives once it came.
    let done = memscope(["trace", path, "--format", "json"]);
    let trace: Value = serde_json::from_slice(&done.stdout).unwrap();
    let entries = trace["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    for (i, entry) in entries.iter().enumerate() {
        let mut names = Vec::new();
        for key in ["entry", "name", "allocation", "stack"] {
            names.extend(entry[key].as_str().map(str::to_owned));
        }
        assert!(names.len() >= 2, "{entry}");
        for name in names {
            assert_eq!(
                requested(&[path, path, "--at", &name, "--at-b", "end"]),
                (sum(0, i + 1), sum(0, 3)),
                "{name}"
            );
            let done = memscope(["memory", path, "--at", &name, "--format", "json"]);
            let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
            assert_eq!(answer["bytes"].as_u64(), Some(sum(0, i + 1)), "{name}");
        }
    }
    for wrong in ["bfff_0", "k999", "g77", "t99", "oom", "elsewhere"] {
        let done = memscope(["compare", path, path, "--at", wrong]);
        assert!(
            done.code == 2 && done.stderr.contains(&format!("--at {wrong}: in A, ")),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn ranks_are_named_by_folder_everywhere() {
    let rank = |n: &str| format!("ddp/rank0000{n}/snapshot.pickle.xz");
    let (first, second) = (
        requested(&[&rank("0"), &rank("0")]).0,
        requested(&[&rank("1"), &rank("1")]).0,
    );
    for (a, b) in [
        ("rank00000", "rank00001"),
        ("rank00000/snapshot.pickle.xz", "rank00001/"),
    ] {
        assert_eq!(
            requested(&["ddp", "ddp", "--rank", a, "--rank-b", b]),
            (first, second)
        );
    }
    let wrong = memscope(["compare", "ddp", "ddp", "--rank", "rank7"]);
    assert!(
        wrong.code == 2
            && wrong.stderr.contains("no rank rank7")
            && wrong.stderr.contains("rank00001"),
        "{}",
        wrong.stderr
    );
}

/// A snapshot of these entries of one device, without segments.
fn of_entries(entries: &[Value]) -> String {
    json!({ "segments": [], "device_traces": [entries] }).to_string()
}

#[test]
fn very_long_stacks_are_shown_from_both_ends() {
    let dir = directory();
    let entry = |depth: usize| {
        let frame =
            |i: usize| json!({"name": format!("f{i}"), "filename": "/u/a.py", "line": i + 1});
        let frames: Vec<Value> = (0..depth).map(frame).collect();
        json!({"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1, "frames": frames})
    };
    for (depth, left_out) in [(512, 0), (513, 1), (3000, 3000 - 512)] {
        let path = put(dir.path(), "deep.json", of_entries(&[entry(depth)]));
        let path = path.to_str().unwrap();
        let folded = memscope(["memory", path, "--format", "folded"]);
        let line = folded
            .ok()
            .trim_end()
            .rsplit_once(' ')
            .unwrap()
            .0
            .to_owned();
        let frames: Vec<&str> = line.split(';').collect();
        let shown = depth - left_out;
        assert_eq!(frames.len(), shown + usize::from(left_out > 0));
        // Outermost first; what is left out is counted where it stood.
        assert!(frames[0].starts_with(&format!("f{} ", depth - 1)));
        assert!(frames[frames.len() - 1].starts_with("f0 "));
        if left_out > 0 {
            assert_eq!(frames[256], format!("… {left_out} frames"));
            assert!(frames[255].starts_with(&format!("f{} ", depth - 256)));
            assert!(frames[257].starts_with("f255 "));
        }
        let text = memscope(["memory", path]);
        assert_eq!(
            text.ok().contains(&format!("    … {left_out} frames\n")),
            left_out > 0
        );
        assert_eq!(text.ok().matches("/u/a.py:").count(), shown, "{depth}");
        let table = memscope(["export", path, "--format", "csv"]);
        assert_eq!(
            table.ok().contains(&format!("… {left_out} frames")),
            left_out > 0
        );
    }
}

#[test]
fn what_no_python_frame_made_is_told_from_what_was_there_before() {
    let dir = directory();
    let block = |address: u64, size: u64| json!({"address": address, "size": size, "requested_size": size, "state": "active_allocated"});
    let segment = json!({
        "device": 0, "address": 0x100_0000, "total_size": 2 << 20, "stream": 0,
        "segment_type": "small", "is_expandable": false,
        "blocks": [block(0x100_0000, 1 << 20), block(0x110_0000, 1 << 20)],
    });
    let made = json!({"action": "alloc", "addr": 0x110_0000, "size": 1 << 20, "stream": 0, "time_us": 1, "frames": []});
    let text = json!({"segments": [segment], "device_traces": [[made]]}).to_string();
    let path = put(dir.path(), "both.json", text);
    let path = path.to_str().unwrap();
    let segments = memscope(["segments", path]);
    let line = |address: &str| {
        let all = segments.ok().lines();
        all.filter(|l| l.contains(address))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(
        line("b1000000_0").contains("stack not recorded"),
        "{}",
        segments.text()
    );
    assert!(
        line("b1100000_0").contains("no Python frame was recorded"),
        "{}",
        segments.text()
    );
    // Together they are both, and said so.
    let lines = memscope(["lines", path]);
    assert!(
        lines
            .ok()
            .contains("stack not recorded, or no Python frame in it"),
        "{}",
        lines.text()
    );
    let trace = memscope(["trace", path]);
    assert!(
        trace.ok().contains("no Python frame was recorded"),
        "{}",
        trace.text()
    );
    let zh = memscope(["segments", path, "--lang", "zh"]);
    assert!(zh.ok().contains("未记录 Python 帧") && zh.text().contains("未记录调用栈"));
}

#[test]
fn a_segment_at_the_end_of_the_address_space_is_counted_once() {
    let dir = directory();
    let start = u64::MAX - (4 << 20) + 1;
    let entries = [
        json!({"action": "segment_alloc", "addr": start, "size": 4 << 20, "stream": 0, "time_us": 1}),
        json!({"action": "alloc", "addr": start, "size": 1 << 20, "stream": 0, "time_us": 2}),
    ];
    let block = |address: u64, size: u64, state: &str| json!({"address": address, "size": size, "requested_size": size, "state": state});
    let segment = json!({
        "device": 0, "address": start, "total_size": 4 << 20, "stream": 0,
        "segment_type": "large", "is_expandable": false,
        "blocks": [block(start, 1 << 20, "active_allocated"), block(start + (1 << 20), 3 << 20, "inactive")],
    });
    let text = json!({"segments": [segment], "device_traces": [entries]}).to_string();
    let path = put(dir.path(), "end.json", text);
    let done = memscope(["stats", path.to_str().unwrap(), "--format", "json"]);
    let answer: Value = serde_json::from_str(done.ok()).unwrap();
    assert_eq!(answer["peaks"]["reserved"]["bytes"], 4 << 20);
    assert_eq!(answer["peaks"]["allocated"]["bytes"], 1 << 20);
    assert_eq!(answer["totals"]["free"], 3 << 20);
}

#[test]
fn a_profilers_trace_states_what_it_does_not_know() {
    let path = "resnet50_profiler/trace.json.xz";
    let done = memscope(["stats", path, "--format", "json"]);
    let answer: Value = serde_json::from_slice(&done.stdout).unwrap();
    for known in ["reserved", "allocated"] {
        assert!(answer["totals"][known].as_u64().unwrap() > 0, "{known}");
    }
    for unknown in [
        "active",
        "pending",
        "requested",
        "rounding",
        "free",
        "free_in_used_segments",
        "free_in_unused_segments",
        "largest_free",
        "inactive_split",
    ] {
        assert!(answer["totals"][unknown].is_null(), "{unknown}");
    }
    let text = memscope(["stats", path]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("Segments are not recorded in this file."));
    assert!(
        text.lines()
            .any(|l| l.trim_start().starts_with("largest free block") && l.contains('–'))
    );
}
