//! The page in the browser, beside the page that every tool makes first: JSON in a script element
//! and one `fillRect` an event.

use std::io::Write;
use std::path::Path;

use e2e::file_url;
use e2e::harness::{Options, Page, with};
use serde_json::{Value, json};

use crate::{Line, line, median};

/// Notes when the first chart has been on screen, whoever draws it; keeps the program's memory.
const WATCH: &str = "
let marks;
const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.__first = performance.now(); }));
Object.defineProperty(globalThis, 'memscopeMarks', {
  get: () => marks,
  set: (v) => { marks = v; let at; Object.defineProperty(v, 'started', { get: () => at, set: (x) => { at = x; shown(); } }); },
});
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...a) => { const r = await instantiate(...a); globalThis.__wasm = r.instance ?? r; return r; };
";

/// Turns the wheel on the chart for 60 frames and gives the milliseconds of scripting of each:
/// the event's handlers with what follows from them, and the callbacks of the frame.
pub(crate) const FRAMES: &str = "
const host = document.querySelector('#timeline') ?? document.querySelector('canvas');
const r = host.getBoundingClientRect();
const raf = requestAnimationFrame.bind(window);
let spent = 0;
window.requestAnimationFrame = (f) => raf((t) => { const s = performance.now(); f(t); spent += performance.now() - s; });
const task = () => new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); });
const out = [];
for (let i = 0; i < 60; i++) {
  spent = 0;
  const zoom = i % 20 < 10;
  const deltas = zoom ? { deltaY: i < 30 ? -40 : 40 } : { deltaX: i % 2 ? 60 : -40, deltaY: 0 };
  const at = { clientX: r.left + r.width * 0.6, clientY: r.top + 100, bubbles: true, cancelable: true };
  const start = performance.now();
  host.dispatchEvent(new WheelEvent('wheel', { ...at, ...deltas }));
  await Promise.resolve();
  await task();
  spent += performance.now() - start;
  await new Promise(raf);
  await task();
  out.push(spent);
}
window.requestAnimationFrame = raf;
return out;
";

/// Types into the search and waits until the number of rows is another.
const SEARCH: &str = "
const [query] = arguments;
const input = document.querySelector(\"[data-testid='search']\");
const count = () => document.querySelector(\"[data-testid='row-count']\").textContent;
const task = () => new Promise((done) => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); });
const before = count(), start = performance.now();
input.value = query;
input.dispatchEvent(new Event('input', { bubbles: true }));
while (count() === before) { if (performance.now() - start > 20000) return null; await task(); }
return performance.now() - start;
";

/// Writes the peer's page.
pub(crate) fn write_naive(
    mut out: impl Write,
    data: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    out.write_all(b"<!doctype html><meta charset=utf-8><canvas width=1200 height=270></canvas><script type=application/json id=d>")?;
    data(&mut out)?;
    out.write_all(
        b"</script><script>
globalThis.memscopeMarks = {};
const events = JSON.parse(document.getElementById('d').textContent);
const canvas = document.querySelector('canvas'), c = canvas.getContext('2d');
let most = 0; for (const e of events) if (e.reserved > most) most = e.reserved;
let from = 0, to = events.length;
const draw = () => {
  c.clearRect(0, 0, 1200, 270);
  const w = 1200 / (to - from);
  for (let i = Math.floor(from); i < to; i++) {
    const e = events[i], h = 270 * e.allocated / most;
    c.fillStyle = e.phase === 'forward' ? '#0072b2' : '#d55e00';
    c.fillRect((i - from) * w, 270 - h, Math.max(w, 1), h);
  }
};
let waiting = false;
canvas.addEventListener('wheel', (e) => {
  e.preventDefault();
  const width = to - from, by = e.deltaX ? e.deltaX / 1200 * width : 0;
  const next = Math.min(events.length, width * Math.exp(e.deltaY * 0.002));
  from = Math.min(Math.max(0, from + by + (width - next) * 0.6), events.length - next); to = from + next;
  if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); }
});
draw();
globalThis.memscopeMarks.started = performance.now();
</script>",
    )?;
    out.flush()
}

