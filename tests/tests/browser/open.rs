//! Reports that are put on the viewer's page.

use std::path::PathBuf;

use e2e::harness::{Options, Page, with};
use e2e::{expect, file_url, fixture, memscope, units};
use serde_json::json;

use crate::pages;

fn viewer(test: impl AsyncFnOnce(&Page)) {
    let path = pages::temporary("viewer.html");
    static MADE: std::sync::Once = std::sync::Once::new();
    MADE.call_once(|| memscope(&["viewer", "-o", path.to_str().unwrap()]));
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(&path)).await;
        let text = page.js("return document.body.innerText").await;
        assert!(
            text.as_str()
                .unwrap()
                .contains("Drop a PyTorch memory snapshot, a runtime_report.json")
        );
        // Counts the workers that are started.
        page.js("window.__workers = 0; const W = Worker; window.Worker = class extends W { constructor(u) { super(u); window.__workers++; } }")
            .await;
        test(page).await;
    });
}

async fn choose(page: &Page, path: &std::path::Path) {
    let input = page.find("open").await;
    input.send_keys(path.to_str().unwrap()).await.unwrap();
}

/// Chooses a report while one is open: the comparison opens.
async fn beside(page: &Page, path: &std::path::Path) {
    choose(page, path).await;
    page.wait(
        "the comparison",
        "document.getElementById('tab-compare')?.ariaSelected === 'true'",
    )
    .await;
}

async fn shows(page: &Page, start: &str) {
    let shown = format!(
        "document.querySelector(\"[data-testid='headline']\").textContent.startsWith({})",
        json!(start)
    );
    page.wait(&format!("the report with {start}"), &shown).await;
    page.settle().await;
}

#[test]
fn json_html_and_containers_are_opened_in_a_worker() {
    let (rank0, single) = (pages::ddp_run(0), pages::single_run());
    let packed = pages::temporary("opened.memscope");
    let input = fixture("original_memscope");
    memscope(&[
        "render",
        input.to_str().unwrap(),
        "-o",
        packed.to_str().unwrap(),
    ]);
    viewer(async |page: &Page| {
        choose(page, &fixture("original_ddp/rank00000/runtime_report.json")).await;
        shows(page, &format!("Peak {}", units::size(rank0.peak().0))).await;
        assert!(!page.has("[data-testid='rank']").await);
        page.tab("phases").await;
        page.must_show("phases", &expect::phases(&rank0)).await;
        // Another report is held against the open one; a button then shows it alone.
        beside(page, &packed).await;
        let (a, b) = (rank0.peak().0, single.peak().0);
        let word = if b > a { "higher" } else { "lower" };
        let must = format!("B's peak is {} ", units::size(b.abs_diff(a)));
        let said = page.text("headline").await;
        assert!(said.starts_with(&must) && said.contains(word), "{said}");
        page.click("compare-only-b").await;
        shows(page, &pages::headline(&single)).await;
        page.tab("phases").await;
        page.must_show("phases", &expect::phases(&single)).await;
        beside(page, pages::ddp()).await;
        page.click("compare-only-b").await;
        // Of several ranks the one with the highest peak is shown first.
        shows(page, &pages::headline(&pages::ddp_run(1))).await;
        page.choose("rank", "0").await;
        shows(page, &pages::headline(&rank0)).await;
        page.choose("rank", "1").await;
        page.tab("phases").await;
        page.must_show("phases", &expect::phases(&pages::ddp_run(1)))
            .await;
        assert_eq!(
            page.js("return window.__workers").await,
            3,
            "each was read in a worker"
        );
    });
}

#[test]
fn a_report_is_dropped() {
    let run = pages::single_run();
    let text = std::fs::read_to_string(fixture("original_memscope/rank00000/runtime_report.json"))
        .unwrap();
    viewer(async |page: &Page| {
        let drop = "const d = new DataTransfer(); d.items.add(new File([arguments[0]], 'runtime_report.json')); \
                    const over = new DragEvent('dragover', { dataTransfer: d, bubbles: true, cancelable: true }); \
                    document.body.dispatchEvent(over); \
                    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true })); \
                    return over.defaultPrevented";
        assert_eq!(page.js_with(drop, vec![json!(text)]).await, true);
        shows(page, &pages::headline(&run)).await;
        page.tab("about").await;
        let source = page.table("source").await;
        assert!(
            source
                .rows
                .iter()
                .any(|r| r[1].text == "runtime_report.json")
        );
    });
}

#[test]
fn broken_files_are_refused_with_a_line_and_the_page_stays() {
    let whole = std::fs::read(fixture("original_memscope/rank00000/runtime_report.json")).unwrap();
    let html = std::fs::read(pages::single()).unwrap();
    let folder = pages::temporary("broken");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let broken = [
        write("empty.json", b""),
        write("cut.json", &whole[..whole.len() / 2]),
        write("nested.json", &b"[".repeat(1_000_000)),
        write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        write("cut.html", &html[..html.len() * 2 / 3]),
        write("other.html", b"<!doctype html><p>hello"),
        write(
            "<img src=x onerror=window.__pwned=1>.json",
            b"{\"runtime_trace\": 1",
        ),
    ];
    let run = pages::single_run();
    viewer(async |page: &Page| {
        for path in &broken {
            page.js("document.querySelector(\"[data-testid='error']\").textContent")
                .await;
            choose(page, path).await;
            let name = path.file_name().unwrap().to_str().unwrap();
            let said = format!(
                "(t => t.includes({}) && t)(document.querySelector(\"[data-testid='error']\").textContent)",
                json!(name)
            );
            let said = page.wait(&format!("a line about {name}"), &said).await;
            let said = said.as_str().unwrap();
            assert!(
                said.len() > name.len() + 10 && said.len() < 400 && !said.contains('\n'),
                "{said}"
            );
            assert_eq!(page.js("return window.__pwned ?? null").await, json!(null));
        }
        choose(
            page,
            &fixture("original_memscope/rank00000/runtime_report.json"),
        )
        .await;
        shows(page, &pages::headline(&run)).await;
        assert_eq!(
            page.text("error").await,
            "",
            "the error goes when a report opens"
        );
        choose(page, &broken[1]).await;
        page.wait(
            "an error",
            "document.querySelector(\"[data-testid='error']\").textContent",
        )
        .await;
        assert!(
            page.text("headline").await.starts_with("Peak "),
            "the report that was open stays"
        );
    });
}

#[test]
fn a_reader_that_stops_is_told_of_in_a_sentence() {
    viewer(async |page: &Page| {
        // The worker's reader ends as a program does that gets no more memory.
        page.js(
            "memscopeWorker.glue = memscopeWorker.glue.replace('const memscopeBoot', \
             'read_file = () => { throw new WebAssembly.RuntimeError(\"unreachable\") };\\nconst memscopeBoot')",
        )
        .await;
        choose(page, &fixture("original_ddp/rank00000/runtime_report.json")).await;
        let said = page
            .wait(
                "a sentence",
                "document.querySelector(\"[data-testid='error']\").textContent",
            )
            .await;
        let said = said.as_str().unwrap();
        assert!(
            said.starts_with("runtime_report.json: reading stopped"),
            "{said}"
        );
        assert!(
            said.ends_with("memscope render runtime_report.json"),
            "{said}"
        );
        assert!(
            !said.contains("unreachable") && !said.contains("RuntimeError"),
            "{said}"
        );
    });
}
