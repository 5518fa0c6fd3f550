//! Language, ground, small screens, print; screenshots of every tab for people to look at.

use std::path::PathBuf;

use e2e::harness::{Options, Page, with};
use e2e::run::Run;
use serde_json::json;

use crate::pages;

#[test]
fn chinese_browsers_get_a_chinese_page() {
    with(
        Options {
            lang: "zh-CN",
            ..Options::default()
        },
        async |page: &Page| {
            page.open(&pages::ddp_at("rank=0")).await;
            assert!(page.has("html[lang='zh-CN']").await);
            assert!(
                page.text("headline").await.starts_with(
                    "进程 0：峰值：已分配 2.59 GiB，已保留 2.84 GiB — 第 1 步，backward"
                )
            );
            let tabs = page.js("return [...document.querySelectorAll('[role=tab]')].map(t => t.textContent).join()").await;
            assert!(
                tabs.as_str()
                    .unwrap()
                    .chars()
                    .filter(char::is_ascii_alphabetic)
                    .count()
                    == 0,
                "{tabs}"
            );
            assert_eq!(page.text("lang").await, "English");
            page.click("lang").await;
            assert!(page.has("html[lang='en']").await && page.address().await.contains("lang=en"));
            assert!(
                page.text("headline")
                    .await
                    .starts_with("Rank 0: peak 2.59 GiB")
            );
            assert_eq!(page.text("lang").await, "中文");
        },
    );
}

#[test]
fn the_ground_follows_the_system_until_someone_chooses() {
    with(
        Options {
            dark: true,
            ..Options::default()
        },
        async |page: &Page| {
            page.open(&pages::ddp_at("rank=0")).await;
            page.expect("willReadFrequently");
            let ground = async || {
                let script = "const d = document.querySelector('canvas.base').getContext('2d').getImageData(2, 2, 1, 1).data; \
                          return [d[0], document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]";
                page.js(script).await
            };
            let dark = ground().await;
            assert!(
                dark[0].as_u64().unwrap() < 60 && dark[1] == "dark",
                "{dark}"
            );
            page.dark(false).await;
            page.settle().await;
            let light = ground().await;
            assert!(
                light[0].as_u64().unwrap() > 200 && light[1] == "light",
                "{light}"
            );
            assert_ne!(dark[2], light[2]);
            page.click("theme").await;
            assert_eq!(ground().await, dark);
            page.dark(true).await;
            page.dark(false).await;
            page.settle().await;
            assert_eq!(ground().await, dark, "what was chosen stays");
        },
    );
}

