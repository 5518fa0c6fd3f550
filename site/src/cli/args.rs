//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use present::Lang;
use report::analyze::diff::snapshot::groups::By;
use report::model::snapshot::Device;

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
  memscope record -- ./train                   run it, record what the CUDA driver gives to it
  memscope run train.py                        run it, record every rank, write the reports
  memscope render memscope_outputs/            every rank of a run, as one HTML file
  memscope render runtime_report.json --open   write runtime_report.html and show it
  memscope summary runtime_report.json         the answer on the terminal
  memscope memory snapshot.pickle              what a PyTorch memory snapshot holds at its peak
  memscope compare before.pickle after.pickle  what is new, gone, grown, shrunk
  memscope finalize memscope_outputs/          reports of a recorded run, killed or not
  memscope watch memscope_outputs/             the same run while it goes
  memscope viewer -o viewer.html               a page on which reports are dropped

Exit codes: 0 done, 1 the input is bad or the output cannot be written, 2 the call is bad.";

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Write one HTML file that opens anywhere
    Render(Render),
    /// Write the HTML of one report (the name that the Python MemScope gave this)
    VisualizeRuntime(VisualizeRuntime),
    /// Run any command and record what the CUDA driver gives to it
    Record(super::record::Record),
    /// Run a Python program and record what it does with GPU memory
    Run(super::run::Run),
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
    /// Hold one recording against another: what is new, gone, grown, shrunk
    Compare(Compare),
    /// Turn the journals that a recorder left into reports, also of a run that was killed
    Finalize(super::finalize::Finalize),
    /// Show allocated, reserved, peak and step time of every rank while it runs
    Watch(super::watch::Watch),
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
    /// Pack the viewer for memory snapshots even if there is none, so that one can be dropped on
    /// the page
    #[arg(long)]
    pub(super) whole_viewer: bool,
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

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope compare before.pickle after.pickle
      peak against peak: which lines, functions and categories hold more or less
  memscope compare before.pickle after.pickle -o diff.html
      one page with both, which opens on the comparison
  memscope compare run.pickle run.pickle --at start --at-b end
      what a run left behind
  memscope compare run/ run/ --rank 0 --rank-b 1 --by stack
      two ranks of one run
  memscope compare a.html b/runtime_report.json --format json | jq .figures")]
pub(super) struct Compare {
    /// What the other is held against: a memory snapshot, runtime_report.json, .memscope, HTML of
    /// memscope, a directory with them, or - for stdin
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub(super) a: PathBuf,
    /// The other. Differences are B minus A
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub(super) b: PathBuf,
    /// The instant of both snapshots that is compared: peak, oom, start, end, an entry such as t412,
    /// or an allocation, range or stack for when it came. Such names are A's own: give B's in --at-b
    #[arg(long, value_name = "INSTANT", default_value = "peak")]
    pub(super) at: String,
    /// Another instant for B
    #[arg(long, value_name = "INSTANT")]
    pub(super) at_b: Option<String>,
    /// What live memory is grouped by [default: line and category; all of them in JSON]
    #[arg(long, value_name = "WHAT")]
    pub(super) by: Option<CompareBy>,
    /// Rows of each table at most [default: 20; all in JSON]
    #[arg(long, value_name = "N")]
    pub(super) top: Option<usize>,
    /// The rank that is compared: its number, its folder or the name of its source [default: the one
    /// with the highest peak]
    #[arg(long, value_name = "RANK", allow_negative_numbers = true)]
    pub(super) rank: Option<String>,
    /// Another rank for B
    #[arg(long, value_name = "RANK", allow_negative_numbers = true)]
    pub(super) rank_b: Option<String>,
    /// The device of both snapshots, or host for pinned memory [default: the one with the longest
    /// history]
    #[arg(long, value_name = "N", value_parser = super::snapshot::device)]
    pub(super) device: Option<Device>,
    /// Another device for B
    #[arg(long, value_name = "N", value_parser = super::snapshot::device)]
    pub(super) device_b: Option<Device>,
    /// How to answer [default: what the name of the output says, else text]
    #[arg(short, long, value_name = "FORMAT")]
    pub(super) format: Option<CompareFormat>,
    /// Where to write: a file, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Language [default: that of the terminal, from LC_ALL, LC_MESSAGES or LANG; pages: en]
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<LangArg>,
    /// Write pages above 100 MiB, too
    #[arg(long)]
    pub(super) force: bool,
}

/// What `compare` groups by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompareBy {
    /// File and line of the first frame of the user's
    Line,
    /// The innermost function outside torch: mostly a module's forward
    Function,
    /// The whole stack
    Stack,
    /// What the memory is for
    Category,
}

impl From<CompareBy> for By {
    fn from(by: CompareBy) -> Self {
        match by {
            CompareBy::Line => Self::Line,
            CompareBy::Function => Self::Function,
            CompareBy::Stack => Self::Stack,
            CompareBy::Category => Self::Category,
        }
    }
}

/// How `compare` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompareFormat {
    /// For a terminal
    Text,
    /// For a merge request
    #[value(alias = "md")]
    Markdown,
    /// For scripts
    Json,
    /// The two timelines; with --by stack the signed flame graph
    Svg,
    /// A page with both
    Html,
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
