//! Two recordings side by side, against what the allocator itself said (`truth.json`) and what the
//! verb prints for scripts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use e2e::harness::{Options, Page, with};
use e2e::{file_url, fixture, memscope, render, units};
use serde_json::{Value, json};

use crate::pages;

fn snapshot(name: &str) -> PathBuf {
    fixture(&format!("{name}/snapshot.pickle.xz"))
}

fn stat(name: &str, stat: &str) -> i64 {
    let text = std::fs::read_to_string(fixture(&format!("{name}/truth.json"))).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    truth["memory_stats"][stat].as_i64().unwrap()
}

/// The peaks of requested bytes of two runs.
fn peaks(a: &str, b: &str) -> (i64, i64) {
    let peak = |name| stat(name, "requested_bytes.all.peak");
    (peak(a), peak(b))
}

/// What the verb says of two snapshots.
fn answer(a: &str, b: &str) -> Value {
    let to = pages::temporary("compare.json");
    let (x, y) = (snapshot(a), snapshot(b));
    memscope(&[
        "compare",
        x.to_str().unwrap(),
        y.to_str().unwrap(),
        "--format",
        "json",
        "-o",
        to.to_str().unwrap(),
    ]);
    serde_json::from_str(&std::fs::read_to_string(to).unwrap()).unwrap()
}

/// `gpt2_adamw_amp` alone.
fn amp() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| render(&[&snapshot("gpt2_adamw_amp")], pages::temporary("amp.html")))
}

async fn drop_beside(page: &Page, path: &Path) {
    let input = page.find("open").await;
    input.send_keys(path.to_str().unwrap()).await.unwrap();
    page.wait(
        "the comparison",
        "document.getElementById('tab-compare')?.ariaSelected === 'true'",
    )
    .await;
    page.settle().await;
}

/// How the headline must begin.
fn begin(a: i64, b: i64) -> String {
    let by = (b - a).unsigned_abs();
    let share = units::share(by as f64 / a as f64);
    let word = if b > a { "higher" } else { "lower" };
    format!(
        "B's peak is {} ({share}) {word} than A's: {} → {} requested",
        units::size(by),
        units::size(a as u64),
        units::size(b as u64)
    )
}

/// The table that is shown holds these sums, and the rows of the verb in its order.
async fn holds(page: &Page, table: &str, grouping: &Value, (a, b): (i64, i64)) {
    let shown = page.table(table).await;
    let raw = |id: &str| -> Vec<i64> {
        let cells = shown.column(id);
        cells
            .iter()
            .map(|c| c.raw.as_ref().unwrap().parse().unwrap())
            .collect()
    };
    let (x, y, d) = (raw("a"), raw("b"), raw("delta"));
    assert_eq!(
        (x.iter().sum::<i64>(), y.iter().sum::<i64>()),
        (a, b),
        "{table}"
    );
    assert_eq!(d.iter().sum::<i64>(), b - a);
    let rows = grouping["rows"].as_array().unwrap();
    let bytes = |side: &str| -> Vec<i64> {
        rows.iter()
            .map(|r| r[side]["bytes"].as_i64().unwrap())
            .collect()
    };
    assert_eq!((x, y), (bytes("a"), bytes("b")));
    for (cell, row) in shown.column("status").iter().zip(rows) {
        let word = row["status"].as_str().unwrap();
        assert!(cell.text.ends_with(word), "{cell:?} {word}");
    }
}

#[test]
fn a_second_snapshot_that_is_chosen_is_held_against_the_first() {
    let (one, two) = ("gpt2_adamw_amp", "gpt2_adamw_fp32");
    let (a, b) = peaks(one, two);
    let answer = answer(one, two);
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(amp())).await;
        assert!(!page.has("#tab-compare").await, "nothing is compared yet");
        drop_beside(page, &snapshot(two)).await;
        let said = page.text("headline").await;
        assert!(said.starts_with(&begin(a, b)), "{said}");
        for (n, (kind, table)) in [
            ("line", "compare_lines"),
            ("function", "compare_functions"),
            ("stack", "compare_stacks"),
            ("category", "compare_categories"),
        ]
        .into_iter()
        .enumerate()
        {
            page.click(&format!("kind-{kind}")).await;
            holds(page, table, &answer["snapshot"]["by"][n], (a, b)).await;
        }
        // One status alone.
        page.click("kind-stack").await;
        page.choose("change", "gone").await;
        let gone = page.table("compare_stacks").await;
        assert!(!gone.rows.is_empty());
        assert!(
            gone.column("b")
                .iter()
                .all(|c| c.raw.as_deref() == Some("0"))
        );
        page.choose("change", "").await;
        page.click("kind-line").await;

        // The chart says both peaks, and the tree both totals.
        let label = page
            .js("return document.querySelector(\"[data-testid='compare-chart']\").ariaLabel")
            .await;
        assert!(label.as_str().unwrap().starts_with(&begin(a, b)));
        let root = page.text("compare-node").await;
        let must = format!(
            "A {}, B {}, difference {}",
            units::size(a as u64),
            units::size(b as u64),
            units::delta(b - a)
        );
        assert!(root.ends_with(&must), "{root}");

        // Another instant of B.
        page.choose("at-b", "end").await;
        let end = stat(two, "requested_bytes.all.current");
        let shown = page.table("compare_lines").await;
        let sum: i64 = shown
            .column("b")
            .iter()
            .map(|c| c.raw.as_ref().unwrap().parse::<i64>().unwrap())
            .sum();
        assert_eq!(sum, end);
        page.choose("at-b", "peak").await;

        page.click("compare-swap").await;
        let said = page.text("headline").await;
        assert!(said.starts_with(&begin(b, a)), "{said}");
        page.click("compare-only-b").await;
        assert!(!page.has("#tab-compare").await);
        let peak = units::size(stat(one, "allocated_bytes.all.peak") as u64);
        let said = page.text("headline").await;
        assert!(said.contains(&peak), "A again, which was B: {said}");
    });
}