fn artifacts() -> PathBuf {
    let folder = std::env::var_os("MEMSCOPE_ARTIFACTS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/artifacts"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const VIEWS: [&str; 7] = [
    "peak", "steps", "phases", "top", "modules", "tensors", "about",
];

fn shots(name: &str, options: Options, dark: bool) {
    let folder = artifacts();
    with(options, async |page: &Page| {
        page.open(&pages::ddp_at("rank=1")).await;
        page.dark(dark).await;
        for view in VIEWS {
            page.js_with(
                "location.hash = arguments[0]",
                vec![json!(format!("rank=1&view={view}"))],
            )
            .await;
            page.settle().await;
            let png = page.shot().await;
            assert!(png.len() > 10_000, "{view} is a blank picture");
            std::fs::write(folder.join(format!("ddp-rank1-{view}-{name}.png")), png).unwrap();
            // Nothing makes the page itself wider than the screen.
            let over = page.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
            assert_eq!(over, 0, "{view}, {name}: the page scrolls sideways");
        }
    });
}

#[test]
fn laptop_light() {
    shots("light", Options::default(), false);
}

#[test]
fn laptop_dark() {
    shots(
        "dark",
        Options {
            dark: true,
            ..Options::default()
        },
        true,
    );
}

#[test]
fn phone() {
    shots(
        "phone",
        Options {
            size: (390, 844),
            ..Options::default()
        },
        false,
    );
}

#[test]
fn print() {
    let folder = artifacts();
    with(Options::default(), async |page: &Page| {
        for view in VIEWS {
            page.open(&pages::ddp_at(&format!("rank=1&view={view}")))
                .await;
            let pdf = page.pdf().await;
            assert!(
                pdf.starts_with(b"%PDF") && pdf.len() > 5_000,
                "{view}: {} bytes",
                pdf.len()
            );
            std::fs::write(folder.join(format!("ddp-rank1-{view}-print.pdf")), pdf).unwrap();
        }
    });
}

/// The first screen of a 13-inch laptop answers: headline, chart and what holds the peak.
#[test]
fn the_first_screen_answers() {
    let run: Run = pages::ddp_run(1);
    with(
        Options {
            size: (1280, 800),
            ..Options::default()
        },
        async |page: &Page| {
            page.open(&pages::ddp_at("rank=1")).await;
            let bottom = page
            .js("const b = (s) => document.querySelector(s).getBoundingClientRect().bottom; \
                 return [b(\"[data-testid='headline']\"), b('#timeline'), b(\"[data-testid='peak-bar']\"), b('#row-peak_parts-0'), innerHeight]")
            .await;
            let at = |i: usize| bottom[i].as_f64().unwrap();
            assert!(at(0) < 260.0, "the headline: {bottom}");
            assert!(
                at(1) < at(4) && at(2) < at(4) && at(3) < at(4),
                "the chart, the bar and its first row are in sight: {bottom}"
            );
            assert!(
                page.text("headline")
                    .await
                    .contains(&e2e::units::size(run.peak().0))
            );
        },
    );
}

/// Paper is white whatever the screen is: canvases are painted anew for it, and back.
#[test]
fn canvases_are_light_on_paper() {
    let dark = Options {
        dark: true,
        ..Options::default()
    };
    let snapshot = crate::memory::gpt2();
    let pages = [
        (pages::ddp_at("view=top"), "#timeline canvas.base"),
        (
            format!("{snapshot}#view=live&how=flame"),
            "#timeline canvas.base",
        ),
        (format!("{snapshot}#view=live&how=flame"), "#flame canvas"),
        (format!("{snapshot}#view=live&how=tree"), "#treemap canvas"),
        (
            format!("{snapshot}#view=state"),
            "[data-testid='segments-canvas']",
        ),
    ];
    with(dark, async |page: &Page| {
        for (address, canvas) in pages {
            page.open(&address).await;
            let there = format!("document.querySelector(`{canvas}`)");
            page.wait("the canvas", &there).await;
            page.settle().await;
            // The mean of a row of pixels along the lower edge and of one along the upper.
            page.js(&format!(
                "window.__mean = () => {{ const c = {there}, t = document.createElement('canvas'), x = t.getContext('2d', {{ willReadFrequently: true }}); \
                 t.width = c.width; t.height = c.height; x.drawImage(c, 0, 0); let sum = 0, n = 0; \
                 for (const y of [1, c.height - 2]) for (const [i, v] of x.getImageData(0, y, c.width, 1).data.entries()) \
                 if (i % 4 < 3) {{ sum += v; n++; }} return sum / n; }}; window.__paper = null; \
                 matchMedia('print').addEventListener('change', (e) => {{ if (e.matches) window.__paper = [window.__mean(), document.documentElement.dataset.theme]; }});"
            ))
            .await;
            let mean = async || page.js("return window.__mean()").await.as_f64().unwrap();
            let before = mean().await;
            page.pdf().await;
            let paper = page.wait("printed", "window.__paper").await;
            assert_eq!(paper[1], "light", "{canvas}");
            let light = paper[0].as_f64().unwrap();
            assert!(
                light > before + 20.0,
                "{canvas}: {light} on paper, {before} on the screen"
            );
            page.settle().await;
            page.settle().await;
            assert_eq!(mean().await, before, "{canvas}: dark again");
        }
    });
}

/// On a telephone every column is reached by scrolling its table, and the first stays in sight.
#[test]
fn narrow_tables_scroll_beside_their_first_column() {
    let phone = Options {
        size: (390, 844),
        ..Options::default()
    };
    let snapshot = crate::memory::gpt2();
    with(phone, async |page: &Page| {
        for view in ["live", "entries", "lines", "state", "lifetimes"] {
            page.open(&format!("{snapshot}#view={view}")).await;
            page.wait("a table", "document.querySelector('.table tbody td')")
                .await;
            page.settle().await;
            let seen = page
                .js("const wide = document.documentElement.scrollWidth; const out = []; \
                     for (const box of document.querySelectorAll('.table .scroll, .scroll')) { \
                       const row = box.querySelector('tbody tr[aria-rowindex]'); if (!row) continue; \
                       box.scrollLeft = 1e6; \
                       const b = box.getBoundingClientRect(), first = row.firstElementChild.getBoundingClientRect(), \
                             last = row.lastElementChild.getBoundingClientRect(); \
                       const ground = getComputedStyle(row.firstElementChild).backgroundColor; \
                       out.push([first.left - b.left, last.right - b.right, first.right - last.left, ground]); } \
                     return [wide, out];")
                .await;
            assert!(
                seen[0].as_f64().unwrap() <= 390.0,
                "{view}: the page is wider than the screen"
            );
            let boxes = seen[1].as_array().unwrap();
            assert!(!boxes.is_empty(), "{view}");
            for b in boxes {
                let at = |i: usize| b[i].as_f64().unwrap();
                assert!(at(0).abs() < 2.0, "{view}: the first column stays: {b}");
                assert!(
                    at(1).abs() < 20.0,
                    "{view}: the last column is reached: {b}"
                );
                assert!(at(2) <= 1.0, "{view}: the last column is not covered: {b}");
                assert!(
                    !b[3].as_str().unwrap().ends_with(", 0)"),
                    "{view}: nothing shines through: {b}"
                );
            }
        }
    });
}
