//! The largest inputs, outputs and gradients.

use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::rows::{Rows, TensorRows};
use report::analyze::search::contains;
use report::analyze::tensors::Role;

use crate::components::{DataTable, Table};
use crate::state::State;

/// Roles with their words in links.
const ROLES: [(Role, &str, Word); 3] = [
    (Role::Input, "input", Word::Input),
    (Role::Output, "output", Word::Output),
    (Role::Gradient, "gradient", Word::Gradient),
];

/// The tab.
#[component]
pub fn Tensors(state: State) -> impl IntoView {
    let filters = Memo::new(move |_| state.shown.with(|s| (s.query.clone(), s.role.clone())));
    let rows = Memo::new(move |_| {
        let (query, role) = filters.get();
        let query = query.to_lowercase();
        let role = ROLES.iter().find(|r| r.1 == role).map(|r| r.0);
        let rows: Arc<dyn Rows> = match state.data.get() {
            Some(d) => Arc::new(TensorRows::filtered(
                Arc::clone(&d.rank),
                d.tensors(),
                |t| {
                    role.is_none_or(|r| r == t.role)
                        && contains(d.rank.strings.get(t.module), &query)
                },
            )),
            None => Arc::new(present::rows::FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    });
    let chosen = move || state.shown.with(|s| s.role.clone());
    view! {
        <div class="filters" role="search">
            <input type="search" id="search" data-testid="search" autocomplete="off" spellcheck="false"
                placeholder=state.text(Word::Module) aria-label=state.text(Word::Search)
                prop:value=move || state.shown.with(|s| s.query.clone())
                on:input=move |e| state.shown.update(|s| s.query = event_target_value(&e))/>
            <select data-testid="filter-role" aria-label=state.text(Word::Role)
                on:change=move |e| state.shown.update(|s| s.role = event_target_value(&e))>
                <option value="" selected=move || chosen().is_empty()>{state.text(Word::Role)}</option>
                {ROLES.iter().map(|&(_, word, name)| view! {
                    <option value=word selected=move || chosen() == word>{state.text(name)}</option>
                }).collect_view()}
            </select>
        </div>
        <Show when=move || rows.with(|r| r.is_empty())>
            <p class="quiet">{move || {
                let none = state.data.with(|d| d.as_ref().is_some_and(|d| d.tensors().is_empty()));
                state.t(if none { Word::NoTensors } else { Word::NothingFound })
            }}</p>
        </Show>
        <DataTable state=state rows=rows label=state.label(Word::Tensors)/>
    }
}
