//! What is live: groups, flame graph, treemap and details, against the trace itself.

use e2e::harness::{Options, Page, with};
use e2e::{file_url, fixture, render, units};
use serde_json::json;
use thirtyfour::prelude::*;

use crate::pages::temporary;
use crate::trace::{Block, Trace};

/// A plain snapshot: the test reads the raw trace by its own means.
const FIXTURE: &str = "oom_fragmentation/snapshot.pickle";

pub fn page_of(name: &str) -> String {
    // Once a run: a page that an earlier build left is another page.
    static MADE: std::sync::Mutex<Vec<std::path::PathBuf>> = std::sync::Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap();
    let page = temporary(&format!("live-{}.html", name.replace('/', "-")));
    if !made.contains(&page) {
        render(&[&fixture(name)], page.clone());
        made.push(page.clone());
    }
    file_url(&page)
}

pub async fn open(page: &Page, name: &str, hash: &str) {
    page.open(&format!("{}#{hash}", page_of(name))).await;
}

/// Exact bytes of a column of a table.
pub async fn figures(page: &Page, table: &str, column: &str) -> Vec<u64> {
    let table = page.table(table).await;
    let cells = table.column(column);
    cells
        .iter()
        .map(|c| c.raw.as_ref().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn groups_of_every_kind_sum_to_the_replayed_trace() {
    let trace = Trace::read(&fixture(FIXTURE));
    with(Options::default(), async |page: &Page| {
        for (at, live) in [
            ("peak", trace.live_at_peak()),
            ("oom", trace.live_at_oom()),
            ("end", trace.live_at_end()),
        ] {
            let bytes: u64 = live.iter().map(|b| b.size).sum();
            for by in ["stack", "line", "function", "category", "pool", "stream"] {
                open(page, FIXTURE, &format!("view=live&at={at}&by={by}")).await;
                let name = format!("live_{by}");
                let of = figures(page, &name, "bytes").await;
                assert_eq!(of.iter().sum::<u64>(), bytes, "{at} {by}");
                let count = figures(page, &name, "count").await;
                assert_eq!(count.iter().sum::<u64>(), live.len() as u64, "{at} {by}");
                let total =
                    "return document.querySelector('tfoot td[data-column=bytes]').dataset.raw";
                assert_eq!(page.js(total).await, json!(bytes.to_string()), "{at} {by}");
            }
            let legend = page
                .js("return [...document.querySelectorAll('#category-legend li')].map(l => Number(l.dataset.raw))")
                .await;
            let sum: u64 = legend
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_u64().unwrap())
                .sum();
            assert_eq!(sum, bytes, "{at}: the bar of categories");
        }
    });
}

/// Bytes of blocks by a key, largest first.
fn sums(live: &[Block], key: impl Fn(&Block) -> String) -> Vec<(String, u64, u64)> {
    let mut out: Vec<(String, u64, u64)> = Vec::new();
    for b in live {
        let key = key(b);
        match out.iter_mut().find(|o| o.0 == key) {
            Some(o) => {
                o.1 += b.size;
                o.2 += 1;
            }
            None => out.push((key, b.size, 1)),
        }
    }
    out.sort_by_key(|o| std::cmp::Reverse(o.1));
    out
}

#[test]
fn lines_are_those_of_the_first_frame_of_the_users() {
    let trace = Trace::read(&fixture(FIXTURE));
    let live = trace.live_at_peak();
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=live&at=peak&by=line").await;
        let table = page.table("live_line").await;
        let must = sums(&live, |b| b.user_line());
        assert_eq!(table.rows.len(), must.len());
        for ((place, bytes, count), row) in must.iter().zip(&table.rows) {
            assert_eq!(row[0].raw.as_deref(), Some(bytes.to_string().as_str()));
            assert_eq!(row[0].text, units::size(*bytes));
            assert_eq!(&row[2].text, place);
            let behind = &row[row.len() - 2];
            assert_eq!(behind.raw.as_deref(), Some(count.to_string().as_str()));
        }
    });
}

