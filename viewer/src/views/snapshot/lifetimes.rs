//! Lifetimes: what stays from step to step, what waits, what comes and goes.

use leptos::prelude::*;
use present::Word;
use present::rows::snapshot::{BriefRows, PendingRows, SurvivorRows};
use present::said;
use report::analyze::snapshot::lifetimes::{Survivors, brief, pending, survivors};

use super::held::{Same, names, rows_of};
use crate::components::DataTable;
use crate::state::State;

/// Pending frees that are listed.
const MOST: usize = 1000;
/// Events that short-lived memory lives at most.
const BRIEF: u32 = 64;
/// Steps to choose from.
const STEPS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/// The tab.
#[component]
pub fn Lifetimes(state: State) -> impl IntoView {
    let names = names(state);
    let steps = Memo::new(move |_| {
        let keep = state.shown.with(|s| s.keep.parse().ok());
        keep.filter(|k| STEPS.contains(k)).unwrap_or(1)
    });
    let stay: Memo<Option<Same<Vec<Survivors>>>> = Memo::new(move |_| {
        let (k, names) = (steps.get(), names.get()?);
        let a = names.analysis();
        Some(Same::new(survivors(&a.replay, a.steps(), k)))
    });
    let wait = Memo::new(move |_| {
        let names = names.get()?;
        Some(Same::new(pending(&names.analysis().replay, MOST)))
    });
    let pass = Memo::new(move |_| {
        let names = names.get()?;
        Some(Same::new(brief(&names.analysis().replay, BRIEF)))
    });
    let stay_rows = Memo::new(move |_| {
        let parts = names.get().zip(stay.get());
        rows_of(parts.map(|(n, list)| SurvivorRows::new(n.0, list.to_vec())))
    });
    let wait_rows = Memo::new(move |_| {
        let parts = names.get().zip(wait.get());
        rows_of(parts.map(|(n, list)| PendingRows::new(n.0, list.to_vec())))
    });
    let pass_rows = Memo::new(move |_| {
        let parts = names.get().zip(pass.get());
        rows_of(parts.map(|(n, list)| BriefRows::new(n.0, list.to_vec())))
    });
    let some = |rows: Memo<crate::components::Table>| move || rows.with(|r| !r.is_empty());
    view! {
        <section class="part">
            <div class="filters">
                <h2>{state.text(Word::Survivors)}</h2>
                <label class="check">{state.text(Word::KeepSteps)}
                    <select data-testid="keep" on:change=move |e| {
                        let k = event_target_value(&e);
                        state.shown.update(|s| s.keep = if k == "1" { String::new() } else { k });
                    }>
                        {STEPS.map(|k| view! {
                            <option value=k.to_string() selected=move || steps.get() == k>{k.to_string()}</option>
                        }).collect_view()}
                    </select>
                </label>
            </div>
            <p class="said" data-testid="said-survivors">{move || {
                let (lang, k) = (state.lang.get(), steps.get());
                let (names, list) = (names.get()?, stay.get()?);
                Some(said::survivors(&names, &list, names.analysis().steps().len(), k, lang))
            }}</p>
            <Show when=some(stay_rows)>
                <DataTable state=state rows=stay_rows label=state.label(Word::Survivors)/>
            </Show>
        </section>
        <section class="part">
            <h2>{state.text(Word::LongPending)}</h2>
            <p class="said" data-testid="said-pending">{move || {
                let lang = state.lang.get();
                let (names, list) = (names.get()?, wait.get()?);
                Some(said::pending(&names, &list, lang))
            }}</p>
            <Show when=some(wait_rows)>
                <DataTable state=state rows=wait_rows label=state.label(Word::LongPending)/>
            </Show>
        </section>
        <section class="part">
            <h2>{state.text(Word::ShortLived)}</h2>
            <p class="said" data-testid="said-brief">{move || {
                let lang = state.lang.get();
                let (names, list) = (names.get()?, pass.get()?);
                Some(said::brief(&names, &list, BRIEF, lang))
            }}</p>
            <Show when=some(pass_rows)>
                <DataTable state=state rows=pass_rows label=state.label(Word::ShortLived)/>
            </Show>
        </section>
    }
}
