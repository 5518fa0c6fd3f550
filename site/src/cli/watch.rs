//! `memscope watch`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};
use present::export::aligned;
use present::rows::WatchRows;

use super::args::{LangArg, TextOrJson};
use super::failure::Usage;
use super::{say, terminal_lang};
use crate::watch::{Watch as Watching, as_json};

/// Text columns on a terminal.
const WIDTH: usize = 24;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope watch memscope_outputs/
      every rank, every two seconds, until all have ended
  memscope watch memscope_outputs/ --once --format json | jq '.ranks[].peak_allocated'
      for a script

What is shown comes from the journals alone: the run does not know that it is watched. `driver says` and
`other processes` come from nvidia-smi, where that is there.")]
pub(super) struct Watch {
    /// The folder that a run writes, mostly memscope_outputs
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
    /// Seconds between two looks
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    interval: f64,
    /// Look once
    #[arg(long)]
    once: bool,
    /// How to answer; JSON is one line a look
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    format: TextOrJson,
    /// Language [default: that of the terminal, from LC_ALL, LC_MESSAGES or LANG]
    #[arg(long, value_name = "LANG")]
    lang: Option<LangArg>,
}

/// Ranks while they run.
pub(super) fn watch(arguments: &Watch) -> Result<()> {
    let interval = Duration::try_from_secs_f64(arguments.interval)
        .ok()
        .filter(|d| *d >= Duration::from_millis(50))
        .ok_or_else(|| Usage("--interval: give seconds, 0.05 or more".to_owned()))?;
    let directory = &arguments.directory;
    if !directory.is_dir() && (arguments.once || directory.exists()) {
        return Err(anyhow::anyhow!(
            "{}: no such directory; give the one that the run writes, mostly memscope_outputs",
            crate::input::shown(directory)
        ));
    }
    let lang = terminal_lang(arguments.lang);
    let redraws = std::io::stdout().is_terminal() && !arguments.once;
    let mut watching = Watching::new(directory);
    let mut lines = 0;
    let mut waited = false;
    loop {
        watching.look();
        let ranks = watching.ranks();
        let over = arguments.once || watching.all_ended(&ranks);
        if ranks.is_empty() {
            if arguments.once {
                return Err(anyhow::anyhow!(
                    "{}: found no journal there (rankNNNNN/journal/*.jsonl); is the run recorded?",
                    crate::input::shown(directory)
                ));
            }
            if !std::mem::replace(&mut waited, true) {
                super::note(&format!(
                    "{}: no journal yet, waiting",
                    crate::input::shown(directory)
                ));
            }
        } else {
            let text = match arguments.format {
                TextOrJson::Json => as_json(&ranks).to_string() + "\n",
                TextOrJson::Text => aligned(&WatchRows(ranks), WIDTH, lang),
            };
            if redraws && arguments.format == TextOrJson::Text && lines > 0 {
                let mut stdout = std::io::stdout().lock();
                write!(stdout, "\x1b[{lines}A\x1b[J")?;
            }
            lines = text.lines().count();
            say(text.as_bytes())?;
        }
        if over {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
}
