//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use present::Lang;

/// Shows where GPU memory goes in training and inference.
#[derive(Debug, Parser)]
#[command(name = "memscope", version, after_long_help = HELP)]
#[command(
    arg_required_else_help = true,
    propagate_version = true,
    infer_subcommands = false
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

const HELP: &str = "Examples:
  memscope render memscope_outputs/            every rank of a run, as one HTML file
  memscope render runtime_report.json --open   write runtime_report.html and show it
  memscope summary runtime_report.json         the answer on the terminal
  memscope memory snapshot.pickle              what a PyTorch memory snapshot holds at its peak
  memscope viewer -o viewer.html               a page on which reports are dropped

Exit codes: 0 done, 1 the input is bad or the output cannot be written, 2 the call is bad.";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Write one HTML file that opens anywhere
    Render(Render),
    /// Write the HTML of one report (the name that the Python MemScope gave this)
    VisualizeRuntime(VisualizeRuntime),
    /// Answer on the terminal: peak, what holds it, phases, top events, modules
    Summary(Summary),
    /// How reserved memory is used, of a memory snapshot: totals, segments in pages, pools, findings
    Stats(super::stats::Stats),
    /// The history of a memory snapshot, much like Python, with running totals
    Trace(super::trace::Trace),
    /// Every segment of a memory snapshot with its blocks, and what pins it
    Segments(super::segments::Segments),
    /// What is live in a memory snapshot: at the out-of-memory, the peak or any instant
    Memory(super::memory::Memory),
    /// Memory by line of code, as a line profiler prints it, of a memory snapshot
    Lines(super::lines::Lines),
    /// Write a memory snapshot for other programs: speedscope, Perfetto, CSV, JSON, Parquet
    Export(super::export::Export),
    /// Write the viewer without data, onto which reports are dropped
    Viewer(Viewer),
    /// Print completions for a shell
    Completions(Completions),
}

/// How a page is made.
#[derive(Debug, Args)]
pub(super) struct PageOptions {
    /// Show the page in the browser when it is written
    #[arg(long)]
    pub(super) open: bool,
    /// Language of the part that shows without scripts [default: en]; the page itself follows the
    /// browser
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<LangArg>,
    /// Write pages above 100 MiB, too
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope render memscope_outputs/
      all ranks (rankNNNNN/runtime_report.json) as memscope_outputs/memscope.html
  memscope render rank00000/runtime_report.json
      writes rank00000/runtime_report.html
  memscope render rank0.json rank1.json -o run.html
      two ranks of one run, with a rank selector
  zcat runtime_report.json.gz | memscope render - -o run.html
      from a pipe
  memscope render memscope_outputs/ -o run.memscope
      the tables alone, packed; `render`, `summary` and the viewer read it")]
pub(super) struct Render {
    /// Reports: runtime_report.json, .memscope, HTML of memscope, a directory with them, or - for
    /// stdin. What they are is told by their content
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(super) inputs: Vec<PathBuf>,
    /// Where to write: a file, or - for stdout. A name that ends in .memscope gets the packed tables
    /// instead of HTML [default: beside the first input]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) page: PageOptions,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope visualize-runtime --report memscope_outputs/rank00000/runtime_report.json
      writes memscope_outputs/rank00000/runtime_report.html
  memscope visualize-runtime --report runtime_report.json --out run.html")]
pub(super) struct VisualizeRuntime {
    /// The report, as for `memscope render`
    #[arg(long, value_name = "REPORT", value_hint = ValueHint::AnyPath)]
    pub(super) report: PathBuf,
    /// Where to write [default: beside the report, with .html]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) page: PageOptions,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope summary runtime_report.json
  memscope summary memscope_outputs/ --format markdown -o runtime_report.md
  memscope summary run.html --format json | jq '.ranks[].peak.allocated.bytes'")]
pub(super) struct Summary {
    /// Reports, as for `memscope render`
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(super) inputs: Vec<PathBuf>,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
    /// Where to write: a file, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Language [default: that of the terminal, from LC_ALL, LC_MESSAGES or LANG]
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<LangArg>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope viewer -o memscope-viewer.html
      open it in a browser and drop a report on it; nothing leaves the page")]
pub(super) struct Viewer {
    /// Where to write: a file, or - for stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,
    /// Language that the page states [default: en]; it follows the browser
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<LangArg>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope completions bash > ~/.local/share/bash-completion/completions/memscope
  memscope completions zsh > ~/.zfunc/_memscope
  memscope completions fish > ~/.config/fish/completions/memscope.fish")]
pub(super) struct Completions {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

/// How `summary` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a terminal
    Text,
    /// What runtime_report.md was
    #[value(alias = "md")]
    Markdown,
    /// For scripts
    Json,
}

/// How a verb on snapshots answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    /// For a terminal
    Text,
    /// For scripts
    Json,
}

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LangArg {
    /// English
    En,
    /// Chinese
    #[value(alias = "zh-CN", alias = "zh_CN")]
    Zh,
}

impl From<LangArg> for Lang {
    fn from(lang: LangArg) -> Self {
        match lang {
            LangArg::En => Self::En,
            LangArg::Zh => Self::Zh,
        }
    }
}
