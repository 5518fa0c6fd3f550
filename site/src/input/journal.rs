//! Journals: several files are one input.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use report::model::Report;
use report::read::journal::{self, FileName, Part, processes};

use super::folder::Candidate;
use super::{Error, Input, shown};
use crate::progress::Progress;

/// The names of the journal files in a folder; none where there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|e| e.file_name().into_string().ok());
    names.filter(|n| FileName::of(n).is_some()).collect()
}

/// The files of each process that left a journal in a folder, in order of their starts.
#[must_use]
pub fn files(folder: &Path) -> Vec<Vec<PathBuf>> {
    let names = names(folder);
    let path = |i: usize| names.get(i).map(|n| folder.join(n));
    processes(&names)
        .into_iter()
        .map(|of| of.into_iter().filter_map(path).collect())
        .collect()
}

/// A folder's journals as one input.
pub(super) fn folder(folder: &Path) -> Option<Candidate> {
    let files = files(folder);
    (!files.is_empty()).then(|| Candidate {
        path: folder.to_owned(),
        sure: true,
        journal: Some(files),
    })
}

/// The journal that a file is of.
pub(super) fn of_file(path: &Path) -> Option<Candidate> {
    FileName::of(path.file_name()?.to_str()?)?;
    let folder = path.parent()?;
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let own = path.file_name();
    let files = files(folder)
        .into_iter()
        .find(|of| of.iter().any(|f| f.file_name() == own))?;
    Some(Candidate {
        path: path.to_owned(),
        sure: true,
        journal: Some(vec![files]),
    })
}

/// Reads the journals of a rank as one rank.
pub(super) fn read(
    input: &Input,
    processes: &[Vec<PathBuf>],
    progress: &mut Progress,
) -> Result<Report, Error> {
    let mut ranks = Vec::new();
    let mut first_error = None;
    for files in processes {
        match one(input, files, progress) {
            Ok(rank) => ranks.push(rank),
            // A process that was stopped before its first record takes nothing from the others.
            Err(error @ Error::Report(report::Error::Malformed { .. })) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    match (journal::main_of(ranks), first_error) {
        (Some(mut rank), _) => {
            rank.source.name.clone_from(&input.name);
            Ok(Report::of(vec![rank]))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Report::default()),
    }
}

fn one(
    input: &Input,
    files: &[PathBuf],
    progress: &mut Progress,
) -> Result<report::model::Rank, Error> {
    let mut parts = Vec::new();
    let mut total = 0;
    for path in files {
        let cannot = |source| Error::Open {
            shown: shown(path),
            source,
        };
        let file = match File::open(path) {
            // The recorder deletes old parts while it runs.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            opened => opened.map_err(cannot)?,
        };
        total += file.metadata().map_err(cannot)?.len();
        let name = path.file_name().unwrap_or_default();
        parts.push(Part {
            name: name.to_string_lossy().into_owned(),
            source: Box::new(file),
        });
    }
    progress.begin(&input.shown, Some(total));
    let name = files
        .first()
        .map_or_else(|| input.shown.clone(), |p| shown(p));
    Ok(journal::read(&name, parts)?)
}
