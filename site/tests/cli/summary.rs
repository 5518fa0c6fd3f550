//! The machine-readable answer: every key of the contract in DESIGN.md, with figures that the test
//! works out from the JSON by itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::support::{ONE, RANK0, RANK1, directory, fixture, memscope, memscope_in, put};

fn answer(arguments: &[&str]) -> Value {
    serde_json::from_str(memscope(arguments.iter().chain(&["--format", "json"])).ok()).unwrap()
}

fn source(path: &str) -> Value {
    serde_json::from_slice(&fixture(path)).unwrap()
}

fn events(source: &Value) -> &[Value] {
    source["runtime_trace"].as_array().unwrap()
}

/// The first event with the highest figure of a field.
fn highest<'a>(events: &'a [Value], field: &str) -> (usize, &'a Value) {
    let figure = |e: &Value| e[field].as_u64().unwrap();
    let most = events.iter().map(figure).max().unwrap();
    events
        .iter()
        .enumerate()
        .find(|(_, e)| figure(e) == most)
        .unwrap()
}

fn place((index, event): (usize, &Value), field: &str) -> Value {
    json!({"bytes": event[field], "step": event["step"], "phase": event["phase"], "module": event["module"], "event": index})
}

/// Allocated after the last event of each step.
fn troughs(events: &[Value]) -> Vec<i64> {
    let mut ends = BTreeMap::new();
    for e in events {
        ends.insert(
            e["step"].as_i64().unwrap(),
            e["mem_allocated_after"].as_i64().unwrap(),
        );
    }
    ends.into_values().collect()
}

#[test]
fn figures_are_those_of_the_file() {
    for path in [ONE, RANK0, RANK1] {
        let source = source(path);
        let events = events(&source);
        let whole = answer(&["summary", path]);
        assert_eq!(
            (&whole["format"], &whole["version"]),
            (&json!("memscope.summary"), &json!(1))
        );
        let rank = &whole["ranks"][0];
        let fact = |key: &str| source["metadata"][key].as_str().unwrap();
        assert_eq!(rank["rank"], fact("rank").parse::<i64>().unwrap());
        assert_eq!(
            rank["world_size"],
            fact("world_size").parse::<i64>().unwrap()
        );
        assert_eq!(rank["device"], fact("device_name"));
        assert_eq!(rank["events"], events.len());
        assert_eq!(rank["steps"], troughs(events).len());
        assert_eq!(
            rank["complete"],
            events.last().unwrap()["phase"] == "step_end"
        );
        let peak = &rank["peak"];
        assert_eq!(
            peak["allocated"],
            place(highest(events, "max_mem_allocated"), "max_mem_allocated")
        );
        assert_eq!(
            peak["reserved"],
            place(highest(events, "max_mem_reserved"), "max_mem_reserved")
        );
        assert_eq!(
            peak["sampled"],
            place(
                highest(events, "mem_allocated_after"),
                "mem_allocated_after"
            )
        );
        assert_eq!(peak["sampled"]["bytes"], source["peak"]["memory_bytes"]);
        assert_eq!(peak["requested"], json!({"bytes": null}));
        let last = events.last().unwrap();
        assert_eq!(
            rank["end"],
            json!({"allocated": last["mem_allocated_after"], "reserved": last["mem_reserved_after"],
                   "requested": null, "active": null, "inactive_split": null})
        );
        assert_eq!(rank["skipped"], json!([]));
        assert_eq!(rank["metadata"], source["metadata"]);
        assert_eq!(rank["comparisons"], source["comparisons"]);
    }
}

#[test]
fn phases_are_those_of_the_file() {
    for path in [ONE, RANK0, RANK1] {
        let source = source(path);
        let mut expected: Vec<Map<String, Value>> = Vec::new();
        for e in events(&source) {
            let (after, delta) = (
                e["mem_allocated_after"].as_u64(),
                e["delta_allocated"].as_i64(),
            );
            match expected.iter_mut().find(|p| p["phase"] == e["phase"]) {
                Some(p) => {
                    p["count"] = json!(p["count"].as_u64().unwrap() + 1);
                    p["max_allocated"] = json!(p["max_allocated"].as_u64().max(after));
                    p["max_delta"] = json!(p["max_delta"].as_i64().max(delta));
                    p["sum_delta"] = json!(p["sum_delta"].as_i64().unwrap() + delta.unwrap());
                }
                None => {
                    let row = json!({"phase": e["phase"], "count": 1, "max_allocated": after, "max_delta": delta, "sum_delta": delta});
                    expected.push(row.as_object().unwrap().clone());
                }
            }
        }
        assert_eq!(
            answer(&["summary", path])["ranks"][0]["phases"],
            json!(expected),
            "{path}"
        );
    }
}

