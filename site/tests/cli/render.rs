//! `render`, `visualize-runtime` and `viewer`: where pages go and what is said about them.

use crate::support::{
    ONE, command, directory, finish, fixture, listing, memscope_in, memscope_with, noise, pages,
    put, small,
};

#[test]
fn render_says_where_the_page_is() {
    if !pages() {
        return;
    }
    let dir = directory();
    put(
        dir.path(),
        "run/rank00000/runtime_report.json",
        small("0", "m"),
    );
    put(
        dir.path(),
        "run/rank00001/runtime_report.json",
        small("1", "m"),
    );
    for (arguments, path) in [
        (&["render", "run"][..], "run/memscope.html"),
        (
            &["render", "run/rank00000/runtime_report.json"],
            "run/rank00000/runtime_report.html",
        ),
        (&["render", "run/rank00001", "-o", "x.html"], "x.html"),
        (
            &[
                "visualize-runtime",
                "--report",
                "run/rank00001/runtime_report.json",
            ],
            "run/rank00001/runtime_report.html",
        ),
        (
            &["visualize-runtime", "--report", "run", "--out", "y.html"],
            "y.html",
        ),
        (&["viewer", "-o", "viewer.html"], "viewer.html"),
    ] {
        let done = memscope_in(dir.path(), arguments);
        let size = std::fs::metadata(dir.path().join(path)).unwrap().len();
        assert_eq!(
            done.ok(),
            format!("wrote {path} ({})\n", present::units::bytes(size))
        );
    }
    assert_eq!(
        listing(dir.path()),
        ["run", "viewer.html", "x.html", "y.html"]
    );
    assert_eq!(
        listing(&dir.path().join("run/rank00000")),
        ["runtime_report.html", "runtime_report.json"]
    );
}

#[test]
fn a_bad_input_leaves_the_old_page() {
    if !pages() {
        return;
    }
    let dir = directory();
    put(dir.path(), "bad.json", "{\"runtime_trace\": [1]");
    put(dir.path(), "bad.html", "old");
    let done = memscope_in(dir.path(), ["render", "bad.json"]);
    assert_eq!((done.code, done.text()), (1, ""));
    assert_eq!(listing(dir.path()), ["bad.html", "bad.json"]);
    assert_eq!(
        std::fs::read_to_string(dir.path().join("bad.html")).unwrap(),
        "old"
    );
}

#[test]
fn stdin_goes_to_stdout_when_nobody_says_where() {
    if !pages() {
        return;
    }
    let html = memscope_with(&fixture(ONE), &["render", "-"]);
    assert!(html.ok().starts_with("<!doctype html>") && html.ok().ends_with("</html>\n"));
}

#[test]
fn a_large_page_is_warned_about() {
    if !pages() {
        return;
    }
    let dir = directory();
    put(dir.path(), "large.json", small("0", &noise(14 << 20)));
    let done = memscope_in(dir.path(), ["render", "large.json"]);
    assert_eq!(done.code, 0);
    assert!(
        done.stderr.starts_with("memscope: the page has ")
            && done.stderr.contains("more than many mail servers take"),
        "{}",
        done.stderr
    );
    assert!(done.text().starts_with("wrote large.html ("));
}

#[cfg(target_os = "linux")]
#[test]
fn open_starts_the_browser_with_the_whole_path() {
    use std::os::unix::fs::PermissionsExt as _;
    if !pages() {
        return;
    }
    let dir = directory();
    put(dir.path(), "a.json", small("0", "m"));
    let fake = put(
        dir.path(),
        "bin/xdg-open",
        format!(
            "#!/bin/sh\nprintf %s \"$1\" > '{0}/t' && mv '{0}/t' '{0}/opened'\n",
            dir.path().display()
        ),
    );
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        dir.path().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let done = finish(
        command()
            .current_dir(dir.path())
            .env("PATH", path)
            .args(["render", "a.json", "--open"]),
    );
    assert!(done.ok().starts_with("wrote a.html ("));
    let opened = dir.path().join("opened");
    for _ in 0..500 {
        if opened.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let opened = std::fs::read_to_string(opened).unwrap();
    assert_eq!(
        std::path::Path::new(&opened).canonicalize().unwrap(),
        dir.path().join("a.html").canonicalize().unwrap()
    );
}
