//! `memscope segments`.

use anyhow::Result;
use clap::{Args, ValueEnum};
use present::Lang;
use present::chart::Theme;
use present::export::csv;
use present::verbs::{blocks, segments_json, segments_table, segments_text, svg};
use report::analyze::snapshot::Instant;

use super::snapshot::{At, One, answered, instant, put};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope segments snapshot.pickle --at oom
  memscope segments snapshot.pickle --format svg -o segments.svg
      reserved memory as a flame graph: stream, segment, state, stack")]
pub(super) struct Segments {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    at: At,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// For scripts
    Json,
    /// One row a block
    Csv,
    /// Folded stacks: stream;segment;state;stack and bytes
    Folded,
    /// The same, drawn
    Svg,
}

/// Every segment with its blocks.
pub(super) fn segments(arguments: &Segments) -> Result<()> {
    answered(&arguments.one, |a, lang, out| {
        let at = instant(a, arguments.at.at.as_deref(), Instant::End)?;
        let answer = match arguments.format {
            Form::Text => segments_text(a, at, lang),
            Form::Json => segments_json(a, at),
            Form::Csv => csv(&segments_table(a, at), None, Lang::En),
            Form::Folded => blocks(a, at, true).text(),
            Form::Svg => {
                let title = format!("{}: reserved at {at}", a.rank.source.name);
                svg(&blocks(a, at, false), &title, &Theme::LIGHT)?
            }
        };
        put(out, &answer)
    })
}
