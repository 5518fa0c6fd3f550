//! The journal: append-only lines of JSON, one `write` a record, bounded.
//!
//! What was written is in the page cache, so it survives the death of the process. Nothing here fails
//! a program: a write that does is said once on stderr, and recording stops.

pub mod clock;
mod line;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use line::Line;
pub(crate) use line::quote;

use crate::error::Error;
use crate::fork;
use crate::place::Place;

/// How much a journal may take on disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For boundaries, peaks and all that must not be lost.
    pub core: u64,
    /// For modules and driver events.
    pub events: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            core: 64 << 20,
            events: 192 << 20,
        }
    }
}

/// How a record is treated when space runs short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Never left out: header, peaks, out-of-memory, inventories, footer.
    Essential,
    /// A boundary of a step; every 10th, then every 100th step is kept as `core` fills.
    Step(u64),
    /// Repeats itself (clock, live memory, marks); one a second, then one in ten as `core` fills.
    Periodic,
    /// Modules and driver events: their first and last parts are kept.
    Event,
}

/// Essential records may still take this much beyond the limit of `core`.
const RESERVE: u64 = 16 << 20;

/// A journal that is being written, by any thread.
#[derive(Debug)]
pub struct Journal {
    inner: Mutex<Inner>,
    generation: u32,
}

#[derive(Debug)]
struct Inner {
    stem: PathBuf,
    limits: Limits,
    core: Part,
    events: Option<Part>,
    /// Number of the event file at hand, and how many records each of those that stand holds.
    event_file: u64,
    event_records: Vec<(u64, u64)>,
    seq: u64,
    buffer: Vec<u8>,
    dropped: Vec<(&'static str, u64, &'static str)>,
    last_periodic: Vec<(&'static str, u64)>,
    stopped: Option<String>,
}

#[derive(Debug)]
struct Part {
    file: File,
    written: u64,
    full: u64,
}

impl Part {
    fn create(path: &Path, full: u64) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)?;
        Ok(Self {
            file,
            written: 0,
            full,
        })
    }

    /// Appends a record whole, or leaves the file as it was.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let done = self.file.write_all(bytes);
        match done {
            Ok(()) => self.written += bytes.len() as u64,
            // Half a record would make its line unreadable.
            Err(_) => drop(self.file.set_len(self.written)),
        }
        done
    }
}

impl Journal {
    /// Makes the rank's folder and the files of a new journal in it.
    ///
    /// # Errors
    /// [`Error::Create`] when the folder or the file cannot be made.
    pub fn create(place: &Place, writer: &str, limits: Limits) -> Result<Self, Error> {
        fork::watch();
        let folder = place.folder.join("journal");
        fs::create_dir_all(&folder).map_err(|source| Error::Create {
            path: folder.clone(),
            what: "make the folder",
            source,
        })?;
        let stem = folder.join(format!(
            "{}-{}-{:x}.{writer}",
            place.host_in_names(),
            std::process::id(),
            clock::realtime()
        ));
        let path = with_end(&stem, "core.jsonl");
        let core = Part::create(&path, limits.core).map_err(|source| Error::Create {
            path,
            what: "create the journal",
            source,
        })?;
        Ok(Self {
            inner: Mutex::new(Inner {
                stem,
                limits,
                core,
                events: None,
                event_file: 0,
                event_records: Vec::new(),
                seq: 0,
                buffer: Vec::with_capacity(1024),
                dropped: Vec::new(),
                last_periodic: Vec::new(),
                stopped: None,
            }),
            generation: fork::generation(),
        })
    }

    fn lock(&self) -> Option<MutexGuard<'_, Inner>> {
        // In a forked child the lock may be held by a thread that does not exist there.
        if self.generation != fork::generation() {
            return None;
        }
        Some(self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether records are still written: not in a forked child, not after a failed write.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.lock().is_some_and(|i| i.stopped.is_none())
    }

    /// Writes a record, stamped now.
    pub fn write(&self, weight: Weight, line: &Line) {
        if let Some(mut inner) = self.lock() {
            // The time is taken under the lock, so that it rises with `seq`.
            inner.write(weight, line, clock::monotonic());
        }
    }

    /// Counts records that their maker left out, for a reason (`sampling`).
    pub fn dropped(&self, what: &'static str, count: u64, reason: &'static str) {
        if let Some(mut inner) = self.lock() {
            inner.count(what, count, reason);
        }
    }

