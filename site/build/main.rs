//! Embeds what `memscope` carries: the viewer in its pages ([`viewer`]), and the library that the CUDA
//! driver loads for `memscope record` ([`library`]). Both are built by a nested cargo.
//!
//! * `SITE_SKIP_VIEWER=1` embeds neither: for check, clippy, rust-analyzer and tests that need no
//!   page. Such a `memscope` refuses to write pages, and records only with `MEMSCOPE_LIBRARY`.
//! * `SITE_VIEWER_WASM=FILE` takes a `viewer.wasm` that was built before (as rustc leaves it, before
//!   wasm-bindgen) instead of either program.

mod library;
mod nested;
mod viewer;

use std::env;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let workspace = here.parent().context("site/ stands in no workspace")?;
    println!("cargo::rerun-if-env-changed=SITE_SKIP_VIEWER");
    for input in viewer::INPUTS.iter().chain(&library::INPUTS) {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(input).display()
        );
    }
    library::embed(workspace, &out)?;
    viewer::embed_all(workspace, &out)
}

fn skipped() -> bool {
    env::var_os("SITE_SKIP_VIEWER").is_some_and(|v| !v.is_empty() && v != "0")
}

fn variable(name: &str) -> Result<OsString> {
    env::var_os(name).with_context(|| format!("cargo did not set {name}"))
}

/// The same bytes for the same program: no name, no time.
fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut gz = flate2::GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), flate2::Compression::best());
    gz.write_all(bytes)?;
    Ok(gz.finish()?)
}
