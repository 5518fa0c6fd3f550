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
