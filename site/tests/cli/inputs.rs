//! What may be given, how it is found and what it is called.

use serde_json::Value;

use crate::support::{
    ONE, RANK0, RANK1, directory, fixture, listing, memscope, memscope_in, memscope_with, put,
    small,
};

/// Source names and rank numbers, in the report's order.
#[track_caller]
fn ranks(json: &str) -> Vec<(Option<i64>, String)> {
    let answer: Value = serde_json::from_str(json).unwrap();
    let each = |r: &Value| (r["rank"].as_i64(), r["source"].as_str().unwrap().to_owned());
    answer["ranks"]
        .as_array()
        .unwrap()
        .iter()
        .map(each)
        .collect()
}

fn named(rank: i64, name: &str) -> (Option<i64>, String) {
    (Some(rank), name.to_owned())
}

#[test]
fn a_directory_is_searched_for_its_ranks_in_order() {
    let dir = directory();
    for rank in [10, 2, 0] {
        put(
            dir.path(),
            &format!("out/rank{rank:05}/runtime_report.json"),
            small(&rank.to_string(), "m"),
        );
    }
    put(dir.path(), "out/rank00003/trace.json", "{}");
    put(dir.path(), "out/rank00004/other.json", "{}");
    put(dir.path(), "out/other/runtime_report.json", "not looked at");
    let done = memscope_in(dir.path(), ["summary", "out", "--format", "json"]);
    assert_eq!(done.code, 0);
    assert_eq!(
        done.stderr,
        "memscope: out/rank00004 has no report, snapshot or trace and was left out\n\
         memscope: out/rank00003/trace.json was left out: out/rank00003/trace.json: at byte 0: expected \
         an object with runtime_trace, peak, top_events, metadata or comparisons, found an object with \
         none of them; give MemScope the runtime_report.json of a run\n"
    );
    assert_eq!(
        ranks(done.text()),
        [
            named(0, "rank00000/runtime_report.json"),
            named(2, "rank00002/runtime_report.json"),
            named(10, "rank00010/runtime_report.json")
        ]
    );
}

#[test]
fn a_directory_may_hold_the_report_itself() {
    let done = memscope(["summary", "original_memscope/rank00000", "--format", "json"]);
    assert_eq!(ranks(done.ok()), [named(0, "runtime_report.json")]);
}

#[test]
fn ranks_are_ordered_by_number_whatever_the_call() {
    let done = memscope(["summary", RANK1, RANK0, "--format", "json"]);
    assert_eq!(
        ranks(done.ok()),
        [
            named(0, "rank00000/runtime_report.json"),
            named(1, "rank00001/runtime_report.json")
        ]
    );
    let same = memscope(["summary", "original_ddp", "--format", "json"]);
    assert_eq!(same.ok(), done.ok());
}

#[test]
fn what_is_given_twice_is_read_once() {
    let twice = memscope([
        "summary",
        RANK0,
        "original_ddp/../original_ddp/rank00000",
        RANK0,
        "--format",
        "json",
    ]);
    assert_eq!(ranks(twice.ok()), [named(0, "runtime_report.json")]);
    let stdin = memscope_with(&fixture(ONE), &["summary", "-", "-", "--format", "json"]);
    assert_eq!(ranks(stdin.ok()), [named(0, "stdin")]);
}

#[test]
fn two_inputs_of_one_rank_are_both_kept() {
    let dir = directory();
    put(dir.path(), "a/x.json", small("0", "m"));
    put(dir.path(), "b/x.json", small("0", "n"));
    let done = memscope_in(
        dir.path(),
        ["summary", "b/x.json", "a/x.json", "--format", "json"],
    );
    assert_eq!(done.code, 0);
    assert_eq!(
        done.stderr,
        "memscope: a/x.json and b/x.json both say they are rank 0; both are kept\n"
    );
    assert_eq!(
        ranks(done.text()),
        [named(0, "a/x.json"), named(0, "b/x.json")]
    );
}

#[test]
fn a_rank_without_number_comes_last() {
    let dir = directory();
    put(dir.path(), "a.json", r#"{"runtime_trace": []}"#);
    put(dir.path(), "b.json", small("7", "m"));
    let done = memscope_in(
        dir.path(),
        ["summary", "a.json", "b.json", "--format", "json"],
    );
    assert_eq!(
        ranks(done.ok()),
        [named(7, "b.json"), (None, "a.json".to_owned())]
    );
}

#[test]
fn containers_are_read_by_content_and_keep_their_names() {
    let dir = directory();
    let json = memscope(["summary", "original_ddp", "--format", "json"]);
    for (n, input) in [RANK0, RANK1].into_iter().enumerate() {
        let out = dir.path().join(format!("r{n}.memscope"));
        let done = memscope([
            "render".as_ref(),
            input.as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ]);
        let size = present::units::bytes(out.metadata().unwrap().len());
        assert_eq!(done.ok(), format!("wrote {} ({size})\n", out.display()));
    }
    std::fs::rename(dir.path().join("r1.memscope"), dir.path().join("r1.json")).unwrap();
    let done = memscope_in(
        dir.path(),
        ["summary", "r1.json", "r0.memscope", "--format", "json"],
    );
    // Both hold a runtime_report.json of another directory: the container's name tells them apart.
    assert_eq!(
        ranks(done.ok()),
        [
            named(0, "r0.memscope: runtime_report.json"),
            named(1, "r1.json: runtime_report.json")
        ]
    );
    let figures = |text: &str| -> Value {
        let mut answer: Value = serde_json::from_str(text).unwrap();
        answer["ranks"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|r| r["source"] = Value::Null);
        answer
    };
    assert_eq!(figures(done.ok()), figures(json.ok()));
}

#[test]
fn a_container_of_several_ranks_gives_the_same_answer() {
    let dir = directory();
    let out = dir.path().join("run.memscope");
    memscope([
        "render".as_ref(),
        "original_ddp".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ])
    .ok();
    for format in ["json", "text", "markdown"] {
        let from_json = memscope(["summary", "original_ddp", "--format", format]);
        let from_container =
            memscope_in(dir.path(), ["summary", "run.memscope", "--format", format]);
        assert_eq!(from_container.ok(), from_json.ok());
    }
    let piped = memscope_with(&std::fs::read(&out).unwrap(), &["summary", "-"]);
    assert_eq!(piped.ok(), memscope(["summary", "original_ddp"]).ok());
    assert_eq!(listing(dir.path()), ["run.memscope"]);
}

#[test]
fn no_directory_above_the_run_is_told() {
    let dir = directory();
    put(dir.path(), "secret_project/r.json", small("0", "m"));
    let whole = dir.path().join("secret_project/r.json");
    for format in ["json", "text", "markdown"] {
        let done = memscope([
            "summary".as_ref(),
            whole.as_os_str(),
            "--format".as_ref(),
            format.as_ref(),
        ]);
        assert!(!done.ok().contains("secret_project"));
    }
}
