//! The chart: what it shows, how it is zoomed and panned, and that its pixels are the data's.

use e2e::harness::{Options, Page, with};
use e2e::run::Run;
use e2e::units;
use serde_json::{Value, json};

use crate::pages;

/// Where the plot lies in the viewport: left, right, top, bottom. Its margins are part of how the
/// page looks: 66 pixels left, 10 right, 46 above, 38 below.
pub async fn plot(page: &Page) -> [f64; 4] {
    let script = "const host = document.getElementById('timeline'); host.scrollIntoView({ block: 'nearest' }); const r = host.getBoundingClientRect(); \
                  const c = host.querySelector('canvas.base').getBoundingClientRect(); \
                  return [r.left + 66, r.left + host.clientWidth - 10, r.top + 46, c.bottom - 38]";
    let v = page.js(script).await;
    [0, 1, 2, 3].map(|i| v[i].as_f64().unwrap())
}

/// The shown part of the axis, from the address.
pub async fn zoom(page: &Page) -> (f64, f64) {
    let address = page.address().await;
    let Some(at) = address.find("zoom=") else {
        return (0.0, 1.0);
    };
    let text = address[at + 5..].split('&').next().unwrap();
    let (a, b) = text.split_once('-').unwrap();
    (a.parse().unwrap(), b.parse().unwrap())
}

/// The viewport position of an event when the axis counts events.
pub async fn position(page: &Page, event: usize, events: usize) -> (i64, i64) {
    let ([left, right, top, bottom], (a, b)) = (plot(page).await, zoom(page).await);
    let at = ((event as f64 + 0.5) / events as f64 - a) / (b - a);
    assert!((0.0..1.0).contains(&at), "event {event} is out of sight");
    (
        (left + at * (right - left)).round() as i64,
        ((top + bottom) / 2.0) as i64,
    )
}

/// Moves the pointer.
pub async fn point(page: &Page, (x, y): (i64, i64)) {
    page.driver
        .action_chain()
        .move_to(x, y)
        .perform()
        .await
        .unwrap();
    page.settle().await;
}

/// Turns the wheel.
async fn wheel(page: &Page, (x, y): (i64, i64), dx: f64, dy: f64) {
    let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy });
    page.cdp("Input.dispatchMouseEvent", event).await;
    page.settle().await;
}

/// The readout for an event.
fn said(run: &Run, event: usize) -> String {
    let e = &run.events[event];
    format!(
        "event {} · step {}, {}, {} · allocated {} · reserved {} · max allocated {}",
        units::number(event as i64),
        e.step.unwrap(),
        e.phase,
        e.module,
        units::size(e.after.unwrap()),
        units::size(e.reserved.unwrap()),
        units::size(e.max_allocated.unwrap())
    )
}

#[test]
fn hover_says_the_figures_and_a_click_pins_them() {
    let run = pages::ddp_run(1);
    let n = run.events.len();
    with(Options::default(), async |page: &Page| {
        page.open(&pages::ddp_at("rank=1&zoom=0.400000-0.440000"))
            .await;
        for event in [660, 671, 690, 705] {
            point(page, position(page, event, n).await).await;
            assert_eq!(page.text("readout").await, said(&run, event));
        }
        let at = position(page, 680, n).await;
        page.driver
            .action_chain()
            .move_to(at.0, at.1)
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        assert!(
            page.address().await.contains("sel=e680"),
            "{}",
            page.address().await
        );
        // Away from the chart, the readout says what is pinned.
        point(page, (5, 5)).await;
        assert_eq!(page.text("readout").await, said(&run, 680));
        page.driver
            .action_chain()
            .move_to(at.0, at.1)
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        assert!(
            !page.address().await.contains("sel="),
            "a second click lets go"
        );
    });
}

