//! The HTML file, read as text. What it does in a browser is tested in `tests/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::support::{
    ONE, command, directory, finish, fixture, fixtures, memscope, memscope_in, memscope_with,
    pages, put, small,
};

/// What stands between two texts; both must be there.
#[track_caller]
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start}"));
    rest.split_once(end)
        .unwrap_or_else(|| panic!("no {end} behind {start}"))
        .0
}

fn rendered(input: &str) -> String {
    memscope(["render", input, "-o", "-"]).ok().to_owned()
}

/// The static part.
fn fixed(html: &str) -> &str {
    between(
        html,
        "<div id=\"memscope-static\"",
        "<script type=\"application/octet-stream\" id=\"memscope-wasm\"",
    )
}

#[test]
fn the_same_input_gives_the_same_page_anywhere() {
    if !pages() {
        return;
    }
    let dir = directory();
    put(dir.path(), "elsewhere/runtime_report.json", fixture(ONE));
    let here = rendered(ONE);
    let there = finish(
        command()
            .current_dir(dir.path())
            .env("LANG", "zh_CN.UTF-8")
            .env("TZ", "Asia/Shanghai")
            .args([
                "visualize-runtime",
                "--report",
                "elsewhere/runtime_report.json",
                "--out",
                "-",
            ]),
    );
    assert!(there.ok() == here);
    // A page is an input as well, and gives itself.
    put(dir.path(), "page.html", &here);
    assert!(memscope_in(dir.path(), ["render", "page.html", "-o", "-"]).ok() == here);
    assert_eq!(
        memscope_in(dir.path(), ["summary", "page.html"]).ok(),
        memscope(["summary", ONE]).ok()
    );
}

#[test]
fn the_policy_allows_the_one_script_and_nothing_else() {
    if !pages() {
        return;
    }
    let html = rendered(ONE);
    let script = between(
        &html,
        "<script type=\"module\" id=\"memscope-boot\">",
        "</script>",
    );
    let hash = STANDARD.encode(Sha256::digest(script));
    assert_eq!(
        between(
            &html,
            "http-equiv=\"Content-Security-Policy\" content=\"",
            "\""
        ),
        format!(
            "default-src 'none'; script-src 'sha256-{hash}' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; \
             img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
        )
    );
    assert!(script.contains("__wbg_init") && script.contains("memscopeBoot"));
    assert!(!script.contains('\r') && !script.contains('\0'));
    assert!(
        !html.contains("{{") || script.contains("{{"),
        "a placeholder was left"
    );
}

#[test]
fn sizes_in_the_page_are_true() {
    if !pages() {
        return;
    }
    let html = rendered("original_ddp");
    let program = between(&html, "data-parts=\"", "</script>");
    let (parts, program) = program.split_once("\">").unwrap();
    let parts: Vec<usize> = parts.split(',').map(|n| n.parse().unwrap()).collect();
    let script = between(&html, "id=\"memscope-boot\">", "</script>").len();
    let style = between(&html, "<style>", "</style>").len();
    let inside = between(
        &html,
        "<div id=\"memscope-note\"></div>\n",
        "\n</div>\n<script",
    )
    .len();
    let start = html
        .find("<script type=\"application/octet-stream\" class=\"memscope-data\">")
        .unwrap();
    let data = html[start..].find("\n<script type=\"module\"").unwrap();
    assert_eq!(parts, [program.len(), script + style, inside, data]);
    let container = report::read::html::container("page", html.as_bytes()).unwrap();
    assert_eq!(
        between(&html, "data-bytes=\"", "\""),
        container.len().to_string()
    );
    let dir = directory();
    let out = dir.path().join("x.memscope");
    memscope([
        "render".as_ref(),
        "original_ddp".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ])
    .ok();
    assert!(std::fs::read(out).unwrap() == container);
}

#[test]
fn the_program_depends_on_neither_time_nor_machine() {
    if !pages() {
        return;
    }
    let html = rendered(ONE);
    let (_, program) = between(&html, "id=\"memscope-wasm\"", "</script>")
        .split_once('>')
        .unwrap();
    let gz = STANDARD.decode(program).unwrap();
    assert_eq!(
        gz[..8],
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0],
        "gzip without name and time"
    );
    let mut wasm = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&gz[..]), &mut wasm).unwrap();
    assert!(wasm.starts_with(b"\0asm"));
    let text = String::from_utf8_lossy(&wasm);
    let workspace = fixtures().ancestors().nth(2).unwrap().display().to_string();
    for path in ["/.cargo/", workspace.as_str()] {
        assert!(!text.contains(path), "{path} stands in the program");
    }
}

#[test]
fn the_static_part_answers_in_the_language_that_was_asked_for() {
    if !pages() {
        return;
    }
    let html = rendered(ONE);
    assert!(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert!(html.contains("<title>MemScope: peak 2.21 GiB</title>"));
    assert!(fixed(&html).contains("<h1>Peak 2.21 GiB allocated, 2.47 GiB reserved"));
    assert!(fixed(&html).contains("<table") && fixed(&html).contains("<svg "));
    let chinese = memscope(["render", ONE, "-o", "-", "--lang", "zh"])
        .ok()
        .to_owned();
    assert!(
        chinese.contains("<html lang=\"zh-CN\">")
            && fixed(&chinese).contains("<h1>峰值：已分配 2.21 GiB")
    );
}

#[test]
fn the_viewer_has_no_data_and_says_what_to_do_in_both_languages() {
    if !pages() {
        return;
    }
    let viewer = memscope(["viewer", "-o", "-"]);
    let html = viewer.ok();
    assert_eq!(between(html, "data-bytes=\"", "\""), "0");
    assert!(between(html, "data-parts=\"", "\"").ends_with(",0"));
    assert!(!html.contains("class=\"memscope-data\""));
    assert!(
        fixed(html).contains("runtime_report.json") && fixed(html).contains("It needs scripts")
    );
    assert!(fixed(html).contains("lang=\"zh-CN\"") && fixed(html).contains("本页面需要脚本"));
    let done = memscope_with(html.as_bytes(), &["summary", "-"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stderr
            .contains("expected an HTML report of MemScope with its data"),
        "{}",
        done.stderr
    );
}

#[test]
fn names_of_strangers_stay_text() {
    if !pages() {
        return;
    }
    let page = |rank: &str, module: &str| {
        let done = memscope_with(small(rank, module).as_bytes(), &["render", "-", "-o", "-"]);
        done.ok().to_owned()
    };
    let plain = page("0", "m");
    for hostile in [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "{{script}}{{static}}{{data_bytes}}",
        "javascript:alert(1)",
        "\u{2028}\0\u{202e}",
        "</title></style></div><h1>",
        "<!--",
        "&lt;b&gt;",
    ] {
        let html = page(hostile, hostile);
        for mark in [
            "<script",
            "</script",
            "<img",
            "<h1",
            "</div",
            "</style",
            "</title",
            "<!--",
            "data-bytes=",
        ] {
            assert_eq!(
                html.matches(mark).count(),
                plain.matches(mark).count(),
                "{hostile:?} brought {mark}"
            );
        }
    }
    // Placeholders are text like any other, wherever they stand.
    assert!(fixed(&page("0", "{{script}}{{static}}")).contains("{{script}}{{static}}"));
}
