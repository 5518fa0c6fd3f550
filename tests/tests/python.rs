//! The tests of the Python package, by Python: `collector/python/tests`, with the native half as this
//! workspace builds it and the stand-in for PyTorch.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the native half where this test was built: most of it stands there.
fn native() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "memscope-python",
            "--target-dir",
        ])
        .arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(built.success(), "the native half does not build");
    profile.join("lib_native.so")
}

#[test]
fn the_python_package() {
    let python = std::env::var_os("MEMSCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    if Command::new(&python).arg("--version").output().is_err() {
        println!("skipped: no python3 on PATH");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../collector/python/tests");
    let done = Command::new(&python)
        .args(["-m", "unittest", "discover", "-p", "test_*.py"])
        .current_dir(folder)
        .env("MEMSCOPE_NATIVE", native())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    // `OK` alone would also be said of no test at all.
    let ran = said.lines().find_map(|l| {
        l.strip_prefix("Ran ")?
            .split(' ')
            .next()?
            .parse::<u32>()
            .ok()
    });
    assert!(ran.is_some_and(|n| n >= 40), "{said}");
    println!("{said}");
}
