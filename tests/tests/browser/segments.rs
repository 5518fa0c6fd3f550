//! The allocator's state: figures, tables and picture against a plain walk over the pickle's rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use e2e::harness::{Page, on};
use e2e::{file_url, fixture, render};
use report::model::snapshot::{Action, Snapshot};
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::pages::temporary;

const MIB: u64 = 1 << 20;

fn fragmentation() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| {
        render(
            &[&fixture("oom_fragmentation/snapshot.pickle")],
            temporary("oom_fragmentation.html"),
        )
    })
}

fn snapshot() -> Snapshot {
    let path = fixture("oom_fragmentation/snapshot.pickle");
    let file = std::fs::File::open(path).unwrap();
    let report = report::read::read_stream("snapshot.pickle", file).unwrap();
    report.ranks.into_iter().next().unwrap().snapshot.unwrap()
}

/// Segments and blocks after some events, by address. Blocks are as large as asked for, rounded to
/// 512 bytes: every one of this run is split from more than a MiB.
#[derive(Default)]
struct Heap {
    segments: BTreeMap<u64, u64>,
    blocks: BTreeMap<u64, u64>,
}

impl Heap {
    fn after(s: &Snapshot, events: usize) -> Self {
        let mut heap = Self::default();
        for i in 0..events {
            let row = s.events.row(i);
            match row.action {
                Action::SegmentAlloc => drop(heap.segments.insert(row.address, row.size)),
                Action::SegmentFree => drop(heap.segments.remove(&row.address)),
                Action::Alloc => {
                    let size = row.size.next_multiple_of(512);
                    heap.blocks.insert(row.address, size);
                }
                Action::FreeCompleted => drop(heap.blocks.remove(&row.address)),
                _ => {}
            }
        }
        heap
    }

    /// Of every segment: bytes of blocks, and sizes of the free ones.
    fn free(&self) -> Vec<(u64, Vec<u64>)> {
        let segment = |(&start, &size): (&u64, &u64)| {
            let (mut used, mut free, mut next) = (0, Vec::new(), start);
            for (&address, &block) in self.blocks.range(start..start + size) {
                free.push(address - next);
                used += block;
                next = address + block;
            }
            free.push(start + size - next);
            free.retain(|&f| f > 0);
            (used, free)
        };
        self.segments.iter().map(segment).collect()
    }

    /// By name: what the figures of the page must be, bytes.
    fn figures(&self) -> BTreeMap<String, u64> {
        let free = self.free();
        let sum = |used: bool| -> u64 {
            let those = free.iter().filter(|(u, _)| (*u > 0) == used);
            those.flat_map(|(_, f)| f).sum()
        };
        let largest = free.iter().flat_map(|(_, f)| f).max();
        let figures = [
            ("Reserved", self.segments.values().sum()),
            ("InUse", self.blocks.values().sum()),
            ("FreeKept", sum(true)),
            ("FreeReturnable", sum(false)),
            ("LargestFree", largest.copied().unwrap_or(0)),
        ];
        figures
            .map(|(n, v)| (n.to_owned(), v))
            .into_iter()
            .collect()
    }
}

async fn figures(page: &Page) -> BTreeMap<String, u64> {
    let script = "return [...document.querySelectorAll('[data-figure]')].map(e => [e.dataset.figure, e.dataset.raw])";
    let all = page.js(script).await;
    let pair = |v: &Value| {
        let text = |i: usize| v[i].as_str().unwrap().to_owned();
        (text(0), text(1).parse().unwrap())
    };
    let wanted = Heap::default().figures();
    let all = all.as_array().unwrap().iter().map(pair);
    all.filter(|(name, _)| wanted.contains_key(name)).collect()
}

/// Goes to the state at an instant.
async fn at(page: &Page, instant: &str) {
    let url = file_url(fragmentation());
    page.open(&format!("{url}#view=state&at={instant}")).await;
}

/// The row of the trace after which the page is.
async fn shown(page: &Page) -> usize {
    let text = page.text("state-at").await;
    let name = text.split(" · ").next().unwrap();
    name.strip_prefix('t').unwrap().parse().unwrap()
}

