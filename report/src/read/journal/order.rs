//! The records of several files in order: by number within a journal, by time across journals.

use super::line::{Lines, Record};
use crate::model::Skipped;

/// The files of one writer: `core`, and the parts of `events` one behind the other.
pub(super) struct Writer<'a> {
    /// `python`, `driver`, …; as its files' names say.
    pub name: String,
    core: Chain<'a>,
    events: Chain<'a>,
    last: Option<u64>,
    /// Numbers that no record had.
    pub missing: u64,
    /// Where the first of them should have been.
    pub missing_at: u64,
    next: Option<Record>,
    /// Time of the record before, for those that say none.
    time: u64,
}

/// Files one behind the other.
struct Chain<'a> {
    files: std::vec::IntoIter<Lines<'a>>,
    now: Option<Lines<'a>>,
    ahead: Option<Record>,
    done: Vec<Lines<'a>>,
}

impl<'a> Chain<'a> {
    fn new(files: Vec<Lines<'a>>) -> Self {
        let mut files = files.into_iter();
        Self {
            now: files.next(),
            files,
            ahead: None,
            done: Vec::new(),
        }
    }

    fn fill(&mut self, skipped: &mut Skipped) -> std::io::Result<()> {
        while self.ahead.is_none() {
            let Some(lines) = &mut self.now else {
                return Ok(());
            };
            self.ahead = lines.next(skipped)?;
            if self.ahead.is_none() {
                self.done.extend(self.now.take());
                self.now = self.files.next();
            }
        }
        Ok(())
    }
}

impl<'a> Writer<'a> {
    pub fn new(name: String, core: Vec<Lines<'a>>, events: Vec<Lines<'a>>) -> Self {
        Self {
            name,
            core: Chain::new(core),
            events: Chain::new(events),
            last: None,
            missing: 0,
            missing_at: 0,
            next: None,
            time: 0,
        }
    }

    /// When the next record was written; `None` at the end.
    fn peek(&mut self, skipped: &mut Skipped) -> std::io::Result<Option<u64>> {
        while self.next.is_none() {
            self.core.fill(skipped)?;
            self.events.fill(skipped)?;
            let seq = |c: &Chain<'_>| c.ahead.as_ref().map(|r| r.seq.unwrap_or(0));
            let chain = match (seq(&self.core), seq(&self.events)) {
                (None, None) => return Ok(None),
                (Some(core), Some(events)) if events < core => &mut self.events,
                (None, Some(_)) => &mut self.events,
                _ => &mut self.core,
            };
            let Some(mut record) = chain.ahead.take() else {
                return Ok(None);
            };
            if let Some(seq) = record.seq {
                match self.last {
                    Some(last) if seq <= last => {
                        skipped.count("record whose number was there already", record.offset);
                        continue;
                    }
                    last => {
                        let expected = last.map_or(0, |l| l.saturating_add(1));
                        if seq > expected {
                            if self.missing == 0 {
                                self.missing_at = record.offset;
                            }
                            self.missing = self.missing.saturating_add(seq - expected);
                        }
                        self.last = Some(seq);
                    }
                }
            }
            self.time = record.t.unwrap_or(self.time);
            record.t = Some(self.time);
            self.next = Some(record);
        }
        Ok(Some(self.time))
    }

    /// The files that were read to their end.
    pub fn files(self) -> impl Iterator<Item = Lines<'a>> {
        let left = |c: Chain<'a>| c.done.into_iter().chain(c.now).chain(c.files);
        left(self.core).chain(left(self.events))
    }
}

/// The next record over all writers, and whose it is.
pub(super) fn next(
    writers: &mut [Writer<'_>],
    skipped: &mut Skipped,
) -> std::io::Result<Option<(usize, Record)>> {
    let mut first: Option<(u64, usize)> = None;
    for (n, writer) in writers.iter_mut().enumerate() {
        if let Some(t) = writer.peek(skipped)?
            && first.is_none_or(|(least, _)| t < least)
        {
            first = Some((t, n));
        }
    }
    let Some((_, n)) = first else { return Ok(None) };
    Ok(writers
        .get_mut(n)
        .and_then(|w| w.next.take())
        .map(|r| (n, r)))
}
