//! From arguments to inputs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Input, Place, names, shown};

/// The file that is looked for in directories.
const REPORT: &str = "runtime_report.json";
const LOOKED_FOR: &str = "runtime_report.json and rankNNNNN/runtime_report.json";

/// What the arguments gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of the arguments; those of a directory in the order of ranks.
    pub inputs: Vec<Input>,
    /// What was passed over, for people.
    pub notes: Vec<String>,
}

/// Finds the inputs of a call: files, `-` for stdin, and directories, which are searched for
/// `runtime_report.json` and `rankNNNNN/runtime_report.json`. What is given twice is taken once.
///
/// # Errors
/// [`Error::Open`] for a path that is not there, [`Error::Nothing`] for a directory without
/// reports.
pub fn find(arguments: &[PathBuf]) -> Result<Found, Error> {
    let mut out = Found::default();
    let mut seen = HashSet::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut add = |out: &mut Found, path: &Path| -> Result<(), Error> {
        let whole = fs::canonicalize(path).map_err(|e| cannot(path, e))?;
        if seen.insert(Some(whole.clone())) {
            paths.push(names::components(&whole));
            out.inputs.push(Input {
                place: Place::File(path.to_owned()),
                shown: shown(path),
                name: String::new(),
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
                });
            }
        } else if fs::metadata(argument)
            .map_err(|e| cannot(argument, e))?
            .is_dir()
        {
            let reports = search(argument, &mut out.notes)?;
            for report in reports {
                add(&mut out, &report)?;
            }
        } else {
            add(&mut out, argument)?;
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

/// The reports of a directory: its own, then those of its ranks in order of their number.
fn search(directory: &Path, notes: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
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
    let own = directory.join(REPORT);
    let mut out: Vec<PathBuf> = own.is_file().then_some(own).into_iter().collect();
    let mut lacking = Vec::new();
    for (_, path) in ranks {
        let report = path.join(REPORT);
        if report.is_file() {
            out.push(report);
        } else {
            lacking.push(format!("{} has no {REPORT} and was left out", shown(&path)));
        }
    }
    if out.is_empty() {
        return Err(Error::Nothing {
            shown: shown(directory),
            looked_for: LOOKED_FOR,
        });
    }
    notes.append(&mut lacking);
    Ok(out)
}

/// `rank00003` is 3.
fn rank_number(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_prefix("rank")?;
    let all = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all.then(|| digits.parse().ok()).flatten()
}