#[test]
fn a_row_opens_to_its_stack_and_allocations_and_the_link_keeps_it() {
    let trace = Trace::read(&fixture(FIXTURE));
    let live = trace.live_at_peak();
    let mut link = String::new();
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=live&at=peak&by=line").await;
        page.click_css("#row-live_line-0").await;
        let must = sums(&live, |b| b.user_line());
        let first: Vec<&Block> = live.iter().filter(|b| b.user_line() == must[0].0).collect();
        let sizes = figures(page, "allocations", "bytes").await;
        assert_eq!(sizes.iter().sum::<u64>(), must[0].1);
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        assert_eq!(sizes.len(), first.len());
        let names = page.table("allocations").await;
        for cell in names.column("allocation") {
            let address = cell.text.trim_start_matches('b').split('_').next().unwrap();
            let address = u64::from_str_radix(address, 16).unwrap();
            assert!(first.iter().any(|b| b.address == address), "{}", cell.text);
        }
        assert!(
            page.table("live_line").await.hits[0],
            "the open row is marked"
        );
        // With nothing folded the stack has every frame of the block that is named.
        page.click("fold").await;
        let frames = page
            .js("return document.querySelectorAll('.stack li').length")
            .await;
        let largest = first.iter().max_by_key(|b| b.size).unwrap();
        assert_eq!(frames, json!(largest.frames.len()));
        // One of its allocations keeps the group open, in every grouping.
        page.click_css("#row-allocations-1").await;
        assert!(page.address().await.contains("pick=b"));
        page.click("by-stack").await;
        assert!(page.has("[data-testid='detail']").await);
        link = page.address().await;
        page.keys("\u{e00c}").await;
        assert!(
            !page.has("[data-testid='detail']").await,
            "Escape closes it"
        );
    });
    with(Options::default(), async |page: &Page| {
        page.open(&link).await;
        assert!(
            page.has("[data-testid='detail'] .stack, [data-testid='detail'] .quiet")
                .await
        );
        assert_eq!(page.address().await, link);
    });
}

#[test]
fn the_flame_graph_zooms_by_click_and_by_keys() {
    let trace = Trace::read(&fixture(FIXTURE));
    let live = trace.live_at_peak();
    let bytes: u64 = live.iter().map(|b| b.size).sum();
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=live&at=peak&how=flame.full").await;
        let frames = page.table("live_frames").await;
        let all = frames.column("bytes");
        assert_eq!(all[0].raw.as_deref(), Some(bytes.to_string().as_str()));
        let own: u64 = figures(page, "live_frames", "own").await.iter().sum();
        assert_eq!(own, bytes);
        // The outermost frame of the largest root.
        let roots = sums(&live, |b| {
            b.frames.last().map_or(String::new(), |f| f.name.clone())
        });
        page.js("document.querySelector('#flame').focus()").await;
        page.key(Key::Down).await;
        let said = page.text("flame-readout").await;
        assert!(said.contains(&roots[0].0), "{said}");
        assert!(said.contains(&units::number(roots[0].1 as i64)), "{said}");
        page.key(Key::Enter).await;
        let zoomed = page.table("live_frames").await.column("bytes")[0]
            .raw
            .clone();
        assert_eq!(zoomed, Some(roots[0].1.to_string()));
        page.click("flame-reset").await;
        assert!(!page.has("[data-testid='flame-reset']").await);
        // A click on the second row zooms as Enter does.
        let box_ = page
            .js("const r = document.querySelector('#flame').getBoundingClientRect(); return [r.left + 20, r.top + 28]")
            .await;
        let at = |i: usize| box_[i].as_f64().unwrap() as i64;
        page.driver
            .action_chain()
            .move_to(at(0), at(1))
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        let clicked = page.table("live_frames").await.column("bytes")[0]
            .raw
            .clone();
        assert_eq!(clicked, zoomed);
        page.catch_exports().await;
        page.click("flame-svg").await;
        let svg = page.taken().await;
        let escaped = roots[0].0.replace('<', "&lt;").replace('>', "&gt;");
        assert!(svg.starts_with("<svg") && svg.contains(&escaped), "{svg}");
    });
}

#[test]
fn a_tile_of_the_treemap_is_picked_by_click_and_by_keys() {
    let trace = Trace::read(&fixture(FIXTURE));
    let live = trace.live_at_peak();
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=live&at=peak&by=line&how=tree").await;
        let must = sums(&live, |b| b.user_line());
        page.js("document.querySelector('#treemap').focus()").await;
        page.key(Key::Right).await;
        let said = page.text("treemap-readout").await;
        assert!(said.contains(&units::number(must[0].1 as i64)), "{said}");
        page.key(Key::Enter).await;
        assert!(page.address().await.contains("pick="));
        let figures = page.text("detail-figures").await;
        assert!(figures.contains(&units::size(must[0].1)), "{figures}");
    });
}

#[test]
fn an_instant_that_is_picked_elsewhere_has_its_button() {
    let trace = Trace::read(&fixture(FIXTURE));
    with(Options::default(), async |page: &Page| {
        let event = trace.events() / 2;
        open(page, FIXTURE, &format!("view=live&at=t{event}&by=stream")).await;
        assert!(
            page.has(&format!("[data-testid='at-t{event}'][aria-pressed='true']"))
                .await
        );
        let bytes: u64 = trace.live_after(event).iter().map(|b| b.size).sum();
        let of = figures(page, "live_stream", "bytes").await;
        assert_eq!(of.iter().sum::<u64>(), bytes);
        page.click("at-end").await;
        let bytes: u64 = trace.live_at_end().iter().map(|b| b.size).sum();
        let of = figures(page, "live_stream", "bytes").await;
        assert_eq!(of.iter().sum::<u64>(), bytes);
    });
}