#[test]
fn two_ranks_of_one_report() {
    let folder = pages::temporary("two_ranks.html");
    let inputs = [snapshot("ddp/rank00000"), snapshot("ddp/rank00001")];
    render(&[&inputs[0], &inputs[1]], folder.clone());
    let (a, b) = peaks("ddp/rank00000", "ddp/rank00001");
    with(Options::default(), async |page: &Page| {
        // The second has the higher peak and is shown first.
        page.open(&file_url(&folder)).await;
        page.choose("with", "0").await;
        let said = page.text("headline").await;
        assert!(said.starts_with(&begin(b, a)), "{said}");
        page.choose("with", "").await;
        assert!(!page.has("#tab-compare").await);
    });
}

#[test]
fn closing_leaves_the_first_alone() {
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(amp())).await;
        let before = page.text("headline").await;
        drop_beside(page, &snapshot("gpt2_adamw_fp32")).await;
        page.click("compare-close").await;
        assert!(!page.has("#tab-compare").await);
        assert_eq!(page.text("headline").await, before);
    });
}

#[test]
fn a_page_of_the_verb_opens_on_the_comparison() {
    let (one, two) = ("ddp/rank00000", "ddp/rank00001");
    let (a, b) = peaks(one, two);
    let to = pages::temporary("compared.html");
    let (x, y) = (snapshot(one), snapshot(two));
    memscope(&[
        "compare",
        x.to_str().unwrap(),
        y.to_str().unwrap(),
        "-o",
        to.to_str().unwrap(),
    ]);
    let answer = answer(one, two);
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(&to)).await;
        let said = page.text("headline").await;
        assert!(said.starts_with(&begin(a, b)), "{said}");
        holds(page, "compare_lines", &answer["snapshot"]["by"][0], (a, b)).await;
        // A link to it keeps what is compared.
        page.click("kind-category").await;
        let link = page.js("return location.href").await;
        assert!(link.as_str().unwrap().contains("with=1"), "{link}");
        page.open(link.as_str().unwrap()).await;
        holds(
            page,
            "compare_categories",
            &answer["snapshot"]["by"][3],
            (a, b),
        )
        .await;
        // Keys walk the tree and zoom into it.
        let tree = page.find("compare-tree").await;
        tree.focus().await.unwrap();
        tree.send_keys("\u{e015}").await.unwrap();
        let node = page.text("compare-node").await;
        tree.send_keys("\u{e007}").await.unwrap();
        page.settle().await;
        assert_eq!(page.text("compare-node").await, node);
        let whole = "return document.querySelector(\"[data-testid='compare-whole']\").disabled";
        assert_eq!(page.js(whole).await, json!(false), "{node}");
    });
    with(
        Options {
            scripts: false,
            ..Options::default()
        },
        async |page: &Page| {
            page.goto(&file_url(&to)).await;
            let script = "return document.querySelector('#memscope-static h1').textContent";
            let said = page.js(script).await;
            assert!(said.as_str().unwrap().starts_with(&begin(a, b)), "{said}");
            let drawn = page
                .js("return document.querySelectorAll('#memscope-static svg').length")
                .await;
            assert_eq!(drawn, json!(2), "the timelines and the tree");
        },
    );
}

/// A report is put beside another, shown alone, and its ranks are gone through: no view that is left
/// behind says an error (which the harness counts).
#[test]
fn ranks_and_sides_come_and_go() {
    let viewer = pages::temporary("compare_viewer.html");
    memscope(&["viewer", "-o", viewer.to_str().unwrap()]);
    with(Options::default(), async |page: &Page| {
        page.open(&file_url(&viewer)).await;
        let input = page.find("open").await;
        input
            .send_keys(pages::ddp().to_str().unwrap())
            .await
            .unwrap();
        page.wait(
            "the report",
            "document.querySelector(\"[data-testid='rank']\")",
        )
        .await;
        for view in ["peak", "phases"] {
            page.tab(view).await;
            for rank in [0, 1] {
                page.choose("rank", &rank.to_string()).await;
                let said = page.text("headline").await;
                assert!(
                    said.starts_with(&pages::headline(&pages::ddp_run(rank))),
                    "{said}"
                );
            }
        }
        page.choose("with", "0").await;
        let peaks = [0, 1].map(|rank| pages::ddp_run(rank).peak().0);
        let must = format!("B's peak is {} ", units::size(peaks[0].abs_diff(peaks[1])));
        let said = page.text("headline").await;
        assert!(
            said.starts_with(&must) && said.contains(" lower than A's"),
            "{said}"
        );
        page.click("compare-swap").await;
        let said = page.text("headline").await;
        assert!(
            said.starts_with(&must) && said.contains(" higher than A's"),
            "{said}"
        );
        drop_beside(page, &snapshot("ddp/rank00000")).await;
        page.click("compare-only-b").await;
        drop_beside(page, pages::ddp()).await;
        page.click("compare-close").await;
        assert!(!page.has("#tab-compare").await);
    });
}
