//! From inputs to one report.

use std::fs::File;
use std::io::{Cursor, Read};

use report::container::Container;
use report::model::{Rank, Report};
use report::read::{
    DETECT_BYTES, Format, Input as Bytes, html, read as read_bytes, read_runtime_report,
};

use super::{Error, Input, Place};
use crate::progress::Progress;

/// Reads inputs of any supported kind, told by their content, into one report. JSON is read as it
/// comes, with memory for its tables only.
///
/// # Errors
/// [`Error::Open`] and [`Error::Report`], for the first input that fails.
pub fn read(inputs: &[Input], progress: &mut Progress) -> Result<Report, Error> {
    let mut read: Vec<(usize, Rank)> = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        let ranks = one(input, progress)?.ranks;
        read.extend(ranks.into_iter().map(|rank| (n, rank)));
    }
    tell_apart(inputs, &mut read);
    Ok(Report::of(read.into_iter().map(|(_, rank)| rank).collect()))
}

fn one(input: &Input, progress: &mut Progress) -> Result<Report, Error> {
    match &input.place {
        Place::Stdin => {
            progress.begin(&input.shown, None);
            content(input, std::io::stdin().lock(), progress)
        }
        Place::File(path) => {
            let cannot = |source| Error::Open {
                shown: input.shown.clone(),
                source,
            };
            let file = File::open(path).map_err(cannot)?;
            let meta = file.metadata().map_err(cannot)?;
            progress.begin(&input.shown, meta.is_file().then_some(meta.len()));
            content(input, file, progress)
        }
    }
}

fn content(input: &Input, source: impl Read, progress: &mut Progress) -> Result<Report, Error> {
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
    if format == Format::RuntimeReport {
        let mut report = read_runtime_report(name, Cursor::new(head).chain(source))?;
        for rank in &mut report.ranks {
            rank.source.name.clone_from(&input.name);
        }
        return Ok(report);
    }
    let mut bytes = head;
    source
        .read_to_end(&mut bytes)
        .map_err(|e| failed(bytes.len(), e))?;
    // Containers keep the names that their ranks got when they were first read.
    Ok(match format {
        Format::Container => Container::open(name, bytes)?.report()?,
        Format::Html => {
            let inside = html::container(name, &bytes)?;
            drop(bytes);
            Container::open(name, inside)?.report()?
        }
        _ => read_bytes(Bytes {
            name,
            bytes: &bytes,
        })?,
    })
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
