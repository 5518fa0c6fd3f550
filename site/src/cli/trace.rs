//! `memscope trace`.

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use present::Lang;
use present::export::{write_csv, write_json};
use present::verbs::{EntryRows, entries_head, trace_text};
use present::visible::short;
use report::analyze::snapshot::entries::Filter;
use report::analyze::snapshot::{Analysis, Instant, Named};
use report::model::snapshot::{Action, TraceId};

use super::failure::Usage;
use super::snapshot::{One, answered, put};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope trace snapshot.pickle | less
  memscope trace snapshot.pickle --from t400 --to oom
  memscope trace snapshot.pickle --id b7f3c40000000_2
      everything that happened to one allocation
  memscope trace snapshot.pickle --action alloc --min-size 64MiB --stack attention.py
  memscope trace snapshot.pickle --address 0x7f3c40001000 --format csv")]
pub(super) struct Trace {
    #[command(flatten)]
    one: One,
    /// The first entry: t412, or any instant that --at of other verbs takes
    #[arg(long, value_name = "INSTANT")]
    from: Option<String>,
    /// The last entry
    #[arg(long, value_name = "INSTANT")]
    to: Option<String>,
    /// Only this action; may be given again
    #[arg(long, value_name = "ACTION")]
    action: Vec<ActionArg>,
    /// Only what is about the block or segment with this address (0x7f… or decimal)
    #[arg(long, value_name = "ADDRESS", value_parser = address, conflicts_with = "id")]
    address: Option<u64>,
    /// Only what is about this allocation (b…_2), segment with all in it (g3), stack (k12) or entry
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Only sizes from here on, such as 512 or 64MiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    min_size: Option<u64>,
    /// Only sizes up to here
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    /// Only stacks with this text in a frame (file:line function), or the stack of this name (k12)
    #[arg(long, value_name = "TEXT")]
    stack: Option<String>,
    /// Only what is within annotations with this text in their name, or has it in its metadata
    #[arg(long, value_name = "TEXT")]
    annotation: Option<String>,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal, much like Python
    Text,
    /// For scripts
    Json,
    /// One row an entry
    Csv,
}

/// Actions by torch's words, and `free` for all that free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ActionArg {
    /// A block was handed out
    Alloc,
    /// A block was freed, asked for or completed
    Free,
    /// The program freed a block
    FreeRequested,
    /// A block is back in its pool
    FreeCompleted,
    /// cudaMalloc
    SegmentAlloc,
    /// cudaFree
    SegmentFree,
    /// Memory was mapped into an expandable segment
    SegmentMap,
    /// Memory was unmapped from an expandable segment
    SegmentUnmap,
    /// The allocator gave up
    Oom,
    /// A snapshot was taken
    Snapshot,
    /// An allocation was given a name
    Annotate,
    /// A mark of the program
    UserDefined,
}

impl ActionArg {
    fn actions(self) -> &'static [Action] {
        match self {
            Self::Alloc => &[Action::Alloc],
            Self::Free => &[Action::FreeRequested, Action::FreeCompleted, Action::Free],
            Self::FreeRequested => &[Action::FreeRequested],
            Self::FreeCompleted => &[Action::FreeCompleted],
            Self::SegmentAlloc => &[Action::SegmentAlloc],
            Self::SegmentFree => &[Action::SegmentFree],
            Self::SegmentMap => &[Action::SegmentMap],
            Self::SegmentUnmap => &[Action::SegmentUnmap],
            Self::Oom => &[Action::Oom],
            Self::Snapshot => &[Action::Snapshot],
            Self::Annotate => &[Action::Annotate],
            Self::UserDefined => &[Action::UserDefined],
        }
    }
}

fn address(text: &str) -> Result<u64, String> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .map_err(|_| "expected an address such as 0x7f3c40000000".to_owned())
}

/// A size on the command line.
fn size(text: &str) -> Result<u64, String> {
    present::units::parse_bytes(text)
        .ok_or_else(|| "expected a size such as 512, 64KiB or 1.5GiB".to_owned())
}

/// The history.
pub(super) fn trace(arguments: &Trace) -> Result<()> {
    answered(&arguments.one, |a, lang, out| {
        let rows = filter(a, arguments)?.rows(a, a.entries());
        match arguments.format {
            Form::Text => put(out, &trace_text(a, &rows, lang)),
            Form::Csv => {
                write_csv(&EntryRows::new(a, rows), Lang::En, out).context("cannot write the trace")
            }
            Form::Json => {
                put(out, &entries_head(a))?;
                write_json(&EntryRows::new(a, rows), Lang::En, out)
                    .context("cannot write the trace")?;
                put(out, "}\n")
            }
        }
    })
}

fn filter(a: &Analysis, arguments: &Trace) -> Result<Filter> {
    let entry = |option: &str, text: &Option<String>| -> Result<Option<TraceId>> {
        let Some(text) = text else { return Ok(None) };
        let instant = a
            .instant(text)
            .map_err(|e| Usage(format!("{option} {}: {e}", short(text, 80))))?;
        Ok(match (a.event_of(instant), instant) {
            (None, Instant::Start) | (None, _) => Some(TraceId(a.replay.first)),
            (at, _) => at,
        })
    };
    let named = |option: &str, text: &str| -> Result<Named> {
        a.named(text).ok_or_else(|| {
            Usage(format!(
                "{option} {}: nothing in this history has that name",
                short(text, 80)
            ))
            .into()
        })
    };
    let mut about = arguments
        .id
        .as_deref()
        .map(|id| named("--id", id))
        .transpose()?;
    let mut stack = arguments.stack.clone();
    // A stack that was printed by its name; a text that only looks like one is looked for.
    if about.is_none()
        && let Some(found @ Named::Stack(_)) = stack.as_deref().and_then(|s| a.named(s))
    {
        about = Some(found);
        stack = None;
    }
    Ok(Filter {
        from: entry("--from", &arguments.from)?,
        to: entry("--to", &arguments.to)?,
        actions: arguments
            .action
            .iter()
            .flat_map(|w| w.actions())
            .copied()
            .collect(),
        address: arguments.address,
        about,
        min_size: arguments.min_size,
        max_size: arguments.max_size,
        stack,
        annotation: arguments.annotation.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("512", Some(512)),
            ("64KiB", Some(65_536)),
            ("1.5 GiB", Some(1_610_612_736)),
            ("2m", Some(2 << 20)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551615k", None),
            ("MiB", None),
            ("1MB", None),
            ("-1", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
        assert_eq!(address("0xff"), Ok(255));
        assert_eq!(address("18446744073709551615"), Ok(u64::MAX));
        assert!(address("b7f_2").is_err());
    }
}
