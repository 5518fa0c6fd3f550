//! Selections that show everywhere, and links that reopen the same view.

use e2e::expect;
use e2e::harness::{Options, Page, with};
use serde_json::json;

use crate::pages;
use crate::timeline::position;

#[test]
fn an_event_pinned_on_the_chart_shows_in_every_table() {
    let run = pages::ddp_run(1);
    let event = 671;
    let e = run.events[event].clone();
    with(Options::default(), async |page: &Page| {
        page.open(&pages::ddp_at("rank=1&zoom=0.400000-0.440000"))
            .await;
        let at = position(page, event, run.events.len()).await;
        page.driver
            .action_chain()
            .move_to(at.0, at.1)
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        let hits = async |name: &str, column: &str| -> Vec<String> {
            let table = page.table(name).await;
            let cells = table.column(column);
            cells
                .iter()
                .zip(&table.hits)
                .filter(|(_, hit)| **hit)
                .map(|(c, _)| c.text.clone())
                .collect()
        };
        page.tab("steps").await;
        assert_eq!(hits("steps", "step").await, [e.step.unwrap().to_string()]);
        page.tab("phases").await;
        assert_eq!(hits("phases", "phase").await, [e.phase.as_str()]);
        page.tab("top").await;
        assert_eq!(hits("top_events", "module").await, [e.module.as_str()]);
        page.click("each").await;
        assert_eq!(hits("events", "event").await, [event.to_string()]);
        page.tab("modules").await;
        page.click("modules-flat").await;
        assert_eq!(hits("modules", "module").await.len(), 1);
        page.tab("tensors").await;
        let table = page.table("tensors").await;
        for (cell, hit) in table.column("module").iter().zip(&table.hits) {
            let same =
                cell.text.trim_end_matches(".output[0]") == e.module.trim_end_matches(".output[0]");
            assert_eq!(*hit, same, "{} against {}", cell.text, e.module);
        }
    });
}

#[test]
fn a_module_selected_in_the_table_shows_on_the_chart_and_elsewhere() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        let bare = page
            .js("const c = document.querySelector('canvas.over'); return c.toDataURL()")
            .await;
        page.tab("modules").await;
        page.click("modules-flat").await;
        let flat = page.table("modules").await;
        let at = flat
            .column("module")
            .iter()
            .position(|c| c.text == "lm_head")
            .expect("lm_head");
        page.click_css(&format!("#row-modules-{at}")).await;
        assert!(
            page.address().await.contains("sel=m"),
            "{}",
            page.address().await
        );
        let marked = page
            .js("const c = document.querySelector('canvas.over'); return c.toDataURL()")
            .await;
        assert_ne!(bare, marked, "the chart marks the module's events");
        page.tab("top").await;
        page.click("each").await;
        let table = page.table("events").await;
        let own =
            |m: &str| m == "lm_head" || m == "lm_head.output[0]" || m == "param::lm_head.weight";
        for (cell, hit) in table.column("module").iter().zip(&table.hits) {
            assert_eq!(*hit, own(&cell.text), "{}", cell.text);
        }
        assert_eq!(
            table.hits.iter().filter(|h| **h).count(),
            run.events.iter().filter(|e| own(&e.module)).count()
        );
        page.keys("\u{e00c}").await;
        assert!(
            !page.address().await.contains("sel="),
            "Escape clears the selection"
        );
    });
}

#[test]
fn a_row_that_is_clicked_is_the_row_that_is_selected() {
    pages::on_rank(0, async |page: &Page| {
        page.tab("modules").await;
        page.click("expand-all").await;
        for row in [0, 2, 4, 6] {
            page.click_css(&format!("#row-module_tree-{row}")).await;
            let table = page.table("module_tree").await;
            assert!(table.hits[row], "row {row} was clicked");
            let below = table.hits.iter().skip(row).take_while(|h| **h).count();
            assert_eq!(
                table.hits.iter().filter(|h| **h).count(),
                below,
                "only it and what lies below it"
            );
            // The same row again lets go.
            page.click_css(&format!("#row-module_tree-{row}")).await;
            assert!(!page.address().await.contains("sel="));
        }
        for (tab, table, rows) in [
            ("peak", "peak_parts", 3),
            ("steps", "steps", 6),
            ("phases", "phases", 8),
            ("top", "top_events", 5),
            ("tensors", "tensors", 5),
        ] {
            page.tab(tab).await;
            for row in 0..rows {
                page.click_css(&format!("#row-{table}-{row}")).await;
                assert!(
                    page.address().await.contains("sel="),
                    "{table} row {row} selects nothing"
                );
                assert!(
                    page.table(table).await.hits[row],
                    "{table} row {row} was clicked"
                );
                page.keys("\u{e00c}").await;
            }
        }
    });
}

