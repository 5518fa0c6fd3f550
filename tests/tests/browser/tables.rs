//! Sorting, filtering and searching tables, and what is taken out of them.

use e2e::expect::{self, Row};
use e2e::harness::{Page, on};
use e2e::run::Run;
use serde_json::Value;

use crate::pages;

/// Presses a head until the table is sorted that way.
async fn sort(page: &Page, table: &str, column: &str, descending: bool) {
    let head = format!("[data-testid='table-{table}'] th[data-column='{column}']");
    let want = if descending {
        "descending"
    } else {
        "ascending"
    };
    for _ in 0..2 {
        if !page.has(&format!("{head}[aria-sort='{want}']")).await {
            page.click_css(&format!("{head} button")).await;
        }
    }
    assert!(
        page.has(&format!("{head}[aria-sort='{want}']")).await,
        "{column} does not sort {want}"
    );
}

/// Sorts by every column both ways and compares the order of all rows, taken from the export, with
/// the test's own; and the first rows with those in sight.
async fn every_order(page: &Page, table: &str, rows: &[Row], initial: Option<(usize, bool)>) {
    page.catch_exports().await;
    let columns = page.top_of(table, 1).await.columns;
    for (i, column) in columns.iter().enumerate() {
        for descending in [true, false] {
            sort(page, table, column, descending).await;
            let mut must = rows.to_vec();
            // A table without sorting shows its rows as the analysis gives them; sorting starts
            // from there.
            if let Some((column, descending)) = initial {
                expect::sort(&mut must, column, descending, false);
            }
            expect::sort(&mut must, i, descending, column == "partner");
            page.click("json").await;
            let exported: Vec<Value> = serde_json::from_str(&page.taken().await).expect("JSON");
            assert_eq!(exported.len(), must.len());
            for (n, (is, must)) in exported.iter().zip(&must).enumerate() {
                for (id, cell) in columns.iter().zip(must) {
                    let is = match &is[id] {
                        Value::String(s) => s.clone(),
                        Value::Null => String::new(),
                        number => number.to_string(),
                    };
                    let figure = cell.raw.clone().unwrap_or_else(|| {
                        if cell.text == "–" {
                            is.clone()
                        } else {
                            cell.text.clone()
                        }
                    });
                    assert_eq!(
                        is, figure,
                        "{table} by {column}, descending {descending}, row {n}, {id}"
                    );
                }
            }
            must.truncate(12);
            page.top_of(table, 12).await.must_be(table, &must);
        }
    }
}

#[test]
fn every_column_sorts_both_ways() {
    let run = pages::single_run();
    on(pages::single(), async |page: &Page| {
        page.tab("phases").await;
        every_order(page, "phases", &expect::phases(&run), None).await;
        page.tab("steps").await;
        every_order(page, "steps", &expect::steps(&run), None).await;
        page.tab("top").await;
        every_order(page, "top_events", &expect::places(&run, |_| true), None).await;
        page.tab("modules").await;
        page.click("modules-flat").await;
        every_order(page, "modules", &expect::flat_modules(&run), None).await;
        page.tab("tensors").await;
        every_order(page, "tensors", &expect::tensors(&run, None), None).await;
    });
}

#[test]
fn single_events_sort_by_every_column() {
    let run = pages::single_run();
    on(pages::single(), async |page: &Page| {
        page.tab("top").await;
        page.click("each").await;
        every_order(page, "events", &expect::events(&run, |_| true), None).await;
    });
}

async fn counted(page: &Page, rows: usize) {
    let must = format!("{} rows", e2e::units::number(rows as i64));
    assert_eq!(page.text("row-count").await, must);
}

#[test]
fn filters_and_search() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        page.tab("top").await;
        page.choose("filter-step", "3").await;
        let step = expect::places(&run, |e| e.step == Some(3));
        counted(page, step.len()).await;
        page.must_show("top_events", &step).await;
        page.choose("filter-phase", "backward").await;
        page.must_show(
            "top_events",
            &expect::places(&run, |e| e.step == Some(3) && e.phase == "backward"),
        )
        .await;
        page.choose("filter-step", "").await;
        page.choose("filter-phase", "").await;
        page.choose("filter-type", "module").await;
        page.must_show("top_events", &expect::places(&run, |e| e.kind == "module"))
            .await;
        page.choose("filter-type", "").await;
        page.fill("search", "MLP.up").await;
        let found = |e: &e2e::run::Event| {
            [&e.module, &e.phase, &e.kind, &e.notes]
                .iter()
                .any(|t| t.to_lowercase().contains("mlp.up"))
        };
        page.must_show("top_events", &expect::places(&run, found))
            .await;
        page.click("each").await;
        let mut events = expect::events(&run, found);
        expect::sort(&mut events, 6, true, false);
        counted(page, events.len()).await;
        page.must_show("events", &events).await;
        page.fill("search", "parameter grad").await;
        let noted = expect::events(&run, |e| e.notes == "parameter grad");
        counted(page, noted.len()).await;
        page.fill("search", "no such thing").await;
        counted(page, 0).await;
        assert!(page.text("nothing").await.contains("Nothing matches"));
        page.fill("search", "").await;
        counted(page, run.events.len()).await;
    });
}

#[test]
fn the_rank_selector_changes_everything() {
    let runs: [Run; 2] = [pages::ddp_run(0), pages::ddp_run(1)];
    pages::on_rank(0, async |page: &Page| {
        for rank in [1, 0, 1] {
            page.choose("rank", &rank.to_string()).await;
            let run = &runs[rank];
            assert!(
                page.text("headline")
                    .await
                    .starts_with(&pages::headline(run))
            );
            assert!(page.text("facts").await.contains(&format!("cuda:{rank}")));
            page.tab("phases").await;
            page.must_show("phases", &expect::phases(run)).await;
            page.tab("steps").await;
            page.must_show("steps", &expect::steps(run)).await;
            page.tab("about").await;
            let meta = page.table("metadata").await;
            let of_rank = meta.rows.iter().find(|r| r[0].text == "rank").unwrap();
            assert_eq!(of_rank[1].text, rank.to_string());
        }
    });
}

#[test]
fn markdown_goes_to_the_clipboard() {
    let run = pages::single_run();
    on(pages::single(), async |page: &Page| {
        page.tab("phases").await;
        page.catch_exports().await;
        page.click("markdown").await;
        let said = page
            .wait(
                "the page says so",
                "document.querySelector(\"[data-testid='status']\").textContent",
            )
            .await;
        assert_eq!(said, "Copied");
        let text = page.taken().await;
        let lines: Vec<&str> = text.lines().collect();
        let rows = expect::phases(&run);
        assert_eq!(lines.len(), rows.len() + 2, "{text}");
        assert!(lines[1].starts_with("|---|---:"));
        for (line, row) in lines[2..].iter().zip(&rows) {
            let cells: Vec<&str> = line
                .trim_matches('|')
                .split('|')
                .map(|c| c.trim().trim_matches('`'))
                .collect();
            let must: Vec<&str> = row.iter().map(|c| c.text.as_str()).collect();
            assert_eq!(cells, must);
        }
        // Where the clipboard is refused, the old way, else the page says so.
        page.js("Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('no')) }, configurable: true }); \
                 document.execCommand = () => false")
            .await;
        page.click("link").await;
        let refused = "document.querySelector(\"[data-testid='status']\").textContent.startsWith('The browser refused')";
        page.wait("the page says that it could not copy", refused)
            .await;
    });
}
