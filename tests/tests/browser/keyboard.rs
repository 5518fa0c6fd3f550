//! Everything by keyboard: these tests never use the pointer.

use e2e::harness::{Options, Page, with};
use e2e::{expect, units};
use thirtyfour::Key;

use crate::pages;
use crate::timeline::zoom;

/// Presses Tab until something has the focus.
async fn tab_to(page: &Page, id: &str) {
    for _ in 0..60 {
        if page.focused().await == id {
            return;
        }
        page.key(Key::Tab).await;
    }
    panic!("Tab does not reach {id}");
}

async fn selected_tab(page: &Page) -> String {
    let id = page
        .js("return document.querySelector('[role=tab][aria-selected=true]').id")
        .await;
    id.as_str().unwrap().to_owned()
}

#[test]
fn views_search_and_filters() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        page.key(Key::Tab).await;
        let first = page.js("return document.activeElement.className").await;
        assert_eq!(first, "skip", "the first stop skips to the content");
        page.key(Key::Enter).await;
        assert_eq!(page.focused().await, "panel");
        for (n, view) in [
            "peak", "steps", "phases", "top", "modules", "tensors", "about",
        ]
        .iter()
        .enumerate()
        {
            page.keys(&(n + 1).to_string()).await;
            assert_eq!(selected_tab(page).await, format!("tab-{view}"));
        }
        page.keys("/").await;
        assert_eq!(page.focused().await, "search");
        assert_eq!(selected_tab(page).await, "tab-top");
        page.keys("lm_head 1").await;
        assert_eq!(
            selected_tab(page).await,
            "tab-top",
            "digits are text while typing"
        );
        page.key(Key::Backspace).await;
        page.key(Key::Backspace).await;
        page.must_show(
            "top_events",
            &expect::places(&run, |e| {
                e.module.contains("lm_head") || e.notes.contains("lm_head")
            }),
        )
        .await;
        page.key(Key::Escape).await;
        assert_eq!(page.focused().await, "panel");
        // Arrows between tabs.
        page.js("document.querySelector('#tab-top').focus()").await;
        page.key(Key::Right).await;
        assert_eq!(
            (selected_tab(page).await, page.focused().await),
            ("tab-modules".to_owned(), "tab-modules".to_owned())
        );
        page.key(Key::Left).await;
        assert_eq!(selected_tab(page).await, "tab-top");
        page.key(Key::Home).await;
        assert_eq!(selected_tab(page).await, "tab-peak");
    });
}

