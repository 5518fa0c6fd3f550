//! Reports at the edges: empty, one event, all zeros, missing figures, very many modules.

use e2e::harness::{Page, on};
use e2e::{make, render, units};
use serde_json::{Value, json};

use crate::pages;

/// Writes a report and opens its page.
fn page_of(name: &str, report: &Value, test: impl AsyncFnOnce(&Page)) {
    let input = pages::temporary(&format!("{name}.json"));
    std::fs::write(&input, report.to_string()).unwrap();
    let html = render(&[&input], pages::temporary(&format!("{name}.html")));
    on(&html, test);
}

/// Visits every tab and gives their texts.
async fn every_tab(page: &Page) -> String {
    let mut out = String::new();
    for view in [
        "peak", "steps", "phases", "top", "modules", "tensors", "about",
    ] {
        page.tab(view).await;
        let text = page
            .js("return document.getElementById('panel').innerText")
            .await;
        out += text.as_str().unwrap();
        for senseless in ["NaN", "undefined", "Infinity", "[object", "None", "Some("] {
            assert!(!out.contains(senseless), "{view}: {senseless} in {out}");
        }
    }
    out
}

#[test]
fn no_events() {
    let report = json!({ "runtime_trace": [], "peak": {}, "top_events": [], "metadata": { "rank": "0" }, "comparisons": {} });
    page_of("no_events", &report, async |page: &Page| {
        assert_eq!(page.text("headline").await, "No events were recorded.");
        assert!(!page.has("[data-testid='timeline']").await);
        let text = every_tab(page).await;
        assert!(
            text.contains("This report has no events.")
                && text.contains("No event of this report names a tensor.")
        );
    });
}

#[test]
fn one_event() {
    let report =
        json!({ "runtime_trace": [make::event("lm_head", "forward", 0, 5 << 20)], "metadata": {} });
    page_of("one_event", &report, async |page: &Page| {
        assert!(
            page.text("headline")
                .await
                .starts_with("Peak 5.00 MiB allocated")
        );
        page.click("zoom-in").await;
        page.click("axis-step").await;
        every_tab(page).await;
        page.tab("top").await;
        assert!(page.text("row-count").await.starts_with("1 row"));
    });
}

#[test]
fn a_cpu_run_of_zeros() {
    let events: Vec<Value> = (0..40)
        .map(|i| make::event(&format!("layers.{}", i % 4), "forward", i / 10, 0))
        .collect();
    let report = json!({ "runtime_trace": events, "metadata": { "device": "cpu", "dtype": "float32" }, "comparisons": { "static_peak_memory_bytes": 0.0 } });
    page_of("zeros", &report, async |page: &Page| {
        assert!(
            page.text("headline")
                .await
                .starts_with("No device memory was used: all 40 events show 0 bytes")
        );
        assert_eq!(page.text("estimate").await, "");
        assert!(page.text("facts").await.contains("cpu"));
        every_tab(page).await;
    });
}

#[test]
fn missing_figures() {
    let report = json!({ "runtime_trace": [
        { "event_type": "module", "module": "a.b", "phase": "forward" },
        { "event_type": "module", "module": "a.c", "phase": "forward", "step": 1, "mem_allocated_after": 1048576 },
        { "module": "a" },
        {},
    ] });
    page_of("missing", &report, async |page: &Page| {
        assert!(
            page.text("headline")
                .await
                .starts_with("Peak 1.00 MiB allocated")
        );
        let text = every_tab(page).await;
        assert!(text.contains('–'), "unknown figures are dashes");
        page.tab("top").await;
        page.click("each").await;
        let table = page.table("events").await;
        assert_eq!(table.rows.len(), 4);
        let unknown = table
            .column("allocated_after")
            .iter()
            .filter(|c| c.raw.is_none() && c.text == "–")
            .count();
        assert_eq!(unknown, 3);
    });
}

#[test]
fn events_without_any_figure() {
    let report = json!({ "runtime_trace": [{ "event_type": "module", "module": "a", "phase": "forward", "step": 0 }] });
    page_of("no_figures", &report, async |page: &Page| {
        assert_eq!(
            page.text("headline").await,
            "The events carry no memory figures."
        );
        every_tab(page).await;
    });
}

#[test]
fn ten_thousand_events_of_five_thousand_modules() {
    let events: Vec<Value> = (0..10_000u64)
        .map(|i| {
            make::event(
                &format!("model.layers.{}.experts.{}", i % 50, i / 50 % 100),
                "forward",
                (i / 2500) as i64,
                (i + 1) << 12,
            )
        })
        .collect();
    let report = json!({ "runtime_trace": events, "metadata": { "rank": "3", "world_size": "8" } });
    page_of("many_modules", &report, async |page: &Page| {
        assert!(
            page.text("headline")
                .await
                .starts_with(&format!("Peak {}", units::size(10_000 << 12)))
        );
        page.tab("modules").await;
        page.click("expand-all").await;
        // model, layers, 50 layers, their experts lists, 5000 experts.
        assert_eq!(page.text("row-count").await, "5,102 rows");
        page.click("modules-flat").await;
        assert_eq!(page.text("row-count").await, "5,000 rows");
        let drawn = page
            .js("return document.querySelectorAll('tbody tr[aria-rowindex]').length")
            .await;
        assert!(
            drawn.as_u64().unwrap() < 100,
            "only rows in sight are drawn: {drawn}"
        );
        page.tab("top").await;
        page.click("each").await;
        assert_eq!(page.text("row-count").await, "10,000 rows");
        page.click_css("th[data-column='event'] button").await;
        assert_eq!(
            page.top_of("events", 1).await.rows[0][0].raw.as_deref(),
            Some("9999")
        );
        page.fill("search", "layers.49.experts.99").await;
        assert_eq!(page.text("row-count").await, "2 rows");
    });
}
