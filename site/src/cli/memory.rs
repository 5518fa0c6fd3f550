//! `memscope memory`.

use anyhow::Result;
use clap::{Args, ValueEnum};
use present::Lang;
use present::chart::Theme;
use present::export::{csv, markdown};
use present::verbs::{live, memory_json, memory_table, memory_text, svg};
use report::analyze::snapshot::group::By;

use super::failure::Usage;
use super::snapshot::{At, One, answered, put};

/// Groups on a terminal when nobody says how many.
const TOP: usize = 20;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope memory snapshot.pickle
      what is live when memory ran out, else at the peak, by stack
  memscope memory snapshot.pickle --by line --at end
  memscope memory snapshot.pickle --by category
      parameters, gradients, activations and so on, each with how sure that is
  memscope memory snapshot.pickle --format svg -o peak.svg
      a flame graph of the peak")]
pub(super) struct Memory {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    at: At,
    /// What to group by
    #[arg(long, value_name = "KEY", default_value = "stack")]
    by: ByArg,
    /// Groups at most [default: 20 for text, else all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// The whole stack
    Stack,
    /// File and line of the user's code
    Line,
    /// The innermost function outside torch
    Function,
    /// What the memory is for
    Category,
    /// Stream
    Stream,
    /// Memory pool
    Pool,
    /// Segment
    Segment,
}

impl From<ByArg> for By {
    fn from(by: ByArg) -> Self {
        match by {
            ByArg::Stack => Self::Stack,
            ByArg::Line => Self::Line,
            ByArg::Function => Self::Function,
            ByArg::Category => Self::Category,
            ByArg::Stream => Self::Stream,
            ByArg::Pool => Self::Pool,
            ByArg::Segment => Self::Span,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// For scripts
    Json,
    /// One row a group
    Csv,
    /// The same as a Markdown table
    #[value(alias = "md")]
    Markdown,
    /// Folded stacks and bytes
    Folded,
    /// The same, drawn as a flame graph
    Svg,
}

/// What is live.
pub(super) fn memory(arguments: &Memory) -> Result<()> {
    let by = By::from(arguments.by);
    let stacks = matches!(arguments.format, Form::Folded | Form::Svg);
    if stacks && (by != By::Stack || arguments.top.is_some()) {
        return Err(Usage(
            "--format folded and svg show every stack: leave out --by and --top".to_owned(),
        )
        .into());
    }
    answered(&arguments.one, |a, lang, out| {
        let at = arguments.at.or_first(a)?;
        let top = arguments.top;
        let answer = match arguments.format {
            Form::Text => memory_text(a, at, by, Some(top.unwrap_or(TOP)), lang),
            Form::Json => memory_json(a, at, by, top),
            Form::Csv => csv(&memory_table(a, at, by, top, None), None, Lang::En),
            Form::Markdown => markdown(&memory_table(a, at, by, top, Some(lang)), None, lang),
            Form::Folded => live(a, at, true).text(),
            Form::Svg => {
                let title = format!("{}: live at {at}", a.rank.source.name);
                svg(&live(a, at, false), &title, &Theme::LIGHT)?
            }
        };
        put(out, &answer)
    })
}