#[test]
fn hover_by_step_and_over_crowded_pixels() {
    let run = pages::ddp_run(0);
    pages::on_rank(0, async |page: &Page| {
        // The whole range: several events a pixel, the one with most allocated speaks.
        let (x, y) = position(page, 400, run.events.len()).await;
        point(page, (x, y)).await;
        let text = page.text("readout").await;
        let shown: usize = text["event ".len()..text.find(" ·").unwrap()]
            .replace(',', "")
            .parse()
            .unwrap();
        assert!(shown.abs_diff(400) <= 2, "{text}");
        assert_eq!(text, said(&run, shown));
        // Every step equally wide: the middle of step 4 is its middle event.
        page.click("axis-step").await;
        assert!(page.address().await.contains("axis=step"));
        let [left, right, ..] = plot(page).await;
        let of: Vec<usize> = (0..run.events.len())
            .filter(|&i| run.events[i].step == Some(4))
            .collect();
        let middle = of[of.len() / 2];
        point(page, ((left + (right - left) * 4.5 / 6.0) as i64, y)).await;
        let text = page.text("readout").await;
        assert!(text.contains("step 4,"), "{text}");
        let shown: usize = text["event ".len()..text.find(" ·").unwrap()]
            .replace(',', "")
            .parse()
            .unwrap();
        assert!(
            shown.abs_diff(middle) <= 3,
            "{text}, expected about {middle}"
        );
        page.click("axis-event").await;
        assert!(!page.address().await.contains("axis="));
    });
}

#[test]
fn wheel_buttons_keys_and_double_click() {
    pages::on_rank(0, async |page: &Page| {
        let [left, right, top, _] = plot(page).await;
        let at = |share: f64| ((left + share * (right - left)) as i64, top as i64 + 60);
        let width = async || {
            let (a, b) = zoom(page).await;
            b - a
        };
        let near = |a: f64, b: f64| (a - b).abs() < 2e-3;
        let whole = pixels(page).await;
        wheel(page, at(0.25), 0.0, -300.0).await;
        let (a, b) = zoom(page).await;
        assert!(b - a < 0.6, "the wheel zooms in: {a} to {b}");
        assert!(
            near(a + 0.25 * (b - a), 0.25),
            "around the pointer: {a} to {b}"
        );
        assert_ne!(pixels(page).await, whole, "the picture changes");
        wheel(page, at(0.5), 200.0, 0.0).await;
        let (a2, b2) = zoom(page).await;
        assert!(
            a2 > a && near(b2 - a2, b - a),
            "sideways pans: {a2} to {b2}"
        );
        page.driver
            .action_chain()
            .move_to(at(0.5).0, at(0.5).1)
            .double_click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        assert_eq!(zoom(page).await, (0.0, 1.0), "a double click shows all");
        page.click("zoom-in").await;
        assert!(near(width().await, 0.5));
        page.click("zoom-in").await;
        assert!(near(width().await, 0.25));
        page.click("zoom-out").await;
        assert!(near(width().await, 0.5));
        page.click("zoom-all").await;
        assert_eq!(zoom(page).await, (0.0, 1.0));
        assert_eq!(
            pixels(page).await,
            whole,
            "the same view is the same picture"
        );
        page.keys("+").await;
        assert!(near(width().await, 0.5));
        page.keys("-").await;
        assert!(near(width().await, 1.0));
        // Dragging selects a range; zoomed in it pans.
        let (from, to) = (at(0.2), at(0.6));
        let drag = async |from: (i64, i64), to: (i64, i64)| {
            let chain = page
                .driver
                .action_chain()
                .move_to(from.0, from.1)
                .click_and_hold();
            chain
                .move_to((from.0 + to.0) / 2, from.1)
                .move_to(to.0, to.1)
                .release()
                .perform()
                .await
                .unwrap();
            page.settle().await;
        };
        drag(from, to).await;
        let (a, b) = zoom(page).await;
        assert!(
            near(a, 0.2) && near(b, 0.6),
            "a range is zoomed into: {a} to {b}"
        );
        drag(at(0.5), at(0.75)).await;
        let (a, b) = zoom(page).await;
        assert!(
            near(a, 0.1) && near(b, 0.5),
            "zoomed in, dragging pans: {a} to {b}"
        );
        // The minimap's window stands where the view is, and goes where it is pressed.
        let place = page.js("const w = document.querySelector('.mini .window'); return [parseFloat(w.style.left), parseFloat(w.style.width)]").await;
        let wide = right - left;
        assert!(
            (place[0].as_f64().unwrap() - (66.0 + a * wide)).abs() < 2.0,
            "{place}"
        );
        assert!(
            (place[1].as_f64().unwrap() - (b - a) * wide).abs() < 2.0,
            "{place}"
        );
        let mini = page.js("const r = document.querySelector(\"[data-testid='minimap']\").getBoundingClientRect(); return r.top + r.height / 2").await;
        let y = mini.as_f64().unwrap() as i64;
        page.driver
            .action_chain()
            .move_to(at(0.7).0, y)
            .click()
            .perform()
            .await
            .unwrap();
        page.settle().await;
        let (a, b) = zoom(page).await;
        assert!(
            near((a + b) / 2.0, 0.7),
            "pressing the minimap goes there: {a} to {b}"
        );
        page.keys("0").await;
        assert_eq!(zoom(page).await, (0.0, 1.0));
    });
}

