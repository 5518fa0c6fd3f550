//! What running ranks do, from the ends of their journals. Nothing of it is known to the run.

mod driver;
mod tail;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use present::rows::{Standing, Watched};
use report::read::journal::FileName;
use serde_json::{Map, Value, json};

use crate::input::journal;
use driver::Cards;
use tail::Tail;

/// Silence that is not normal, at least; or as many steps.
const SILENCE: Duration = Duration::from_secs(30);
const STEPS: u32 = 5;

/// A folder of ranks that is watched.
#[derive(Debug)]
pub struct Watch {
    folder: PathBuf,
    /// By folder of the journal, in order.
    ranks: BTreeMap<PathBuf, Vec<Process>>,
    host: String,
    boot: String,
}

/// A process that leaves a journal.
#[derive(Debug, Default)]
struct Process {
    tails: Vec<Tail>,
    samples: u64,
    host: String,
    boot: String,
    pid: Option<u64>,
    rank: Option<u64>,
    device: Option<u64>,
    devices: Vec<(Option<u64>, String)>,
    step: Option<i64>,
    step_began: Option<u64>,
    step_ns: Option<u64>,
    phase: Option<String>,
    allocated: Option<u64>,
    reserved: Option<u64>,
    peak: Option<u64>,
    device_used: Option<u64>,
    ooms: u64,
    ended: Option<String>,
}

fn system(path: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}

impl Watch {
    /// Watches a run's folder, a rank's or one with journals.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            ranks: BTreeMap::new(),
            host: system("/proc/sys/kernel/hostname"),
            boot: system("/proc/sys/kernel/random/boot_id"),
        }
    }

    /// Looks for new journals and reads what is new in all.
    pub fn look(&mut self) {
        let mut folders = vec![self.folder.clone(), self.folder.join("journal")];
        for entry in std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            folders.push(entry.path().join("journal"));
        }
        for folder in folders {
            let found = journal::files(&folder);
            if !found.is_empty() {
                let known = self.ranks.entry(folder).or_default();
                for files in found {
                    known_or_new(known, files);
                }
            }
        }
        for process in self.ranks.values_mut().flatten() {
            process.look();
        }
    }

    /// Whether every rank that was seen has ended. Not before one was seen.
    #[must_use]
    pub fn all_ended(&self, watched: &[Watched]) -> bool {
        let over = |w: &Watched| matches!(w.standing, Standing::Ended(_) | Standing::Died);
        !watched.is_empty() && watched.iter().all(over)
    }

    /// How every rank stands now.
    #[must_use]
    pub fn ranks(&self) -> Vec<Watched> {
        let cards = if self.ranks.is_empty() {
            None
        } else {
            Cards::ask()
        };
        let mut out: Vec<(Option<u64>, Watched)> = Vec::new();
        for (folder, processes) in &self.ranks {
            let main = processes.iter().max_by_key(|p| p.samples);
            if let Some(process) = main {
                let watched = self.watched(folder, process, cards.as_ref());
                out.push((process.rank, watched));
            }
        }
        out.sort_by_key(|(rank, _)| (rank.is_none(), *rank));
        out.into_iter().map(|(_, w)| w).collect()
    }

    fn watched(&self, folder: &Path, p: &Process, cards: Option<&Cards>) -> Watched {
        let written = p.tails.iter().filter_map(|t| t.written).max();
        let age = written.and_then(|w| SystemTime::now().duration_since(w).ok());
        let uuid = p
            .devices
            .iter()
            .find(|d| d.0.is_some() && d.0 == p.device)
            .map(|d| d.1.as_str());
        let here = p.host == self.host && p.boot == self.boot && !p.boot.is_empty();
        let gone = here
            && p.pid
                .is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        let patience = SILENCE.max(Duration::from_nanos(p.step_ns.unwrap_or(0)) * STEPS);
        let standing = match &p.ended {
            Some(reason) => Standing::Ended(reason.clone()),
            None if gone => Standing::Died,
            None if age.is_some_and(|a| a > patience) => Standing::Stalled,
            None => Standing::Running,
        };
        let own = folder.parent().and_then(|f| f.file_name());
        Watched {
            rank: p.rank.map_or_else(
                || {
                    own.map(|n| n.to_string_lossy().into_owned())
                        .unwrap_or_default()
                },
                |n| n.to_string(),
            ),
            standing,
            step: p.step,
            step_ns: p.step_ns,
            phase: p.phase.clone(),
            allocated: p.allocated,
            reserved: p.reserved,
            peak: p.peak,
            device_used: p.device_used,
            driver_used: cards.zip(uuid).and_then(|(c, u)| c.used(u)),
            others: cards
                .zip(uuid)
                .zip(p.pid.filter(|_| here))
                .and_then(|((c, u), pid)| c.others(u, pid)),
            ooms: p.ooms,
            age_ns: age.and_then(|a| u64::try_from(a.as_nanos()).ok()),
        }
    }
}

