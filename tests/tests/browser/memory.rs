//! Memory over time of a snapshot: its pixels, what it says under the pointer, what a click picks.
//! The tests replay the trace by their own means.

use std::path::PathBuf;
use std::sync::OnceLock;

use e2e::harness::{Options, Page, with};
use e2e::{file_url, fixture, render, units};
use report::model::snapshot::{Action, Snapshot};
use serde_json::{Value, json};

use crate::pages::temporary;

/// The margins of the plot: left, right, above, below; part of how the page looks.
const MARGINS: [f64; 4] = [66.0, 10.0, 32.0, 38.0];

/// A page about the training step of GPT-2 with bf16 autocast.
pub fn gpt2() -> String {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let input = fixture("gpt2_adamw_amp/snapshot.pickle.xz");
        render(&[&input], temporary("gpt2_adamw_amp.html"))
    });
    file_url(page)
}

/// Its tables.
pub fn snapshot() -> Snapshot {
    let file = std::fs::File::open(fixture("gpt2_adamw_amp/snapshot.pickle.xz")).unwrap();
    let report = report::read::read_stream("snapshot.pickle", file).unwrap();
    report.ranks.into_iter().next().unwrap().snapshot.unwrap()
}

/// A history that began with nothing, played.
pub struct Played {
    /// Requested and reserved bytes after each entry.
    pub curves: Vec<(u64, u64)>,
    /// What is handed out: address, size, first entry, entry of its end.
    pub blocks: Vec<(u64, u64, usize, usize)>,
}

impl Played {
    /// Plays a trace.
    pub fn of(s: &Snapshot) -> Self {
        let mut out = Self {
            curves: Vec::new(),
            blocks: Vec::new(),
        };
        let mut open = std::collections::HashMap::new();
        let (mut requested, mut reserved) = (0, 0);
        for i in 0..s.events.len() {
            let row = s.events.row(i);
            match row.action {
                Action::Alloc => {
                    open.insert(row.address, out.blocks.len());
                    out.blocks.push((row.address, row.size, i, usize::MAX));
                    requested += row.size;
                }
                Action::FreeCompleted => {
                    let block = open.remove(&row.address).unwrap();
                    out.blocks[block].3 = i;
                    requested -= row.size;
                }
                Action::SegmentAlloc => reserved += row.size,
                Action::SegmentFree => reserved -= row.size,
                _ => {}
            }
            out.curves.push((requested, reserved));
        }
        out
    }

    /// The entry with most requested bytes, the first of them.
    pub fn peak(&self) -> (usize, u64) {
        let most = self.curves.iter().map(|c| c.0).max().unwrap();
        let at = self.curves.iter().position(|c| c.0 == most).unwrap();
        (at, most)
    }

    /// What lives after an entry, in order of birth.
    pub fn live(&self, at: usize) -> Vec<(u64, u64, usize)> {
        let lives = |b: &&(u64, u64, usize, usize)| b.2 <= at && b.3 > at;
        self.blocks
            .iter()
            .filter(lives)
            .map(|b| (b.0, b.1, b.2))
            .collect()
    }

    /// The name of the use of an address that began with an entry.
    pub fn name(&self, address: u64, born: usize) -> String {
        let before = self
            .blocks
            .iter()
            .filter(|b| b.0 == address && b.2 < born)
            .count();
        format!("b{address:x}_{before}")
    }

    /// Bytes at the upper edge of the plot.
    fn top(&self) -> f64 {
        let (_, peak) = self.peak();
        let reserved = self.curves.iter().map(|c| c.1).max().unwrap();
        let most = peak.max(reserved);
        (most + most / 25) as f64
    }
}

/// Left, right, top and bottom of the plot in the viewport.
async fn plot(page: &Page) -> [f64; 4] {
    let v = page
        .js("const h = document.getElementById('timeline'); h.scrollIntoView({ block: 'nearest' }); \
             const r = h.getBoundingClientRect(); return [r.left, r.left + h.clientWidth, r.top, r.top + h.clientHeight]")
        .await;
    let at = |i: usize| v[i].as_f64().unwrap();
    [
        at(0) + MARGINS[0],
        at(1) - MARGINS[1],
        at(2) + MARGINS[2],
        at(3) - MARGINS[3],
    ]
}

async fn click(page: &Page, (x, y): (i64, i64)) {
    page.driver
        .action_chain()
        .move_to(x, y)
        .click()
        .perform()
        .await
        .unwrap();
    page.settle().await;
}

