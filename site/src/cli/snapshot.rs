//! What all verbs on memory snapshots share: one input, one rank, one device, one answer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, ValueHint};
use present::Lang;
use present::visible::short;
use report::analyze::snapshot::{Analysis, Instant};
use report::model::Rank;
use report::model::snapshot::Device;

use super::args::LangArg;
use super::failure::Usage;
use super::{find, read, refuse_clash, terminal_lang, wrote};
use crate::output::{Output, Target};
use crate::progress::Progress;

/// What every verb on snapshots takes.
#[derive(Debug, Args)]
pub(super) struct One {
    /// A memory snapshot: pickle or JSON, also compressed; a .memscope or HTML report with one; or -
    /// for stdin. What it is is told by its content
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub(super) input: PathBuf,
    /// Which rank, where the input has several: its number, its folder, or the name of its source
    #[arg(long, value_name = "RANK")]
    rank: Option<String>,
    /// Which device, or host for pinned memory [default: the one with the longest history]
    #[arg(long, value_name = "N", value_parser = device)]
    device: Option<Device>,
    /// Where to write: a file, or - for stdout [default: -]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Language [default: that of the terminal, from LC_ALL, LC_MESSAGES or LANG]
    #[arg(long, value_name = "LANG")]
    lang: Option<LangArg>,
}

/// An instant of the history.
#[derive(Debug, Args)]
pub(super) struct At {
    /// When: peak, oom, oom2, start, end, an entry such as t412, or an allocation, range or stack
    /// for when it came
    #[arg(long, value_name = "INSTANT")]
    pub(super) at: Option<String>,
}

impl At {
    /// What was asked for, else what a first view shows: the OOM where there is one, else the peak.
    pub(super) fn or_first(&self, a: &Analysis) -> Result<Instant> {
        instant(a, self.at.as_deref(), a.first_instant())
    }
}

/// The instant of a text.
pub(super) fn instant(a: &Analysis, text: Option<&str>, default: Instant) -> Result<Instant> {
    match text {
        None => Ok(default),
        Some(text) => a
            .instant(text)
            .map_err(|e| Usage(format!("--at {}: {e}", short(text, 80))).into()),
    }
}

/// Reads the input and lets `answer` write to the output.
pub(super) fn answered(
    one: &One,
    answer: impl FnOnce(&Analysis, Lang, &mut dyn Write) -> Result<()>,
) -> Result<()> {
    let inputs = find(std::slice::from_ref(&one.input))?;
    let target = Target::of(one.output.as_deref().unwrap_or(Path::new("-")));
    refuse_clash(&target, &inputs)?;
    let mut out = Output::open(&target)?;
    let mut progress = Progress::stderr();
    let report = read(&inputs, &mut progress)?;
    progress.clear();
    drop(progress);
    let analysis = choose(report.ranks, one)?;
    let mut counted = Counted {
        out: &mut out,
        bytes: 0,
    };
    let lang = terminal_lang(one.lang);
    say_skipped(&analysis.rank, lang);
    answer(&analysis, lang, &mut counted)?;
    let bytes = counted.bytes;
    out.commit()?;
    match &target {
        Target::File(path) => wrote(path, bytes),
        Target::Stdout => Ok(()),
    }
}

/// Writes an answer that is there already.
pub(super) fn put(out: &mut dyn Write, answer: &str) -> Result<()> {
    out.write_all(answer.as_bytes())
        .context("cannot write the answer")
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut Output,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The rank and device that are asked for.
fn choose(ranks: Vec<Rank>, one: &One) -> Result<Analysis> {
    let shown = crate::input::shown(&one.input);
    let all = ranks.len();
    let mut with: Vec<Rank> = ranks.into_iter().filter(|r| r.snapshot.is_some()).collect();
    if with.is_empty() {
        anyhow::bail!(
            "{shown}: {} no memory snapshot, which this command is about (give the pickle that \
             torch.cuda.memory._dump_snapshot wrote); for a runtime report there is `memscope summary`",
            if all == 1 { "it has" } else { "its ranks have" }
        );
    }
    let list = |ranks: &[Rank]| -> String {
        let each: Vec<String> = ranks.iter().map(called).collect();
        each.join(", ")
    };
    if let Some(wanted) = &one.rank {
        let found = named(&with, wanted);
        match found.as_slice() {
            [i] => with = vec![with.swap_remove(*i)],
            [] => {
                let there = list(&with);
                let wanted = short(wanted, 80);
                return Err(Usage(format!(
                    "--rank {wanted}: {shown} has no such rank with a snapshot; it has {there}"
                ))
                .into());
            }
            _ => {
                let mut n = 0;
                with.retain(|_| {
                    n += 1;
                    found.contains(&(n - 1))
                });
            }
        }
    }
    if with.len() > 1 {
        return Err(Usage(format!(
            "{shown} has several ranks with snapshots; choose one with --rank: {}",
            list(&with)
        ))
        .into());
    }
    let Some(rank) = with.pop() else {
        anyhow::bail!("{shown}: it has no memory snapshot");
    };
    let rank = Arc::new(rank);
    if let Some(device) = one.device {
        has(&rank, device, "--device")?;
    }
    Analysis::chosen(rank, one.device).with_context(|| {
        format!("{shown}: the snapshot is empty: no device has a history or segments")
    })
}

/// The ranks that a text names: by number or the whole name of the source, else by its end, else
/// by a folder that it lies in.
pub(super) fn named(ranks: &[Rank], wanted: &str) -> Vec<usize> {
    let wanted = wanted.trim_end_matches('/');
    let exact =
        |r: &Rank| r.number().is_some_and(|n| n.to_string() == wanted) || r.source.name == wanted;
    let end = |r: &Rank| r.source.name.ends_with(&format!("/{wanted}"));
    let folder = |r: &Rank| {
        let name = format!("/{}", r.source.name);
        !wanted.is_empty() && name.contains(&format!("/{wanted}/"))
    };
    let which = |is: &dyn Fn(&Rank) -> bool| -> Vec<usize> {
        let all = ranks.iter().enumerate();
        all.filter(|(_, r)| is(r)).map(|(i, _)| i).collect()
    };
    [&exact as &dyn Fn(&Rank) -> bool, &end, &folder]
        .into_iter()
        .map(which)
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Refuses a device that a rank's snapshot does not have.
pub(super) fn has(rank: &Rank, device: Device, option: &str) -> Result<()> {
    let snapshot = rank.snapshot.as_ref();
    let devices = snapshot.map(|s| s.device_list()).unwrap_or_default();
    if devices.contains(&device) {
        return Ok(());
    }
    let there: Vec<String> = devices.iter().map(|d| d.word()).collect();
    let there = match there.as_slice() {
        [] => "none".to_owned(),
        all => all.join(", "),
    };
    let what = match snapshot {
        Some(_) => "the snapshot has no such device; it has",
        None => "the input has no memory snapshot, so of devices it has",
    };
    Err(Usage(format!("{option} {}: {what} {there}", device.word())).into())
}

/// What the reader could not use, in one line; every verb says it.
pub(super) fn say_skipped(rank: &Rank, lang: Lang) {
    if let Some(line) = present::sentences::skipped(rank, lang) {
        super::note(&line);
    }
}

pub(super) fn device(text: &str) -> Result<Device, String> {
    Device::of_word(text).ok_or_else(|| "expected the number of a device, or host".to_owned())
}

/// What --rank takes for a rank.
pub(super) fn called(rank: &Rank) -> String {
    let name = short(&rank.source.name, 80);
    match rank.number() {
        Some(n) => format!("{n} ({name})"),
        None => name.into_owned(),
    }
}
