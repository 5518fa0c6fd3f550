//! The pages that many tests open, each made once.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use e2e::harness::{Options, Page, with};
use e2e::run::Run;
use e2e::{file_url, fixture, render, units};

/// A file of this test run.
pub fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// `original_ddp`, both ranks.
pub fn ddp() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| render(&[&fixture("original_ddp")], temporary("original_ddp.html")))
}

/// `original_memscope`.
pub fn single() -> &'static Path {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    PAGE.get_or_init(|| {
        render(
            &[&fixture("original_memscope")],
            temporary("original_memscope.html"),
        )
    })
}

/// The address of `original_ddp` with a hash.
pub fn ddp_at(hash: &str) -> String {
    format!("{}#{hash}", file_url(ddp()))
}

/// What a rank of `original_ddp` says.
pub fn ddp_run(rank: usize) -> Run {
    Run::read(&fixture(&format!(
        "original_ddp/rank0000{rank}/runtime_report.json"
    )))
}

/// What `original_memscope` says.
pub fn single_run() -> Run {
    Run::read(&fixture("original_memscope/rank00000/runtime_report.json"))
}

/// Runs a test on a rank of `original_ddp`.
pub fn on_rank(rank: usize, test: impl AsyncFnOnce(&Page)) {
    with(Options::default(), async |page: &Page| {
        page.open(&ddp_at(&format!("rank={rank}"))).await;
        test(page).await;
    });
}

/// How the headline of a rank begins: with its number where the report has several.
pub fn headline(run: &Run) -> String {
    let peak = units::size(run.peak().0);
    if run.meta("world_size") == "1" {
        format!("Peak {peak}")
    } else {
        format!("Rank {}: peak {peak}", run.meta("rank"))
    }
}
