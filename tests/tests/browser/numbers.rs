//! Every number on the page, against what the test computes from the JSON by itself.

use e2e::expect::{self, Row};
use e2e::harness::{Options, Page, with};
use e2e::run::Run;
use e2e::{file_url, units};
use serde_json::Value;

use crate::pages;

/// Opens a page at a hash and runs a test on it.
fn at(url: &str, test: impl AsyncFnOnce(&Page)) {
    with(Options::default(), async |page: &Page| {
        page.open(url).await;
        test(page).await;
    });
}

#[test]
fn original_memscope() {
    let run = pages::single_run();
    at(&file_url(pages::single()), async |page: &Page| {
        every_number(page, &run, pages::single()).await
    });
}

#[test]
fn original_ddp_rank_0() {
    let run = pages::ddp_run(0);
    at(&pages::ddp_at("rank=0"), async |page: &Page| {
        every_number(page, &run, pages::ddp()).await;
        page.tab("peak").await;
        assert!(
            !page
                .has("[data-testid='findings'] [data-kind='leak']")
                .await,
            "rank 0 leaks nothing"
        );
        assert!(
            !page
                .text("headline")
                .await
                .contains("more stays after every step")
        );
        let back = units::size(run.events.last().unwrap().after.unwrap());
        let normal = page
            .css("[data-testid='findings'] [data-kind='normal']")
            .await
            .text()
            .await
            .unwrap();
        assert!(
            normal.contains(&format!("comes back to {back}")),
            "{normal}"
        );
    });
}

#[test]
fn original_ddp_rank_1() {
    let run = pages::ddp_run(1);
    at(&pages::ddp_at("rank=1"), async |page: &Page| {
        every_number(page, &run, pages::ddp()).await;
        page.tab("peak").await;
        // What stays after each step, from the samples at the ends of steps.
        let ends: Vec<u64> = run
            .events
            .iter()
            .filter(|e| e.phase == "step_end")
            .map(|e| e.after.unwrap())
            .collect();
        let rises: Vec<u64> = ends.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(rises, [64 << 20; 5], "the fixture leaks 64 MiB a step");
        let leak = page
            .css("[data-testid='findings'] [data-kind='leak']")
            .await
            .text()
            .await
            .unwrap();
        assert!(
            leak.starts_with("+64.0 MiB a step since step 0: 384 MiB"),
            "{leak}"
        );
        assert!(
            page.text("headline")
                .await
                .contains("64.0 MiB more stays after every step since step 0")
        );
    });
}

async fn every_number(page: &Page, run: &Run, file: &std::path::Path) {
    head(page, run).await;
    parts_of_the_peak(page, run).await;
    page.tab("steps").await;
    page.must_show("steps", &expect::steps(run)).await;
    page.tab("phases").await;
    page.must_show("phases", &expect::phases(run)).await;
    page.tab("top").await;
    page.must_show("top_events", &expect::places(run, |_| true))
        .await;
    page.click("each").await;
    let mut events = expect::events(run, |_| true);
    expect::sort(&mut events, 6, true, false);
    page.must_show("events", &events).await;
    page.tab("modules").await;
    page.click("expand-all").await;
    page.must_show("module_tree", &expect::tree_modules(run))
        .await;
    page.click("modules-flat").await;
    let mut flat = expect::flat_modules(run);
    expect::sort(&mut flat, 4, true, false);
    page.must_show("modules", &flat).await;
    let pairs = run.partners().iter().flatten().count() / 2;
    assert_eq!(
        page.text("pairs").await,
        format!("{} pre/post pairs", units::number(pairs as i64))
    );
    page.tab("tensors").await;
    page.must_show("tensors", &expect::tensors(run, None)).await;
    for role in ["input", "output", "gradient"] {
        page.choose("filter-role", role).await;
        page.must_show("tensors", &expect::tensors(run, Some(role)))
            .await;
    }
    page.tab("about").await;
    about(page, run, file).await;
}