/// Everything that a link must bring back.
async fn seen(page: &Page) -> serde_json::Value {
    let head = page
        .js("const t = (i) => document.querySelector(`[data-testid='${i}']`); return { \
             headline: t('headline').textContent, readout: t('readout').textContent, rows: t('row-count').textContent, \
             query: t('search')?.value, each: t('each')?.checked, rank: t('rank').value, \
             tab: document.querySelector('[role=tab][aria-selected=true]').id, \
             axis: t('axis-step').getAttribute('aria-pressed'), \
             sort: [...document.querySelectorAll('th')].map(h => [h.dataset.column, h.getAttribute('aria-sort')]), \
             window: document.querySelector('.mini .window').getAttribute('style'), \
             theme: document.documentElement.dataset.theme, lang: document.documentElement.lang, \
             base: document.querySelector('canvas.base').toDataURL(), over: document.querySelector('canvas.over').toDataURL() }")
        .await;
    let table = page.table("events").await;
    let rows: Vec<Vec<&str>> = table
        .rows
        .iter()
        .map(|r| r.iter().map(|c| c.text.as_str()).collect())
        .collect();
    json!({ "head": head, "rows": rows, "hits": table.hits })
}

#[test]
fn a_copied_link_reopens_the_same_view() {
    let mut link = String::new();
    let mut was = json!(null);
    pages::on_rank(0, async |page: &Page| {
        page.choose("rank", "1").await;
        page.tab("top").await;
        page.click("each").await;
        page.fill("search", "layers.3.mlp").await;
        page.choose("filter-phase", "backward").await;
        page.click_css("th[data-column='step'] button").await;
        page.click_css("th[data-column='step'] button").await;
        page.click("axis-step").await;
        page.click("zoom-in").await;
        page.click("zoom-in").await;
        page.click_css("#row-events-4").await;
        page.click("theme").await;
        page.click("lang").await;
        page.catch_exports().await;
        page.click("link").await;
        link = page.taken().await;
        assert_eq!(link, page.address().await);
        crate::timeline::point(page, (3, 3)).await;
        was = seen(page).await;
    });
    with(Options::default(), async |page: &Page| {
        page.open(&link).await;
        crate::timeline::point(page, (3, 3)).await;
        let is = seen(page).await;
        for (key, value) in was["head"].as_object().unwrap() {
            assert_eq!(&is["head"][key], value, "{key} came back otherwise");
        }
        assert_eq!(is["rows"], was["rows"]);
        assert_eq!(is["hits"], was["hits"]);
        assert_eq!(
            page.address().await,
            link,
            "opening changes nothing in the address"
        );
    });
    let run = pages::ddp_run(1);
    let must = expect::events(&run, |e| {
        e.module.contains("layers.3.mlp") && e.phase == "backward"
    });
    assert_eq!(was["rows"].as_array().unwrap().len(), must.len());
}

#[test]
fn the_address_is_followed_and_nonsense_in_it_is_harmless() {
    pages::on_rank(0, async |page: &Page| {
        page.js("location.hash = '#view=phases&rank=1'").await;
        page.settle().await;
        assert!(page.has("#tab-phases[aria-selected='true']").await);
        page.must_show("phases", &expect::phases(&pages::ddp_run(1)))
            .await;
        for hash in [
            "#view=nothing&rank=99&zoom=9-1&sel=e99999999",
            "#sel=m4294967295",
            "#sel=l9.9999999",
            "#%",
            "#q=%ff%00%e6",
            "#sort=a.b.c",
            "#sel=p99999",
        ] {
            page.js_with("location.hash = arguments[0]", vec![json!(hash)])
                .await;
            page.settle().await;
            assert!(page.text("headline").await.starts_with("Rank "), "{hash}");
        }
    });
}