/// Height of the stack in each pixel column: from below up to the first pixel of reserved's or the
/// ground's grey.
async fn heights(page: &Page) -> Vec<u64> {
    page.settle().await;
    let v = page
        .js("const c = document.querySelector('#timeline canvas.base'); const o = document.createElement('canvas'); \
             o.width = c.width; o.height = c.height; const g = o.getContext('2d', { willReadFrequently: true }); g.drawImage(c, 0, 0); \
             const [l, r, t, b] = [66, c.width - 10, 32, c.height - 38]; \
             const d = g.getImageData(l, t, r - l, b - t).data; const w = r - l, h = b - t; const out = []; \
             const grey = (i) => { const [x, y, z] = [d[i], d[i + 1], d[i + 2]]; return Math.max(x, y, z) - Math.min(x, y, z) < 16 && x > 150; }; \
             for (let x = 0; x < w; x++) { let n = 0; for (let y = h - 1; y >= 0 && !grey((y * w + x) * 4); y--) n++; out.push(n); } \
             return out;")
        .await;
    v.as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_u64().unwrap())
        .collect()
}

#[test]
fn the_plotted_maximum_is_the_stated_peak_at_every_zoom() {
    let played = Played::of(&snapshot());
    let ((at, peak), n) = (played.peak(), played.curves.len());
    let share = (at as f64 + 0.5) / n as f64;
    with(Options::default(), async |page: &Page| {
        // The mark, its line and the line of the instant lie on the peak: it is looked at with the
        // instant elsewhere, and only below the mark's own pixels.
        for width in [1.0, 0.3, 0.02, 0.002] {
            let from = (share - width / 2.0).clamp(0.0, 1.0 - width);
            let url = format!("{}#at=t3&zoom={from:.6}-{:.6}", gpt2(), from + width);
            page.open(&url).await;
            let [_, _, top, bottom] = plot(page).await;
            let must = peak as f64 / played.top() * (bottom - top);
            let tallest = heights(page).await.into_iter().max().unwrap() as f64;
            // The mark is a circle of three pixels' radius around the stack's upper edge.
            let mark = 30.0;
            assert!(
                (must - 1.5..=must + mark + 3.5).contains(&tallest),
                "zoom {width}: {tallest} pixels, expected {must}"
            );
            let headline = page.text("headline").await;
            assert!(
                headline.starts_with(&format!("Peak {} requested", units::size(peak))),
                "{headline}"
            );
            page.open(&format!(
                "{}#at=peak&zoom={from:.6}-{:.6}",
                gpt2(),
                from + width
            ))
            .await;
            let readout = page.text("readout").await;
            assert!(
                readout.contains(&format!("requested {}", units::size(peak)))
                    && readout.starts_with(&format!("t{at} ")),
                "{readout}"
            );
        }
    });
}

#[test]
fn columns_are_as_high_as_the_bytes_of_their_entries() {
    let played = Played::of(&snapshot());
    with(Options::default(), async |page: &Page| {
        // Wide enough that every column is one entry or less, away from the peak and its mark.
        let n = played.curves.len();
        let (first, count) = (600usize, 300usize);
        let zoom = |e: usize| e as f64 / n as f64;
        let (a, b) = (zoom(first), zoom(first + count));
        page.open(&format!("{}#at=t3&zoom={a:.6}-{b:.6}", gpt2()))
            .await;
        let [left, right, top, bottom] = plot(page).await;
        let heights = heights(page).await;
        assert_eq!(heights.len(), (right - left) as usize);
        let (mut exact, mut all) = (0, 0);
        for (x, height) in heights.iter().enumerate() {
            let at = |x: usize| (a + (b - a) * x as f64 / (right - left)) * n as f64;
            let (from, to) = (at(x) as usize, at(x + 1).ceil() as usize);
            let most = (from..to).map(|e| played.curves[e].0).max().unwrap();
            let must = most as f64 / played.top() * (bottom - top);
            all += 1;
            // Lines of the grid are grey as well; they cut at most a pixel or two.
            if (*height as f64 - must).abs() <= 2.0 {
                exact += 1;
            }
        }
        assert!(exact * 100 >= all * 98, "{exact} of {all} columns");
    });
}

