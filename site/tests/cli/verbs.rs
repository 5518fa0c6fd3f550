//! `memory`, `lines`, `trace` and `segments` on snapshots: figures recomputed from the file itself,
//! names that every verb accepts, and what goes wrong.

use std::collections::HashMap;
use std::io::Read as _;

use serde_json::Value;

use crate::support::{RANK0, directory, fixture, listing, memscope, memscope_with, put};
use crate::viz::{SNAPSHOTS, answer, stat};

const JSON: &str = "cpp_pickle/snapshot.json.gz";

/// A snapshot as JSON, which needs no reader of ours.
fn raw() -> Value {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&fixture(JSON)[..])
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The live set at the peak of requested bytes, by address: played naively.
fn live_at_peak() -> (u64, HashMap<u64, Value>) {
    let raw = raw();
    let trace = raw["device_traces"][0].as_array().unwrap();
    let (mut live, mut sum): (HashMap<u64, Value>, u64) = (HashMap::new(), 0);
    let mut best = (0, HashMap::new());
    for e in trace {
        let n = |key: &str| e[key].as_u64().unwrap();
        match e["action"].as_str().unwrap() {
            "alloc" => {
                sum += n("size");
                live.insert(n("addr"), e.clone());
            }
            "free_completed" => {
                sum -= n("size");
                live.remove(&n("addr"));
            }
            _ => {}
        }
        if sum > best.0 {
            best = (sum, live.clone());
        }
    }
    best
}

