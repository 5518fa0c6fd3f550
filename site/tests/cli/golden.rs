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
