//! Reads journals as a stranger would: with a JSON parser, line by line.

#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Every record of every journal under a folder, by `seq`, and how many bytes hold no whole line.
pub fn records(folder: &Path) -> (Vec<Value>, usize) {
    let mut all = Vec::new();
    let mut torn = 0;
    for file in files(folder) {
        let bytes = fs::read(&file).unwrap();
        let whole = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        torn += bytes.len() - whole;
        for line in bytes[..whole]
            .split(|b| *b == b'\n')
            .filter(|l| !l.is_empty())
        {
            all.push(serde_json::from_slice::<Value>(line).unwrap());
        }
    }
    all.sort_by_key(|r| r["seq"].as_u64().unwrap());
    (all, torn)
}

/// The files of every journal under a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(ranks) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = ranks
        .flat_map(|rank| fs::read_dir(rank.unwrap().path().join("journal")).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The records of one kind.
pub fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|r| r["k"] == kind).collect()
}
