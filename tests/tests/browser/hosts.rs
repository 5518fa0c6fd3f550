//! Where scripts are blocked, or allowed by half: the static part, and what the page says.

use e2e::expect::{self, Row};
use e2e::harness::{Options, Page, with};
use e2e::run::Run;
use e2e::serve::Server;
use e2e::{file_url, units};
use serde_json::{Value, json};

use crate::pages;

/// The texts of the cells of the static part's tables, each under its heading, a section a rank.
async fn fixed(page: &Page) -> Vec<Vec<(String, Vec<Vec<String>>)>> {
    let script = "return [...document.querySelectorAll('#memscope-static section')].map(s => \
                  [...s.querySelectorAll('h3')].map(h => { let t = h; while (t && t.tagName !== 'TABLE') t = t.nextElementSibling; \
                  return [h.textContent, [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))]; }))";
    serde_json::from_value(page.js(script).await).expect("tables under headings")
}

fn texts(rows: &[Row]) -> Vec<Vec<String>> {
    rows.iter()
        .map(|r| r.iter().map(|c| c.text.clone()).collect())
        .collect()
}

/// Compares the static part with figures computed here.
async fn holds(page: &Page, runs: &[Run]) {
    let sections = fixed(page).await;
    assert_eq!(sections.len(), runs.len());
    for (section, run) in sections.iter().zip(runs) {
        let table = |name: &str| {
            let found = section.iter().find(|t| t.0.starts_with(name));
            &found
                .unwrap_or_else(|| {
                    panic!(
                        "no table {name} among {:?}",
                        section.iter().map(|t| &t.0).collect::<Vec<_>>()
                    )
                })
                .1
        };
        assert_eq!(table("Phases"), &texts(&expect::phases(run)));
        let mut places = expect::places(run, |_| true);
        places.truncate(20);
        assert_eq!(table("Top events"), &texts(&places));
        let mut modules = expect::flat_modules(run);
        expect::sort(&mut modules, 4, true, false);
        modules.truncate(40);
        assert_eq!(table("Modules"), &texts(&modules));
        let metadata = run.json["metadata"].as_object().unwrap();
        assert_eq!(table("What the run says of itself").len(), metadata.len());
    }
    let headline = page
        .js("return document.querySelector('#memscope-static h1').textContent")
        .await;
    let (peak, reserved) = (runs[0].peak().0, runs[0].peak_reserved());
    let must = format!(
        "{} allocated, {} reserved — step",
        pages::headline(&runs[0]),
        units::size(reserved)
    );
    assert!(headline.as_str().unwrap().starts_with(&must), "{headline}");
    let chart = page.js("const s = document.querySelector('#memscope-static svg'); const r = s.getBoundingClientRect(); return [r.width, r.height, s.querySelectorAll('polygon').length, s.textContent]").await;
    assert!(
        chart[0].as_f64().unwrap() > 300.0
            && chart[1].as_f64().unwrap() > 100.0
            && chart[2].as_u64().unwrap() >= 2,
        "{chart}"
    );
    assert!(
        chart[3]
            .as_str()
            .unwrap()
            .contains(&format!("peak {}", units::size(peak)))
    );
}

#[test]
fn without_scripts() {
    let runs = [pages::ddp_run(0), pages::ddp_run(1)];
    with(
        Options {
            scripts: false,
            ..Options::default()
        },
        async |page: &Page| {
            page.goto(&file_url(pages::ddp())).await;
            holds(page, &runs).await;
            let text = page.js("return document.body.innerText").await;
            let text = text.as_str().unwrap();
            assert!(
                text.contains("scripts are blocked or switched off"),
                "it says why the rest is missing"
            );
            assert!(text.contains("+64.0 MiB a step since step 0"));
            // No blob of base64 shows as text.
            assert!(text.split_whitespace().all(|w| w.len() < 200));
            assert!(!page.has("[data-testid]").await, "the viewer did not start");
        },
    );
}

/// Serves a page with a header and opens it there.
fn served(policy: &str, test: impl AsyncFnOnce(&Page)) {
    let server = Server::start(
        &format!("Content-Security-Policy: {policy}\r\n"),
        std::fs::read(pages::ddp()).unwrap(),
    );
    with(
        Options {
            port: Some(server.port),
            ..Options::default()
        },
        async |page: &Page| {
            page.goto(&server.url()).await;
            test(page).await;
            assert!(server.others().is_empty(), "{:?}", server.others());
        },
    );
}

#[test]
fn jenkins_default_policy() {
    let runs = [pages::ddp_run(0), pages::ddp_run(1)];
    served(
        "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self';",
        async |page: &Page| {
            for blocked in ["Blocked script execution", "Content Security Policy"] {
                page.expect(blocked);
            }
            holds(page, &runs).await;
            assert!(
                page.js("return document.body.innerText")
                    .await
                    .as_str()
                    .unwrap()
                    .contains("scripts are blocked or switched off")
            );
        },
    );
}

