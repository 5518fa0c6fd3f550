//! `memscope record`: any command, with the CUDA driver telling what it gives to it.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::{Args, ValueHint};
use serde_json::Value;

use super::{library, note, signals};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope record -- ./train --epochs 1
      journals in memscope_outputs/rank00000/journal/, one a process that uses CUDA
  memscope record -o out --backtrace=16777216 -- python train.py
      with native backtraces of allocations from 16 MiB on
  memscope record --poll -- python profile.py
      CUPTI is left to the program's own profiler; the device is asked ten times a second

Every process that the command starts is recorded once it initialises CUDA. What is seen and what is not is \
in docs/collector-record.md. The exit code is the command's; 128 and the signal's number where one ended it.")]
pub(super) struct Record {
    /// Where journals go [default: MEMSCOPE_DIR, or memscope_outputs]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Native backtraces of allocations from BYTES on [default with this: 1048576]
    #[arg(
        long,
        value_name = "BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1048576"
    )]
    backtrace: Option<u64>,
    /// Leave CUPTI to others: only ask the device ten times a second
    #[arg(long)]
    poll: bool,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND",
        value_hint = ValueHint::CommandWithArguments
    )]
    command: Vec<OsString>,
}

/// Runs the command; gives its exit code.
pub(super) fn record(a: &Record) -> Result<ExitCode> {
    let set = |name| {
        env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let directory = a
        .output
        .clone()
        .or_else(|| set("MEMSCOPE_DIR"))
        .unwrap_or_else(|| PathBuf::from("memscope_outputs"));
    // The program may change its folder.
    let directory = std::path::absolute(&directory)
        .with_context(|| format!("{}: not a folder's name", directory.display()))?;
    let (program, arguments) = a.command.split_first().context("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).env("MEMSCOPE_DIR", &directory);
    library::inject(&mut command)?;
    if let Some(from) = a.backtrace {
        command.env("MEMSCOPE_BACKTRACE", from.to_string());
    }
    if a.poll {
        command.env("MEMSCOPE_POLL", "1");
    }
    let before = journals(&directory);
    let status = signals::run(&mut command)
        .with_context(|| format!("{}: cannot be started", program.to_string_lossy()))?;
    let after = journals(&directory);
    tell(
        &directory,
        &after.difference(&before).cloned().collect::<Vec<_>>(),
    );
    Ok(signals::code(status))
}

/// The driver's journals in a folder.
fn journals(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = |folder: &Path| {
        let read = fs::read_dir(folder).into_iter().flatten();
        read.filter_map(|entry| Some(entry.ok()?.path()))
            .collect::<Vec<_>>()
    };
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str());
        name.is_some_and(|n| n.ends_with(".driver.core.jsonl"))
    };
    entries(directory)
        .iter()
        .flat_map(|rank| entries(&rank.join("journal")))
        .filter(ours)
        .collect()
}

/// Says what was recorded.
fn tell(directory: &Path, new: &[PathBuf]) {
    let Some(first) = new.first() else {
        note(
            "nothing was recorded: no process of the command initialised CUDA, or none could load the \
             library (it says why on stderr)",
        );
        return;
    };
    let reasons: BTreeSet<_> = new.iter().filter_map(|journal| refusal(journal)).collect();
    for reason in reasons {
        note(&format!(
            "allocations were not seen, the device was asked from time to time: {reason}"
        ));
    }
    let more = match new.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    note(&format!(
        "recorded {}{more}; memscope render {} shows it",
        first.display(),
        directory.display()
    ));
}

/// Why calls were not watched in a journal.
fn refusal(journal: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(journal).ok()?).lines();
    // Said in the first update, which follows the header.
    let records = lines
        .take(8)
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let mut sources = records.filter_map(|mut r| match r["sources"].take() {
        Value::Array(sources) => Some(sources),
        _ => None,
    });
    let callbacks = sources
        .next()?
        .into_iter()
        .find(|s| s["name"] == "cupti_callbacks")?;
    let refused = matches!(callbacks["status"].as_str(), Some("denied" | "unavailable"));
    let reason = callbacks["reason"].as_str().filter(|_| refused)?;
    Some(present::visible::short(reason, 300).into_owned())
}
