//! The harness itself: each fault that a page can have is found. Without these, a silent harness
//! would pass every page.

use e2e::file_url;
use e2e::harness::on;

use crate::pages;

fn page(name: &str, body: &str) {
    let path = pages::temporary(name);
    let started = "globalThis.memscopeMarks = { started: 1 };";
    std::fs::write(
        &path,
        format!("<!doctype html><meta charset=utf-8><script>{started}{body}</script>"),
    )
    .unwrap();
    assert!(file_url(&path).starts_with("file:///"));
    on(&path, async |page| page.settle().await);
}

#[test]
#[should_panic(expected = "request: http://example.com/x.png")]
fn a_request_is_found() {
    page(
        "fault_request.html",
        "new Image().src = 'http://example.com/x.png'",
    );
}

#[test]
#[should_panic(expected = "request: file:///")]
fn a_request_for_a_file_is_found() {
    page("fault_file.html", "new Image().src = 'other.png'");
}

#[test]
#[should_panic(expected = "console: SEVERE")]
fn an_error_in_the_console_is_found() {
    page("fault_console.html", "console.error('no')");
}

#[test]
#[should_panic(expected = "Uncaught Error: no")]
fn an_uncaught_exception_is_found() {
    page(
        "fault_exception.html",
        "setTimeout(() => { throw new Error('no') })",
    );
}

#[test]
#[should_panic(expected = "alert")]
fn a_dialog_is_found() {
    page("fault_dialog.html", "setTimeout(() => alert('no'), 50)");
}
