//! What the driver's own tool says of the cards, where it is there.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A tool that takes longer is given up: a driver that hangs must not hang this.
const PATIENCE: Duration = Duration::from_secs(5);

/// The cards and the processes on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cards {
    /// UUID and bytes in use.
    used: Vec<(String, u64)>,
    /// UUID, process, bytes in use.
    processes: Vec<(String, u64, u64)>,
}

impl Cards {
    /// Asks `nvidia-smi`; `None` where there is none.
    pub(super) fn ask() -> Option<Self> {
        let used = query("--query-gpu=uuid,memory.used")?;
        let apps = query("--query-compute-apps=gpu_uuid,pid,used_memory")?;
        Some(Self::of(&used, &apps))
    }

    fn of(used: &str, apps: &str) -> Self {
        let mebibytes = |t: &str| t.parse::<u64>().ok()?.checked_mul(1 << 20);
        let fields =
            |line: &str| -> Vec<String> { line.split(',').map(|f| f.trim().to_owned()).collect() };
        let mut out = Self::default();
        for line in used.lines().map(fields) {
            if let [uuid, used] = line.as_slice()
                && let Some(used) = mebibytes(used)
            {
                out.used.push((uuid.clone(), used));
            }
        }
        for line in apps.lines().map(fields) {
            if let [uuid, pid, used] = line.as_slice()
                && let (Ok(pid), Some(used)) = (pid.parse(), mebibytes(used))
            {
                out.processes.push((uuid.clone(), pid, used));
            }
        }
        out
    }

    /// Bytes in use on a card.
    pub(super) fn used(&self, uuid: &str) -> Option<u64> {
        self.used.iter().find(|c| c.0 == uuid).map(|c| c.1)
    }

    /// Bytes that others than this process use on a card; unknown where the tool does not list it (in a
    /// container it has another number).
    pub(super) fn others(&self, uuid: &str, pid: u64) -> Option<u64> {
        let here = || self.processes.iter().filter(|p| p.0 == uuid);
        here().find(|p| p.1 == pid)?;
        Some(here().filter(|p| p.1 != pid).map(|p| p.2).sum())
    }
}

fn query(what: &str) -> Option<String> {
    let mut child = Command::new("nvidia-smi")
        .args([what, "--format=csv,noheader,nounits"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    loop {
        match child.try_wait().ok()? {
            Some(status) if status.success() => break,
            Some(_) => return None,
            None if started.elapsed() > PATIENCE => {
                child.kill().ok()?;
                child.wait().ok()?;
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn others_are_known_only_beside_this_process() {
        let cards = Cards::of(
            "GPU-a, 1000\nGPU-b, [N/A]\n",
            "GPU-a, 10, 300\nGPU-a, 11, 200\nGPU-b, 12, [N/A]\n",
        );
        assert_eq!(cards.used("GPU-a"), Some(1000 << 20));
        assert_eq!(cards.used("GPU-b"), None);
        assert_eq!(cards.others("GPU-a", 10), Some(200 << 20));
        assert_eq!(cards.others("GPU-a", 99), None);
    }
}