#[test]
fn hover_names_the_allocation_and_a_click_shows_all_of_it() {
    let s = snapshot();
    let played = Played::of(&s);
    let n = played.curves.len();
    with(Options::default(), async |page: &Page| {
        let (a, b) = (0.1, 0.12);
        page.open(&format!("{}#view=entries&zoom={a}-{b}", gpt2()))
            .await;
        let [left, right, top, bottom] = plot(page).await;
        for (across, up) in [(0.2, 0.05), (0.5, 0.2), (0.8, 0.02)] {
            let x = (left + across * (right - left)).round();
            let entry = ((a + (x + 0.5 - left) / (right - left) * (b - a)) * n as f64) as usize;
            let y = (bottom - up * (bottom - top)).round();
            let bytes = (bottom - y) / (bottom - top) * played.top();
            let mut sum = 0;
            let found = played.live(entry).into_iter().find(|b| {
                sum += b.1;
                sum as f64 > bytes
            });
            let (address, size, born) = found.expect("something lies there");
            // Boundaries of a few bytes more or less are another allocation's.
            if (sum as f64 - bytes).abs() < 1e6 || (bytes - (sum - size) as f64).abs() < 1e6 {
                continue;
            }
            let name = played.name(address, born);
            crate::timeline::point(page, (x as i64, y as i64)).await;
            let readout = page.text("readout").await;
            assert!(
                readout.contains(&format!("{name} {}", units::size(size))),
                "{readout}: expected {name} with {size}"
            );
            click(page, (x as i64, y as i64)).await;
            let title = page.text("picked-title").await;
            assert_eq!(title, format!("{name} · {}", units::size(size)));
            let panel = page.text("picked").await;
            assert!(
                panel.contains(&format!("{} B", units::number(size as i64))),
                "{panel}"
            );
            assert!(panel.contains(&format!("t{born}")), "{panel}");
            let stack = s.events.row(born).stack.unwrap();
            let frames = page
                .js("return document.querySelectorAll('[data-testid=picked] .frames')[0].children.length")
                .await;
            assert_eq!(frames, json!(s.stacks.get(stack).len().min(40)));
            let address = page.address().await;
            assert!(address.contains(&format!("pick={name}")), "{address}");
            let reopened: Value = json!(title);
            page.open(&address).await;
            assert_eq!(json!(page.text("picked-title").await), reopened);
            page.click("picked-close").await;
            assert!(!page.has("[data-testid=picked]").await);
            page.open(&format!("{}#view=entries&zoom={a}-{b}", gpt2()))
                .await;
        }
    });
}

#[test]
fn keys_walk_the_history_and_the_stack() {
    let played = Played::of(&snapshot());
    let (at, _) = played.peak();
    with(Options::default(), async |page: &Page| {
        page.open(&gpt2()).await;
        page.js("document.getElementById('timeline').focus()").await;
        let says = async |entry: usize| {
            let readout = page.text("readout").await;
            let (requested, reserved) = played.curves[entry];
            assert!(
                readout.starts_with(&format!("t{entry} ")),
                "{readout}: not t{entry}"
            );
            let figures = format!(
                "requested {} · reserved {}",
                units::size(requested),
                units::size(reserved)
            );
            assert!(readout.contains(&figures), "{readout}: not {figures}");
        };
        says(at).await;
        page.key(thirtyfour::Key::Right).await;
        says(at + 1).await;
        page.key(thirtyfour::Key::Left).await;
        page.key(thirtyfour::Key::Left).await;
        says(at - 1).await;
        page.key(thirtyfour::Key::Home).await;
        says(0).await;
        page.key(thirtyfour::Key::End).await;
        says(played.curves.len() - 1).await;
        page.keys("p").await;
        says(at).await;
        let live = played.live(at);
        page.key(thirtyfour::Key::Up).await;
        let (address, size, born) = live[0];
        let title = format!("{} · {}", played.name(address, born), units::size(size));
        assert_eq!(page.text("picked-title").await, title);
        page.key(thirtyfour::Key::Up).await;
        let (address, size, born) = live[1];
        let title = format!("{} · {}", played.name(address, born), units::size(size));
        assert_eq!(page.text("picked-title").await, title);
    });
}

#[test]
fn the_axis_counts_entries_or_true_time() {
    let s = snapshot();
    with(Options::default(), async |page: &Page| {
        page.open(&format!("{}#at=t2000", gpt2())).await;
        page.click("axis-time").await;
        assert!(page.address().await.contains("axis=time"));
        let ns = s.events.time_ns.get(2000).unwrap() - s.events.time_ns.get(0).unwrap();
        let readout = page.text("readout").await;
        let shown = readout.split(" · ").nth(1).unwrap().to_owned();
        let (value, unit) = shown.split_once(' ').unwrap();
        let scale = match unit {
            "s" => 1e9,
            "ms" => 1e6,
            "µs" => 1e3,
            other => panic!("{other}"),
        };
        let value = value.parse::<f64>().unwrap() * scale;
        assert!(
            (value / ns as f64 - 1.0).abs() < 0.01,
            "{shown} for {ns} ns"
        );
        // Compiling and loading take most of the time: the picture differs from that by entry.
        let by_time = heights(page).await;
        page.click("axis-event").await;
        assert_ne!(by_time, heights(page).await);
    });
}
