//! Allocator events: every entry of the trace, with search and filters.

use leptos::prelude::*;
use present::Word;
use present::rows::snapshot::EntryTable;
use present::units::parse_bytes;
use report::analyze::snapshot::Analysis;
use report::analyze::snapshot::entries::Filter;
use report::model::snapshot::{Action, TraceId};

use super::held::rows_of;
use crate::components::DataTable;
use crate::state::State;

/// The tab.
#[component]
pub fn Entries(state: State) -> impl IntoView {
    // Only what the rows depend on: moving the chart must not search again.
    let filters = Memo::new(move |_| {
        state.shown.with(|s| {
            (
                s.query.clone(),
                s.action.clone(),
                s.min.clone(),
                s.max.clone(),
            )
        })
    });
    let rows = Memo::new(move |_| {
        let (query, action, min, max) = filters.get();
        let names = state.data.get().and_then(|d| d.names());
        rows_of(names.map(|names| {
            let found = found(names.analysis(), &query, &action, &min, &max);
            EntryTable::new(names, found)
        }))
    });
    let actions = move || {
        let mut seen = [false; Action::ALL.len()];
        if let Some(a) = state.snapshot() {
            let events = &a.snapshot().events;
            for row in a.replay.events() {
                if let Some(slot) = events
                    .action
                    .get(row)
                    .and_then(|&x| seen.get_mut(x as usize))
                {
                    *slot = true;
                }
            }
        }
        Action::ALL
            .into_iter()
            .filter(|&a| seen[a as usize])
            .map(Action::word)
            .collect::<Vec<_>>()
    };
    view! {
        <div class="filters" role="search">
            <input type="search" id="search" data-testid="search" autocomplete="off" spellcheck="false"
                placeholder=state.text(Word::SearchEntries) aria-label=state.text(Word::SearchEntries)
                prop:value=move || state.shown.with(|s| s.query.clone())
                on:input=move |e| state.shown.update(|s| s.query = event_target_value(&e))/>
            <select data-testid="filter-action" aria-label=state.text(Word::Action)
                on:change=move |e| state.shown.update(|s| s.action = event_target_value(&e))>
                <option value="" selected=move || state.shown.with(|s| s.action.is_empty())>{state.text(Word::AllActions)}</option>
                {move || actions().into_iter().map(|word| view! {
                    <option value=word selected=move || state.shown.with(|s| s.action == word)>{word}</option>
                }).collect_view()}
            </select>
            <Size state=state word=Word::MinSize id="min" get=|s| s.min.clone() set=|s, v| s.min = v/>
            <Size state=state word=Word::MaxSize id="max" get=|s| s.max.clone() set=|s, v| s.max = v/>
        </div>
        <Show when=move || rows.with(|r| r.is_empty())>
            <p class="quiet" data-testid="nothing">{move || {
                let none = state.snapshot().is_some_and(|a| a.replay.events().is_empty());
                state.t(if none { Word::NoHistoryHere } else { Word::NothingFound })
            }}</p>
        </Show>
        <DataTable state=state rows=rows label=state.label(Word::Entries)/>
    }
}

/// A field for a size such as `64MiB`; what is not understood is marked and filters nothing.
#[component]
fn Size(
    state: State,
    word: Word,
    id: &'static str,
    get: fn(&crate::state::Shown) -> String,
    set: fn(&mut crate::state::Shown, String),
) -> impl IntoView {
    let wrong = move || {
        let text = state.shown.with(get);
        !text.is_empty() && parse_bytes(&text).is_none()
    };
    view! {
        <label class="check">{state.text(word)}
            <input type="text" class="size" data-testid=format!("filter-{id}") placeholder="64MiB"
                autocomplete="off" spellcheck="false" aria-invalid=move || wrong().to_string()
                prop:value=move || state.shown.with(get)
                on:input=move |e| state.shown.update(|s| set(s, event_target_value(&e)))/>
        </label>
    }
}

/// The entries that a search finds: of what has that name or holds that address, else with the text
/// in a stack or in an annotation.
fn found(a: &Analysis, query: &str, action: &str, min: &str, max: &str) -> Vec<TraceId> {
    let query = query.trim();
    let base = Filter {
        actions: if action.is_empty() {
            Vec::new()
        } else {
            vec![Action::of(action)]
        },
        min_size: parse_bytes(min),
        max_size: parse_bytes(max),
        ..Filter::default()
    };
    let rows = |filter: &Filter| filter.rows(a, a.entries());
    if query.is_empty() {
        return rows(&base);
    }
    if let Some(named) = a.named(query) {
        return rows(&Filter {
            about: Some(named),
            ..base
        });
    }
    let address = query
        .strip_prefix("0x")
        .and_then(|hex| u64::from_str_radix(hex, 16).ok());
    if let Some(address) = address {
        return rows(&Filter {
            address: Some(address),
            ..base
        });
    }
    let mut out = rows(&Filter {
        stack: Some(query.to_owned()),
        ..base.clone()
    });
    out.extend(rows(&Filter {
        annotation: Some(query.to_owned()),
        ..base
    }));
    out.sort_unstable();
    out.dedup();
    out
}
