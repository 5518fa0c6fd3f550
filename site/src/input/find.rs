//! From arguments to inputs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{Candidate, LOOKED_FOR, contents};
use super::{Error, Input, Place, journal, names, shown};

/// What the arguments gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of the arguments; those of a directory in the order of ranks.
    pub inputs: Vec<Input>,
    /// What was passed over, for people.
    pub notes: Vec<String>,
}

/// Finds the inputs of a call: files, `-` for stdin, and directories, which are searched, and so are
/// their folders `rankNNNNN`, for runtime reports, memory snapshots and what the profiler writes.
/// What is given twice is taken once.
///
/// # Errors
/// [`Error::Open`] for a path that is not there, [`Error::Nothing`] for a directory without
/// reports.
pub fn find(arguments: &[PathBuf]) -> Result<Found, Error> {
    let mut out = Found::default();
    let mut seen = HashSet::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut add = |out: &mut Found, file: Candidate| -> Result<(), Error> {
        let whole = fs::canonicalize(&file.path).map_err(|e| cannot(&file.path, e))?;
        if seen.insert(whole.clone()) {
            paths.push(names::components(&whole));
            let folder = whole.parent().map(Path::to_owned);
            out.inputs.push(Input {
                shown: shown(&file.path),
                place: match file.journal {
                    Some(processes) => Place::Journal(processes),
                    None => Place::File(file.path),
                },
                name: String::new(),
                rank: folder.as_deref().and_then(rank_number),
                folder,
                sure: file.sure,
            });
        }
        Ok(())
    };
    let mut stdin = false;
    for argument in arguments {
        if argument.as_os_str() == "-" {
            stdin = true;
            if !out.inputs.iter().any(|i| i.place == Place::Stdin) {
                out.inputs.push(Input {
                    place: Place::Stdin,
                    shown: "stdin".to_owned(),
                    name: "stdin".to_owned(),
                    folder: None,
                    rank: None,
                    sure: true,
                });
            }
        } else if fs::metadata(argument)
            .map_err(|e| cannot(argument, e))?
            .is_dir()
        {
            for file in search(argument, &mut out.notes)? {
                add(&mut out, file)?;
            }
        } else if let Some(file) = journal::of_file(argument) {
            // One file of a journal stands for the process's whole journal.
            add(&mut out, file)?;
        } else {
            add(&mut out, Candidate::file(argument.clone(), true))?;
        }
    }
    let mut names = names::apart(&paths, stdin).into_iter();
    for input in out.inputs.iter_mut().filter(|i| i.place != Place::Stdin) {
        input.name = names.next().unwrap_or_default();
    }
    Ok(out)
}

fn cannot(path: &Path, source: std::io::Error) -> Error {
    Error::Open {
        shown: shown(path),
        source,
    }
}

/// The inputs of a directory: its own, then those of its ranks in order of their number.
fn search(directory: &Path, notes: &mut Vec<String>) -> Result<Vec<Candidate>, Error> {
    let mut ranks: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory).map_err(|e| cannot(directory, e))? {
        let path = entry.map_err(|e| cannot(directory, e))?.path();
        if let Some(number) = rank_number(&path)
            && path.is_dir()
        {
            ranks.push((number, path));
        }
    }
    ranks.sort();
    let mut own = contents(directory).map_err(|e| cannot(directory, e))?;
    let mut out = std::mem::take(&mut own.files);
    out.extend(journal::folder(directory));
    let mut said = own.notes;
    for (_, path) in ranks {
        let mut inside = contents(&path).map_err(|e| cannot(&path, e))?;
        if inside.files.is_empty() {
            said.push(format!(
                "{} has no report, snapshot or trace and was left out",
                shown(&path)
            ));
        }
        out.append(&mut inside.files);
        said.append(&mut inside.notes);
    }
    if out.is_empty() {
        return Err(Error::Nothing {
            shown: shown(directory),
            looked_for: LOOKED_FOR,
        });
    }
    notes.append(&mut said);
    Ok(out)
}

/// `rank00003` is 3.
fn rank_number(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_prefix("rank")?;
    let all = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all.then(|| digits.parse().ok()).flatten()
}
