//! The static part of an HTML report: what a reader sees where scripts are blocked, and what
//! everyone sees until the viewer has started. Plain tables and presentation attributes only, so
//! that it reads without any style (Jenkins strips styles, mail clients too).

use std::sync::Arc;

use report::analyze::modules::modules;
use report::analyze::pairing::pair;
use report::model::{Rank, Skip};

use crate::chart::{AxisKind, DrawError, Theme, Timeline, draw, svg};
use crate::export::html_table;
use crate::rows::{FactRows, HolderRows, ModuleRows, PhaseRows, Rows, SkippedRows, TopRows};
use crate::sentences::{
    Facts, between, estimate, finding, headline, headline_among, notes, subline,
};
use crate::visible::{html, short};
use crate::words::{Lang, Word};

const TOP: usize = 20;
const MODULES: usize = 40;
const WIDTH: u32 = 900;
const HEIGHT: u32 = 260;

/// The static part for some ranks.
///
/// # Errors
/// When the chart cannot be drawn.
pub fn static_part(ranks: &[(Arc<Rank>, Facts)], lang: Lang) -> Result<String, DrawError> {
    let mut out = String::new();
    for (n, (rank, facts)) in ranks.iter().enumerate() {
        let heading = if n == 0 { "h1" } else { "h2" };
        out += &format!(
            "<section>\n<{heading}>{}</{heading}>\n",
            html(&headline_among(ranks.len(), rank, facts, lang))
        );
        out += &format!("<p>{}</p>\n", html(&subline(rank, facts, lang).join(" · ")));
        for sentence in estimate(rank, facts, lang)
            .into_iter()
            .chain(between(rank, facts, lang))
            .chain(notes(rank, lang))
        {
            out += &format!("<p>{}</p>\n", html(&sentence));
        }
        if !facts.growth.is_empty() {
            out += "<ul>\n";
            for g in &facts.growth {
                out += &format!("<li>{}</li>\n", html(&finding(rank, g, lang)));
            }
            out += "</ul>\n";
        }
        if n == 0 {
            out += &format!("<p><i>{}</i></p>\n", html(Word::StaticNote.text(lang)));
        }
        #[cfg(feature = "snapshot")]
        if let Some(a) = &facts.snapshot {
            out += &memory(a, rank, facts, lang)?;
            for (heading, rows) in crate::brief::sections(a, lang) {
                out += &format!(
                    "<h3>{}</h3>\n{}",
                    html(&heading),
                    html_table(rows.as_ref(), lang)
                );
            }
        }
        if facts.peak.allocated.is_some_and(|p| p.bytes > 0) {
            out += &chart(rank, facts, lang)?;
        }
        #[cfg(feature = "snapshot")]
        {
            out += &device(rank, lang)?;
        }
        #[cfg(feature = "snapshot")]
        if let Some(series) = rank.series.as_ref().filter(|s| !s.is_empty()) {
            let drawn = svg(WIDTH, HEIGHT, |area| {
                crate::chart::series(area, series, &Theme::LIGHT, 1.0, lang)
            })?;
            out += &labelled(&drawn, &crate::sentences::series::headline(series, lang));
        }
        for (word, note, rows) in tables(rank, facts, lang) {
            let note = note
                .map(|w| format!(" ({})", w.text(lang)))
                .unwrap_or_default();
            out += &format!(
                "<h3>{}{}</h3>\n{}",
                html(word.text(lang)),
                html(&note),
                html_table(rows.as_ref(), lang)
            );
        }
        out += &format!(
            "<p><small>{}: {}</small></p>\n</section>\n",
            html(Word::Source.text(lang)),
            html(&short(&rank.source.name, 300))
        );
    }
    Ok(out)
}