#[test]
fn without_leave_for_webassembly_the_page_says_what_is_blocked() {
    let runs = [pages::ddp_run(0), pages::ddp_run(1)];
    served(
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:",
        async |page: &Page| {
            for blocked in ["Content Security Policy", "WebAssembly"] {
                page.expect(blocked);
            }
            let said = page
                .wait(
                    "the page says what is blocked",
                    "document.getElementById('memscope-error')?.textContent",
                )
                .await;
            let said = said.as_str().unwrap();
            assert!(
                said.contains("WebAssembly is not allowed") && said.contains("download the file"),
                "{said}"
            );
            holds(page, &runs).await;
        },
    );
}

#[test]
fn under_a_relaxed_policy_without_workers_it_works() {
    let run = pages::ddp_run(0);
    served(
        "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; worker-src 'none'",
        async |page: &Page| {
            page.expect("Content Security Policy");
            page.started().await;
            page.choose("rank", "0").await;
            page.tab("phases").await;
            page.must_show("phases", &expect::phases(&run)).await;
            // A file is read on the main thread then.
            let input = e2e::fixture("original_memscope/rank00000/runtime_report.json");
            page.find("open")
                .await
                .send_keys(input.to_str().unwrap())
                .await
                .unwrap();
            let must = format!("Peak {}", units::size(pages::single_run().peak().0));
            page.wait("the dropped report", &format!("document.querySelector(\"[data-testid='headline']\").textContent.startsWith({})", json!(must))).await;
        },
    );
}

/// A page that shows the report inside a frame, as artifact viewers do.
fn framed(name: &str, sandbox: &str) -> std::path::PathBuf {
    let inner = std::fs::read_to_string(pages::ddp()).unwrap();
    let inner = inner.replace('&', "&amp;").replace('"', "&quot;");
    let outer = pages::temporary(name);
    let page = format!(
        "<!doctype html><meta charset=utf-8><iframe id=f {sandbox} width=1200 height=700 srcdoc=\"{inner}\"></iframe>"
    );
    std::fs::write(&outer, page).unwrap();
    outer
}

#[test]
fn in_a_sandboxed_frame_without_an_address_or_storage() {
    let run = pages::ddp_run(0);
    for (name, sandbox) in [
        ("sandboxed.html", "sandbox=\"allow-scripts\""),
        ("framed.html", ""),
    ] {
        let outer = framed(name, sandbox);
        with(Options::default(), async |page: &Page| {
            page.goto(&file_url(&outer)).await;
            let frame = page.css("#f").await;
            frame.enter_frame().await.unwrap();
            page.started().await;
            page.choose("rank", "0").await;
            assert!(
                page.text("headline")
                    .await
                    .starts_with(&pages::headline(&run))
            );
            let storage = page
                .js("try { localStorage.length; return true } catch { return false }")
                .await;
            assert_eq!(storage, Value::Bool(sandbox.is_empty()));
            page.click("theme").await;
            assert!(page.has("html[data-theme='dark']").await);
            page.tab("top").await;
            page.must_show("top_events", &expect::places(&run, |_| true))
                .await;
            page.fill("search", "lm_head").await;
            page.must_show(
                "top_events",
                &expect::places(&run, |e| {
                    e.module.contains("lm_head") || e.notes.contains("lm_head")
                }),
            )
            .await;
            page.click("link").await;
        });
    }
}

#[test]
fn a_file_that_was_cut_off_says_so() {
    let whole = std::fs::read(pages::ddp()).unwrap();
    let text = String::from_utf8(whole).unwrap();
    // The data's last quarter is missing, as after a mail gateway; the script is whole.
    let from = text
        .find("<script type=\"application/octet-stream\" class=\"memscope-data\"")
        .expect("the data");
    let end = from + text[from..].find("</script>").unwrap();
    let cut = from + (end - from) * 3 / 4 / 4 * 4;
    let path = pages::temporary("cut_off.html");
    std::fs::write(&path, format!("{}{}", &text[..cut], &text[end..])).unwrap();
    let run = [pages::ddp_run(0), pages::ddp_run(1)];
    with(Options::default(), async |page: &Page| {
        page.goto(&file_url(&path)).await;
        let said = page
            .wait(
                "the page says so",
                "document.getElementById('memscope-error')?.textContent",
            )
            .await;
        let said = said.as_str().unwrap();
        assert!(
            said.contains("cut off")
                || said.contains("checksum")
                || said.contains("decode")
                || said.contains("base64"),
            "{said}"
        );
        holds(page, &run).await;
    });
}