async fn head(page: &Page, run: &Run) {
    let (peak, at) = run.peak();
    let e = &run.events[at];
    let headline = page.text("headline").await;
    let must = format!(
        "{} allocated, {} reserved — step {}, {}, {}",
        pages::headline(run),
        units::size(run.peak_reserved()),
        e.step.unwrap(),
        e.phase,
        e.module
    );
    assert!(
        headline.starts_with(&must),
        "{headline}\nmust start with {must}"
    );
    let steps: std::collections::BTreeSet<_> = run.events.iter().filter_map(|e| e.step).collect();
    let facts = page.text("facts").await;
    let must = [
        format!("{} ({})", run.meta("device_name"), run.meta("device")),
        format!("rank {} of {}", run.meta("rank"), run.meta("world_size")),
        run.meta("dtype"),
        format!("TP {}", run.meta("tensor_model_parallel_size")),
        format!("PP {}", run.meta("pipeline_model_parallel_size")),
        format!("DP {}", run.meta("data_parallel_size")),
        format!("optimizer {}", run.meta("optimizer")),
        format!(
            "{} steps, {} events",
            steps.len(),
            units::number(run.events.len() as i64)
        ),
    ];
    for fact in must {
        assert!(facts.contains(&fact), "{fact} is not among {facts}");
    }
    let estimated = run.json["comparisons"]["static_peak_memory_bytes"]
        .as_f64()
        .unwrap() as i64;
    let difference = peak as i64 - estimated;
    let ratio = units::share(difference as f64 / estimated as f64);
    let sign = if difference > 0 { "+" } else { "" };
    let must = format!(
        "Static estimate {}: the measured peak differs by {} ({sign}{ratio}).",
        units::size(estimated as u64),
        units::delta(difference)
    );
    assert_eq!(page.text("estimate").await, must);
    let sampled = run.first_highest(|e| e.after).0;
    let between = page.text("between").await;
    assert!(
        between.contains(&units::size(sampled)) && between.contains(&units::size(peak - sampled)),
        "{between}"
    );
}

/// The parts sum to the peak, to the byte; shares and sizes are those of the exact figures.
async fn parts_of_the_peak(page: &Page, run: &Run) {
    let table = page.table("peak_parts").await;
    let (peak, _) = run.peak();
    let mut sum = 0;
    for (size, share) in table.column("bytes").into_iter().zip(table.column("share")) {
        let exact: i64 = size.raw.as_ref().expect("an exact figure").parse().unwrap();
        let shown = if exact < 0 {
            units::delta(exact)
        } else {
            units::size(exact as u64)
        };
        assert_eq!(size.text, shown);
        assert_eq!(share.text, units::share(exact as f64 / peak as f64));
        sum += exact;
    }
    assert_eq!(sum, peak as i64, "the parts sum to the peak");
    let first = run.events[0].before.unwrap().to_string();
    let weights = table
        .rows
        .iter()
        .find(|r| r[0].raw.as_deref() == Some(&first));
    assert!(
        weights.is_some(),
        "what was there before the first event is a part of the peak"
    );
}

/// A value of `metadata` or `comparisons` as a person writes it.
fn written(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), |f| f.to_string()),
        other => other.to_string(),
    }
}

fn facts(object: &Value) -> Vec<(String, String)> {
    let map = object.as_object().expect("an object");
    let mut all: Vec<_> = map.iter().map(|(k, v)| (k.clone(), written(v))).collect();
    all.sort();
    all
}

fn shown(rows: &[Row]) -> Vec<(String, String)> {
    let mut all: Vec<_> = rows
        .iter()
        .map(|r| (r[0].text.clone(), r[1].text.clone()))
        .collect();
    all.sort();
    all
}

async fn about(page: &Page, run: &Run, file: &std::path::Path) {
    assert_eq!(
        shown(&page.table("metadata").await.rows),
        facts(&run.json["metadata"])
    );
    assert_eq!(
        shown(&page.table("comparisons").await.rows),
        facts(&run.json["comparisons"])
    );
    assert!(
        page.has("[data-testid='nothing-skipped']").await,
        "all of the input was used"
    );
    let recorded = shown(&page.table("recorded_peak").await.rows);
    let peak = &run.json["peak"];
    for (key, value) in recorded {
        let must = match peak[&key].as_i64().filter(|_| key.ends_with("_bytes")) {
            Some(bytes) => format!("{} B", units::number(bytes)),
            None => written(&peak[&key]),
        };
        assert_eq!(value, must, "{key}");
    }
    let source = shown(&page.table("source").await.rows);
    let of = |key: &str| {
        source
            .iter()
            .find(|f| f.0 == key)
            .map(|f| f.1.clone())
            .expect("a fact")
    };
    assert_eq!(of("events"), units::number(run.events.len() as i64));
    assert!(of("container format").parse::<u32>().is_ok());
    assert!(of("written by").starts_with("memscope "));
    let parts = page.table("file_parts").await;
    let sizes: Vec<u64> = parts
        .column("exact")
        .iter()
        .map(|c| c.raw.as_ref().unwrap().parse().unwrap())
        .collect();
    let (total, single) = sizes.split_last().unwrap();
    assert_eq!(single.iter().sum::<u64>(), *total);
    let size = std::fs::metadata(file).unwrap().len();
    // The rest is the template: head, elements, content security policy.
    assert!(
        *total <= size && size - total < 4096,
        "the parts are {total} of {size} bytes"
    );
    for (size, exact) in parts.column("bytes").iter().zip(&sizes) {
        assert_eq!(size.text, units::size(*exact));
    }
}