/// Milliseconds from navigation to the first chart on screen; and whatever `then` finds out.
pub(crate) fn open<T>(path: &Path, hash: &str, then: impl AsyncFnOnce(&Page) -> T) -> (f64, T) {
    let url = format!("{}#{hash}", file_url(path));
    let mut out = None;
    with(Options::default(), async |page: &Page| {
        page.cdp(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": WATCH }),
        )
        .await;
        page.goto(&url).await;
        let first = page.wait("the first chart", "globalThis.__first").await;
        out = Some((first.as_f64().unwrap(), then(page).await));
    });
    out.unwrap()
}

pub(crate) fn opened(path: &Path) -> f64 {
    median(
        (0..5)
            .map(|_| open(path, "", async |_: &Page| ()).0)
            .collect(),
    )
}

pub(crate) fn numbers(v: &Value) -> Vec<f64> {
    v.as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .collect()
}

/// Opening, zooming, searching, memory.
pub(crate) fn measure(ddp: &Path, long: &Path, peer: &Path, lines: &mut Vec<Line>) {
    eprintln!("opening pages");
    lines.push(line(
        "original_ddp, open to first chart",
        opened(ddp),
        "ms",
        400.0,
        None,
    ));
    let naive = opened(peer);
    lines.push(line(
        "open to first chart",
        opened(long),
        "ms",
        2000.0,
        Some(("JSON page", naive)),
    ));
    let frames = async |page: &Page| numbers(&page.js_async(FRAMES, Vec::new()).await);
    let (_, own) = open(long, "", frames);
    let (_, theirs) = open(peer, "", frames);
    lines.push(line(
        "zoom and pan, scripting a frame",
        median(own),
        "ms",
        16.0,
        Some(("JSON page", median(theirs))),
    ));
    let (_, by_step) = open(long, "axis=step", frames);
    lines.push(line(
        "the same, axis by step",
        median(by_step),
        "ms",
        16.0,
        None,
    ));
    let (_, with_table) = open(long, "view=top&each=1&sel=e500000", frames);
    lines.push(line(
        "the same, with all events in the table and one pinned",
        median(with_table),
        "ms",
        16.0,
        None,
    ));
    for (name, hash) in [
        ("search, one row a place", "view=top"),
        ("search, one row an event", "view=top&each=1"),
    ] {
        let (_, times) = open(long, hash, async |page: &Page| {
            let mut times = Vec::new();
            for query in [
                "lm_head",
                "mlp.up",
                "layers.17",
                "backward",
                "no such thing",
                "q_proj",
                "train_step",
                "",
                "param::",
            ] {
                let ms = page.js_async(SEARCH, vec![json!(query)]).await;
                times.push(
                    ms.as_f64()
                        .unwrap_or_else(|| panic!("{query:?}: the number of rows stays")),
                );
            }
            times
        });
        let worst = times.iter().copied().fold(0.0, f64::max);
        lines.push(line(name, median(times), "ms", 100.0, None));
        lines.push(line(
            &format!("{name}, slowest"),
            worst,
            "ms",
            f64::INFINITY,
            None,
        ));
    }
    let script = "return [performance.memory.usedJSHeapSize / 1048576, globalThis.__wasm.exports.memory.buffer.byteLength / 1048576]";
    let (_, memory) = open(long, "", async |page: &Page| {
        numbers(&page.js(script).await)
    });
    let theirs = "return [performance.memory.usedJSHeapSize / 1048576]";
    let (_, heap) = open(peer, "", async |page: &Page| {
        numbers(&page.js(theirs).await)
    });
    lines.push(line(
        "memory of the page (JS heap and WASM)",
        memory.iter().sum(),
        "MiB",
        f64::INFINITY,
        Some(("JSON page", heap[0])),
    ));
}
