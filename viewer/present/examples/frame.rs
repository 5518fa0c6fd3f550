//! How long the parts of a frame of memory over time take, natively.
//!
//! ```text
//! cargo run --release -p present --features snapshot --example frame -- SNAPSHOT.pickle
//! ```
#![allow(clippy::unwrap_used, reason = "an example for measuring")]

use std::sync::Arc;
use std::time::Instant;

use present::Lang;
use present::chart::memory::{Clock, Memory, Window};
use present::chart::memory_lines::lines;
use present::chart::{Theme, svg};
use report::analyze::snapshot::Analysis;

fn timed<T>(what: &str, f: impl Fn() -> T) -> T {
    let mut times: Vec<f64> = Vec::new();
    let mut out = f();
    for _ in 0..9 {
        let start = Instant::now();
        out = f();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{what}: {:.2} ms", times[4]);
    out
}

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let report = report::read::read_stream("s", std::fs::File::open(path).unwrap()).unwrap();
    let rank = Arc::new(report.ranks.into_iter().next().unwrap());
    let memory = Memory::new(Arc::new(Analysis::of(rank).unwrap()));
    println!("at most {} live", memory.analysis.stacked().most());
    for (start, end) in [(0.0, 1.0), (0.3, 0.7), (0.5, 0.51)] {
        let window = Window {
            clock: Clock::Event,
            start,
            end,
        };
        println!("{start} to {end}");
        let columns = timed("  columns", || memory.columns(window, 1204));
        timed("  raster", || {
            memory.raster(&columns, 180, &Theme::LIGHT, None)
        });
        let _drawn = timed("  lines", || {
            svg(1280, 250, |area| {
                lines(
                    area,
                    &memory,
                    window,
                    &columns,
                    &Theme::LIGHT,
                    1.0,
                    Lang::En,
                )
            })
        });
    }
}
