//! What lies in one folder becomes one rank.

use serde_json::Value;

use crate::support::{directory, fixture, memscope, memscope_in, put};

const REPORT: &str = "original_with_snapshot/rank00000/runtime_report.json.gz";
const SNAPSHOT: &str = "original_with_snapshot/rank00000/memory_snapshot.pickle.xz";
const OTHER: &str = "cycle_garbage/snapshot.pickle";
const OOM: &str = "cycle_garbage/snapshot_at_oom.pickle";

#[track_caller]
fn ranks(json: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(json).unwrap();
    answer["ranks"].as_array().unwrap().clone()
}

#[test]
fn a_report_and_a_snapshot_are_one_rank() {
    let by_folder = memscope(["summary", "original_with_snapshot", "--format", "json"]);
    let all = ranks(by_folder.ok());
    assert_eq!(all.len(), 1);
    let rank = &all[0];
    // The report's own figures, and what only the snapshot knows.
    assert_eq!(rank["rank"], 0);
    assert_eq!(rank["events"], 549);
    assert_eq!(rank["peak"]["allocated"]["bytes"], 2_371_916_288_u64);
    assert!(rank["peak"]["requested"]["bytes"].as_u64().unwrap() <= 2_371_916_288);
    assert!(rank["peak"]["requested"]["bytes"].as_u64().unwrap() > 2_300_000_000);
    assert_eq!(rank["end"]["active"], rank["end"]["allocated"]);
    let by_name = memscope(["summary", SNAPSHOT, REPORT, "--format", "json"]);
    assert_eq!(ranks(by_name.ok()), all);
}

#[test]
fn one_rank_stays_one_in_a_container() {
    let dir = directory();
    let out = dir.path().join("run.memscope");
    memscope([
        "render".as_ref(),
        "original_with_snapshot".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ])
    .ok();
    for format in ["json", "text", "markdown"] {
        let direct = memscope(["summary", "original_with_snapshot", "--format", format]);
        let packed = memscope_in(dir.path(), ["summary", "run.memscope", "--format", format]);
        assert_eq!(packed.ok(), direct.ok());
    }
    // Beside a snapshot of another run a container stays what it is.
    put(dir.path(), "snapshot.pickle", fixture(OTHER));
    let both = memscope_in(
        dir.path(),
        [
            "summary",
            "run.memscope",
            "snapshot.pickle",
            "--format",
            "json",
        ],
    );
    assert_eq!(ranks(both.ok()).len(), 2);
}

#[test]
fn a_snapshot_has_the_number_of_its_folder() {
    let dir = directory();
    put(dir.path(), "run/rank00007/snapshot.pickle", fixture(OTHER));
    put(dir.path(), "run/rank00003/dump.pkl", fixture(OOM));
    let done = memscope_in(dir.path(), ["summary", "run", "--format", "json"]);
    let got: Vec<_> = ranks(done.ok())
        .iter()
        .map(|r| (r["rank"].as_i64(), r["source"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(
        got,
        [
            (Some(3), "dump.pkl".to_owned()),
            (Some(7), "snapshot.pickle".to_owned())
        ]
    );
}

#[test]
fn several_snapshots_of_a_folder_stay_apart() {
    let done = memscope(["summary", "cycle_garbage", "--format", "json"]);
    let names: Vec<_> = ranks(done.ok())
        .iter()
        .map(|r| r["source"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["snapshot.pickle", "snapshot_at_oom.pickle"]);
    // With a report among them, the one with the run's own name belongs to it.
    let dir = directory();
    put(dir.path(), "r/runtime_report.json.gz", fixture(REPORT));
    put(dir.path(), "r/snapshot_at_oom.pickle", fixture(OOM));
    put(dir.path(), "r/memory_snapshot.pickle.xz", fixture(SNAPSHOT));
    let done = memscope_in(dir.path(), ["summary", "r", "--format", "json"]);
    let all = ranks(done.ok());
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["source"], "runtime_report.json.gz");
    assert!(all[0]["peak"]["requested"]["bytes"].as_u64() > Some(2_300_000_000));
    assert_eq!(all[1]["source"], "snapshot_at_oom.pickle");
}

#[test]
fn other_pickles_are_left_out_of_a_search_but_not_of_a_call() {
    let dir = directory();
    put(dir.path(), "r/snapshot.pickle", fixture(OTHER));
    put(dir.path(), "r/weights.pkl", b"\x80\x04ctorch\nload\n.");
    let done = memscope_in(dir.path(), ["summary", "r", "--format", "json"]);
    assert_eq!((done.code, ranks(done.text()).len()), (0, 1));
    assert!(
        done.stderr
            .starts_with("memscope: r/weights.pkl was left out: r/weights.pkl: at byte 2"),
        "{}",
        done.stderr
    );
    let done = memscope_in(dir.path(), ["summary", "r/weights.pkl"]);
    assert_eq!(done.code, 1);
}
