//! `memscope stats`.

use anyhow::Result;
use clap::Args;
use present::verbs::{stats_json, stats_text};
use report::analyze::snapshot::Instant;

use super::args::TextOrJson;
use super::snapshot::{At, One, answered, instant, put};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope stats snapshot.pickle
  memscope stats snapshot.pickle --at oom
      the allocator when it gave up
  memscope stats snapshot.pickle --format json | jq .totals.largest_free")]
pub(super) struct Stats {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    at: At,
    /// How to answer
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: TextOrJson,
}

/// How reserved memory is used.
pub(super) fn stats(arguments: &Stats) -> Result<()> {
    answered(&arguments.one, |a, lang, out| {
        let at = instant(a, arguments.at.at.as_deref(), Instant::End)?;
        let answer = match arguments.format {
            TextOrJson::Text => stats_text(a, at, lang),
            TextOrJson::Json => stats_json(a, at),
        };
        put(out, &answer)
    })
}
