//! Running the binary, and inputs to run it on.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Demands success and silence on stderr; gives stdout.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        self.text()
    }

    /// Demands a failure with exactly this line, and nothing on stdout.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, line: &str) {
        assert_eq!(
            (self.code, self.stderr.as_str(), self.stdout.len()),
            (code, format!("{line}\n").as_str(), 0)
        );
    }
}

/// The binary in an environment that does not depend on who runs the tests.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscope"));
    for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).current_dir(fixtures());
    command
}

pub(crate) fn finish(command: &mut Command) -> Done {
    let out = command.output().unwrap();
    Done {
        code: out.status.code().unwrap_or(-1),
        stdout: out.stdout,
        stderr: String::from_utf8(out.stderr).unwrap(),
    }
}

/// Runs with arguments, in the directory of fixtures.
pub(crate) fn memscope<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Done {
    finish(command().args(arguments))
}

/// Runs in another directory.
pub(crate) fn memscope_in<A: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Done {
    finish(command().current_dir(directory).args(arguments))
}

/// Runs with something on stdin.
pub(crate) fn memscope_with(stdin: &[u8], arguments: &[&str]) -> Done {
    let mut child = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    // It may stop reading before the end.
    let writer = std::thread::spawn(move || drop(to.write_all(&bytes)));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Done {
        code: out.status.code().unwrap_or(-1),
        stdout: out.stdout,
        stderr: String::from_utf8(out.stderr).unwrap(),
    }
}

/// `tests/fixtures` of the workspace.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures")
        .canonicalize()
        .unwrap()
}

/// The recorded reports, from [`fixtures`].
pub(crate) const ONE: &str = "original_memscope/rank00000/runtime_report.json";
pub(crate) const RANK0: &str = "original_ddp/rank00000/runtime_report.json";
pub(crate) const RANK1: &str = "original_ddp/rank00001/runtime_report.json";

pub(crate) fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(path)).unwrap()
}

/// A small report that says it is `rank`.
pub(crate) fn small(rank: &str, module: &str) -> String {
    let text = |t: &str| serde_json::to_string(t).unwrap();
    let (rank, module) = (text(rank), text(module));
    format!(
        r#"{{"runtime_trace": [{{"event_type": "step", "module": {module}, "phase": "step_start", "step": 0,
        "mem_allocated_before": 0, "mem_allocated_after": 4096, "mem_reserved_before": 0, "mem_reserved_after": 8192,
        "max_mem_allocated": 6144, "max_mem_reserved": 8192, "delta_allocated": 4096, "delta_reserved": 8192,
        "inputs": [], "outputs": [], "grads": [], "notes": ""}}], "metadata": {{"rank": {rank}}}}}"#
    )
}

pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file, making its directories.
pub(crate) fn put(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

/// The names in a directory, hidden ones included.
pub(crate) fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Whether pages can be written; without, checks that they are refused.
#[track_caller]
pub(crate) fn pages() -> bool {
    if site::pack::has_viewer() {
        return true;
    }
    eprintln!("built with SITE_SKIP_VIEWER: pages are refused, and not looked into");
    let done = memscope(["render", ONE, "-o", "-"]);
    assert_eq!((done.code, done.stdout.len()), (1, 0));
    assert!(
        done.stderr
            .starts_with("memscope: this memscope was built without the viewer")
    );
    false
}

/// Numbers that look random, the same each time.
pub(crate) fn noise(length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        LETTERS[(state >> 58) as usize] as char
    };
    (0..length).map(|_| next()).collect()
}