#[test]
fn an_oom_shows_what_keeps_free_memory() {
    let s = snapshot();
    let oom = s
        .events
        .action
        .iter()
        .position(|a| *a == Action::Oom)
        .unwrap();
    let heap = Heap::after(&s, oom + 1);
    on(fragmentation(), async |page: &Page| {
        at(page, "oom").await;
        assert_eq!(shown(page).await, oom);
        assert_eq!(figures(page).await, heap.figures());
        let asked = s.events.row(oom).size / MIB;
        let said = page.text("state-reason").await;
        assert!(said.contains("1.37 GiB") && asked == 1400, "{said}");
        let held: Vec<(u64, u64)> = heap
            .free()
            .iter()
            .filter(|(used, free)| *used > 0 && !free.is_empty())
            .map(|(used, free)| (free.iter().sum(), *used))
            .collect();
        let blocks = heap.blocks.len();
        assert_eq!(held.len(), blocks, "every block has a segment of its own");
        assert!(said.contains(&format!("{blocks} blocks")), "{said}");
        let table = page.table("pins").await;
        let raw = |id: &str| -> Vec<u64> {
            let cells = table.column(id).into_iter();
            cells
                .map(|c| c.raw.clone().unwrap().parse().unwrap())
                .collect()
        };
        let shown: Vec<(u64, u64)> = raw("held").into_iter().zip(raw("live")).collect();
        assert_eq!(shown, held);
        let segments = page.table("segments").await;
        let mut sizes: Vec<u64> = heap.segments.values().copied().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let cells = segments.column("size").into_iter();
        let shown: Vec<u64> = cells
            .map(|c| c.raw.clone().unwrap().parse().unwrap())
            .collect();
        assert_eq!(shown, sizes);
    });
}

#[test]
fn keys_and_buttons_go_through_the_history() {
    let s = snapshot();
    let n = s.events.len();
    let is_segment = |i: &usize| s.events.row(*i).action.word().starts_with("segment_");
    on(fragmentation(), async |page: &Page| {
        at(page, "t40").await;
        page.js("document.getElementById('state-slider').focus()")
            .await;
        let mut now = 40;
        for (key, next) in [
            (Key::Left.value().to_string(), 39),
            (Key::Right.value().to_string(), 40),
            (".".to_owned(), (41..n).find(is_segment).unwrap()),
            (
                ",".to_owned(),
                (0..n)
                    .rev()
                    .skip_while(|i| *i >= (41..n).find(is_segment).unwrap())
                    .find(is_segment)
                    .unwrap(),
            ),
        ] {
            page.keys(&key).await;
            assert_eq!(shown(page).await, next, "{key:?} at {now}");
            assert_eq!(figures(page).await, Heap::after(&s, next + 1).figures());
            assert!(page.address().await.contains(&format!("at=t{next}")));
            now = next;
        }
        page.click("state-last").await;
        assert_eq!(shown(page).await, n - 1);
        assert_eq!(figures(page).await, Heap::after(&s, n).figures());
        page.click("state-first").await;
        assert_eq!(figures(page).await, Heap::default().figures());
        assert!(page.has("[data-testid='no-segments']").await);
        // Playing moves on until it is stopped.
        page.click("state-play").await;
        page.wait(
            "it plays",
            "/^t\\d/.test(document.querySelector(\"[data-testid='state-at']\").textContent)",
        )
        .await;
        page.click("state-play").await;
        let stopped = shown(page).await;
        page.settle().await;
        assert_eq!(shown(page).await, stopped);
        assert_eq!(figures(page).await, Heap::after(&s, stopped + 1).figures());
    });
}

/// Colours of the pixels of one line of the picture, as numbers.
async fn line(page: &Page, y: u64) -> Vec<u64> {
    page.expect("willReadFrequently");
    let script = "const c = document.querySelector(\"[data-testid='segments-canvas']\"); \
        const d = c.getContext('2d').getImageData(0, arguments[0], c.width, 1).data; \
        return Array.from({ length: c.width }, (_, i) => d[4 * i] << 16 | d[4 * i + 1] << 8 | d[4 * i + 2]);";
    let pixels = page.js_with(script, vec![json!(y)]).await;
    let pixels = pixels.as_array().unwrap().iter();
    pixels.map(|v| v.as_u64().unwrap()).collect()
}

