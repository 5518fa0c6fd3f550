//! `memscope finalize`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, ValueHint};
use present::Lang;
use present::sentences::recording::ending;
use present::text::markdown_report;
use present::units::{bytes, count};
use report::model::{Rank, Report};

use super::args::LangArg;
use super::{note, say};
use crate::input::{self, Input, Place};
use crate::output::{Output, Target};
use crate::pack::{self, Page};
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  memscope finalize memscope_outputs/
      runtime_report.json, .md and .html of every rank, from its journal

It may be called again, and while a run goes: journals stay, and a report is replaced whole. A run that was
killed is told up to its last record, and where that was.")]
pub(super) struct Finalize {
    /// The folder that a run wrote, mostly memscope_outputs, or that of one rank
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
    /// Language of the Markdown and of the part of the page that shows without scripts [default: en]
    #[arg(long, value_name = "LANG")]
    lang: Option<LangArg>,
}

/// Journals into reports.
pub(super) fn finalize(arguments: &Finalize) -> Result<()> {
    let found = input::find(std::slice::from_ref(&arguments.directory))?;
    let mut inputs = found.inputs;
    found.notes.iter().for_each(|n| note(n));
    // What was finalised before is what is written now.
    inputs.retain(|i| !is_report(i));
    let mut folders: Vec<PathBuf> = Vec::new();
    for input in inputs
        .iter()
        .filter(|i| matches!(i.place, Place::Journal(_)))
    {
        folders.extend(input.folder.clone().filter(|f| !folders.contains(f)));
    }
    if folders.is_empty() {
        return Err(anyhow::anyhow!(
            "{}: found no journal there (rankNNNNN/journal/*.jsonl); give the directory that the recorder \
             wrote, mostly memscope_outputs",
            input::shown(&arguments.directory)
        ));
    }
    let lang = arguments.lang.map_or(Lang::En, Lang::from);
    if !pack::has_viewer() {
        note("this build has no viewer, so no runtime_report.html is written");
    }
    let mut failed = None;
    for folder in folders {
        let own: Vec<Input> = inputs
            .iter()
            .filter(|i| i.folder.as_ref() == Some(&folder))
            .cloned()
            .collect();
        // One rank that cannot be read or written takes nothing from the others.
        if let Err(error) = rank(&folder, own, lang) {
            let error = error.context(input::shown(&folder));
            if let Some(earlier) = failed.replace(error) {
                note(&format!("{earlier:#}"));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn is_report(input: &Input) -> bool {
    let Place::File(path) = &input.place else {
        return false;
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("runtime_report.json")
}

/// The reports of one rank.
fn rank(folder: &Path, mut inputs: Vec<Input>, lang: Lang) -> Result<()> {
    for input in &mut inputs {
        // The name in reports says no more than where in the rank's folder it lies.
        let path = match &input.place {
            Place::Journal(_) => folder.join("journal"),
            Place::File(path) => path.clone(),
            Place::Stdin => continue,
        };
        input.name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
    }
    let mut progress = Progress::stderr();
    let read = input::read(&inputs, &mut progress)?;
    progress.clear();
    read.notes.iter().for_each(|n| note(n));
    let ranks = read.report.ranks;
    let Some(at) = ranks.iter().position(|r| r.recording.is_some()) else {
        return Err(anyhow::anyhow!("its journal gave no rank"));
    };
    let ranks: Vec<Arc<Rank>> = ranks.into_iter().map(Arc::new).collect();
    let Some(main) = ranks.get(at) else {
        return Ok(());
    };
    put(folder, "runtime_report.json", |to| {
        report::write::runtime_report::write(main, &mut *to)?;
        Ok(to.write_all(b"\n")?)
    })?;
    let text = markdown_report(std::slice::from_ref(main), lang);
    put(folder, "runtime_report.md", |to| {
        Ok(to.write_all(text.as_bytes())?)
    })?;
    let line = line(folder, main, lang);
    if pack::has_viewer() {
        let ranks = ranks.into_iter().map(Arc::unwrap_or_clone).collect();
        let page = Page::of(Report { ranks }, lang, false)?;
        put(folder, "runtime_report.html", |to| Ok(page.write(to)?))?;
    }
    say(line.as_bytes())
}

/// A file that is whole, or as it was, also when the machine stops.
fn put(folder: &Path, name: &str, write: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let mut out = Output::open(&Target::File(folder.join(name)))?;
    write(&mut out).with_context(|| format!("cannot write {name}"))?;
    Ok(out.commit_synced()?)
}

/// `rank00000: complete; 3 steps, 15 events, peak 1.25 GiB`
fn line(folder: &Path, rank: &Rank, lang: Lang) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = present::visible::visible(&name).into_owned();
    let ended = rank
        .recording
        .as_ref()
        .map(|r| ending(r, lang))
        .unwrap_or_default();
    let steps = report::analyze::steps::steps(rank);
    let steps = count(report::analyze::steps::count(&steps) as u64);
    let events = count(rank.events.len() as u64);
    let peak = report::analyze::peak::peak(rank).allocated;
    let peak = match (peak, lang) {
        (Some(p), Lang::En) => format!(", peak {}", bytes(p.bytes)),
        (Some(p), Lang::Zh) => format!("，峰值 {}", bytes(p.bytes)),
        (None, _) => String::new(),
    };
    match lang {
        Lang::En => format!("{name}: {ended}; {steps} steps, {events} events{peak}\n"),
        Lang::Zh => format!("{name}：{ended}；{steps} 步，{events} 个事件{peak}\n"),
    }
}