#[test]
fn top_events_have_one_row_a_place() {
    let source = source(RANK1);
    let answer = answer(&["summary", RANK1]);
    let top = answer["ranks"][0]["top_events"].as_array().unwrap();
    assert_eq!(top.len(), 20);
    let (_, highest) = highest(events(&source), "mem_allocated_after");
    assert_eq!(top[0]["max_allocated"], highest["mem_allocated_after"]);
    let mut last = u64::MAX;
    for (n, row) in top.iter().enumerate() {
        let here: Vec<&Value> = events(&source)
            .iter()
            .filter(|e| {
                ["event_type", "module", "phase"]
                    .iter()
                    .all(|k| e[k] == row[k])
            })
            .collect();
        let most = here
            .iter()
            .filter_map(|e| e["mem_allocated_after"].as_u64())
            .max()
            .unwrap();
        assert_eq!(
            (row["count"].as_u64(), row["max_allocated"].as_u64()),
            (Some(here.len() as u64), Some(most)),
            "row {n}"
        );
        assert!(most <= last);
        last = most;
    }
}

#[test]
fn what_stays_is_told_from_what_comes_back() {
    let kinds = |rank: &Value| -> Vec<String> {
        rank["growth"]
            .as_array()
            .unwrap()
            .iter()
            .map(|g| g["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    let both = answer(&["summary", "original_ddp"]);
    let (zero, one) = (&both["ranks"][0], &both["ranks"][1]);
    // Rank 1 leaves the same amount behind after every step, rank 0 nothing.
    let source = source(RANK1);
    let troughs = troughs(events(&source));
    let rises: Vec<i64> = troughs.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(rises.iter().all(|r| *r == rises[0] && *r > 0));
    assert!(
        !kinds(zero).contains(&"leak".to_owned()) && kinds(zero).contains(&"normal".to_owned())
    );
    assert!(kinds(one).contains(&"leak".to_owned()) && !kinds(one).contains(&"normal".to_owned()));
    let leak = one["growth"]
        .as_array()
        .unwrap()
        .iter()
        .find(|g| g["kind"] == "leak")
        .unwrap();
    assert_eq!(
        (&leak["bytes_per_step"], &leak["since_step"]),
        (&json!(rises[0]), &json!(0))
    );
    assert_eq!(leak["bytes"], json!(rises[0] * troughs.len() as i64));
    for g in zero["growth"]
        .as_array()
        .unwrap()
        .iter()
        .chain(one["growth"].as_array().unwrap())
    {
        let keys: Vec<&String> = g.as_object().unwrap().keys().collect();
        for key in ["kind", "bytes_per_step", "since_step", "bytes", "place"] {
            assert!(keys.iter().any(|k| *k == key), "{key} of {g}");
        }
    }
}

#[test]
fn every_key_stands_even_when_nothing_is_known() {
    let dir = directory();
    put(
        dir.path(),
        "a.json",
        r#"{"runtime_trace": [], "surprise": 1}"#,
    );
    let done = memscope_in(dir.path(), ["summary", "a.json", "--format", "json"]);
    let answer: Value = serde_json::from_str(done.ok()).unwrap();
    let rank = answer["ranks"][0].as_object().unwrap();
    let nowhere =
        json!({"bytes": null, "step": null, "phase": null, "module": null, "event": null});
    for (key, value) in [
        ("rank", Value::Null),
        ("world_size", Value::Null),
        ("device", Value::Null),
        ("complete", Value::Null),
        ("steps", json!(0)),
        ("events", json!(0)),
        (
            "peak",
            json!({"allocated": nowhere, "reserved": nowhere, "requested": {"bytes": null}, "sampled": nowhere}),
        ),
        (
            "end",
            json!({"allocated": null, "reserved": null, "requested": null, "active": null, "inactive_split": null}),
        ),
        ("growth", json!([])),
        (
            "skipped",
            json!([{"what": "unknown field surprise", "count": 1}]),
        ),
    ] {
        assert_eq!(rank.get(key), Some(&value), "{key}");
    }
}

#[test]
fn the_language_is_that_of_the_terminal_unless_said() {
    let run = |name: &str, value: &str, arguments: &[&str]| {
        crate::support::finish(crate::support::command().env(name, value).args(arguments))
            .ok()
            .to_owned()
    };
    let (english, chinese) = (
        run("LANG", "C", &["summary", ONE]),
        run("LANG", "zh_CN.UTF-8", &["summary", ONE]),
    );
    assert!(english.starts_with("Peak 2.21 GiB allocated"), "{english}");
    assert!(chinese.starts_with("峰值：已分配 2.21 GiB"), "{chinese}");
    assert_eq!(run("LC_ALL", "zh_CN.UTF-8", &["summary", ONE]), chinese);
    assert_eq!(
        run("LANG", "zh_CN.UTF-8", &["summary", ONE, "--lang", "en"]),
        english
    );
    assert_eq!(run("LANG", "C", &["summary", ONE, "--lang", "zh"]), chinese);
    let mut both = crate::support::command();
    both.env("LANG", "zh_CN.UTF-8").env("LC_ALL", "en_US.UTF-8");
    assert_eq!(
        crate::support::finish(both.args(["summary", ONE])).ok(),
        english
    );
}
