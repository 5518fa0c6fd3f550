//! How fast memory snapshots are read, on one core, and what they take packed.
//!
//! ```text
//! cargo run --release -p report --example snapshot_throughput -- snapshot.pickle [RUNS]
//! ```
//!
//! CPython's `pickle.load` reads the same file in the same run (the best of three, as here the best
//! of RUNS), and the ratio is printed. What is compressed both unpack first, which is not counted.

use std::io::Read as _;
use std::process::Command;
use std::time::Instant;

use report::analyze::snapshot::categories::categories;
use report::analyze::snapshot::group::{By, group};
use report::analyze::snapshot::lines::lines;
use report::analyze::snapshot::live::LiveIndex;
use report::analyze::snapshot::replay::{self, Replay};
use report::analyze::snapshot::sites::Sites;
use report::analyze::snapshot::state;
use report::container::{Container, Level, pack};
use report::model::Report;
use report::model::snapshot::{Snapshot, TraceId};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give a snapshot")?;
    let runs: u32 = args.next().map_or(Ok(5), |a| a.parse())?;
    let (rank, read, size) = best(&path, runs)?;
    println!(
        "read {:.1} MB in {:.1} ms, {:.0} MB/s; memory {}",
        size as f64 / 1e6,
        read * 1e3,
        size as f64 / 1e6 / read,
        memory()
    );
    match python(&path) {
        Some(python) => println!(
            "CPython pickle.load {:.1} ms: {:.1} times as long",
            python * 1e3,
            python / read
        ),
        None => println!("no python3 that reads this file"),
    }
    let snapshot = rank.snapshot.as_ref().ok_or("no snapshot")?;
    for device in snapshot.device_list() {
        let start = Instant::now();
        let replay = replay::replay(snapshot, device);
        println!(
            "replay of device {}: {:.1} ms for {} events, {} allocations; peak requested {:?}",
            device.0,
            start.elapsed().as_secs_f64() * 1e3,
            snapshot.trace(device).len(),
            replay.allocations.len(),
            replay.peak_requested(),
        );
        answers(&rank, snapshot, &replay);
    }
    let report = Report::of(vec![rank]);
    let start = Instant::now();
    let packed = pack(&report, "throughput", Level::default())?;
    let pack = start.elapsed();
    let length = packed.len();
    let start = Instant::now();
    let container = Container::open("again", packed)?;
    let again = container.report()?;
    println!(
        "container {length} bytes, packed in {:.0} ms, reopened in {:.0} ms",
        pack.as_secs_f64() * 1e3,
        start.elapsed().as_secs_f64() * 1e3
    );
    let mut columns: Vec<_> = container
        .header()
        .ranks
        .iter()
        .flat_map(|r| &r.columns)
        .collect();
    columns.sort_by_key(|c| std::cmp::Reverse(c.length));
    for column in columns.iter().take(8) {
        println!("  {} {} bytes", column.name, column.length);
    }
    if again != report {
        return Err("the container lost something".into());
    }
    Ok(())
}

fn best(
    path: &str,
    runs: u32,
) -> Result<(report::model::Rank, f64, u64), Box<dyn std::error::Error>> {
    let mut head = [0; 8];
    let n = std::fs::File::open(path)?.read(&mut head)?;
    let compressed = report::read::compressed::is_compressed(head.get(..n).unwrap_or_default());
    let mut best = f64::INFINITY;
    let mut rank: Option<report::model::Rank> = None;
    for _ in 0..runs.max(1) {
        // The tables of the last run would count as memory of this one.
        drop(rank.take());
        let start;
        let report = if compressed {
            let mut bytes = Vec::new();
            report::read::compressed::uncompressed(std::fs::File::open(path)?)?
                .read_to_end(&mut bytes)?;
            start = Instant::now();
            report::read::read_sized(path, &bytes[..], Some(bytes.len() as u64))?
        } else {
            start = Instant::now();
            let file = std::fs::File::open(path)?;
            let size = file.metadata()?.len();
            report::read::read_sized(path, file, Some(size))?
        };
        best = best.min(start.elapsed().as_secs_f64());
        rank = report.ranks.into_iter().next();
    }
    let rank = rank.ok_or("no rank")?;
    let size = rank.source.bytes;
    Ok((rank, best, size))
}

/// Prints how long a view waits for its figures.
fn answers(rank: &report::model::Rank, snapshot: &Snapshot, replay: &Replay) {
    let start = Instant::now();
    let sites = Sites::of(&rank.strings, snapshot);
    let index = LiveIndex::of(replay);
    let opened = start.elapsed();
    let start = Instant::now();
    let categories = categories(&rank.strings, snapshot, replay, &sites);
    let sorted = start.elapsed();
    let at = replay.peak_requested().event.unwrap_or(TraceId(0));
    let start = Instant::now();
    let live = index.after(replay, at);
    let groups = group(replay, &sites, &categories, &live, By::Stack);
    let grouped = start.elapsed();
    let start = Instant::now();
    let state = state::after(replay, &index, at);
    let pins = state::pins(replay, &state);
    let shown = start.elapsed();
    let start = Instant::now();
    let lines = lines(replay, &sites, None);
    println!(
        "  index {opened:.1?}, categories {sorted:.1?}, live set of {} in {} stacks {grouped:.1?}, \
         state with {} pins {shown:.1?}, {} lines {:.1?}",
        live.len(),
        groups.len(),
        pins.len(),
        lines.len(),
        start.elapsed()
    );
}

/// Seconds that CPython needs.
fn python(path: &str) -> Option<f64> {
    let script = "import sys,time,pickle,lzma,gzip,io\n\
                  p=sys.argv[1]\n\
                  def f():\n  \
                    if p.endswith('.xz'): return io.BytesIO(lzma.open(p).read())\n  \
                    if p.endswith('.gz'): return io.BytesIO(gzip.open(p).read())\n  \
                    return open(p,'rb')\n\
                  best=1e9\n\
                  for _ in range(3):\n  \
                    s=f();t=time.perf_counter();d=pickle.load(s);best=min(best,time.perf_counter()-t);del d\n\
                  print(best)";
    let out = Command::new("python3")
        .args(["-c", script, path])
        .output()
        .ok()?;
    String::from_utf8(out.stdout).ok()?.trim().parse().ok()
}

/// The high-water mark of this process, where the system tells.
fn memory() -> String {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|s| {
            let line = s.lines().find(|l| l.starts_with("VmHWM:"))?;
            Some(
                line.split_whitespace()
                    .skip(1)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        })
        .unwrap_or_else(|| "unknown".to_owned())
}