#[test]
fn what_is_live_at_the_peak_is_what_the_trace_leaves() {
    let (peak, live) = live_at_peak();
    for by in [
        "stack", "line", "function", "category", "stream", "pool", "segment",
    ] {
        let a = answer(
            "memory",
            "cpp_pickle",
            "snapshot.json.gz",
            &["--by", by, "--at", "peak"],
        );
        let groups = a["groups"].as_array().unwrap();
        let sum = |key: &str| groups.iter().map(|g| g[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(
            (sum("bytes"), a["bytes"].as_u64()),
            (peak, Some(peak)),
            "{by}"
        );
        assert_eq!(sum("allocations"), live.len() as u64, "{by}");
    }
    // By whole stacks, as far as they were recorded.
    let mut stacks: HashMap<String, (u64, u64)> = HashMap::new();
    for e in live.values() {
        let frames = e["frames"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let sum = stacks
            .entry(serde_json::to_string(frames).unwrap())
            .or_default();
        sum.0 += e["size"].as_u64().unwrap();
        sum.1 += 1;
    }
    let mut theirs: Vec<(u64, u64)> = stacks.into_values().collect();
    theirs.sort_unstable();
    let a = answer(
        "memory",
        "cpp_pickle",
        "snapshot.json.gz",
        &["--at", "peak"],
    );
    let groups = a["groups"].as_array().unwrap().iter();
    let mut ours: Vec<(u64, u64)> = groups
        .map(|g| {
            (
                g["bytes"].as_u64().unwrap(),
                g["allocations"].as_u64().unwrap(),
            )
        })
        .collect();
    ours.sort_unstable();
    assert_eq!(ours, theirs);
}

#[test]
fn folded_stacks_and_pictures_hold_every_byte() {
    let folded = |arguments: &[&str]| -> u64 {
        let done = memscope(arguments);
        let bytes = |l: &str| l.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
        done.ok().lines().map(bytes).sum()
    };
    for (folder, file) in SNAPSHOTS {
        let path = format!("{folder}/{file}");
        let live = folded(&["memory", &path, "--format", "folded", "--at", "end"]);
        assert_eq!(
            live,
            stat(folder, "requested_bytes.all.current"),
            "{folder}"
        );
        let reserved = folded(&["segments", &path, "--format", "folded"]);
        assert_eq!(
            reserved,
            stat(folder, "reserved_bytes.all.current"),
            "{folder}"
        );
    }
    let (peak, _) = live_at_peak();
    let done = memscope(["memory", JSON, "--format", "svg", "--at", "peak"]);
    let svg = done.ok();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(
        svg.contains(&format!("live at peak {}", present::units::bytes(peak))),
        "{svg:.400}"
    );
}

#[test]
fn lines_add_up_and_show_their_source() {
    let (peak, _) = live_at_peak();
    let a = answer("lines", "cpp_pickle", "snapshot.json.gz", &["--at", "peak"]);
    let lines = a["lines"].as_array().unwrap();
    let n = |l: &Value, key: &str| l[key].as_u64().unwrap();
    assert_eq!(lines.iter().map(|l| n(l, "current")).sum::<u64>(), peak);
    for l in lines {
        assert_eq!(n(l, "allocated") - n(l, "freed"), n(l, "current"), "{l}");
        assert!(n(l, "peak") >= n(l, "current"), "{l}");
    }
    // What was allocated in all, from the file.
    let raw = raw();
    let trace = raw["device_traces"][0].as_array().unwrap().iter();
    let sizes: Vec<u64> = trace
        .filter(|e| e["action"] == "alloc")
        .map(|e| e["size"].as_u64().unwrap())
        .collect();
    let all = answer("lines", "cpp_pickle", "snapshot.json.gz", &["--at", "end"]);
    let all = all["lines"].as_array().unwrap();
    assert_eq!(
        all.iter().map(|l| n(l, "allocated")).sum::<u64>(),
        sizes.iter().sum::<u64>()
    );
    assert_eq!(
        all.iter().map(|l| n(l, "count")).sum::<u64>(),
        sizes.len() as u64
    );
    // The line of code, from a directory that has the end of the recorded path.
    let known = lines.iter().find(|l| l["line"].is_u64()).unwrap();
    let (file, line) = (known["file"].as_str().unwrap(), n(known, "line"));
    let dir = directory();
    let code: String = (1..=line + 3)
        .map(|i| format!("    code_of_line({i})\n"))
        .collect();
    put(
        dir.path(),
        &file
            .rsplit('/')
            .take(2)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("/"),
        code,
    );
    let at = dir.path().to_str().unwrap();
    let done = memscope(["lines", JSON, "--at", "peak", "--source", at]);
    assert!(
        done.ok().contains(&format!("  code_of_line({line})\n")),
        "{}",
        done.text()
    );
    assert!(!memscope(["lines", JSON]).ok().contains("code_of_line"));
}

/// Every name that a verb prints is taken by the others.
#[test]
fn names_are_accepted_everywhere() {
    let path = "expandable_same_work/snapshot.pickle";
    let entries = |more: &[&str]| -> Vec<Value> {
        let a = answer("trace", "expandable_same_work", "snapshot.pickle", more);
        a["entries"].as_array().unwrap().clone()
    };
    let all = entries(&[]);
    let word = |e: &Value, key: &str| e[key].as_str().unwrap().to_owned();
    // An address that was used more than once.
    let again = all
        .iter()
        .find(|e| word(e, "allocation").ends_with("_1"))
        .unwrap();
    let (name, at) = (word(again, "allocation"), word(again, "entry"));
    let of: Vec<Value> = all
        .iter()
        .filter(|e| e["allocation"] == name.as_str())
        .cloned()
        .collect();
    assert!(of.len() > 1 && of.len() < all.len());
    assert_eq!(entries(&["--id", &name]), of);
    assert_eq!(entries(&["--id", &at]).len(), 1);
    // The instant that it was made, by its own name and by the entry's.
    for verb in ["stats", "segments", "memory", "lines"] {
        let by = |name: &str| {
            let mut a = answer(
                verb,
                "expandable_same_work",
                "snapshot.pickle",
                &["--at", name],
            );
            a["at"]["instant"] = Value::Null;
            a
        };
        assert_eq!(by(&name), by(&at), "{verb}");
        for name in ["peak", "end", "start"] {
            assert_eq!(by(name)["format"], format!("memscope.{verb}"));
        }
    }
    let from = entries(&["--from", &name, "--to", &at]);
    assert_eq!(from, [all[at[1..].parse::<usize>().unwrap()].clone()]);
    // A stack and a segment.
    let stack = word(again, "stack");
    for option in ["--stack", "--id"] {
        let with = entries(&[option, &stack]);
        assert!(with.iter().any(|e| e["allocation"] == name.as_str()) && with.len() < all.len());
    }
    let segment = word(again, "segment");
    let within = entries(&["--id", &segment]);
    assert!(within.iter().any(|e| e["allocation"] == name.as_str()));
    let done = memscope(["stats", path, "--at", &segment]);
    assert!(done.ok().contains("after t"));
}

#[test]
fn the_trace_is_filtered_as_asked() {
    let raw = raw();
    let trace = raw["device_traces"][0].as_array().unwrap();
    let count = |more: &[&str]| {
        let a = answer("trace", "cpp_pickle", "snapshot.json.gz", more);
        a["entries"].as_array().unwrap().len()
    };
    let of = |keep: &dyn Fn(&Value) -> bool| trace.iter().filter(|e| keep(e)).count();
    let size = |e: &Value| e["size"].as_u64().unwrap();
    assert_eq!(
        count(&["--action", "alloc"]),
        of(&|e| e["action"] == "alloc")
    );
    assert_eq!(
        count(&["--action", "free", "--action", "segment_alloc"]),
        of(&|e| {
            let action = e["action"].as_str().unwrap();
            action.starts_with("free") || action == "segment_alloc"
        })
    );
    assert_eq!(
        count(&["--min-size", "1MiB", "--max-size", "4MiB"]),
        of(&|e| (1 << 20..=4 << 20).contains(&size(e)))
    );
    assert_eq!(count(&["--from", "t10", "--to", "t19"]), 10);
    // An address inside a block finds the block and its segment.
    let block = trace
        .iter()
        .filter(|e| e["action"] == "alloc")
        .max_by_key(|e| size(e))
        .unwrap();
    let inside = block["addr"].as_u64().unwrap() + size(block) / 2;
    let holds = |e: &Value| {
        let from = e["addr"].as_u64().unwrap_or(0);
        from > 0 && from <= inside && inside < from + size(e).max(1)
    };
    assert_eq!(count(&["--address", &format!("{inside:#x}")]), of(&holds));
    assert_eq!(count(&["--address", &inside.to_string()]), of(&holds));
    assert!(of(&holds) > 1);
    // Annotations by time, ends included.
    let mut open = HashMap::new();
    let mut spans = Vec::new();
    for a in raw["external_annotations"].as_array().unwrap() {
        let (name, time) = (a["name"].as_str().unwrap(), a["time_us"].as_u64().unwrap());
        if !name.starts_with("Optimizer.step") {
            continue;
        }
        match a["stage"].as_str().unwrap() {
            "START" => {
                open.insert(name, time);
            }
            _ => spans.push((open.remove(name).unwrap(), time)),
        }
    }
    let during = |e: &Value| {
        let time = e["time_us"].as_u64().unwrap();
        spans.iter().any(|&(from, to)| from <= time && time <= to)
    };
    assert!(of(&during) > 0);
    assert_eq!(count(&["--annotation", "optimizer.step"]), of(&during));
    let nothing = memscope(["trace", JSON, "--stack", "no such text"]);
    assert!(nothing.ok().ends_with("No entry matches.\n"));
}

#[test]
fn rank_and_device_are_chosen() {
    let dir = directory();
    let packed = dir.path().join("two.memscope");
    let packed = packed.to_str().unwrap();
    let (a, b) = (
        "ddp/rank00000/snapshot.pickle.xz",
        "ddp/rank00001/snapshot.pickle.xz",
    );
    let made = memscope(["render", a, b, "-o", packed]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let both = memscope(["stats", packed]);
    assert_eq!(both.code, 2);
    assert!(
        both.stderr
            .contains("several ranks with snapshots; choose one with --rank: "),
        "{}",
        both.stderr
    );
    for (name, folder) in [
        ("rank00000/snapshot.pickle.xz", "ddp/rank00000"),
        ("rank00001/snapshot.pickle.xz", "ddp/rank00001"),
    ] {
        let done = memscope(["stats", packed, "--rank", name, "--format", "json"]);
        let answer: Value = serde_json::from_str(done.ok()).unwrap();
        let reserved = stat(folder, "reserved_bytes.all.current");
        assert_eq!(answer["totals"]["reserved"].as_u64(), Some(reserved));
    }
    let wrong = memscope(["stats", packed, "--rank", "7"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("has no such rank"),
        "{}",
        wrong.stderr
    );
    let wrong = memscope(["stats", a, "--device", "5"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("no such device; it has "),
        "{}",
        wrong.stderr
    );
}

#[test]
fn what_cannot_be_answered_is_said() {
    for verb in ["stats", "trace", "segments", "memory", "lines"] {
        let done = memscope([verb, RANK0]);
        done.fails(
            1,
            &format!(
                "memscope: {RANK0}: it has no memory snapshot, which this command is about (give the \
                 pickle that torch.cuda.memory._dump_snapshot wrote); for a runtime report there is \
                 `memscope summary`"
            ),
        );
    }
    for (arguments, says) in [
        (
            vec!["memory", JSON, "--at", "oom"],
            "0 out-of-memory entries",
        ),
        (
            vec!["memory", JSON, "--at", "t99999999"],
            "is no entry of this device; it has t0 to t",
        ),
        (
            vec!["memory", JSON, "--at", "b123_4"],
            "nothing in this history is called b123_4",
        ),
        (vec!["memory", JSON, "--at", "soon"], "expected peak, oom"),
        (
            vec!["trace", JSON, "--id", "k99999"],
            "nothing in this history has that name",
        ),
        (
            vec!["export", JSON, "-f", "perfetto", "--what", "live"],
            "perfetto takes curve",
        ),
        (
            vec!["export", JSON, "-f", "csv", "--at", "peak"],
            "--what live only",
        ),
    ] {
        let done = memscope(&arguments);
        assert_eq!((done.code, done.stdout.len()), (2, 0), "{arguments:?}");
        assert!(done.stderr.contains(says), "{arguments:?}: {}", done.stderr);
    }
    let dir = directory();
    let out = dir.path().join("x.csv");
    let bad = memscope(["export", RANK0, "-f", "csv", "-o", out.to_str().unwrap()]);
    assert_eq!((bad.code, listing(dir.path()).len()), (1, 0));
}

#[test]
fn every_kind_of_input_gives_the_same_answer() {
    let of = |bytes: &[u8]| -> Value {
        let done = memscope_with(bytes, &["memory", "-", "--format", "json"]);
        serde_json::from_str(done.ok()).unwrap()
    };
    let one = of(&fixture("cpp_pickle/snapshot.pickle.zst"));
    for file in ["snapshot_p2.pickle.xz", "snapshot_p5.pickle.xz"] {
        assert_eq!(of(&fixture(&format!("cpp_pickle/{file}"))), one, "{file}");
    }
    let dir = directory();
    let packed = dir.path().join("one.memscope");
    memscope([
        "render",
        "cpp_pickle/snapshot.pickle.zst",
        "-o",
        packed.to_str().unwrap(),
    ]);
    let again = of(&std::fs::read(packed).unwrap());
    assert_eq!(
        (&again["groups"], &again["bytes"]),
        (&one["groups"], &one["bytes"])
    );
    // A bare list has a state and no history.
    let list = of(&fixture("cpp_pickle/bare_list.pickle"));
    assert!(list["bytes"].as_u64().unwrap() > 0);
    assert_eq!(list["at"]["entry"], Value::Null);
}
