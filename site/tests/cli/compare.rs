//! `memscope compare`, against what the allocator itself said (`truth.json`).

use serde_json::Value;

use crate::support::{ONE, RANK0, RANK1, directory, fixture, memscope, memscope_with, small};

const AMP: &str = "gpt2_adamw_amp/snapshot.pickle.xz";
const FP32: &str = "gpt2_adamw_fp32/snapshot.pickle.xz";

fn truth(name: &str, stat: &str) -> i64 {
    let json: Value = serde_json::from_slice(&fixture(&format!("{name}/truth.json"))).unwrap();
    json["memory_stats"][stat].as_i64().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let all = ["compare", "--format", "json"].iter().chain(arguments);
    serde_json::from_str(memscope(all).ok()).unwrap()
}

fn figure<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let all = answer["figures"].as_array().unwrap();
    all.iter().find(|f| f["figure"] == name).unwrap()
}

#[test]
fn two_snapshots_for_scripts() {
    let answer = json(&[AMP, FP32]);
    assert_eq!(answer["format"], "memscope.compare");
    assert_eq!(answer["version"], 1);
    for (name, stat) in [
        ("peak_requested", "requested_bytes.all.peak"),
        ("peak_reserved", "reserved_bytes.all.peak"),
        ("end_allocated", "allocated_bytes.all.current"),
    ] {
        let (a, b) = (
            truth("gpt2_adamw_amp", stat),
            truth("gpt2_adamw_fp32", stat),
        );
        let found = figure(&answer, name);
        assert_eq!(
            (&found["a"], &found["b"], &found["delta"]),
            (&a.into(), &b.into(), &(b - a).into())
        );
    }
    let stat = "requested_bytes.all.peak";
    let (a, b) = (
        truth("gpt2_adamw_amp", stat),
        truth("gpt2_adamw_fp32", stat),
    );
    let groupings = answer["snapshot"]["by"].as_array().unwrap();
    let names: Vec<_> = groupings
        .iter()
        .map(|g| g["by"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["line", "function", "stack", "category"]);
    for grouping in groupings {
        let rows = grouping["rows"].as_array().unwrap();
        let sum =
            |of: fn(&Value) -> &Value| rows.iter().map(|r| of(r).as_i64().unwrap()).sum::<i64>();
        assert_eq!(sum(|r| &r["a"]["bytes"]), a, "{}", grouping["by"]);
        assert_eq!(sum(|r| &r["b"]["bytes"]), b);
        assert_eq!(sum(|r| &r["delta"]), b - a);
    }
    // A cut list says what it leaves out.
    let cut = json(&[AMP, FP32, "--top", "2", "--by", "line"]);
    let line = &cut["snapshot"]["by"][0];
    let listed: i64 = line["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["delta"].as_i64().unwrap())
        .sum();
    assert_eq!(line["rows"].as_array().unwrap().len(), 2);
    assert_eq!(listed + line["others"]["delta"].as_i64().unwrap(), b - a);
}

#[test]
fn two_snapshots_for_people() {
    let stat = "requested_bytes.all.peak";
    let (a, b) = (
        truth("gpt2_adamw_amp", stat),
        truth("gpt2_adamw_fp32", stat),
    );
    let mib = (b - a) as f64 / 1_048_576.0;
    let gib = |n: i64| n as f64 / 1_073_741_824.0;
    let share = (b - a) as f64 / a as f64 * 100.0;
    let begin = format!(
        "B's peak is {mib:.0} MiB ({share:.1} %) higher than A's: {:.2} GiB → {:.2} GiB requested; ",
        gib(a),
        gib(b)
    );
    let text = memscope(["compare", AMP, FP32]);
    assert!(text.ok().starts_with(&begin), "{}", text.text());
    let back = memscope(["compare", FP32, AMP]);
    assert!(
        back.ok().contains("MiB") && back.text().contains(" lower than A's"),
        "{}",
        back.text()
    );
    let markdown = memscope(["compare", AMP, FP32, "--format", "markdown"]);
    assert!(markdown.ok().starts_with("# MemScope comparison\n"));
    assert!(markdown.text().contains("## by category\n"));
    let svg = memscope(["compare", AMP, FP32, "--format", "svg"]);
    assert!(svg.ok().starts_with("<svg ") && svg.text().contains("B peak 3.15 GiB"));
    let flame = memscope(["compare", AMP, FP32, "--format", "svg", "--by", "stack"]);
    assert!(flame.ok().contains("▲ +"), "a sign beside the colour");
    assert!(flame.text().contains("▼"));
    assert!(
        memscope(["compare", AMP, FP32, "--lang", "zh"])
            .ok()
            .starts_with("B 的峰值比 A 高")
    );
}

#[test]
fn a_run_against_itself_at_two_instants() {
    let answer = json(&[AMP, AMP, "--at", "start", "--at-b", "end"]);
    let end = truth("gpt2_adamw_amp", "requested_bytes.all.current");
    let requested = &answer["snapshot"]["requested"];
    assert_eq!(
        (&requested["a"], &requested["delta"]),
        (&0.into(), &end.into())
    );
    assert_eq!(answer["snapshot"]["at"]["b"], "end");
}

#[test]
fn two_ranks_of_a_directory_and_what_they_were_packed_into() {
    let runs: Vec<Value> = [RANK0, RANK1]
        .iter()
        .map(|r| serde_json::from_slice(&fixture(r)).unwrap())
        .collect();
    let peak = |json: &Value| {
        let events = json["runtime_trace"].as_array().unwrap();
        events
            .iter()
            .filter_map(|e| e["max_mem_allocated"].as_i64())
            .max()
            .unwrap()
    };
    let answer = json(&[
        "original_ddp",
        "original_ddp",
        "--rank",
        "0",
        "--rank-b",
        "1",
    ]);
    let allocated = figure(&answer, "peak_allocated");
    assert_eq!(allocated["delta"], peak(&runs[1]) - peak(&runs[0]));
    let parts = answer["runtime"]["parts"].as_array().unwrap();
    let sum: i64 = parts.iter().map(|p| p["delta"].as_i64().unwrap()).sum();
    assert_eq!(sum, peak(&runs[1]) - peak(&runs[0]));
    assert!(answer["snapshot"].is_null());

    let folder = directory();
    let packed = folder.path().join("run.memscope");
    memscope([
        "render".as_ref(),
        "original_ddp".as_ref(),
        "-o".as_ref(),
        packed.as_os_str(),
    ]);
    let path = packed.to_str().unwrap();
    let again = json(&[path, path, "--rank", "0", "--rank-b", "1"]);
    assert_eq!(again["runtime"], answer["runtime"]);
    assert_eq!(again["figures"], answer["figures"]);
    // Without a choice the rank with the highest peak is taken, and that is said.
    let chosen = memscope(["compare", "original_ddp", ONE]);
    assert!(
        chosen
            .stderr
            .contains("A: rank 1 of original_ddp is compared"),
        "{}",
        chosen.stderr
    );
}

#[test]
fn a_snapshot_against_a_runtime_report() {
    let text = memscope(["compare", AMP, ONE]);
    let said = text.ok();
    assert!(said.contains("allocated"), "{said}");
    assert!(
        said.contains("cannot be compared: B has no memory snapshot."),
        "{said}"
    );
    assert!(
        said.contains("cannot be compared: A has no runtime report."),
        "{said}"
    );
    let answer = json(&[AMP, ONE]);
    let reserved = truth("gpt2_adamw_amp", "reserved_bytes.all.peak");
    assert_eq!(figure(&answer, "peak_reserved")["a"], reserved);
    assert_eq!(answer["cannot"][0]["only"], "A");
}

#[test]
fn calls_that_cannot_be() {
    let bad = |arguments: &[&str], line: &str| {
        let all = ["compare"].iter().chain(arguments);
        memscope(all).fails(2, &format!("memscope: {line}"));
    };
    bad(&["-", "-"], "only one of the two can be stdin");
    bad(
        &[AMP, FP32, "--at", "t99999999"],
        "--at t99999999: in A, t99999999 is no entry of this device; it has t0 to t6712",
    );
    bad(
        &[AMP, FP32, "--at-b", "oom"],
        "--at-b oom: in B, the history has 0 out-of-memory entries, so there is no oom",
    );
    bad(
        &[AMP, ONE, "--at", "end"],
        "--at needs a memory snapshot on both sides",
    );
    bad(
        &["original_ddp", ONE, "--rank", "7"],
        "original_ddp has no rank 7; it has 0 (original_ddp/rank00000/runtime_report.json), 1 (rank00001/runtime_report.json)",
    );
    let a = small("0", "m");
    let done = memscope_with(a.as_bytes(), &["compare", "-", ONE]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
}

/// One page with both, which says the answer without scripts and opens on the comparison with them.
#[test]
fn a_page_with_both() {
    if !site::pack::has_viewer() {
        let done = memscope(["compare", AMP, FP32, "--format", "html"]);
        assert_eq!(done.code, 1, "{}", done.stderr);
        return;
    }
    let folder = directory();
    let page = folder.path().join("diff.html");
    let arguments = [
        "compare",
        AMP,
        FP32,
        "--at",
        "peak",
        "-o",
        page.to_str().unwrap(),
    ];
    assert!(memscope(arguments).ok().starts_with("wrote "));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("data-link=\"view=compare&amp;rank=0&amp;with=1&amp;at=peak&amp;atb=peak\"")
    );
    let text = memscope(["compare", AMP, FP32]);
    let headline = text.ok().lines().next().unwrap().replace('\'', "&#39;");
    assert!(html.contains(&format!("<h1>{headline}</h1>")), "{headline}");
    // It is an input like any other.
    let path = page.to_str().unwrap();
    let done = memscope(["summary", path, "--format", "json"]);
    let ranks: Value = serde_json::from_str(done.ok()).unwrap();
    assert_eq!(ranks["ranks"].as_array().unwrap().len(), 2);
}
