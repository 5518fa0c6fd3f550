//! `memscope summary`.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use present::text::{markdown_report, text};
use report::analyze::summary;
use report::model::{Rank, Report};

use super::args::{Format, Summary};
use super::{find, read, refuse_clash, terminal_lang, wrote};
use crate::output::{Output, Target};
use crate::progress::Progress;

/// The answer without a page.
pub(super) fn summary(arguments: &Summary) -> Result<()> {
    let inputs = find(&arguments.inputs)?;
    let target = Target::of(arguments.output.as_deref().unwrap_or(Path::new("-")));
    refuse_clash(&target, &inputs)?;
    let mut out = Output::open(&target)?;
    let report = read(&inputs, &mut Progress::stderr())?;
    let answer = answer(report, arguments)?;
    out.write_all(answer.as_bytes())
        .context("cannot write the summary")?;
    out.commit()?;
    match &target {
        Target::File(path) => wrote(path, answer.len() as u64),
        Target::Stdout => Ok(()),
    }
}

fn answer(report: Report, arguments: &Summary) -> Result<String> {
    let lang = terminal_lang(arguments.lang);
    let ranks =
        |report: Report| -> Vec<Arc<Rank>> { report.ranks.into_iter().map(Arc::new).collect() };
    Ok(match arguments.format {
        Format::Text => text(&ranks(report), lang),
        Format::Markdown => markdown_report(&ranks(report), lang),
        Format::Json => {
            let answer = serde_json::to_string_pretty(&summary::summary(&report));
            answer.context("the summary cannot be written as JSON")? + "\n"
        }
    })
}