/// A sum over the chart's pixels; the chart must not be blank.
async fn pixels(page: &Page) -> u64 {
    // What Chromium says of this very reading.
    page.expect("willReadFrequently");
    let script = "const c = document.querySelector('canvas.base'); \
                  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
                  const seen = new Set(); let h = 0; \
                  for (let i = 0; i < d.length; i += 4) { const p = d[i] << 16 | d[i + 1] << 8 | d[i + 2]; seen.add(p); h = (Math.imul(h, 31) + p) >>> 0; } \
                  return [h, seen.size]";
    let v = page.js(script).await;
    assert!(v[1].as_u64().unwrap() > 5, "the canvas is blank");
    v[0].as_u64().unwrap()
}

/// The highest pixel row in which the colour of allocated stands.
async fn highest_row(page: &Page) -> i64 {
    let script = "const c = document.querySelector('canvas.base'); \
                  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
                  const is = (i, r, g, b) => Math.abs(d[i] - r) + Math.abs(d[i + 1] - g) + Math.abs(d[i + 2] - b) < 12; \
                  for (let y = 46; y < c.height - 38; y++) for (let x = 66; x < c.width - 10; x++) { \
                    const i = 4 * (y * c.width + x); \
                    if (is(i, 0, 114, 178) || is(i, 140, 190, 222)) return y; } \
                  return null";
    page.js(script)
        .await
        .as_i64()
        .expect("allocated is on the chart")
}

#[test]
fn the_highest_pixel_is_the_highest_figure() {
    let run = pages::ddp_run(0);
    let top = run.peak().0.max(run.peak_reserved()) as f64 * 1.04;
    with(Options::default(), async |page: &Page| {
        let mut rows = Vec::new();
        for (a, b) in [
            (0.0, 1.0),
            (0.0, 0.15),
            (0.3, 0.36),
            (0.52, 0.53),
            (0.9, 1.0),
        ] {
            page.open(&pages::ddp_at(&format!("rank=0&zoom={a:.6}-{b:.6}")))
                .await;
            let n = run.events.len() as f64;
            let shown = (a * n) as usize..((b * n).ceil() as usize).min(run.events.len());
            let most = run.events[shown]
                .iter()
                .filter_map(|e| e.after)
                .max()
                .unwrap();
            let [_, _, upper, lower] = plot(page).await;
            let must = 46.0 + (lower - upper) * (1.0 - most as f64 / top);
            let is = highest_row(page).await;
            assert!(
                (is as f64 - must).abs() <= 1.5,
                "zoom {a} to {b}: row {is}, the figure {most} lies at {must}"
            );
            rows.push(is);
        }
        rows.dedup();
        assert!(rows.len() > 2, "views of different heights: {rows:?}");
    });
}

#[test]
fn findings_are_named_on_the_chart() {
    pages::on_rank(0, async |page: &Page| {
        page.catch_exports().await;
        for (rank, names) in [
            (
                "0",
                ["peak 2.59 GiB", "optimizer state", "back to 1.08 GiB"],
            ),
            (
                "1",
                [
                    "peak 3.89 GiB",
                    "optimizer state",
                    "+64.0 MiB a step since step 0",
                ],
            ),
        ] {
            page.choose("rank", rank).await;
            page.click("timeline-svg").await;
            let svg = page.taken().await;
            for name in names {
                assert!(svg.contains(name), "rank {rank}: {name} is not named");
            }
            for step in 0..6 {
                assert!(
                    svg.contains(&format!("step {step}")),
                    "rank {rank}: step {step} is not named"
                );
            }
        }
        let legend = page.js("return [...document.querySelectorAll('.timeline .legend li')].map(l => l.textContent)").await;
        let Value::Array(legend) = legend else {
            panic!("{legend}")
        };
        for name in ["allocated", "reserved", "backward", "forward_pre"] {
            assert!(
                legend.iter().any(|l| l == name),
                "{name} is not in the legend {legend:?}"
            );
        }
    });
}
