//! What lies in the folder of a rank, told by names. What a file is tells its content, later.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is looked for in a directory, for messages.
pub(super) const LOOKED_FOR: &str = "runtime_report.json, journals (journal/*.jsonl), memory snapshots (*.pickle), trace.json \
     and memory_timeline*.json, there and in its folders rankNNNNN";

/// What a compressed file's name ends with.
const COMPRESSED: [&str; 3] = [".gz", ".xz", ".zst"];

/// A file that may be an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Whether its name says what it is. Others may be somebody else's and are left out when they
    /// cannot be read.
    pub(super) sure: bool,
    /// For a folder with journals: the files of each process.
    pub(super) journal: Option<Vec<Vec<PathBuf>>>,
}

impl Candidate {
    /// A file.
    pub(super) fn file(path: PathBuf, sure: bool) -> Self {
        Self {
            path,
            sure,
            journal: None,
        }
    }
}

/// The inputs of one folder, the runtime report first, and what was passed over, for people.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) files: Vec<Candidate>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Report,
    /// `memory_snapshot.*` and `snapshot.*`, then others.
    Snapshot(u8),
    Trace,
    RawTimeline,
    Timeline,
}

fn kind(stem: &str) -> Option<Kind> {
    let pickle = [".pickle", ".pkl"]
        .iter()
        .find_map(|e| stem.strip_suffix(e));
    Some(match (stem, pickle) {
        ("runtime_report.json", _) => Kind::Report,
        ("memory_snapshot.json", _) | (_, Some("memory_snapshot")) => Kind::Snapshot(0),
        ("snapshot.json", _) | (_, Some("snapshot")) => Kind::Snapshot(1),
        (_, Some(_)) => Kind::Snapshot(2),
        ("trace.json", _) => Kind::Trace,
        _ if stem.ends_with(".pt.trace.json") => Kind::Trace,
        _ if stem.starts_with("memory_timeline") && stem.ends_with(".raw.json") => {
            Kind::RawTimeline
        }
        _ if stem.starts_with("memory_timeline") && stem.ends_with(".json") => Kind::Timeline,
        _ => return None,
    })
}

/// The name without what says that it is compressed.
fn stem(name: &str) -> &str {
    let end = COMPRESSED.iter().find_map(|e| name.strip_suffix(e));
    end.unwrap_or(name)
}

/// Looks into a folder, not into those below it.
pub(super) fn contents(folder: &Path) -> io::Result<Contents> {
    let mut found: Vec<(Kind, String)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if let Some(kind) = kind(stem(&name))
            && folder.join(&name).is_file()
        {
            found.push((kind, name));
        }
    }
    // By kind, then by name: `x.pickle` comes before `x.pickle.xz`.
    found.sort();
    let history = found.iter().find(|f| matches!(f.0, Kind::Snapshot(0 | 1)));
    let history = history.map(|f| f.1.clone());
    let raw: HashSet<String> = found
        .iter()
        .filter(|f| f.0 == Kind::RawTimeline)
        .map(|f| stem(&f.1).replace(".raw.json", ".json"))
        .collect();
    let mut seen = HashSet::new();
    let mut out = Contents::default();
    for (kind, name) in found {
        let shown = super::shown(&folder.join(&name));
        let stem = stem(&name).to_owned();
        let twice = !seen.insert(stem.clone());
        let why = match (kind, &history) {
            _ if twice => Some("the same file lies beside it in another form".to_owned()),
            (Kind::Trace, Some(snapshot)) => Some(format!(
                "{snapshot} tells more of the same; give the file itself to see it"
            )),
            (Kind::Timeline, _) if raw.contains(&stem) => {
                Some("the raw timeline beside it tells more of the same".to_owned())
            }
            _ => None,
        };
        match why {
            Some(why) => out.notes.push(format!("{shown} was left out: {why}")),
            None => out.files.push(Candidate::file(
                folder.join(name),
                matches!(kind, Kind::Report | Kind::Snapshot(0 | 1)),
            )),
        }
    }
    out.files
        .extend(super::journal::folder(&folder.join("journal")));
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("folder.pickle")).unwrap();
        let found = contents(dir.path()).unwrap();
        let name = |c: &Candidate| c.path.file_name().unwrap().to_str().unwrap().to_owned();
        let start = dir.path().display().to_string().len() + 1;
        (
            found.files.iter().map(name).collect(),
            found.notes.iter().map(|n| n[start..].to_owned()).collect(),
        )
    }

    #[test]
    fn files_are_told_by_their_names() {
        let (files, notes) = of(&[
            "truth.json",
            "summary.txt",
            "snapshot_at_oom.pickle",
            "snapshot.pickle.xz",
            "memory_snapshot.pkl",
            "runtime_report.json.gz",
            "memory_timeline.json",
        ]);
        assert_eq!(
            files,
            [
                "runtime_report.json.gz",
                "memory_snapshot.pkl",
                "snapshot.pickle.xz",
                "snapshot_at_oom.pickle",
                "memory_timeline.json"
            ]
        );
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn what_tells_less_of_the_same_is_left_out() {
        let (files, notes) = of(&[
            "snapshot.pickle",
            "snapshot.pickle.xz",
            "trace.json.gz",
            "memory_timeline.json.gz",
            "memory_timeline.raw.json.gz",
        ]);
        assert_eq!(files, ["snapshot.pickle", "memory_timeline.raw.json.gz"]);
        let names: Vec<&str> = notes.iter().filter_map(|n| n.split(' ').next()).collect();
        assert_eq!(
            names,
            [
                "snapshot.pickle.xz",
                "trace.json.gz",
                "memory_timeline.json.gz"
            ]
        );
        assert_eq!(of(&["trace.json"]).0, ["trace.json"]);
    }
}