#[test]
fn rows_and_the_tree() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        page.keys("4").await;
        page.js("document.querySelector('#tab-top').focus()").await;
        tab_to(page, "table-top_events").await;
        page.keys(&format!("{0}{0}{1}", Key::Down.value(), Key::Enter.value()))
            .await;
        let places = expect::places(&run, |_| true);
        let table = page.table("top_events").await;
        assert!(table.hits[2], "the third row is selected");
        let readout = page.text("readout").await;
        assert!(
            readout.contains(&places[2][1].text),
            "{readout} speaks of {:?}",
            places[2]
        );
        // To the end of a long table and back.
        page.key(Key::End).await;
        let last = places.len() - 1;
        let there = format!("document.querySelector('#row-top_events-{last}.active')");
        page.wait("the last row is drawn", &format!("!!{there}"))
            .await;
        let inside = page
            .js(&format!(
                "const r = {there}.getBoundingClientRect(), b = document.querySelector(\"[data-testid='table-top_events']\").getBoundingClientRect(); \
                 return r.top >= b.top && r.bottom <= b.bottom + 1"
            ))
            .await;
        assert_eq!(inside, true, "the last row is in sight");
        page.key(Key::PageUp).await;
        page.key(Key::Home).await;
        page.wait(
            "the first row is drawn",
            "!!document.querySelector('#row-top_events-0.active')",
        )
        .await;
        let named = page
            .js("return document.activeElement.getAttribute('aria-activedescendant')")
            .await;
        assert_eq!(named, "row-top_events-0");
        page.key(Key::Escape).await;
        assert!(!page.address().await.contains("sel="));
        // The tree: close the root, and open it again.
        page.keys("5").await;
        tab_to(page, "expand-all").await;
        page.key(Key::Enter).await;
        let all = expect::tree_modules(&run).len();
        let count = async || page.text("row-count").await;
        assert_eq!(count().await, format!("{} rows", units::number(all as i64)));
        tab_to(page, "table-module_tree").await;
        page.key(Key::Home).await;
        page.key(Key::Left).await;
        let closed = count().await;
        assert_ne!(
            closed,
            format!("{} rows", units::number(all as i64)),
            "the root closes"
        );
        page.key(Key::Right).await;
        assert_eq!(
            count().await,
            format!("{} rows", units::number(all as i64)),
            "and opens"
        );
        // A head is a button.
        page.keys("3").await;
        page.js("document.querySelector('#tab-phases').focus()")
            .await;
        for _ in 0..60 {
            page.key(Key::Tab).await;
            if page
                .js("return document.activeElement.closest('th')?.dataset.column ?? null")
                .await
                == "count"
            {
                break;
            }
        }
        page.key(Key::Enter).await;
        let mut must = expect::phases(&run);
        expect::sort(&mut must, 1, true, false);
        page.must_show("phases", &must).await;
    });
}

#[test]
fn the_chart() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        tab_to(page, "timeline").await;
        page.key(Key::Home).await;
        let event = async || {
            let text = page.text("readout").await;
            text["event ".len()..text.find(" ·").expect("a readout")]
                .replace(',', "")
                .parse::<usize>()
                .unwrap()
        };
        assert_eq!(event().await, 0);
        page.keys(&Key::Right.value().to_string().repeat(3)).await;
        assert_eq!(event().await, 3);
        page.key(Key::Left).await;
        assert_eq!(event().await, 2);
        page.key(Key::End).await;
        assert_eq!(event().await, run.events.len() - 1);
        page.keys("p").await;
        assert_eq!(event().await, run.peak().1, "p goes to the peak");
        page.key(Key::Enter).await;
        assert!(
            page.address()
                .await
                .contains(&format!("sel=e{}", run.peak().1))
        );
        page.keys("+++").await;
        let (a, b) = zoom(page).await;
        let at = (run.peak().1 as f64 + 0.5) / run.events.len() as f64;
        assert!(
            (b - a - 0.125).abs() < 1e-3 && a < at && at < b,
            "zooms around the cursor: {a} to {b}"
        );
        page.driver
            .action_chain()
            .key_down(Key::Shift)
            .send_keys(Key::Right.value().to_string())
            .key_up(Key::Shift)
            .perform()
            .await
            .unwrap();
        page.settle().await;
        let (a2, b2) = zoom(page).await;
        assert!(
            a2 > a && (b2 - a2 - 0.125).abs() < 1e-3,
            "Shift and an arrow pan"
        );
        page.keys("-").await;
        page.keys("0").await;
        assert_eq!(zoom(page).await, (0.0, 1.0));
        page.key(Key::Escape).await;
        assert!(!page.address().await.contains("sel="));
    });
}