/// Only `core` is watched: it has the boundaries, and it is small.
fn known_or_new(known: &mut Vec<Process>, files: Vec<PathBuf>) {
    let core = |p: &PathBuf| {
        let name = p
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(FileName::of);
        name.is_some_and(|n| n.part.is_none())
    };
    let files: Vec<PathBuf> = files.into_iter().filter(core).collect();
    let same = |p: &Process| p.tails.iter().any(|t| files.iter().any(|f| f == t.path()));
    let at = known.iter().position(same).unwrap_or_else(|| {
        known.push(Process::default());
        known.len() - 1
    });
    if let Some(process) = known.get_mut(at) {
        for file in files {
            if !process.tails.iter().any(|t| t.path() == file) {
                process.tails.push(Tail::new(file));
            }
        }
    }
}

impl Process {
    fn look(&mut self) {
        let mut tails = std::mem::take(&mut self.tails);
        for tail in &mut tails {
            let name = tail.path().file_name().and_then(|n| n.to_str());
            let driver = name
                .and_then(FileName::of)
                .is_some_and(|n| n.writer == "driver");
            for record in tail.news() {
                self.record(&record, driver);
            }
        }
        self.tails = tails;
    }

    fn record(&mut self, record: &Map<String, Value>, driver: bool) {
        let number = |key: &str| record.get(key).and_then(Value::as_u64);
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
        if !driver {
            self.step = record.get("step").and_then(Value::as_i64).or(self.step);
            self.phase = text("phase").or(self.phase.take());
        }
        match record.get("k").and_then(Value::as_str).unwrap_or_default() {
            "header" | "update" => {
                self.host = text("host").unwrap_or(std::mem::take(&mut self.host));
                self.boot = text("boot").unwrap_or(std::mem::take(&mut self.boot));
                self.pid = number("pid").or(self.pid);
                self.rank = number("rank").or(self.rank);
                self.device = number("device").or(self.device);
                if let Some(devices) = record.get("devices").and_then(Value::as_array) {
                    let uuid = |d: &Value| d.get("uuid").and_then(Value::as_str).map(str::to_owned);
                    self.devices = devices
                        .iter()
                        .filter_map(|d| Some((d.get("ordinal").and_then(Value::as_u64), uuid(d)?)))
                        .collect();
                }
            }
            "sample" => {
                self.samples += 1;
                self.allocated = number("allocated").or(self.allocated);
                self.reserved = number("reserved").or(self.reserved);
                self.device_used = number("device_used").or(self.device_used);
                self.peak = self
                    .peak
                    .max(number("max_allocated"))
                    .max(number("allocated"));
                self.boundary(text("edge").as_deref(), number("t"));
            }
            "peak" if text("what").as_deref() == Some("allocated") => {
                self.peak = self.peak.max(number("bytes"));
            }
            "live" => self.device_used = number("device_used").or(self.device_used),
            "oom" => self.ooms += 1,
            "footer" if !driver || self.ended.is_none() => {
                self.ended = Some(text("reason").unwrap_or_else(|| "ended".to_owned()));
            }
            _ => {}
        }
    }

    /// A step lasts from one start to the next, or to its end where that comes first.
    fn boundary(&mut self, edge: Option<&str>, t: Option<u64>) {
        match edge {
            Some("step_start") => {
                if let Some((now, began)) = t.zip(self.step_began.take()) {
                    self.step_ns = now.checked_sub(began);
                }
                self.step_began = t;
            }
            Some("step_end") => {
                if let Some((now, began)) = t.zip(self.step_began) {
                    self.step_ns = now.checked_sub(began);
                }
            }
            _ => {}
        }
    }
}

/// For scripts.
#[must_use]
pub fn as_json(ranks: &[Watched]) -> Value {
    let rank = |w: &Watched| {
        let reason = match &w.standing {
            Standing::Ended(reason) => Some(reason.clone()),
            _ => None,
        };
        json!({
            "rank": w.rank.parse::<i64>().ok(),
            "name": w.rank,
            "state": w.standing.word(),
            "reason": reason,
            "step": w.step,
            "step_ns": w.step_ns,
            "phase": w.phase,
            "allocated": w.allocated,
            "reserved": w.reserved,
            "peak_allocated": w.peak,
            "device_used": w.device_used,
            "driver_device_used": w.driver_used,
            "driver_other_processes": w.others,
            "ooms": w.ooms,
            "age_ns": w.age_ns,
        })
    };
    json!({
        "format": "memscope.watch",
        "version": 1,
        "ranks": ranks.iter().map(rank).collect::<Vec<_>>(),
    })
}
