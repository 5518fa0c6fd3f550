//! The summary as text for a terminal and as Markdown.

use std::sync::Arc;

use report::analyze::modules::modules;
use report::analyze::pairing::pair;
use report::model::{Rank, Skip};

use crate::export::{aligned, markdown, markdown_text};
use crate::rows::{FactRows, HolderRows, ModuleRows, PhaseRows, Rows, SkippedRows, TopRows};
use crate::sentences::{Facts, between, estimate, finding, headline_among, notes, subline};
use crate::visible::visible;
use crate::words::{Lang, Word};

/// Places and modules listed.
const TOP: usize = 20;
/// Text columns on a terminal.
const WIDTH: usize = 56;

/// The tables of a summary with their headings.
fn tables(rank: &Arc<Rank>, facts: &Facts, lang: Lang) -> Vec<(String, Box<dyn Rows>)> {
    let mut out: Vec<(Word, Box<dyn Rows>)> = Vec::new();
    if let Some(holders) = &facts.holders {
        out.push((
            Word::Holders,
            Box::new(HolderRows::new(Arc::clone(rank), holders.clone())),
        ));
    }
    out.push((Word::Phases, Box::new(PhaseRows::new(Arc::clone(rank)))));
    out.push((
        Word::TopEvents,
        Box::new(TopRows::first(Arc::clone(rank), TOP)),
    ));
    let tree = Arc::new(modules(rank, &pair(rank)));
    out.push((Word::Modules, Box::new(ModuleRows::first(tree, TOP))));
    out.push((
        Word::Comparisons,
        Box::new(FactRows::new("comparisons", &rank.comparisons)),
    ));
    #[cfg(feature = "snapshot")]
    if let Some(series) = &rank.series {
        out.push((
            Word::ProfilerTimeline,
            Box::new(crate::rows::SeriesRows::new(series)),
        ));
    }
    #[cfg(feature = "snapshot")]
    out.extend(recorded(rank, lang));
    let skipped: Vec<Skip> = rank.skipped.iter().cloned().collect();
    out.push((Word::Skipped, Box::new(SkippedRows(skipped))));
    out.retain(|(_, rows)| !rows.is_empty());
    let own = out
        .into_iter()
        .map(|(word, rows)| (word.text(lang).to_owned(), rows));
    #[cfg(feature = "snapshot")]
    if let Some(a) = &facts.snapshot {
        return crate::brief::sections(a, lang)
            .into_iter()
            .chain(own)
            .collect();
    }
    own.collect()
}

/// What a recorder knows beyond the public schema, as tables.
#[cfg(feature = "snapshot")]
pub(crate) fn recorded(rank: &Rank, lang: Lang) -> Vec<(Word, Box<dyn Rows>)> {
    use crate::rows::{DriverRows, NameSumRows, recording_facts};
    if rank.recording.is_none() {
        return Vec::new();
    }
    vec![
        (Word::DeviceMemory, Box::new(DriverRows::new(rank))),
        (Word::SumsByKind, Box::new(NameSumRows::new(rank, false))),
        (
            Word::SumsByModule,
            Box::new(NameSumRows::new(rank, true).first(TOP)),
        ),
        (
            Word::Recording,
            Box::new(FactRows::of("recording", recording_facts(rank, lang))),
        ),
    ]
}

/// The ranks side by side, where there are several and a recorder left them.
#[cfg(feature = "snapshot")]
pub(crate) fn ranks_table(ranks: &[Arc<Rank>]) -> Option<crate::rows::RankRows> {
    let several = ranks.len() > 1 && ranks.iter().any(|r| r.recording.is_some());
    several.then(|| crate::rows::RankRows::of(ranks))
}

/// For a terminal.
#[must_use]
pub fn text(ranks: &[Arc<Rank>], lang: Lang) -> String {
    let mut out = String::new();
    for (n, rank) in ranks.iter().enumerate() {
        let facts = Facts::of(rank);
        if n > 0 {
            out.push('\n');
        }
        out += &format!(
            "{}\n{}\n",
            headline_among(ranks.len(), rank, &facts, lang),
            subline(rank, &facts, lang).join(" · ")
        );
        out += &format!("{}\n", visible(&rank.source.name));
        for sentence in estimate(rank, &facts, lang)
            .into_iter()
            .chain(between(rank, &facts, lang))
            .chain(notes(rank, lang))
        {
            out += &format!("{sentence}\n");
        }
        for g in &facts.growth {
            out += &format!("* {}\n", finding(rank, g, lang));
        }
        for (heading, rows) in tables(rank, &facts, lang) {
            out += &format!("\n{heading}\n{}", aligned(rows.as_ref(), WIDTH, lang));
        }
    }
    #[cfg(feature = "snapshot")]
    if let Some(rows) = ranks_table(ranks) {
        let heading = Word::RanksCompared.text(lang);
        out += &format!("\n{heading}\n{}", aligned(&rows, WIDTH, lang));
        out.extend(rows.imbalance(lang).map(|s| s + "\n"));
    }
    out
}

/// What `runtime_report.md` was.
#[must_use]
pub fn markdown_report(ranks: &[Arc<Rank>], lang: Lang) -> String {
    let mut out = match lang {
        Lang::En => "# MemScope Runtime Report\n".to_owned(),
        Lang::Zh => "# MemScope 运行时报告\n".to_owned(),
    };
    for rank in ranks {
        let facts = Facts::of(rank);
        let source = markdown_text(&rank.source.name);
        out += &format!(
            "\n**{}**\n\n",
            plain(&headline_among(ranks.len(), rank, &facts, lang))
        );
        out += &format!(
            "{}\n\n{source}\n",
            plain(&subline(rank, &facts, lang).join(" · "))
        );
        for sentence in estimate(rank, &facts, lang)
            .into_iter()
            .chain(between(rank, &facts, lang))
            .chain(notes(rank, lang))
        {
            out += &format!("\n{}\n", plain(&sentence));
        }
        if !facts.growth.is_empty() {
            out.push('\n');
        }
        for g in &facts.growth {
            out += &format!("- {}\n", plain(&finding(rank, g, lang)));
        }
        for (heading, rows) in tables(rank, &facts, lang) {
            out += &format!(
                "\n## {}\n\n{}",
                plain(&heading),
                markdown(rows.as_ref(), None, lang)
            );
        }
    }
    #[cfg(feature = "snapshot")]
    if let Some(rows) = ranks_table(ranks) {
        let heading = Word::RanksCompared.text(lang);
        out += &format!("\n## {heading}\n\n{}", markdown(&rows, None, lang));
        if let Some(said) = rows.imbalance(lang) {
            out += &format!("\n{}\n", plain(&said));
        }
    }
    out
}

/// A sentence may hold names of strangers: take from Markdown what could become markup.
pub(crate) fn plain(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    for c in sentence.chars() {
        if matches!(
            c,
            '<' | '>' | '[' | ']' | '*' | '_' | '`' | '\\' | '|' | '#' | '&'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
