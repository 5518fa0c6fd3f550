//! Which Python, and whether the package is there.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The Python that runs the program: MEMSCOPE_PYTHON, that of VIRTUAL_ENV, python3 or python on PATH.
pub(super) fn find() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|v| !v.is_empty());
    if let Some(python) = set("MEMSCOPE_PYTHON") {
        return Ok(PathBuf::from(python));
    }
    if let Some(python) = set("VIRTUAL_ENV").map(|v| Path::new(&v).join("bin/python"))
        && python.is_file()
    {
        return Ok(python);
    }
    let path = set("PATH").unwrap_or_default();
    for name in ["python3", "python"] {
        if let Some(python) = env::split_paths(&path)
            .map(|d| d.join(name))
            .find(|p| p.is_file())
        {
            return Ok(python);
        }
    }
    bail!("no Python: name one in MEMSCOPE_PYTHON, or put python3 on PATH")
}

/// Asks a Python for the folder of the package `memscope`, with its native part.
pub(super) fn package(python: &Path) -> Result<PathBuf> {
    const CODE: &str = "import os, sys, memscope, memscope._native, memscope.startup\n\
                        sys.stdout.write(os.path.dirname(os.path.abspath(memscope.__file__)))";
    let mut command = Command::new(python);
    command.args(["-c", CODE]).env("MEMSCOPE_OFF", "1");
    let answer = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{}: cannot be started", python.display()))?;
    let folder = PathBuf::from(String::from_utf8_lossy(&answer.stdout).into_owned());
    if answer.status.success() && folder.join("_bootstrap/sitecustomize.py").is_file() {
        return Ok(folder);
    }
    let complaints = String::from_utf8_lossy(&answer.stderr);
    let reason = complaints
        .lines()
        .last()
        .unwrap_or("it has no folder _bootstrap");
    bail!(
        "{}: cannot import the Python package memscope ({reason}). Install it there (pip install \
         memscope), put its folder on PYTHONPATH, or name another Python in MEMSCOPE_PYTHON",
        python.display()
    )
}

/// PYTHONPATH with the folder that Python looks at when it starts, and the package's own.
pub(super) fn path(package: &Path) -> Result<OsString> {
    let mut all = vec![package.join("_bootstrap")];
    let before = env::var_os("PYTHONPATH").unwrap_or_default();
    all.extend(env::split_paths(&before).filter(|p| !p.as_os_str().is_empty()));
    // Last: what else lies beside an installed package must not hide a module of the program's.
    all.extend(package.parent().map(Path::to_path_buf));
    env::join_paths(&all).context("a folder with ':' in its name cannot stand on PYTHONPATH")
}