#[test]
fn the_picture_shows_blocks_as_wide_as_they_are() {
    let s = snapshot();
    let oom = s
        .events
        .action
        .iter()
        .position(|a| *a == Action::Oom)
        .unwrap();
    let heap = Heap::after(&s, oom + 1);
    on(fragmentation(), async |page: &Page| {
        at(page, "oom").await;
        let scale =
            "return Number(document.querySelector(\"[data-testid='state-scale']\").dataset.raw)";
        let row = page.js(scale).await.as_u64().unwrap();
        assert_eq!(row, 120 * MIB, "the largest segment is a full row");
        // Below the heading, above the text of the first row.
        let colors = line(page, 21).await;
        let (free, mut widths) = (0x00e0_e3e7, BTreeMap::new());
        for c in &colors {
            *widths.entry(*c).or_insert(0u64) += 1;
        }
        let plot: u64 = colors.len() as u64 - 112;
        let wide = widths[&free];
        let expected = plot * 80 / 120;
        assert!(
            wide.abs_diff(expected) <= 4,
            "{wide} of {plot}, not {expected}"
        );
        // The block is where it is pressed, and what is picked is found in the tables.
        let used = colors
            .iter()
            .skip(112)
            .position(|c| *c != free && *c != 0x00ff_ffff)
            .unwrap();
        let script = "const e = document.querySelector(\"[data-testid='segments']\").getBoundingClientRect(); \
            scrollTo(0, scrollY + e.top - 100); const r = document.querySelector(\"[data-testid='segments']\").getBoundingClientRect(); \
            return [r.left, r.top]";
        let corner = page.js(script).await;
        let place = |i: usize| corner[i].as_f64().unwrap() as i64;
        page.driver
            .action_chain()
            .move_to(place(0) + 112 + used as i64 + 20, place(1) + 25)
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        let address = page.address().await;
        let picked = address.split("pick=b").nth(1).unwrap();
        let picked = picked.split(['_', '&', '%']).next().unwrap();
        let block = u64::from_str_radix(picked, 16).unwrap();
        assert_eq!(heap.blocks.get(&block), Some(&(40 * MIB)));
        let pins = page.table("pins").await;
        let names = pins.column("block");
        let hit: Vec<_> = names
            .iter()
            .zip(&pins.hits)
            .filter(|(_, hit)| **hit)
            .collect();
        assert_eq!(hit.len(), 1);
        assert!(hit[0].0.text.starts_with(&format!("b{block:x}_")));
        // The keyboard goes on to the free rest of the segment, then to the next one.
        page.js("document.querySelector(\"[data-testid='segments']\").focus()")
            .await;
        page.key(Key::Right).await;
        let free = page.text("state-readout").await;
        assert!(free.contains("40.0 MiB free"), "{free}");
        page.key(Key::Right).await;
        let next = page.text("state-readout").await;
        let segment = |said: &str| said.rsplit(" · ").next().unwrap().to_owned();
        assert!(next.contains("40.0 MiB"), "{next}");
        assert_ne!(
            segment(&next),
            segment(&free),
            "the last of a segment leads to the next"
        );
    });
}

#[test]
fn the_picture_is_exported_whole() {
    let s = snapshot();
    let oom = s
        .events
        .action
        .iter()
        .position(|a| *a == Action::Oom)
        .unwrap();
    let heap = Heap::after(&s, oom + 1);
    on(fragmentation(), async |page: &Page| {
        at(page, "oom").await;
        page.catch_exports().await;
        page.click("segments-svg").await;
        let svg = page.taken().await;
        let free = svg.matches("40.0 MiB free").count();
        let expected = heap
            .free()
            .iter()
            .flat_map(|(_, f)| f)
            .filter(|f| **f == 40 * MIB)
            .count();
        assert_eq!(free, expected);
        assert!(svg.contains("default pool") && svg.contains("stream 0"));
    });
}

/// Letters on the stripes of blocks that wait for another stream stand on a plate of their own.
#[test]
fn what_waits_for_another_stream_can_be_read() {
    let path = render(
        &[&fixture("multi_stream/snapshot.pickle.xz")],
        temporary("multi_stream.html"),
    );
    let file = std::fs::File::open(fixture("multi_stream/snapshot.pickle.xz")).unwrap();
    let report = report::read::read_stream("snapshot.pickle", file).unwrap();
    let s = report.ranks.into_iter().next().unwrap().snapshot.unwrap();
    // Blocks that are given back but not free at the end, by the raw trace.
    let mut waiting = std::collections::BTreeSet::new();
    for i in 0..s.events.len() {
        let row = s.events.row(i);
        match row.action {
            Action::FreeRequested => waiting.insert(row.address),
            Action::FreeCompleted => waiting.remove(&row.address),
            _ => false,
        };
    }
    assert!(!waiting.is_empty());
    on(&path, async |page: &Page| {
        page.open(&format!("{}#view=state&at=end", file_url(&path)))
            .await;
        page.catch_exports().await;
        page.click("segments-svg").await;
        let svg = page.taken().await;
        // A plate is the shape just before its text.
        let shapes: Vec<&str> = svg
            .split('<')
            .filter(|t| t.starts_with("rect") || t.starts_with("text"))
            .collect();
        let plated = |pair: &&[&str]| {
            pair[0].starts_with("rect")
                && pair[1].starts_with("text")
                && pair[1].contains("32.0 MiB record.py")
        };
        let plates: Vec<_> = shapes.windows(2).filter(plated).collect();
        assert_eq!(plates.len(), waiting.len(), "{svg}");
    });
}
