//! The benchmark: what a report must reach, beside what others do in the same run.
//!
//! ```text
//! cargo run --release -p e2e --bin bench [-- --events 1000000] [--folder DIR]
//! cargo run --release -p e2e --bin bench -- --snapshot SNAPSHOT.pickle [--folder DIR]
//! ```
//!
//! Prints a Markdown table. Nothing here is a test: times depend on the machine, ratios less so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

mod page;
mod render;
mod snapshot;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use e2e::make::{Long, naive};

/// One line of the table.
struct Line {
    what: String,
    value: String,
    goal: String,
    peer: String,
    ratio: String,
}

/// Median of some figures.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn line(what: &str, value: f64, unit: &str, goal: f64, peer: Option<(&str, f64)>) -> Line {
    let met = if value <= goal { "met" } else { "MISSED" };
    Line {
        what: what.to_owned(),
        value: format!("{value:.1} {unit}"),
        goal: if goal.is_finite() {
            format!("{goal:.0} {unit}, {met}")
        } else {
            String::new()
        },
        peer: peer.map_or_else(String::new, |(name, v)| format!("{v:.1} {unit} ({name})")),
        ratio: peer.map_or_else(String::new, |(_, v)| format!("{:.2}", value / v)),
    }
}

fn argument(name: &str) -> Option<String> {
    let mut all = std::env::args();
    all.find(|a| a == name)?;
    all.next()
}

fn write_once(path: &Path, write: impl FnOnce(BufWriter<File>) -> std::io::Result<()>) {
    if !path.exists() {
        let new = path.with_extension("new");
        write(BufWriter::with_capacity(
            1 << 20,
            File::create(&new).unwrap(),
        ))
        .unwrap();
        std::fs::rename(new, path).unwrap();
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("--child") {
        return render::child();
    }
    let events: u64 = argument("--events").map_or(1_000_000, |n| n.parse().expect("a number"));
    let folder = argument("--folder").map_or_else(
        || std::env::temp_dir().join("memscope-bench"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap();
    if let Some(pickle) = argument("--snapshot") {
        let mut lines = Vec::new();
        snapshot::measure(Path::new(&pickle), &folder, &mut lines);
        return print(lines);
    }
    let (input, html) = (
        folder.join(format!("long-{events}.json")),
        folder.join("long.html"),
    );
    eprintln!("writing {}", input.display());
    write_once(&input, |out| Long::write(out, events));
    let (mut lines, bytes) = (Vec::new(), std::fs::metadata(&input).unwrap().len());
    eprintln!("rendering {bytes} bytes");
    render::measure(&input, &html, &mut lines);
    let ddp = e2e::render(&[&e2e::fixture("original_ddp")], folder.join("ddp.html"));
    let peer = folder.join(format!("naive-{events}.html"));
    write_once(&peer, |out| {
        page::write_naive(out, |out| naive(out, events))
    });
    page::measure(&ddp, &html, &peer, &mut lines);
    println!("\n{events} events, {} MB of JSON\n", bytes / 1_000_000);
    print(lines);
}

fn print(lines: Vec<Line>) {
    println!(
        "| what | measured | goal | peer in the same run | ratio |\n|---|---:|---:|---:|---:|"
    );
    for l in lines {
        println!(
            "| {} | {} | {} | {} | {} |",
            l.what, l.value, l.goal, l.peer, l.ratio
        );
    }
}
