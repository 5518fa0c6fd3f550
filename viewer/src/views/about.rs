//! About this report: what the run says, what was skipped, what the file weighs.

use leptos::prelude::*;
use present::Word;
use present::rows::{FactRows, PartRows, SkippedRows};
use present::units::{count, exact};
use report::model::RecordedPeak;

use super::table;
use crate::components::{DataTable, Table};
use crate::data::RankData;
use crate::state::State;

/// The tab.
#[component]
pub fn About(state: State) -> impl IntoView {
    let metadata = table(state, |d| FactRows::new("metadata", &d.rank.metadata));
    let comparisons = table(state, |d| FactRows::new("comparisons", &d.rank.comparisons));
    let skipped = table(state, |d| {
        SkippedRows(d.rank.skipped.iter().cloned().collect())
    });
    let source = Memo::new(move |_| {
        let lang = state.lang.get();
        let facts = state
            .data
            .get()
            .map_or_else(Vec::new, |d| source(state, &d, lang));
        Table(std::sync::Arc::new(FactRows::of("source", facts)))
    });
    let peak = table(state, |d| {
        FactRows::of("recorded_peak", recorded(d.rank.recorded_peak.as_ref()))
    });
    let parts = table(state, move |_| {
        let sizes = state.parts.get_value();
        let words = [
            Word::PartViewer,
            Word::PartGlue,
            Word::PartStatic,
            Word::PartData,
        ];
        let mut rows: Vec<(Word, u64)> = words
            .into_iter()
            .zip(sizes.iter().map(|&b| b as u64))
            .collect();
        rows.push((Word::Total, rows.iter().map(|r| r.1).sum()));
        PartRows(rows)
    });
    view! {
        <div class="columns">
            <Titled state=state title=Word::Metadata rows=metadata/>
            <Titled state=state title=Word::Comparisons rows=comparisons/>
            <Titled state=state title=Word::RecordedPeak rows=peak/>
            {settings(state)}
            <div>
                <Titled state=state title=Word::Skipped rows=skipped/>
                <Show when=move || skipped.with(|r| r.0.is_empty())>
                    <h2>{state.text(Word::Skipped)}</h2>
                    <p class="quiet" data-testid="nothing-skipped">{state.text(Word::NothingSkipped)}</p>
                </Show>
            </div>
            <Titled state=state title=Word::Source rows=source/>
            <Titled state=state title=Word::FileSize rows=parts/>
        </div>
    }
}

/// What the allocator was told, of a snapshot.
#[cfg(feature = "snapshot")]
fn settings(state: State) -> impl IntoView {
    let rows = table(state, |d| match &d.rank.snapshot {
        Some(s) => FactRows::new("settings", &s.settings),
        None => FactRows::of("settings", Vec::new()),
    });
    let recording = Memo::new(move |_| {
        let lang = state.lang.get();
        let facts = state
            .data
            .get()
            .map_or_else(Vec::new, |d| present::rows::recording_facts(&d.rank, lang));
        Table(std::sync::Arc::new(FactRows::of("recording", facts)))
    });
    view! {
        <Titled state=state title=Word::AllocatorSettings rows=rows/>
        <Titled state=state title=Word::Recording rows=recording/>
    }
}

#[cfg(not(feature = "snapshot"))]
fn settings(_: State) -> impl IntoView {}

/// A small table under its title, when it has rows.
#[component]
fn Titled(state: State, title: Word, rows: Memo<Table>) -> impl IntoView {
    view! {
        <Show when=move || !rows.with(|r| r.0.is_empty())>
            <div>
                <h2>{state.text(title)}</h2>
                <DataTable state=state rows=rows label=state.label(title)/>
            </div>
        </Show>
    }
}

fn source(state: State, data: &RankData, lang: present::Lang) -> Vec<(String, String)> {
    let rank = &data.rank;
    let word = |w: Word| w.text(lang).to_owned();
    let generator = state
        .container
        .get()
        .map(|c| (c.header().generator.clone(), c.size() as u64));
    let mut out = Vec::new();
    for s in rank.sources() {
        out.push((word(Word::Source), s.name.clone()));
        out.push((word(Word::What), s.format.clone()));
        out.push((word(Word::Size), exact(s.bytes)));
        out.push((word(Word::Checksum), format!("{:08x}", s.crc32)));
    }
    #[cfg(feature = "snapshot")]
    if let Some(a) = data.snapshot() {
        let n = a.replay.events().len() as u64;
        out.push((word(Word::Entries), count(n)));
    }
    if !rank.events.is_empty() || !data.has_snapshot() {
        out.push((word(Word::Count), count(rank.events.len() as u64)));
    }
    let version = report::container::VERSION.to_string();
    out.push((word(Word::FormatVersion), version));
    if let Some((generator, size)) = generator {
        out.push((word(Word::Generator), generator));
        out.push((word(Word::PartData), exact(size)));
    }
    out
}

fn recorded(peak: Option<&RecordedPeak>) -> Vec<(String, String)> {
    let Some(p) = peak else { return Vec::new() };
    [
        ("memory_bytes", p.memory_bytes.map(exact)),
        ("reserved_bytes", p.reserved_bytes.map(exact)),
        ("step", p.step.map(|s| s.to_string())),
        ("phase", p.phase.clone()),
        ("module", p.module.clone()),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?)))
    .collect()
}
