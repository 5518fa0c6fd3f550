//! A memory snapshot: reading beside CPython, the page, and the raw file dropped on the viewer.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use e2e::file_url;
use e2e::harness::{Options, Page, with};
use serde_json::json;

use crate::page::{FRAMES, numbers, open, opened};
use crate::{Line, line, median};

/// Times CPython's own reader; it says seconds.
const PYTHON: &str = "import pickle, sys, time\n\
    data = open(sys.argv[1], 'rb').read()\n\
    start = time.perf_counter()\n\
    pickle.loads(data)\n\
    print(time.perf_counter() - start)";

/// Follows links and gives the milliseconds of each until its view has been made and painted over.
const FOLLOW: &str = "
const [links] = arguments;
const raf = () => new Promise(requestAnimationFrame);
const task = () => new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); });
const out = [];
for (const link of links) {
  const start = performance.now();
  location.hash = link;
  await new Promise((done) => addEventListener('hashchange', done, { once: true }));
  await task();
  out.push(performance.now() - start);
  await raf();
  await task();
}
return out;
";

/// Notes tasks that froze the page.
const LONG_TASKS: &str = "globalThis.__long = []; new PerformanceObserver((list) => { \
    for (const e of list.getEntries()) globalThis.__long.push(e.duration); }).observe({ type: 'longtask', buffered: true });";

/// Everything about one pickle.
pub(crate) fn measure(pickle: &Path, folder: &Path, lines: &mut Vec<Line>) {
    let bytes = std::fs::metadata(pickle).unwrap().len();
    reading(pickle, lines);
    let html = e2e::render(&[pickle], folder.join("snapshot.html"));
    let size = std::fs::metadata(&html).unwrap().len() as f64 / 1e6;
    // torch's trace_plot is the pickle in base64 and a script from a CDN.
    let theirs = bytes.div_ceil(3) as f64 * 4.0 / 1e6;
    lines.push(line(
        "HTML",
        size,
        "MB",
        6.0,
        Some(("torch's trace_plot", theirs)),
    ));
    lines.push(line(
        "open to first chart",
        opened(&html),
        "ms",
        800.0,
        None,
    ));
    let frames = async |page: &Page| numbers(&page.js_async(FRAMES, Vec::new()).await);
    for (what, hash) in [
        ("zoom and pan, scripting a frame", ""),
        ("the same, by true time", "axis=time"),
    ] {
        let (_, own) = open(&html, hash, frames);
        lines.push(line(what, median(own), "ms", 16.0, None));
    }
    let follow = |first: &str, links: Vec<String>| {
        let (_, times) = open(&html, first, async |page: &Page| {
            page.settle().await;
            numbers(&page.js_async(FOLLOW, vec![json!(links)]).await)
        });
        times
    };
    let at = |view: &str, rest: &str| {
        let steps = (1..20).map(|n| n * 31_337);
        steps
            .map(|t| format!("view={view}&at=t{t}{rest}"))
            .collect::<Vec<_>>()
    };
    let opening = follow("", vec!["view=state".to_owned()]);
    lines.push(line(
        "the allocator's state, opened",
        opening[0],
        "ms",
        100.0,
        None,
    ));
    let states = follow("view=state", at("state", ""));
    let worst = states.iter().copied().fold(0.0, f64::max);
    lines.push(line("any state shown", median(states), "ms", 50.0, None));
    lines.push(line("any state shown, slowest", worst, "ms", 50.0, None));
    let live = follow("view=live&by=line", at("live", "&by=stack"));
    lines.push(line(
        "live set grouped by stack",
        median(live),
        "ms",
        100.0,
        None,
    ));
    let script = "return [performance.memory.usedJSHeapSize / 1e6, globalThis.__wasm.exports.memory.buffer.byteLength / 1e6]";
    let (_, memory) = open(&html, "", async |page: &Page| {
        page.settle().await;
        numbers(&page.js(script).await)
    });
    lines.push(line(
        "memory of the page (JS heap and WASM)",
        memory.iter().sum(),
        "MB",
        150.0,
        None,
    ));
    dropped(pickle, folder, lines);
}

fn reading(pickle: &Path, lines: &mut Vec<Line>) {
    let read = || {
        let file = std::fs::File::open(pickle).unwrap();
        let size = file.metadata().unwrap().len();
        let start = Instant::now();
        let report = report::read::read_sized("snapshot.pickle", file, Some(size)).unwrap();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        assert_eq!(report.ranks.len(), 1);
        ms
    };
    let python = || {
        let out = Command::new("python3")
            .args(["-c", PYTHON])
            .arg(pickle)
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        text.trim().parse::<f64>().expect("seconds") * 1e3
    };
    // Turn by turn, so that a noisy machine is noisy for both.
    let turns: Vec<(f64, f64)> = (0..5).map(|_| (read(), python())).collect();
    let own = median(turns.iter().map(|t| t.0).collect());
    let theirs = median(turns.iter().map(|t| t.1).collect());
    lines.push(line(
        "reading, one core",
        own,
        "ms",
        theirs / 15.0,
        Some(("CPython pickle.loads", theirs)),
    ));
}

/// The raw file on the viewer without data: until the chart, and the longest task meanwhile.
fn dropped(pickle: &Path, folder: &Path, lines: &mut Vec<Line>) {
    let viewer = folder.join("viewer.html");
    e2e::memscope(&["viewer", "-o", viewer.to_str().unwrap()]);
    let mut first = Vec::new();
    let mut longest = Vec::new();
    for _ in 0..3 {
        with(Options::default(), async |page: &Page| {
            page.goto(&file_url(&viewer)).await;
            page.started().await;
            page.js(LONG_TASKS).await;
            let start = Instant::now();
            let input = page.find("open").await;
            input.send_keys(pickle.to_str().unwrap()).await.unwrap();
            let chart = "document.querySelector('[data-testid=memory] canvas')?.width > 300";
            page.wait("the chart", chart).await;
            first.push(start.elapsed().as_secs_f64() * 1e3);
            page.settle().await;
            let tasks = numbers(&page.js("return globalThis.__long").await);
            longest.push(tasks.into_iter().fold(0.0, f64::max));
        });
    }
    lines.push(line(
        "the pickle dropped on the viewer, first chart",
        median(first),
        "ms",
        3000.0,
        None,
    ));
    lines.push(line(
        "the page's longest task meanwhile (0: none above 50)",
        median(longest),
        "ms",
        50.0,
        None,
    ));
}
