//! `memscope render` in a process of its own, beside CPython's `json.load` of the same file.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::{Line, line, median};

/// Runs in the child: renders, and says how much memory that took.
pub(crate) fn child() {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let [input, output] = arguments.as_slice() else {
        panic!("two paths")
    };
    e2e::memscope(&["render", input, "-o", output, "--force"]);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .expect("VmHWM");
    println!("\nrss {}", peak.trim().trim_end_matches(" kB"));
}

/// Seconds and MiB of a command that prints `rss <kB>` at last.
fn run(command: &mut Command) -> (f64, f64) {
    let start = Instant::now();
    let out = command.output().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8(out.stdout).unwrap();
    let rss = text
        .lines()
        .rev()
        .find_map(|l| l.strip_prefix("rss "))
        .expect("rss");
    (seconds, rss.parse::<f64>().unwrap() / 1024.0)
}

const PYTHON: &str = "import json, resource, sys\n\
    json.load(open(sys.argv[1]))\n\
    print('rss', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)";

/// Wall time, memory and size of the page.
pub(crate) fn measure(input: &Path, html: &Path, lines: &mut Vec<Line>) {
    // The file is in the page cache for both.
    std::io::copy(
        &mut std::fs::File::open(input).unwrap(),
        &mut std::io::sink(),
    )
    .unwrap();
    let own = std::env::current_exe().unwrap();
    let runs: Vec<(f64, f64)> = (0..3)
        .map(|_| run(Command::new(&own).arg("--child").arg(input).arg(html)))
        .collect();
    let (python_s, python_rss) = run(Command::new("python3").args(["-c", PYTHON]).arg(input));
    let seconds = median(runs.iter().map(|r| r.0).collect());
    let rss = median(runs.iter().map(|r| r.1).collect());
    lines.push(line(
        "render, wall",
        seconds,
        "s",
        4.0,
        Some(("CPython json.load", python_s)),
    ));
    lines.push(line(
        "render, peak memory",
        rss,
        "MiB",
        1024.0,
        Some(("CPython json.load", python_rss)),
    ));
    let size = std::fs::metadata(html).unwrap().len() as f64 / 1e6;
    let input = std::fs::metadata(input).unwrap().len() as f64 / 1e6;
    lines.push(line("HTML", size, "MB", 20.0, Some(("the JSON", input))));
}
