//! Strings of strangers in every field: they never run, and show literally.

use std::path::PathBuf;
use std::sync::OnceLock;

use e2e::harness::{Options, Page, with};
use e2e::{file_url, memscope, render};
use serde_json::json;

use crate::pages;
use crate::timeline::{plot, point};

/// Strings, as JSON literals, and what a person must see of them in a table.
fn strings() -> Vec<(String, String)> {
    let plain = [
        "</script><script>window.__pwned=1</script>",
        "<img src=x onerror=window.__pwned=1>",
        "javascript:window.__pwned=1",
        "{{static}} {{script}} {{csp}}",
        "\"><svg onload=window.__pwned=1>",
        "'--><!--",
        "</style><style>*{display:none}",
        "]]>",
        "=cmd|' /C calc'!A0",
        "+1+1",
        "<iframe srcdoc='<script>parent.__pwned=1</script>'>",
        "&lt;b&gt; &amp;lt; `code` | *x* _y_ [a](javascript:window.__pwned=1)",
        "<meta http-equiv=refresh content=0;url=http://example.com/>",
        "<base href=http://example.com/>",
        "模块 ключ 🦀 é",
    ];
    let mut out: Vec<(String, String)> = plain
        .iter()
        .map(|s| (json!(s).to_string(), (*s).to_owned()))
        .collect();
    let mut raw = |literal: &str, seen: &str| out.push((literal.to_owned(), seen.to_owned()));
    raw(r#""a\u2028b\u2029c""#, "a⟨U+2028⟩b⟨U+2029⟩c");
    raw(r#""nul\u0000end\u001b[31m""#, "nul␀end␛[31m");
    raw(r#""lone \ud800 pair""#, "lone \\ud800 pair");
    raw(r#""tail \udfff""#, "tail \\udfff");
    raw(r#""bidi \u202egnp.exe""#, "bidi ⟨U+202E⟩gnp.exe");
    raw(r#""\ufeff\u200bhidden""#, "⟨U+FEFF⟩⟨U+200B⟩hidden");
    for c in ["A", "模"] {
        let n = (1 << 20) / c.len();
        raw(
            &format!("\"{}\"", c.repeat(n)),
            &format!("{}… ({} bytes)", c.repeat(300), n * c.len()),
        );
    }
    out
}

/// A report in which every string field carries one of them.
fn report(strings: &[(String, String)]) -> String {
    let events: Vec<String> = strings
        .iter()
        .enumerate()
        .map(|(i, (s, _))| {
            let tensor = format!(r#"{{"name":{s},"shape":[2,3],"dtype":{s},"device":{s},"requires_grad":true,"bytes":{}}}"#, 100 + i);
            let bytes = (i + 1) << 20;
            format!(
                r#"{{"event_type":{s},"module":{s},"phase":{s},"step":{step},"notes":{s},{s}:{s},
                "mem_allocated_before":{bytes},"mem_allocated_after":{bytes},"mem_reserved_before":{bytes},"mem_reserved_after":{bytes},
                "max_mem_allocated":{bytes},"max_mem_reserved":{bytes},"delta_allocated":0,"delta_reserved":0,
                "inputs":[{tensor}],"outputs":[{tensor}],"grads":[{tensor}]}}"#,
                step = i / 4
            )
        })
        .collect();
    let fields: Vec<String> = strings.iter().map(|(s, _)| format!("{s}:{s}")).collect();
    let (fields, top) = (fields.join(","), &strings[0].0);
    let known = [
        "device_name",
        "device",
        "dtype",
        "optimizer",
        "tensor_model_parallel_size",
        "use_distributed_optimizer",
    ];
    let known: Vec<String> = known
        .iter()
        .zip(strings)
        .map(|(k, (s, _))| format!("\"{k}\":{s}"))
        .collect();
    format!(
        r#"{{"runtime_trace":[{}],"peak":{{"phase":{top},"module":{},"step":1,"memory_bytes":5,"reserved_bytes":6,{fields}}},
        "top_events":[],"metadata":{{{},{fields}}},"comparisons":{{"static_peak_memory_bytes":1e9,{fields}}},{fields}}}"#,
        events.join(","),
        strings[1].0,
        known.join(",")
    )
}

/// The page, from a file with such a name.
fn page() -> &'static PathBuf {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| render(&[&input()], pages::temporary("injected.html")))
}

fn input() -> PathBuf {
    static INPUT: OnceLock<PathBuf> = OnceLock::new();
    INPUT
        .get_or_init(|| {
            let folder = pages::temporary("\"><img src=x onerror=window.__pwned=1>");
            std::fs::create_dir_all(&folder).unwrap();
            let input = folder.join("<svg onload=window.__pwned=1>.json");
            std::fs::write(&input, report(&strings())).unwrap();
            input
        })
        .clone()
}

async fn unharmed(page: &Page, at: &str) {
    let state = page
        .js("return [window.__pwned ?? null, document.querySelectorAll('script:not([type]), iframe, img, base, meta[http-equiv=refresh]').length, \
             getComputedStyle(document.body).display, [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length]")
        .await;
    assert_eq!(state, json!([null, 0, "block", 0]), "{at}");
}

#[test]
fn nothing_runs_and_all_of_it_shows() {
    let strings = strings();
    with(Options::default(), async |p: &Page| {
        p.open(&file_url(page())).await;
        p.catch_exports().await;
        unharmed(p, "start").await;
        for (tab, tables) in [
            ("peak", &["peak_parts"][..]),
            ("steps", &["steps"]),
            ("phases", &["phases"]),
            ("top", &["top_events"]),
            ("modules", &["module_tree"]),
            ("tensors", &["tensors"]),
            (
                "about",
                &[
                    "metadata",
                    "comparisons",
                    "skipped",
                    "recorded_peak",
                    "source",
                ],
            ),
        ] {
            p.tab(tab).await;
            unharmed(p, tab).await;
            for table in tables {
                let shown = p.table(table).await;
                let texts: Vec<&str> = shown
                    .rows
                    .iter()
                    .flatten()
                    .map(|c| c.text.as_str())
                    .collect();
                if ["phases", "top_events", "tensors", "metadata", "comparisons"].contains(table) {
                    for (_, seen) in &strings {
                        assert!(
                            texts.contains(&seen.as_str()),
                            "{table} does not show {:.80}",
                            seen
                        );
                    }
                }
                let long = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
                assert!(long < 2000, "{table} shows {long} characters in a cell");
            }
            for export in ["csv", "json", "markdown"] {
                let button = format!("#panel [data-testid='{export}']");
                p.click_css(&button).await;
                let text = p.taken().await;
                match export {
                    "json" => drop(serde_json::from_str::<serde_json::Value>(&text).expect("JSON")),
                    "csv" => {
                        for formula in ["=cmd", "+1+1"] {
                            let bare = |l: &str| {
                                l.starts_with(formula) || l.contains(&format!(",{formula}"))
                            };
                            assert!(
                                !text.lines().any(bare),
                                "{tab}.csv has the formula {formula}"
                            );
                        }
                    }
                    _ => no_markup(&text),
                }
            }
            unharmed(p, tab).await;
        }
        hover_and_select(p).await;
        unharmed(p, "end").await;
    });
}

async fn hover_and_select(p: &Page) {
    let [left, right, top, _] = plot(p).await;
    for i in 0..23 {
        let x = left + (right - left) * (f64::from(i) + 0.5) / 23.0;
        point(p, (x as i64, top as i64 + 50)).await;
        assert!(p.text("readout").await.len() < 2000);
    }
    for chart in ["timeline-svg", "timeline-png"] {
        p.click(chart).await;
    }
    p.tab("phases").await;
    p.click("phases-svg").await;
    let svg = p.taken().await;
    for bad in ["<script", "<img", "<iframe", "<svg onload"] {
        assert!(!svg.contains(bad), "the SVG holds {bad}");
    }
    p.tab("top").await;
    p.click("each").await;
    p.fill("search", "<img src=x").await;
    assert!(p.text("row-count").await.starts_with("1 row"));
    p.click_css("#row-events-0").await;
    p.fill("search", "</script>").await;
    p.js("location.hash = '#view=top&q=' + encodeURIComponent('<img src=x onerror=window.__pwned=1>') + '&phase=' + encodeURIComponent('</script><script>window.__pwned=1</script>')").await;
    p.settle().await;
    p.keys("?").await;
    p.keys("\u{e00c}").await;
    p.keys("l").await;
    p.settle().await;
}

#[test]
fn the_static_part_is_inert_too() {
    let strings = strings();
    for scripts in [false, true] {
        with(
            Options {
                scripts,
                ..Options::default()
            },
            async |p: &Page| {
                if scripts {
                    // The viewer is kept from starting, but scripts may run.
                    let stop = "Object.defineProperty(globalThis, 'DecompressionStream', { value: undefined })";
                    p.cdp(
                        "Page.addScriptToEvaluateOnNewDocument",
                        json!({ "source": stop }),
                    )
                    .await;
                }
                p.goto(&file_url(page())).await;
                if scripts {
                    p.wait(
                        "the viewer did not start",
                        "document.getElementById('memscope-error')?.textContent",
                    )
                    .await;
                }
                unharmed(p, "static part").await;
                let text = p
                    .js("return document.getElementById('memscope-static').textContent")
                    .await;
                let text = text.as_str().unwrap();
                for (_, seen) in strings.iter().take(12) {
                    assert!(
                        text.contains(seen.as_str()),
                        "the static part does not show {seen}"
                    );
                }
                assert!(
                    text.len() < 400_000,
                    "the static part has {} bytes",
                    text.len()
                );
            },
        );
    }
}

/// No markup outside of code: not as HTML, and no link.
fn no_markup(markdown: &str) {
    let mut rest = markdown.to_owned();
    // Code spans are text to every renderer.
    while let Some(open) = rest
        .find('`')
        .filter(|&at| at == 0 || rest.as_bytes()[at - 1] != b'\\')
    {
        let fence: String = rest[open..].chars().take_while(|&c| c == '`').collect();
        let inside = open + fence.len();
        let Some(close) = rest[inside..].find(&fence) else {
            break;
        };
        let end = inside + close + fence.len();
        rest.replace_range(open..end, "CODE");
    }
    for bad in [
        "<script",
        "<img",
        "<svg",
        "<iframe",
        "</style",
        "](javascript",
    ] {
        let at = rest
            .find(bad)
            .filter(|&at| at == 0 || rest.as_bytes()[at - 1] != b'\\');
        assert!(
            at.is_none(),
            "{bad} stands bare in the Markdown: {:.200}",
            &rest[at.unwrap_or(0)..]
        );
    }
}

#[test]
fn summaries_hold_no_markup_and_no_control_characters() {
    let input = input();
    for (format, lang) in [
        ("markdown", "en"),
        ("text", "en"),
        ("text", "zh"),
        ("json", "en"),
    ] {
        let out = pages::temporary(&format!("injected.{format}.{lang}"));
        let [input, to] = [&input, &out].map(|p| p.to_str().unwrap());
        memscope(&[
            "summary", input, "--format", format, "--lang", lang, "-o", to,
        ]);
        let text = std::fs::read_to_string(&out).unwrap();
        match format {
            "markdown" => no_markup(&text),
            "json" => drop(serde_json::from_str::<serde_json::Value>(&text).expect("JSON")),
            _ => {
                let hidden =
                    |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
                assert_eq!(
                    text.find(hidden),
                    None,
                    "the terminal gets a control character"
                );
            }
        }
    }
}
