//! `memscope lines`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};
use present::Lang;
use present::export::{csv, markdown};
use present::verbs::{Sources, files, lines_json, lines_table, lines_text};

use super::snapshot::{At, One, answered, put};

/// Larger files are no source that anyone wrote by hand, bytes.
const LARGEST: u64 = 8 << 20;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope lines snapshot.pickle
      current at the out-of-memory or the peak; peak, allocated and freed up to then
  memscope lines snapshot.pickle --at end --source ~/train
      with the source from ~/train, where the recorded paths are of another machine")]
pub(super) struct Lines {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    at: At,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: Form,
    /// Look for source files below this directory, too, by the end of their recorded path
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    source: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// For scripts
    Json,
    /// One row a line
    Csv,
    /// The same as a Markdown table
    #[value(alias = "md")]
    Markdown,
}

/// Memory by line of code.
pub(super) fn lines(arguments: &Lines) -> Result<()> {
    answered(&arguments.one, |a, lang, out| {
        let at = arguments.at.or_first(a)?;
        let sources: Sources = files(a, at)
            .into_iter()
            .filter_map(|file| {
                let text = source(&file, &arguments.source)?;
                Some((file, text.lines().map(str::to_owned).collect()))
            })
            .collect();
        let answer = match arguments.format {
            Form::Text => lines_text(a, at, &sources, lang),
            Form::Json => lines_json(a, at, &sources),
            Form::Csv => csv(&lines_table(a, at, &sources), None, Lang::En),
            Form::Markdown => markdown(&lines_table(a, at, &sources), None, lang),
        };
        put(out, &answer)
    })
}

/// The text of a recorded file: where the longest end of its path is found below one of
/// `directories`, else as it was recorded.
fn source(recorded: &str, directories: &[PathBuf]) -> Option<String> {
    let parts: Vec<&str> = recorded
        .split(['/', '\\'])
        .filter(|p| !p.is_empty() && *p != "." && !p.ends_with(':'))
        .collect();
    // A path that climbs could leave the directory that was named.
    if recorded.starts_with('<') || parts.contains(&"..") {
        return None;
    }
    let below = (0..parts.len()).flat_map(|cut| {
        let end: PathBuf = parts.iter().skip(cut).collect();
        directories.iter().map(move |d| d.join(&end))
    });
    below
        .chain(
            Path::new(recorded)
                .is_absolute()
                .then(|| PathBuf::from(recorded)),
        )
        .find_map(|path| {
            let meta = fs::metadata(&path).ok()?;
            if !meta.is_file() || meta.len() > LARGEST {
                return None;
            }
            fs::read(&path)
                .ok()
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_longest_end_of_a_path_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        fs::create_dir_all(root.join("train")).unwrap();
        fs::write(root.join("train/a.py"), "nested").unwrap();
        fs::write(root.join("a.py"), "flat").unwrap();
        let dirs = [root];
        assert_eq!(source("/home/u/train/a.py", &dirs).unwrap(), "nested");
        assert_eq!(source("D:\\work\\train\\a.py", &dirs).unwrap(), "nested");
        assert_eq!(source("/elsewhere/a.py", &dirs).unwrap(), "flat");
        assert_eq!(source("/elsewhere/../a.py", &dirs), None);
        assert_eq!(source("<stdin>", &dirs), None);
        assert_eq!(source("/nowhere/b.py", &dirs), None);
    }
}