#[test]
fn nothing_makes_the_page_wider_than_a_phone() {
    let options = Options {
        size: (390, 844),
        ..Options::default()
    };
    with(options, async |page: &Page| {
        for name in [FIXTURE, "cuda_graphs/snapshot.pickle"] {
            for hash in [
                "view=live",
                "view=live&by=category",
                "view=live&how=flame.full",
                "view=live&how=tree&by=function",
                "view=lifetimes",
                "view=lines",
            ] {
                open(page, name, hash).await;
                let over = page
                    .js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                    .await;
                assert_eq!(over, 0, "{name} {hash}: the page scrolls sideways");
            }
        }
    });
}

#[test]
fn a_zoomed_flame_graph_is_in_the_link_and_back_undoes_it() {
    let trace = Trace::read(&fixture(FIXTURE));
    let whole: u64 = trace.live_at_peak().iter().map(|b| b.size).sum();
    // What the widest second frame from the root holds.
    let live = trace.live_at_peak();
    let outer = sums(&live, |b| match b.frames.as_slice() {
        [.., frame] => format!("{frame:?}"),
        [] => String::new(),
    });
    let (root, first, _) = outer[0].clone();
    let mut inside = live.clone();
    inside.retain(|b| {
        b.frames
            .last()
            .map(|f| format!("{f:?}"))
            .unwrap_or_default()
            == root
    });
    let second = sums(&inside, |b| match b.frames.as_slice() {
        [.., frame, _] => format!("{frame:?}"),
        _ => String::new(),
    });
    let second = second.iter().find(|s| !s.0.is_empty()).unwrap().1;
    with(Options::default(), async |page: &Page| {
        open(page, FIXTURE, "view=live&at=peak&how=flame.full").await;
        let widest = async || figures(page, "live_frames", "bytes").await[0];
        let zoom = async |downs: usize| {
            page.js("document.querySelector('#flame').focus()").await;
            for _ in 0..downs {
                page.key(Key::Down).await;
            }
            page.key(Key::Enter).await;
        };
        assert_eq!(widest().await, whole);
        zoom(1).await;
        assert_eq!(widest().await, first);
        zoom(1).await;
        assert_eq!(widest().await, second);
        let link = page.address().await;
        assert!(link.contains("flame=k") && link.ends_with(".2"), "{link}");
        page.js("history.back()").await;
        page.wait("one step back", "location.hash.endsWith('.1')")
            .await;
        page.settle().await;
        assert_eq!(widest().await, first);
        page.js("history.back()").await;
        page.wait("the whole", "!location.hash.includes('flame=k')")
            .await;
        page.settle().await;
        assert_eq!(widest().await, whole);
        page.js("history.forward()").await;
        page.wait("forward", "location.hash.endsWith('.1')").await;
        page.settle().await;
        assert_eq!(widest().await, first);
        // The link alone, and what it says of a stack that is not there.
        page.open(&link).await;
        assert_eq!(widest().await, second);
        open(
            page,
            FIXTURE,
            "view=live&at=peak&how=flame.full&flame=k999999.1",
        )
        .await;
        assert_eq!(widest().await, whole);
        // Another tree has other nodes.
        page.open(&link).await;
        page.click("flame-leaf").await;
        assert_eq!(widest().await, whole);
        assert!(!page.address().await.contains("flame=k"));
    });
}

#[test]
fn the_stack_of_what_is_picked_is_shown_once() {
    let trace = Trace::read(&fixture(FIXTURE));
    let live = trace.live_at_peak();
    let largest = live.iter().max_by_key(|b| b.size).unwrap();
    let before = trace.blocks.iter();
    let before = before.filter(|b| b.address == largest.address && b.born < largest.born);
    let name = format!("b{:x}_{}", largest.address, before.count());
    // Who freed it is another line of the same function.
    let innermost = &largest.frames[0];
    let innermost = format!(
        "{}:{}",
        innermost.file.rsplit('/').next().unwrap(),
        innermost.line
    );
    with(Options::default(), async |page: &Page| {
        // Frames of lists; those of tables are no stacks.
        let lists = "return [...document.querySelectorAll('.picked li, .detail li')].map(l => l.textContent)";
        for (hash, below) in [
            ("view=live&at=peak", true),
            ("view=live&at=peak&how=flame", false),
            ("view=live&at=end", false),
            ("view=entries", false),
        ] {
            let lives_at_end = trace.live_at_end().iter().any(|b| b.born == largest.born);
            let below = below || (hash.ends_with("end") && lives_at_end);
            open(page, FIXTURE, &format!("{hash}&pick={name}")).await;
            let frames = page.js(lists).await;
            let frames = frames.as_array().unwrap();
            let own = frames
                .iter()
                .filter(|f| f.as_str().unwrap().contains(&innermost));
            assert_eq!(own.count(), 1, "{hash}: {frames:?}");
            assert_eq!(page.has(".detail li").await, below, "{hash}");
        }
    });
}
