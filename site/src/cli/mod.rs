//! The command: one file a verb, [`args`] for what may be typed, [`failure`] for what is said when
//! something goes wrong.

mod args;
mod compare;
mod export;
mod failure;
mod library;
mod lines;
mod memory;
mod python;
mod record;
mod render;
mod run;
mod segments;
mod signals;
mod snapshot;
mod stats;
mod summary;
mod trace;
mod viewer;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{CommandFactory as _, Parser as _};
use present::Lang;
use report::model::Report;

use crate::input::{self, Found, Input, Reading};
use crate::output::Target;
use crate::progress::Progress;
use args::{Cli, Verb};
use failure::Usage;

/// Runs `memscope` with its arguments (the first is the program's name) and gives its exit code:
/// 0 done, 1 the input is bad or the output cannot be written, 2 the call is bad.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return failure::call(&error),
    };
    // The verbs whose exit code is another program's.
    match &cli.verb {
        Verb::Record(a) => {
            return record::record(a).unwrap_or_else(|error| failure::report(&error));
        }
        Verb::Run(a) => return run::run(a).unwrap_or_else(|error| failure::report(&error)),
        _ => {}
    }
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    match cli.verb {
        Verb::Render(a) => render::render(&a.inputs, a.output.as_deref(), &a.page),
        Verb::VisualizeRuntime(a) => render::render(&[a.report], a.out.as_deref(), &a.page),
        Verb::Record(a) => record::record(&a).map(drop),
        Verb::Run(a) => run::run(&a).map(drop),
        Verb::Summary(a) => summary::summary(&a),
        Verb::Stats(a) => stats::stats(&a),
        Verb::Trace(a) => trace::trace(&a),
        Verb::Segments(a) => segments::segments(&a),
        Verb::Memory(a) => memory::memory(&a),
        Verb::Lines(a) => lines::lines(&a),
        Verb::Export(a) => export::export(&a),
        Verb::Compare(a) => compare::compare(&a),
        Verb::Viewer(a) => viewer::viewer(&a),
        Verb::Completions(a) => {
            // Into memory first: the generator panics when a pipe is closed.
            let mut script = Vec::new();
            clap_complete::generate(a.shell, &mut Cli::command(), "memscope", &mut script);
            say(&script)
        }
    }
}

/// Writes on stdout.
fn say(text: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text)
        .and_then(|()| stdout.flush())
        .context("cannot write on stdout")
}

/// Says something that is no error on stderr.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "memscope: {text}");
}

/// Finds the inputs, and says what was passed over.
fn find(arguments: &[std::path::PathBuf]) -> Result<Vec<Input>> {
    let Found { inputs, notes } = input::find(arguments)?;
    notes.iter().for_each(|n| note(n));
    Ok(inputs)
}

/// Reads the inputs, and says where two of them claim the same rank.
fn read(inputs: &[Input], progress: &mut Progress) -> Result<Report> {
    let Reading { report, notes } = input::read(inputs, progress)?;
    if !notes.is_empty() {
        progress.clear();
        notes.iter().for_each(|n| note(n));
    }
    for pair in report.ranks.windows(2) {
        if let [a, b] = pair
            && let Some(number) = a.number().filter(|_| a.number() == b.number())
        {
            progress.clear();
            let name =
                |r: &report::model::Rank| present::visible::short(&r.source.name, 200).into_owned();
            note(&format!(
                "{} and {} both say they are rank {number}; both are kept",
                name(a),
                name(b)
            ));
        }
    }
    Ok(report)
}

/// An output must not take the place of an input.
fn refuse_clash(target: &Target, inputs: &[Input]) -> Result<()> {
    match target.clash(inputs) {
        Some(input) => Err(Usage(format!(
            "{} is an input and would be overwritten; name another file with -o",
            input.shown
        ))
        .into()),
        None => Ok(()),
    }
}

/// Says where a file is, and how large.
fn wrote(path: &std::path::Path, size: u64) -> Result<()> {
    say(format!(
        "wrote {} ({})\n",
        path.display(),
        present::units::bytes(size)
    )
    .as_bytes())
}

/// The language of a terminal.
fn terminal_lang(given: Option<args::LangArg>) -> Lang {
    given.map_or_else(
        || {
            let set = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
            let tag = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
            Lang::of_tag(&tag.unwrap_or_default())
        },
        Lang::from,
    )
}
