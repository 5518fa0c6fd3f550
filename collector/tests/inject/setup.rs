//! Starts programs under the simulated driver, and reads what they left.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// Libraries beside the test: cargo builds them with it.
fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().join(name);
    assert!(path.is_file(), "{} is built with the tests", path.display());
    path
}

/// A folder with the vendors' libraries and those that ask them; with CUPTI and NVML or without.
fn vendor(cupti: bool, nvml: bool) -> PathBuf {
    static ROOT: OnceLock<TempDir> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let root = tempfile::tempdir().unwrap();
        let simulated = built("libsimulated_driver.so");
        for (cupti, nvml) in [(true, true), (true, false), (false, true), (false, false)] {
            let folder = root.path().join(format!("{cupti}-{nvml}"));
            fs::create_dir(&folder).unwrap();
            let driver = folder.join("libcuda.so.1");
            fs::copy(&simulated, &driver).unwrap();
            for (name, there) in [("libcupti.so.13", cupti), ("libnvidia-ml.so.1", nvml)] {
                if there {
                    symlink("libcuda.so.1", folder.join(name)).unwrap();
                }
            }
            for client in ["libc10_cuda.so", "libnccl.so.2", "libcublas.so.13"] {
                fs::copy(&simulated, folder.join(client)).unwrap();
            }
        }
        root
    });
    root.path().join(format!("{cupti}-{nvml}"))
}

/// This binary again as the program of a scenario, recorded into a new folder.
pub(crate) fn command(scenario: &str, variables: &[(&str, &str)]) -> (Command, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let without = variables
        .iter()
        .find(|(n, _)| *n == "WITHOUT")
        .map_or("", |(_, v)| v);
    let vendor = vendor(!without.contains("cupti"), !without.contains("nvml"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "program::program",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("SCENARIO", scenario)
        .env("LD_LIBRARY_PATH", vendor)
        .env("CUDA_INJECTION64_PATH", built("libmemscope.so"))
        .env("MEMSCOPE_DIR", folder.path())
        .envs(variables.iter().copied());
    for rank in ["RANK", "MEMSCOPE_CUPTI", "CUDA_HOME", "CUDA_PATH"] {
        command.env_remove(rank);
    }
    (command, folder)
}

/// A program that ended.
pub(crate) struct Run {
    folder: TempDir,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a scenario to its end.
pub(crate) fn run(scenario: &str, variables: &[(&str, &str)]) -> Run {
    let (mut command, folder) = command(scenario, variables);
    let output = command.output().unwrap();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{scenario}: {stdout}{stderr}");
    Run {
        folder,
        stdout,
        stderr,
    }
}

impl Run {
    /// Of a program that was killed.
    pub(crate) fn of(folder: TempDir, stdout: String) -> Self {
        Self {
            folder,
            stdout,
            stderr: String::new(),
        }
    }

    /// The `core` files.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let journal = self.folder.path().join("rank00000/journal");
        let Ok(entries) = fs::read_dir(journal) else {
            return Vec::new();
        };
        let paths = entries.map(|e| e.unwrap().path());
        paths
            .filter(|p| p.to_string_lossy().ends_with(".driver.core.jsonl"))
            .collect()
    }

    /// The one journal.
    pub(crate) fn journal(&self) -> Journal {
        let cores = self.journals();
        assert_eq!(cores.len(), 1);
        Journal::read(&cores[0])
    }
}

/// Its records.
pub(crate) struct Journal {
    core: Vec<Value>,
    /// Records of the event files, by `seq`.
    pub(crate) events: Vec<Value>,
    /// Lines without an end.
    pub(crate) torn: usize,
}

impl Journal {
    fn read(core: &Path) -> Self {
        let mut torn = 0;
        let mut records = |path: &Path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let mut out = Vec::new();
            for line in text.split_inclusive('\n') {
                if line.ends_with('\n') {
                    let record: Value = serde_json::from_str(line).unwrap();
                    assert!(line.starts_with("{\"k\":"), "{line}");
                    out.push(record);
                } else {
                    torn += 1;
                }
            }
            out
        };
        let name = core.to_string_lossy();
        let core_records = records(core);
        let mut events = Vec::new();
        for n in 0.. {
            let path = name.replace("core.jsonl", &format!("events.{n}.jsonl"));
            if !Path::new(&path).exists() {
                break;
            }
            events.extend(records(Path::new(&path)));
        }
        Self {
            core: core_records,
            events,
            torn,
        }
    }

    /// The records of a kind.
    pub(crate) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let all = self.core.iter().chain(&self.events);
        all.filter(move |r| r["k"] == kind)
    }

    /// No number is missing, none is twice, and time rises with them.
    pub(crate) fn is_gapless(&self) -> bool {
        let stamp = |r: &Value| Some((r["seq"].as_u64()?, r["t"].as_u64()?));
        let all = self.core.iter().chain(&self.events);
        let mut stamps: Vec<_> = all.map(|r| stamp(r).unwrap()).collect();
        stamps.sort_unstable();
        let numbered = stamps.iter().enumerate().all(|(i, s)| s.0 == i as u64);
        numbered && stamps.windows(2).all(|p| p[0].1 <= p[1].1)
    }

    /// Gapless, with header and footer.
    pub(crate) fn is_whole(&self) -> bool {
        let kind = |r: Option<&Value>| r.map_or("", |r| r["k"].as_str().unwrap_or("")).to_owned();
        self.is_gapless()
            && self.torn == 0
            && kind(self.core.first()) == "header"
            && kind(self.core.last()) == "footer"
    }
}