/// The device's memory over time as SVG; empty for a rank that does not have it.
#[cfg(feature = "snapshot")]
fn device(rank: &Rank, lang: Lang) -> Result<String, DrawError> {
    let layers = report::analyze::driver::layers(rank, WIDTH as usize);
    if layers.layers.is_empty()
        || rank
            .recording
            .as_ref()
            .is_none_or(|r| r.driver.live.is_empty())
    {
        return Ok(String::new());
    }
    let drawn = svg(WIDTH, HEIGHT, |area| {
        crate::chart::device(area, &layers, &Theme::LIGHT, 1.0, lang)
    })?;
    Ok(labelled(&drawn, Word::DeviceOverTime.text(lang)))
}

/// Memory over time of a snapshot as SVG.
#[cfg(feature = "snapshot")]
fn memory(
    a: &Arc<report::analyze::snapshot::Analysis>,
    rank: &Rank,
    facts: &Facts,
    lang: Lang,
) -> Result<String, DrawError> {
    use crate::chart::memory::{Clock, Memory, Window};
    use crate::chart::memory_lines::whole;
    let memory = Memory::new(Arc::clone(a));
    let window = Window::whole(Clock::Event);
    let drawn = svg(WIDTH, HEIGHT, |area| {
        whole(area, &memory, window, &Theme::LIGHT, lang)
    })?;
    let label = format!(
        "{}: {}",
        Word::MemoryOverTime.text(lang),
        headline(rank, facts, lang)
    );
    Ok(labelled(&drawn, &label))
}

fn labelled(svg: &str, label: &str) -> String {
    let with = format!("<svg role=\"img\" aria-label=\"{}\" ", html(label));
    svg.replacen("<svg ", &with, 1)
}

fn tables(
    rank: &Arc<Rank>,
    facts: &Facts,
    #[cfg_attr(
        not(feature = "snapshot"),
        expect(unused_variables, reason = "facts of recordings are said")
    )]
    lang: Lang,
) -> Vec<(Word, Option<Word>, Box<dyn Rows>)> {
    let mut out: Vec<(Word, Option<Word>, Box<dyn Rows>)> = Vec::new();
    if let Some(holders) = &facts.holders {
        out.push((
            Word::Holders,
            None,
            Box::new(HolderRows::new(Arc::clone(rank), holders.clone())),
        ));
    }
    out.push((
        Word::Phases,
        None,
        Box::new(PhaseRows::new(Arc::clone(rank))),
    ));
    out.push((
        Word::TopEvents,
        Some(Word::TopNote),
        Box::new(TopRows::first(Arc::clone(rank), TOP)),
    ));
    let tree = Arc::new(modules(rank, &pair(rank)));
    out.push((
        Word::Modules,
        Some(Word::ModulesNote),
        Box::new(ModuleRows::first(tree, MODULES)),
    ));
    out.push((
        Word::Metadata,
        None,
        Box::new(FactRows::new("metadata", &rank.metadata)),
    ));
    #[cfg(feature = "snapshot")]
    if let Some(series) = &rank.series {
        out.push((
            Word::ProfilerTimeline,
            None,
            Box::new(crate::rows::SeriesRows::new(series)),
        ));
    }
    #[cfg(feature = "snapshot")]
    out.extend(
        crate::text::recorded(rank, lang)
            .into_iter()
            .map(|(word, rows)| (word, None, rows)),
    );
    let skipped: Vec<Skip> = rank.skipped.iter().cloned().collect();
    out.push((Word::Skipped, None, Box::new(SkippedRows(skipped))));
    out.retain(|(_, _, rows)| !rows.is_empty());
    out
}

/// The timeline as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn chart(rank: &Arc<Rank>, facts: &Facts, lang: Lang) -> Result<String, DrawError> {
    let timeline = Timeline::new(Arc::clone(rank), facts);
    let view = timeline.whole(AxisKind::Event);
    let drawn = svg(WIDTH, HEIGHT, |area| {
        draw(area, &timeline, facts, view, &Theme::LIGHT, 1.0, lang)
    })?;
    let label = format!(
        "{}: {}",
        Word::Timeline.text(lang),
        headline(rank, facts, lang)
    );
    Ok(labelled(&drawn, &label))
}
