//! Top events: search, filters, one row a place or one row an event.

use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::rows::{EventRows, Rows, TopRows};
use present::visible::short;
use report::analyze::search::Matches;
use report::analyze::top::listed;
use report::model::StringId;

use crate::components::{DataTable, Table};
use crate::data::RankData;
use crate::state::{Shown, State};

/// The tab.
#[component]
pub fn Top(state: State) -> impl IntoView {
    // Only what the rows depend on: moving the chart must not search again.
    let filters = Memo::new(move |_| {
        state.shown.with(|s| {
            (
                s.query.clone(),
                s.step.clone(),
                s.phase.clone(),
                s.kind.clone(),
                s.each,
            )
        })
    });
    let rows = Memo::new(move |_| {
        let (query, step, phase, kind, each) = filters.get();
        let rows: Arc<dyn Rows> = match state.data.get() {
            Some(data) => rows(&data, &query, &step, &phase, &kind, each),
            None => Arc::new(present::rows::FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    });
    // A memo: else every change of the state would make the table anew, and take focus and scroll
    // position from it.
    let each = Memo::new(move |_| state.shown.with(|s| s.each));
    let each = move || each.get();
    view! {
        <div class="filters" role="search">
            <input type="search" id="search" data-testid="search" autocomplete="off" spellcheck="false"
                placeholder=state.text(Word::Search) aria-label=state.text(Word::Search)
                prop:value=move || state.shown.with(|s| s.query.clone())
                on:input=move |e| state.shown.update(|s| s.query = event_target_value(&e))/>
            <Filter state=state all=Word::AllSteps id="step" get=|s| s.step.clone() set=|s, v| s.step = v options=steps/>
            <Filter state=state all=Word::AllPhases id="phase" get=|s| s.phase.clone() set=|s, v| s.phase = v
                options=|d| distinct(d, &listed(&d.rank).phase)/>
            <Filter state=state all=Word::AllTypes id="type" get=|s| s.kind.clone() set=|s, v| s.kind = v
                options=|d| distinct(d, &listed(&d.rank).kind)/>
            <label class="check">
                <input type="checkbox" data-testid="each" prop:checked=each
                    on:change=move |e| state.shown.update(|s| s.each = event_target_checked(&e))/>
                {state.text(Word::EachEvent)}
            </label>
        </div>
        <Show when=move || rows.with(|r| r.is_empty())>
            <p class="quiet" data-testid="nothing">{move || {
                let none = state.data.with(|d| d.as_ref().is_some_and(|d| listed(&d.rank).is_empty()));
                state.t(if none { Word::NoEvents } else { Word::NothingFound })
            }}</p>
        </Show>
        {move || if each() {
            view! { <DataTable state=state rows=rows sorted=("allocated_after", true)
                label=state.label(Word::TopEvents)/> }.into_any()
        } else {
            view! { <DataTable state=state rows=rows
                label=state.label(Word::TopEvents)/> }.into_any()
        }}
    }
}

fn rows(
    data: &Arc<RankData>,
    query: &str,
    step: &str,
    phase: &str,
    kind: &str,
    each: bool,
) -> Arc<dyn Rows> {
    let rank = &data.rank;
    let events = listed(rank);
    let matches = (!query.is_empty()).then(|| Matches::of(&rank.strings, query));
    let number: Option<i64> = step.parse().ok();
    // A filter for a name that this rank does not have finds nothing.
    let id = |name: &str| (!name.is_empty()).then(|| rank.strings.find(name));
    let (phase, kind) = (id(phase), id(kind));
    // All but step and notes is the same for all events of a place: asked once a place.
    let is = |filter: Option<Option<StringId>>, value: StringId| {
        filter.is_none_or(|want| want == Some(value))
    };
    let places = data.places();
    let kept: Vec<Kept> = places
        .list
        .iter()
        .map(|p| {
            let named = |m: &Matches| m.has(p.module) || m.has(p.phase) || m.has(p.kind);
            match &matches {
                _ if !is(phase, p.phase) || !is(kind, p.kind) => Kept::No,
                Some(m) if !named(m) => Kept::ByNotes,
                _ => Kept::Yes,
            }
        })
        .collect();
    let keep = |i: usize| {
        let kept = places.of(i).and_then(|p| kept.get(p)).copied();
        let notes = || {
            let notes = events.notes.get(i).copied().unwrap_or_default();
            matches.as_ref().is_some_and(|m| m.has(notes))
        };
        (kept == Some(Kept::Yes) || kept == Some(Kept::ByNotes) && notes())
            && (step.is_empty() || events.step.get(i) == number)
    };
    if each {
        Arc::new(EventRows::new(
            Arc::clone(rank),
            Arc::clone(data.pairing()),
            Arc::clone(data.alphabet()),
            keep,
        ))
    } else {
        Arc::new(TopRows::new(Arc::clone(rank), places, keep))
    }
}

/// What the filters say of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Its events are out.
    No,
    /// Its events are in.
    Yes,
    /// Those of its events are in whose notes match.
    ByNotes,
}

/// Values of a filter: what is kept in links, and what is shown.
type Options = Vec<(String, String)>;

/// So many options are enough for a list; the search finds the rest.
const MOST: usize = 500;

fn steps(data: &RankData) -> Options {
    let mut numbers: Vec<i64> = data.timeline.steps.iter().filter_map(|s| s.step).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .take(MOST)
        .map(|n| (n.to_string(), n.to_string()))
        .collect()
}

fn distinct(data: &RankData, column: &[StringId]) -> Options {
    let mut seen = vec![false; data.rank.strings.len()];
    column
        .iter()
        .filter(|id| {
            seen.get_mut(id.0 as usize)
                .is_some_and(|s| !std::mem::replace(s, true))
        })
        .take(MOST)
        .map(|&id| {
            let text = data.rank.strings.get(id);
            (text.to_owned(), short(text, 60).into_owned())
        })
        .collect()
}

#[component]
fn Filter(
    state: State,
    all: Word,
    id: &'static str,
    get: fn(&Shown) -> String,
    set: fn(&mut Shown, String),
    options: fn(&RankData) -> Options,
) -> impl IntoView {
    view! {
        <select data-testid=format!("filter-{id}") aria-label=state.text(all)
            on:change=move |e| state.shown.update(|s| set(s, event_target_value(&e)))>
            <option value="" selected=move || state.shown.with(get).is_empty()>{state.text(all)}</option>
            {move || state.data.get().map(|d| options(&d).into_iter().map(|(value, text)| {
                let own = value.clone();
                view! { <option value=value selected=move || state.shown.with(get) == own>{text}</option> }
            }).collect_view())}
        </select>
    }
}
