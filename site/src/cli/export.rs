//! `memscope export`.

use std::io::Write;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use present::Lang;
use present::export::{write_csv, write_json};
use present::parquet;
use present::rows::Rows;
use present::verbs::{
    AllocationRows, CurveRows, EntryRows, StackRows, live, made, perfetto, speedscope,
};

use super::failure::Usage;
use super::snapshot::{At, One, answered, put};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope export snapshot.pickle -o peak.speedscope.json --format speedscope
  memscope export snapshot.pickle -o trace.json --format perfetto
      memory over time with annotations, for ui.perfetto.dev
  memscope export snapshot.pickle -o allocations.parquet --format parquet
      every allocation with size, birth, end, category, line and stack
  memscope export snapshot.pickle --what events --format csv | head")]
pub(super) struct Export {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    at: At,
    /// The format
    #[arg(short, long, value_name = "FORMAT")]
    format: Form,
    /// What to export [default: live for profiles, else allocations]
    #[arg(long, value_name = "WHAT")]
    what: Option<What>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A profile of live or allocated bytes for speedscope.app
    Speedscope,
    /// Folded stacks and bytes, for any flame graph tool
    Folded,
    /// Counters, annotations and marks for ui.perfetto.dev (Chrome's JSON trace)
    Perfetto,
    /// A table as CSV
    Csv,
    /// A table as JSON
    Json,
    /// A table as Apache Parquet
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Allocations that are live at an instant (--at)
    Live,
    /// Every allocation
    Allocations,
    /// Every entry of the history
    Events,
    /// Requested, allocated and reserved bytes after every entry
    Curve,
    /// The frames of every stack
    Stacks,
}

/// Writes what other programs read.
pub(super) fn export(arguments: &Export) -> Result<()> {
    let profile = matches!(arguments.format, Form::Speedscope | Form::Folded);
    let what = arguments.what.unwrap_or(match arguments.format {
        _ if profile => What::Live,
        Form::Perfetto => What::Curve,
        _ => What::Allocations,
    });
    let fits = match arguments.format {
        Form::Speedscope | Form::Folded => matches!(what, What::Live | What::Allocations),
        Form::Perfetto => what == What::Curve,
        Form::Csv | Form::Json | Form::Parquet => true,
    };
    if !fits {
        return Err(Usage(
            "--what: speedscope and folded take live or allocations, perfetto takes curve"
                .to_owned(),
        )
        .into());
    }
    if arguments.at.at.is_some() && what != What::Live {
        return Err(Usage("--at goes with --what live only".to_owned()).into());
    }
    answered(&arguments.one, |a, lang, out| {
        let at = arguments.at.or_first(a)?;
        let format = arguments.format;
        match (format, what) {
            (Form::Speedscope, What::Live) => put(out, &speedscope(a, Some(at), lang)),
            (Form::Speedscope, _) => put(out, &speedscope(a, None, lang)),
            (Form::Folded, What::Live) => put(out, &live(a, at, true).text()),
            (Form::Folded, _) => put(out, &made(a).text()),
            (Form::Perfetto, _) => perfetto(a, out).context("cannot write the trace"),
            (_, What::Live) => table(&AllocationRows::new(a, a.live_at(at)), format, out),
            (_, What::Allocations) => table(&AllocationRows::all(a), format, out),
            (_, What::Events) => table(&EntryRows::all(a), format, out),
            (_, What::Curve) => table(&CurveRows(a), format, out),
            (_, What::Stacks) => table(&StackRows(a), format, out),
        }
    })
}

fn table(rows: &dyn Rows, format: Form, out: &mut dyn Write) -> Result<()> {
    match format {
        Form::Json => write_json(rows, Lang::En, out),
        Form::Parquet => parquet::write(rows, Lang::En, out),
        _ => write_csv(rows, Lang::En, out),
    }
    .context("cannot write the table")
}
