//! How far reading has come: one line on a terminal, once the work exceeds half a second.

use std::io::{IsTerminal as _, Read, Write};
use std::time::{Duration, Instant};

use present::units::bytes;

/// Work below this needs no line.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(100);

/// The progress line. It is taken away when this is dropped.
pub struct Progress {
    /// The terminal; `None` where stderr is none.
    to: Option<Box<dyn Write>>,
    started: Instant,
    patience: Duration,
    last: Option<Instant>,
    what: String,
    begun: Instant,
    done: u64,
    total: Option<u64>,
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress")
            .field("what", &self.what)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Progress {
    /// On stderr, if that is a terminal.
    #[must_use]
    pub fn stderr() -> Self {
        let stderr = std::io::stderr();
        let to = stderr
            .is_terminal()
            .then(|| Box::new(stderr) as Box<dyn Write>);
        Self::new(to, PATIENCE)
    }

    /// On no terminal: for callers that want none.
    #[must_use]
    pub fn none() -> Self {
        Self::new(None, PATIENCE)
    }

    fn new(to: Option<Box<dyn Write>>, patience: Duration) -> Self {
        let now = Instant::now();
        Self {
            to,
            started: now,
            patience,
            last: None,
            what: String::new(),
            begun: now,
            done: 0,
            total: None,
        }
    }

    /// A new piece of work: reading `what`, of `total` bytes if that is known.
    pub(crate) fn begin(&mut self, what: &str, total: Option<u64>) {
        what.clone_into(&mut self.what);
        self.begun = Instant::now();
        (self.done, self.total) = (0, total.filter(|&t| t > 0));
    }

    /// A piece of work that has no size.
    pub(crate) fn stage(&mut self, what: &str) {
        if self.started.elapsed() >= self.patience {
            self.show(what);
        }
    }

    /// Counts what is read through it.
    pub(crate) fn count<R: Read>(&mut self, source: R) -> Counted<'_, R> {
        Counted {
            source,
            progress: self,
        }
    }

    fn add(&mut self, n: usize) {
        self.done += n as u64;
        if self.to.is_none() || self.started.elapsed() < self.patience {
            return;
        }
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            let line = line(&self.what, self.done, self.total, self.begun.elapsed());
            self.show(&line);
        }
    }

    fn show(&mut self, line: &str) {
        if let Some(to) = &mut self.to {
            self.last.get_or_insert_with(Instant::now);
            // A terminal that went away takes its progress line with it.
            let _ = write!(to, "\r\x1b[K{line}").and_then(|()| to.flush());
        }
    }

    /// Takes the line away, before something else is said.
    pub(crate) fn clear(&mut self) {
        if let Some(to) = &mut self.to
            && self.last.take().is_some()
        {
            let _ = to.write_all(b"\r\x1b[K").and_then(|()| to.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn line(what: &str, done: u64, total: Option<u64>, time: Duration) -> String {
    let rate = done as f64 / 1e6 / time.as_secs_f64().max(1e-3);
    let of = total
        .map(|t| format!(" of {} ({} %)", bytes(t), done.min(t) * 100 / t))
        .unwrap_or_default();
    format!("reading {what}: {}{of}, {rate:.0} MB/s", bytes(done))
}

/// See [`Progress::count`].
pub(crate) struct Counted<'a, R> {
    source: R,
    progress: &'a mut Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.source.read(to)?;
        self.progress.add(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(patience: Duration) -> String {
        let terminal = Terminal::default();
        let mut progress = Progress::new(Some(Box::new(terminal.clone())), patience);
        progress.begin("a.json", Some(2048));
        std::io::copy(&mut progress.count(&[0u8; 1024][..]), &mut std::io::sink()).unwrap();
        progress.stage("packing");
        drop(progress);
        let bytes = terminal.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn long_work_shows_a_line_and_takes_it_away() {
        let text = written(Duration::ZERO);
        assert!(
            text.starts_with("\r\x1b[Kreading a.json: 1.00 KiB of 2.00 KiB (50 %), "),
            "{text:?}"
        );
        assert!(text.ends_with(" MB/s\r\x1b[Kpacking\r\x1b[K"), "{text:?}");
    }

    #[test]
    fn short_work_shows_nothing() {
        assert_eq!(written(Duration::from_secs(3600)), "");
    }

    #[test]
    fn a_stream_of_unknown_length_has_no_share() {
        assert_eq!(
            line("stdin", 3 << 20, None, Duration::from_secs(1)),
            "reading stdin: 3.00 MiB, 3 MB/s"
        );
    }
}
