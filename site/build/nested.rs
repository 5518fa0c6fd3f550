//! A cargo within cargo: for another target, or another profile, than the outer build.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::variable;

/// `cargo build` into a folder of its own, with nothing of the outer build's environment.
pub(super) fn nested(workspace: &Path, target_dir: &Path) -> Result<Command> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(workspace)
        .args(["build", "--target-dir"])
        .arg(target_dir);
    if workspace.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    for (name, _) in env::vars_os() {
        if leaks(&name) {
            cargo.env_remove(name);
        }
    }
    // A build.build-dir in some config.toml would bring the outer cargo's lock back, and with it a
    // wait without end (rust-lang/cargo#17053).
    cargo.env("CARGO_BUILD_BUILD_DIR", target_dir);
    // Flags in the environment also take the place of those in any config.toml, which were meant
    // for another target.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", remap(workspace));
    Ok(cargo)
}

/// Flags that take the paths of this machine out of panic messages: a report is passed on, and
/// must neither tell whose machine built the viewer nor differ because of it.
pub(super) fn remap(workspace: &Path) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|h| h.join(".cargo")));
    let mut flags = OsString::new();
    for (from, to) in [(Some(workspace.to_owned()), "memscope"), (home, "cargo")] {
        let Some(from) = from else { continue };
        if !flags.is_empty() {
            // What separates flags in CARGO_ENCODED_RUSTFLAGS.
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
}

/// `<target>/<name>`, so that all profiles of the outer build share one nested build. It is
/// never the outer target directory itself: the outer cargo holds that one's lock.
pub(super) fn target_dir(out: &Path, name: &str) -> PathBuf {
    // OUT_DIR is <target>/[<triple>/]<profile>/build/site-<hash>/out in the layout that cargo has
    // had so far; anything else gets a directory in OUT_DIR, which is slower but always right.
    let build = out
        .ancestors()
        .nth(2)
        .filter(|p| p.file_name() == Some(OsStr::new("build")));
    let target = build.and_then(|build| {
        build
            .ancestors()
            .skip(1)
            .take(3)
            .find(|p| p.join("CACHEDIR.TAG").is_file())
    });
    target.unwrap_or(out).join(name)
}

/// Whether a variable was meant for the outer build (or set by it) and would harm the nested one.
fn leaks(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    const EXACT: [&str; 16] = [
        "CARGO_ENCODED_RUSTDOCFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_INCREMENTAL",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "CLIPPY_ARGS",
        "HOST",
        "OUT_DIR",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTDOCFLAGS",
        "RUSTFLAGS",
        "TARGET",
    ];
    const PREFIXES: [&str; 8] = [
        "CARGO_BUILD_",
        "CARGO_CFG_",
        "CARGO_FEATURE_",
        "CARGO_LLVM_COV",
        "CARGO_MANIFEST_",
        "CARGO_PKG_",
        "CARGO_PROFILE_",
        "LLVM_PROFILE",
    ];
    EXACT.contains(&name.as_ref())
        || (PREFIXES.iter().any(|p| name.starts_with(p)) && name != "CARGO_BUILD_JOBS")
        || (name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS"))
}
