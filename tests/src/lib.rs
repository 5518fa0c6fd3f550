//! What the browser tests and the benchmark share.
//!
//! * [`harness`]: Chromium through chromedriver, with the network off and every request, console
//!   error and uncaught exception counted as a failure.
//! * [`run`]: a `runtime_report.json`, read by serde_json alone; [`expect`]: what the page must
//!   show of it, computed here once more and by other code than `report` and `present` have.
//! * [`make`]: reports of any size and shape.
//! * [`serve`]: one page over HTTP with headers of a host.
//!
//! A harness fails by panicking with what went wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test harness fails by panicking"
)]

pub mod expect;
pub mod harness;
pub mod make;
pub mod run;
pub mod serve;
pub mod units;

use std::path::{Path, PathBuf};

/// The folder with fixtures.
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

/// Runs `memscope` in this process; panics when it does not end with 0.
pub fn memscope(arguments: &[&str]) {
    let all = std::iter::once("memscope").chain(arguments.iter().copied());
    let code = site::run(all);
    assert!(
        code == std::process::ExitCode::SUCCESS,
        "memscope {arguments:?} ended with {code:?}"
    );
}

/// Renders inputs into `to` and gives it back.
pub fn render(inputs: &[&Path], to: PathBuf) -> PathBuf {
    let mut arguments = vec!["render"];
    arguments.extend(inputs.iter().map(|p| p.to_str().expect("a path in UTF-8")));
    arguments.extend(["-o", to.to_str().expect("a path in UTF-8")]);
    memscope(&arguments);
    to
}

/// The `file://` address of a page.
#[must_use]
pub fn file_url(path: &Path) -> String {
    format!(
        "file://{}",
        std::path::absolute(path)
            .expect("an absolute path")
            .display()
    )
}
