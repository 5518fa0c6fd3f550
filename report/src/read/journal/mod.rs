//! The journal of a recorder (`docs/journal.md`): what a run leaves while it goes, whole up to its last
//! record however it ended.
//!
//! A reader never refuses what follows the first record: what is torn, unknown or missing is counted.

mod build;
mod events;
mod keys;
mod line;
mod names;
mod order;

use std::io::Read;

use crate::Error;
use crate::error::Result;
use crate::model::recording::Other;
use crate::model::{Rank, Source};

pub use names::{FileName, processes};

/// The name of this format in [`Source::format`].
pub const FORMAT: &str = "journal";

/// The newest version of the journal that is read.
pub const VERSION: u64 = 1;

/// A file of a journal.
pub struct Part<'a> {
    /// Its name: tells writer and order ([`FileName`]). Any other name is a file that stands alone.
    pub name: String,
    /// Its bytes.
    pub source: Box<dyn Read + 'a>,
}

impl std::fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("name", &self.name).finish()
    }
}

/// Whether an input begins as a journal does: its first key is `k`.
#[must_use]
pub(crate) fn begins(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|r| r.starts_with(b"\"k\""))
}

/// Reads the files of one process as one rank. `name` is used in messages and as the source's name.
///
/// # Errors
/// [`Error::Io`] from a source; [`Error::Malformed`] when there is no record at all, or when the
/// journal is of a newer version.
pub fn read(name: &str, parts: Vec<Part<'_>>) -> Result<Rank> {
    let mut build = build::Build::default();
    let mut writers = writers(parts);
    loop {
        let next = order::next(&mut writers, &mut build.skipped);
        let next = next.map_err(|source| Error::Io {
            name: name.to_owned(),
            offset: build.read,
            source,
        })?;
        let Some((n, record)) = next else { break };
        let writer = writers.get(n).map_or("", |w| w.name.as_str()).to_owned();
        if record.kind == "header"
            && let Some(v) = record.number("v").filter(|&v| v > VERSION)
        {
            return Err(Error::Malformed {
                name: name.to_owned(),
                offset: record.offset,
                expected: format!("a journal of version {VERSION} or older"),
                found: format!("version {v}"),
                advice: "use a newer memscope".to_owned(),
            });
        }
        build.record(&writer, &record);
    }
    for writer in &writers {
        build.missing(writer.missing, writer.missing_at);
    }
    let mut bytes = 0;
    let mut crc = crc32fast::Hasher::new();
    for file in writers.into_iter().flat_map(order::Writer::files) {
        bytes += file.offset;
        crc.combine(&file.crc);
    }
    if build.records == 0 {
        return Err(Error::Malformed {
            name: name.to_owned(),
            offset: 0,
            expected: "a record of a journal".to_owned(),
            found: "none that is whole".to_owned(),
            advice: "the recorder was stopped before it wrote anything, or this is another file"
                .to_owned(),
        });
    }
    let mut rank = build.finish();
    rank.source = Source {
        name: name.to_owned(),
        format: FORMAT.to_owned(),
        bytes,
        crc32: crc.finalize(),
    };
    Ok(rank)
}

/// The files by their writers.
fn writers(parts: Vec<Part<'_>>) -> Vec<order::Writer<'_>> {
    let mut found: Vec<(FileName, line::Lines<'_>)> = Vec::new();
    let mut out = Vec::new();
    for part in parts {
        let lines = line::Lines::new(part.source);
        match FileName::of(&part.name) {
            Some(name) => found.push((name, lines)),
            None => out.push(order::Writer::new(String::new(), vec![lines], Vec::new())),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let mut groups: Vec<(FileName, [Vec<line::Lines<'_>>; 2])> = Vec::new();
    for (name, lines) in found {
        let events = usize::from(name.part.is_some());
        let same = |g: &&mut (FileName, [Vec<line::Lines<'_>>; 2])| {
            let of = &g.0;
            (&of.host, of.pid, of.start, &of.writer)
                == (&name.host, name.pid, name.start, &name.writer)
        };
        match groups.iter_mut().find(same) {
            Some((_, chains)) => chains[events].push(lines),
            None => {
                let mut chains = [Vec::new(), Vec::new()];
                chains[events].push(lines);
                groups.push((name, chains));
            }
        }
    }
    for (name, [core, events]) in groups {
        out.push(order::Writer::new(name.writer, core, events));
    }
    out
}

/// Of several processes that left a journal for one rank (a restart, a child that did the work) the one
/// with most events, the latest of equals; it names the others. Ranks come in order of their starts.
#[must_use]
pub fn main_of(mut ranks: Vec<Rank>) -> Option<Rank> {
    let most = (0..ranks.len()).max_by_key(|&i| ranks.get(i).map_or(0, |r| r.events.len()))?;
    let mut rank = ranks.remove(most);
    if let Some(recording) = &mut rank.recording {
        recording.others = ranks
            .iter()
            .filter_map(|r| {
                let other = r.recording.as_ref()?;
                Some(Other {
                    host: other.process.host.clone(),
                    pid: other.process.pid,
                    complete: other.complete,
                    events: r.events.len() as u64,
                })
            })
            .collect();
    }
    Some(rank)
}