#[test]
fn the_sheet_and_single_keys() {
    pages::on_rank(0, async |page: &Page| {
        page.keys("4").await;
        page.js("document.querySelector('#tab-top').focus()").await;
        tab_to(page, "table-top_events").await;
        page.keys("?").await;
        page.wait(
            "the sheet is open",
            "!!document.querySelector(\"[data-testid='help']\")",
        )
        .await;
        assert_eq!(
            page.focused().await,
            "help-close",
            "the focus is in the sheet"
        );
        let keys = page
            .js("return document.querySelectorAll(\"[data-testid='help'] kbd\").length")
            .await;
        assert!(keys.as_u64().unwrap() >= 10);
        page.keys("3").await;
        assert_eq!(
            selected_tab(page).await,
            "tab-top",
            "keys rest while the sheet is open"
        );
        page.key(Key::Tab).await;
        let inside = page
            .js("return !!document.activeElement.closest(\"[data-testid='help']\")")
            .await;
        assert_eq!(inside, true, "Tab stays in the sheet");
        page.key(Key::Escape).await;
        assert!(!page.has("[data-testid='help']").await);
        assert_eq!(
            page.focused().await,
            "table-top_events",
            "the focus returns to where it was"
        );
        page.keys("x").await;
        assert!(page.address().await.contains("axis=step"));
        page.keys("x").await;
        assert!(!page.address().await.contains("axis=step"));
        page.keys("]").await;
        assert!(
            page.text("headline")
                .await
                .starts_with("Rank 1: peak 3.89 GiB")
        );
        page.keys("]").await;
        assert!(
            page.text("headline")
                .await
                .starts_with("Rank 1: peak 3.89 GiB"),
            "the last rank stays"
        );
        page.keys("[").await;
        assert!(
            page.text("headline")
                .await
                .starts_with("Rank 0: peak 2.59 GiB")
        );
        page.keys("t").await;
        assert!(page.has("html[data-theme='dark']").await);
        page.keys("t").await;
        assert!(page.has("html[data-theme='light']").await);
        page.keys("l").await;
        assert!(page.has("html[lang='zh-CN']").await);
        assert!(
            page.text("headline")
                .await
                .starts_with("进程 0：峰值：已分配 2.59 GiB")
        );
        page.keys("l").await;
        assert!(
            page.text("headline")
                .await
                .starts_with("Rank 0: peak 2.59 GiB")
        );
        page.keys("g").await;
        assert_eq!(page.focused().await, "timeline");
    });
}

/// What assistive technology is told.
#[test]
fn everything_has_a_name() {
    pages::on_rank(0, async |page: &Page| {
        for view in [
            "peak", "steps", "phases", "top", "modules", "tensors", "about",
        ] {
            page.tab(view).await;
            let nameless = page
                .js("return [...document.querySelectorAll('button, select, input, [role=img], [role=application], [tabindex=\"0\"]')] \
                     .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || e.closest('label')?.textContent.trim())) \
                     .map(e => e.outerHTML.slice(0, 120))")
                .await;
            assert_eq!(nameless, serde_json::json!([]), "{view}");
            let canvases = page.js("return [...document.querySelectorAll('canvas')].every(c => c.getAttribute('aria-hidden') === 'true' || c.getAttribute('aria-label'))").await;
            assert_eq!(canvases, true);
            let heads = page.js("return [...document.querySelectorAll('#panel th')].every(h => h.scope === 'col' && h.textContent.trim())").await;
            assert_eq!(heads, true);
        }
    });
}

/// The sheet of a page about a snapshot has the keys that only its views know.
#[test]
fn the_sheet_names_the_keys_of_the_allocator_state() {
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#view=state", crate::memory::gpt2()))
            .await;
        page.keys("?").await;
        let said = page.text("help").await;
        for keys in [",  .", "PgUp  PgDn", "Shift ←", "Space", "Backspace"] {
            assert!(said.contains(keys), "{keys}: {said}");
        }
        page.key(Key::Escape).await;
        // They do what it says: by an event, by a segment event, to the ends.
        let at = async || page.text("state-at").await;
        let before = at().await;
        page.js("document.getElementById('state-slider').focus()")
            .await;
        page.key(Key::Home).await;
        assert!(at().await.contains("0 / 6,713"), "{}", at().await);
        page.keys(".").await;
        assert!(at().await.contains("segment_alloc"), "{}", at().await);
        page.key(Key::End).await;
        assert_ne!(at().await, before);
    });
}
