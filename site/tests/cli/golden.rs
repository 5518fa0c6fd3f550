//! Text and Markdown, compared with files; `MEMSCOPE_BLESS=1` writes those anew.

use std::path::Path;

use crate::support::memscope;

fn check(name: &str, arguments: &[&str]) {
    let done = memscope(arguments);
    let text = done.ok();
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("MEMSCOPE_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((n, (is, was))) = text
        .lines()
        .zip(golden.lines())
        .enumerate()
        .find(|(_, (a, b))| a != b)
    {
        panic!(
            "{name}, line {}:\n  is  {is}\n  was {was}\nMEMSCOPE_BLESS=1 cargo test -p site accepts it",
            n + 1
        );
    }
    assert_eq!(
        text.len(),
        golden.len(),
        "{name} has another length; MEMSCOPE_BLESS=1 cargo test -p site accepts it"
    );
}

#[test]
fn text_of_one_rank() {
    check("original_memscope.txt", &["summary", "original_memscope"]);
}

#[test]
fn text_of_two_ranks() {
    check("original_ddp.txt", &["summary", "original_ddp"]);
}

#[test]
fn text_in_chinese() {
    check(
        "original_memscope.zh.txt",
        &["summary", "original_memscope", "--lang", "zh"],
    );
}

#[test]
fn markdown_of_one_rank() {
    check(
        "original_memscope.md",
        &["summary", "original_memscope", "--format", "md"],
    );
}

#[test]
fn markdown_of_two_ranks() {
    check(
        "original_ddp.md",
        &["summary", "original_ddp", "--format", "markdown"],
    );
}

#[test]
fn stats_of_a_fragmented_device() {
    let path = "oom_fragmentation/snapshot_at_oom.pickle";
    check(
        "oom_fragmentation.stats.txt",
        &["stats", path, "--at", "oom"],
    );
    check(
        "oom_fragmentation.memory.zh.txt",
        &["memory", path, "--lang", "zh"],
    );
}

#[test]
fn trace_of_an_expandable_segment() {
    check(
        "expandable_same_work.trace.txt",
        &[
            "trace",
            "expandable_same_work/snapshot.pickle",
            "--from",
            "t40",
            "--to",
            "t60",
        ],
    );
}

#[test]
fn segments_with_private_pools() {
    check(
        "cuda_graphs.segments.txt",
        &["segments", "cuda_graphs/snapshot.pickle"],
    );
}

#[test]
fn lines_of_a_training_run() {
    check(
        "gpt2_adamw_fp32.lines.txt",
        &["lines", "gpt2_adamw_fp32/snapshot.pickle.xz"],
    );
}