    /// Writes what was dropped since the last time, and has the system put `core` on the disk.
    pub fn sync(&self) {
        if let Some(mut inner) = self.lock() {
            inner.tell_dropped();
            // A disk that cannot sync still has what it has.
            drop(inner.core.file.sync_data());
        }
    }

    /// Where the records stand that must not be lost.
    #[must_use]
    pub fn core_path(&self) -> Option<PathBuf> {
        self.lock().map(|i| with_end(&i.stem, "core.jsonl"))
    }
}

fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    PathBuf::from(name)
}

impl Inner {
    fn write(&mut self, weight: Weight, line: &Line, now: u64) {
        if self.stopped.is_some() {
            return;
        }
        if !self.keeps(weight, line.kind(), now) {
            self.seq += 1;
            self.count(line.kind(), 1, "size limit");
            return;
        }
        let seq = self.seq;
        self.seq += 1;
        let mut buffer = std::mem::take(&mut self.buffer);
        line.finish(seq, now, &mut buffer);
        let done = if weight == Weight::Event {
            self.append_event(&buffer)
        } else {
            self.core.append(&buffer)
        };
        self.buffer = buffer;
        if let Err(error) = done {
            self.stop(&error);
        }
    }

    /// Whether there is room for a record of this weight.
    fn keeps(&mut self, weight: Weight, kind: &'static str, now: u64) -> bool {
        let (written, full) = (self.core.written, self.core.full);
        // 0 below one half, 1 from there, 2 from three quarters, 3 when full.
        let stage = match written {
            w if w >= full => 3,
            w if w >= full / 4 * 3 => 2,
            w if w >= full / 2 => 1,
            _ => 0,
        };
        match weight {
            Weight::Event => true,
            Weight::Essential => written < full.saturating_add(RESERVE),
            Weight::Step(step) => match stage {
                0 => true,
                1 => step % 10 == 0,
                2 => step % 100 == 0,
                _ => false,
            },
            Weight::Periodic => {
                let apart = match stage {
                    0 => return true,
                    1 => 1_000_000_000,
                    2 => 10_000_000_000,
                    _ => return false,
                };
                match self.last_periodic.iter_mut().find(|(k, _)| *k == kind) {
                    Some((_, last)) if now.saturating_sub(*last) < apart => false,
                    Some((_, last)) => {
                        *last = now;
                        true
                    }
                    None => {
                        self.last_periodic.push((kind, now));
                        true
                    }
                }
            }
        }
    }

    /// Appends to the event file at hand; opens the next when it is full, and deletes the oldest but
    /// for the first when there are more than four.
    fn append_event(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = self.limits.events / 4;
        if self.events.as_ref().is_some_and(|e| e.written >= full) {
            self.events = None;
            self.event_file += 1;
        }
        if self.events.is_none() {
            let path = self.event_path(self.event_file);
            self.events = Some(Part::create(&path, full)?);
            self.event_records.push((self.event_file, 0));
            if self.event_records.len() > 4 {
                let (number, records) = self.event_records.remove(1);
                fs::remove_file(self.event_path(number))?;
                self.count("events", records, "size limit");
                self.tell_dropped();
            }
        }
        let Some(part) = &mut self.events else {
            return Ok(());
        };
        part.append(bytes)?;
        if let Some((_, records)) = self.event_records.last_mut() {
            *records += 1;
        }
        Ok(())
    }

    fn event_path(&self, number: u64) -> PathBuf {
        with_end(&self.stem, &format!("events.{number}.jsonl"))
    }

    fn count(&mut self, what: &'static str, count: u64, reason: &'static str) {
        let same = |d: &&mut (&str, u64, &str)| d.0 == what && d.2 == reason;
        match self.dropped.iter_mut().find(same) {
            Some(dropped) => dropped.1 += count,
            None => self.dropped.push((what, count, reason)),
        }
    }

    fn tell_dropped(&mut self) {
        for (what, count, reason) in std::mem::take(&mut self.dropped) {
            let line = Line::new("drop")
                .text("what", what)
                .number("count", Some(count))
                .text("reason", reason);
            self.write(Weight::Essential, &line, clock::monotonic());
        }
    }

    fn stop(&mut self, error: &io::Error) {
        eprintln!(
            "memscope: {}: {error}. Recording stops here; the program goes on",
            self.stem.display()
        );
        let reason = format!("write failed: {error}");
        let line = Line::new("drop")
            .text("what", "all")
            .text("reason", &reason);
        // There may be room for this one line where there was none for a longer one.
        let mut last = Vec::new();
        line.finish(self.seq, clock::monotonic(), &mut last);
        drop(self.core.append(&last));
        self.stopped = Some(reason);
    }
}
