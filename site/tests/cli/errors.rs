//! What is said when something is wrong, to the letter.

use crate::support::{directory, listing, memscope, memscope_in, memscope_with, put, small};

const SUMMARY: &str = "summary";

#[test]
fn a_bad_input_is_one_line_and_exit_1() {
    let dir = directory();
    let whole = small("0", "m");
    put(dir.path(), "empty.json", "");
    put(dir.path(), "cut.json", &whole[..whole.len() / 2]);
    put(dir.path(), "text.txt", "hello");
    put(dir.path(), "page.html", "<!doctype html><p>not ours</p>");
    put(dir.path(), "pickle.pickle", b"\x80\x02}q\x00.");
    let expected = "expected a runtime_report.json, a journal, a PyTorch memory snapshot, a trace or memory \
                    timeline of its profiler, a .memscope container or an HTML report of MemScope";
    for (name, start) in [
        (
            "missing.json",
            "memscope: cannot read missing.json: ".to_owned(),
        ),
        (
            "empty.json",
            format!("memscope: empty.json: at byte 0: {expected}, found an empty input"),
        ),
        ("cut.json", "memscope: cut.json: at byte ".to_owned()),
        (
            "text.txt",
            format!("memscope: text.txt: at byte 0: {expected}, found \"hello\""),
        ),
        (
            "page.html",
            "memscope: page.html: at byte 30: expected an HTML report of MemScope with its data"
                .to_owned(),
        ),
        (
            "pickle.pickle",
            "memscope: pickle.pickle: at byte 6: expected a dictionary with segments or \
             device_traces, or a list of segments, found an empty dictionary"
                .to_owned(),
        ),
    ] {
        let done = memscope_in(dir.path(), [SUMMARY, name]);
        assert_eq!((done.code, done.text()), (1, ""), "{name}");
        assert!(done.stderr.starts_with(&start), "{name}: {}", done.stderr);
        assert_eq!(
            done.stderr.matches('\n').count(),
            1,
            "{name}: {}",
            done.stderr
        );
    }
}

#[test]
fn stdin_is_named_in_errors() {
    let done = memscope_with(b"{\"runtime_trace\": [", &[SUMMARY, "-"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .starts_with("memscope: stdin: at byte 19: expected "),
        "{}",
        done.stderr
    );
}

#[test]
fn a_directory_without_reports_says_what_was_looked_for() {
    let dir = directory();
    put(dir.path(), "outputs/rank00000/other.json", "{}");
    put(dir.path(), "outputs/rankx/runtime_report.json", "{}");
    memscope_in(dir.path(), [SUMMARY, "outputs"]).fails(
        1,
        "memscope: outputs: found no report there; looked for runtime_report.json, journals (journal/*.jsonl), memory \
         snapshots (*.pickle), trace.json and memory_timeline*.json, there and in its folders rankNNNNN \
         (give the directory that MemScope wrote, mostly memscope_outputs, \
         or the files themselves)",
    );
}

#[test]
fn a_bad_output_fails_before_the_work() {
    let dir = directory();
    // The input is bad as well, but that would show later only.
    put(dir.path(), "bad.json", "{");
    let run = |out: &str| memscope_in(dir.path(), [SUMMARY, "bad.json", "-o", out]);
    run("no/such/x.txt").fails(
        1,
        "memscope: cannot write no/such/x.txt: there is no directory for it; create that first",
    );
    run(".").fails(
        1,
        "memscope: cannot write .: it is a directory; name a file in it",
    );
    let old = put(dir.path(), "old.txt", "old");
    let mut permissions = old.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&old, permissions).unwrap();
    run("old.txt").fails(
        1,
        "memscope: cannot write old.txt: it is read-only; name another file, or make it writable",
    );
    assert_eq!(listing(dir.path()), ["bad.json", "old.txt"]);
}

#[test]
fn a_bad_call_is_one_line_and_exit_2() {
    for (arguments, start) in [
        (
            &["render"][..],
            "memscope: the following required arguments were not provided: <INPUT>...; ",
        ),
        (
            &["summary"],
            "memscope: the following required arguments were not provided: <INPUT>...; ",
        ),
        (
            &["viewer"],
            "memscope: the following required arguments were not provided: --output <FILE>; ",
        ),
        (
            &["visualize-runtime"],
            "memscope: the following required arguments were not provided: --report <REPORT>; ",
        ),
        (
            &["sumary", "x"],
            "memscope: unrecognized subcommand 'sumary'; tip: a similar subcommand exists: 'summary'",
        ),
        (
            &["summary", "x", "--format", "xml"],
            "memscope: invalid value 'xml' for '--format <FORMAT>'; ",
        ),
        (
            &["summary", "x", "--lang", "fr"],
            "memscope: invalid value 'fr' for '--lang <LANG>'; ",
        ),
        (
            &["completions", "tcsh"],
            "memscope: invalid value 'tcsh' for '<SHELL>'; ",
        ),
    ] {
        let done = memscope(arguments);
        assert_eq!((done.code, done.text()), (2, ""), "{arguments:?}");
        assert!(
            done.stderr.starts_with(start),
            "{arguments:?}: {}",
            done.stderr
        );
        assert_eq!(
            done.stderr.matches('\n').count(),
            1,
            "{arguments:?}: {}",
            done.stderr
        );
    }
    let nothing = memscope(&[] as &[&str]);
    assert_eq!((nothing.code, nothing.text()), (2, ""));
    assert!(nothing.stderr.contains("Usage: memscope <COMMAND>"));
}

#[test]
fn open_needs_a_page_in_a_file() {
    let dir = directory();
    put(dir.path(), "a.json", small("0", "m"));
    let run = |out: &str| memscope_in(dir.path(), ["render", "a.json", "--open", "-o", out]);
    run("-").fails(
        2,
        "memscope: --open: what goes to stdout cannot be opened; write HTML with -o FILE.html",
    );
    run("a.memscope").fails(
        2,
        "memscope: --open: a browser cannot open a .memscope file by itself; write HTML with -o FILE.html",
    );
}

#[test]
fn an_input_is_never_overwritten() {
    let dir = directory();
    let path = put(dir.path(), "a.json", small("0", "m"));
    let line = "memscope: a.json is an input and would be overwritten; name another file with -o";
    memscope_in(dir.path(), ["render", "a.json", "-o", "./a.json"]).fails(2, line);
    memscope_in(dir.path(), ["summary", "a.json", "-o", "a.json"]).fails(2, line);
    std::fs::rename(&path, dir.path().join("a.html")).unwrap();
    memscope_in(dir.path(), ["render", "a.html"]).fails(
        2,
        "memscope: a.html is an input and would be overwritten; name another file with -o",
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.html", dir.path().join("link.html")).unwrap();
        memscope_in(dir.path(), ["summary", "a.html", "-o", "link.html"]).fails(
            2,
            "memscope: a.html is an input and would be overwritten; name another file with -o",
        );
    }
    assert_eq!(
        std::fs::read_to_string(dir.path().join("a.html")).unwrap(),
        small("0", "m")
    );
}
