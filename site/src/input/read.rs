//! From inputs to one report.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use report::container::Container;
use report::merge::{newest, together};
use report::model::{Rank, Report, Value};
use report::read::{DETECT_BYTES, Format, html, read_runtime_report, read_sized};

use super::{Error, Input, Place, journal};
use crate::progress::Progress;

/// What reading gave.
#[derive(Debug, Default)]
pub struct Reading {
    /// The ranks.
    pub report: Report,
    /// What was left out, for people.
    pub notes: Vec<String>,
}

/// Reads inputs of any supported kind, told by their content, into one report. Reports, snapshots
/// and traces are read as they come, with memory for their tables only. A runtime report, a
/// snapshot and a memory timeline of one folder become one rank.
///
/// # Errors
/// [`Error::Open`] and [`Error::Report`], for the first input that fails.
pub fn read(inputs: &[Input], progress: &mut Progress) -> Result<Reading, Error> {
    let mut read: Vec<Part> = Vec::new();
    let mut out = Reading::default();
    let mut first_error = None;
    for (n, input) in inputs.iter().enumerate() {
        match one(input, progress) {
            Ok((report, whole)) => {
                let part = |rank| Part {
                    input: n,
                    whole,
                    rank,
                };
                read.extend(report.ranks.into_iter().map(part));
            }
            Err(error) if !input.sure => {
                out.notes
                    .push(format!("{} was left out: {error}", input.shown));
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = first_error.filter(|_| read.is_empty()) {
        return Err(error);
    }
    let mut read = by_folder(inputs, read, &mut out.notes);
    for (n, rank) in &mut read {
        let number = inputs.get(*n).and_then(|i| i.rank);
        if let Some(number) = number.and_then(|n| i64::try_from(n).ok())
            && rank.number().is_none()
        {
            rank.metadata.set("rank".to_owned(), Value::Int(number));
        }
    }
    tell_apart(inputs, &mut read);
    out.report = Report::of(read.into_iter().map(|(_, rank)| rank).collect());
    Ok(out)
}

/// A rank and the input that it came from.
struct Part {
    input: usize,
    /// From a container: what belongs together is together already.
    whole: bool,
    rank: Rank,
}

/// Puts together what lies in one folder. Ranks keep the order of their first inputs.
fn by_folder(inputs: &[Input], read: Vec<Part>, notes: &mut Vec<String>) -> Vec<(usize, Rank)> {
    let mut groups: Vec<(usize, Option<&Path>, Vec<Rank>)> = Vec::new();
    for part in read {
        let input = inputs.get(part.input).filter(|_| !part.whole);
        let folder = input.and_then(|i| i.folder.as_deref());
        let same = |g: &&mut (usize, Option<&Path>, Vec<Rank>)| folder.is_some() && g.1 == folder;
        match groups.iter_mut().find(same) {
            Some(group) => group.2.push(part.rank),
            None => groups.push((part.input, folder, vec![part.rank])),
        }
    }
    let each = groups.into_iter();
    each.flat_map(|(n, _, ranks)| {
        let (ranks, left) = newest(ranks);
        notes.extend(left.iter().map(|name| {
            let name = present::visible::short(name, 200);
            format!("{name} was left out: the journal beside it is newer; give the file itself to see it")
        }));
        together(ranks).into_iter().map(move |r| (n, r))
    })
    .collect()
}

/// The ranks of one input, and whether it is a container.
fn one(input: &Input, progress: &mut Progress) -> Result<(Report, bool), Error> {
    match &input.place {
        Place::Stdin => {
            progress.begin(&input.shown, None);
            content(input, std::io::stdin().lock(), None, progress)
        }
        Place::Journal(processes) => Ok((journal::read(input, processes, progress)?, false)),
        Place::File(path) => {
            let cannot = |source| Error::Open {
                shown: input.shown.clone(),
                source,
            };
            let file = File::open(path).map_err(cannot)?;
            let meta = file.metadata().map_err(cannot)?;
            let size = meta.is_file().then_some(meta.len());
            progress.begin(&input.shown, size);
            content(input, file, size, progress)
        }
    }
}

fn content(
    input: &Input,
    source: impl Read,
    size: Option<u64>,
    progress: &mut Progress,
) -> Result<(Report, bool), Error> {
    let mut source = progress.count(source);
    let name = &input.shown;
    let failed = |offset: usize, source| report::Error::Io {
        name: name.clone(),
        offset: offset as u64,
        source,
    };
    let mut head = Vec::new();
    (&mut source)
        .take(DETECT_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(|e| failed(head.len(), e))?;
    let format = Format::detect(name, &head)?;
    // Containers keep the names that their ranks got when they were first read.
    if matches!(format, Format::Container | Format::Html) {
        let mut bytes = head;
        source
            .read_to_end(&mut bytes)
            .map_err(|e| failed(bytes.len(), e))?;
        let bytes = match format {
            Format::Html => html::container(name, &bytes)?,
            _ => bytes,
        };
        return Ok((Container::open(name, bytes)?.report()?, true));
    }
    let source = Cursor::new(head).chain(source);
    let mut report = match format {
        Format::RuntimeReport => read_runtime_report(name, source)?,
        _ => read_sized(name, source, size)?,
    };
    let mut whole = false;
    for rank in &mut report.ranks {
        if rank.source.name == *name {
            rank.source.name.clone_from(&input.name);
        } else {
            // A container that was compressed.
            whole = true;
        }
    }
    Ok((report, whole))
}

/// Ranks from several containers may have the same name: then the input's name goes before it.
fn tell_apart(inputs: &[Input], read: &mut [(usize, Rank)]) {
    let names: Vec<(usize, String)> = read
        .iter()
        .map(|(n, rank)| (*n, rank.source.name.clone()))
        .collect();
    for (n, rank) in read {
        let taken = names
            .iter()
            .any(|(other, name)| other != n && *name == rank.source.name);
        if let Some(input) = inputs.get(*n)
            && taken
            && input.name != rank.source.name
        {
            rank.source.name = format!("{}: {}", input.name, rank.source.name);
        }
    }
}
