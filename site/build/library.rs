//! The library that the CUDA driver loads: the package `collector` as `libmemscope.so`, which is left
//! in `OUT_DIR` as `libmemscope.so.gz` for `include_bytes!`; empty where it cannot be used.

use std::path::Path;
use std::{env, fs};

use anyhow::{Context as _, Result, bail};

use super::nested::{nested, target_dir};
use super::{gzip, skipped, variable};

/// What the library is made of, beside what the viewer is.
pub(super) const INPUTS: [&str; 2] = ["collector/Cargo.toml", "collector/src"];

/// Leaves the library, but only where it changed: what includes it is not compiled in vain.
pub(super) fn embed(workspace: &Path, out: &Path) -> Result<()> {
    // CUDA's driver loads libraries on other systems by other ways.
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    let library = if linux && !skipped() {
        gzip(&build(workspace, out)?)?
    } else {
        Vec::new()
    };
    let path = out.join("libmemscope.so.gz");
    if fs::read(&path).ok().as_deref() != Some(&library) {
        fs::write(&path, library).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn build(workspace: &Path, out: &Path) -> Result<Vec<u8>> {
    let target_dir = target_dir(out, "library");
    let target = variable("TARGET")?;
    let mut cargo = nested(workspace, &target_dir)?;
    cargo
        .args(["--package", "collector", "--lib", "--release", "--target"])
        .arg(&target)
        // Names of functions are not needed: backtraces carry offsets.
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let status = cargo
        .status()
        .context("cannot start cargo to build the collector")?;
    if !status.success() {
        bail!(
            "the library for `memscope record` could not be built (cargo's messages are above). To build \
             memscope without it and without pages, set SITE_SKIP_VIEWER=1"
        );
    }
    let path = target_dir.join(target).join("release/libmemscope.so");
    fs::read(&path).with_context(|| {
        format!(
            "cargo built the collector but left no {}: is its crate-type still cdylib?",
            path.display()
        )
    })
}
