//! Source lines: memory by line of code, as a line profiler prints it.

use leptos::prelude::*;
use present::Word;
use present::rows::snapshot::LineRows;
use report::analyze::snapshot::lines::{at, files_at};

use super::held::{Instants, names, rows_of};
use crate::components::DataTable;
use crate::state::State;

/// The tab.
#[component]
pub fn Lines(state: State) -> impl IntoView {
    let names = names(state);
    let instant = Memo::new(move |_| state.instant());
    let by_file = Memo::new(move |_| state.shown.with(|s| s.flat));
    let others = Memo::new(move |_| !state.shown.with(|s| s.each));
    let rows = Memo::new(move |_| {
        let (by_file, others) = (by_file.get(), others.get());
        let parts = names.get().zip(instant.get());
        rows_of(parts.map(|(names, instant)| {
            let list = if by_file {
                files_at(names.analysis(), instant)
            } else {
                at(names.analysis(), instant)
            };
            LineRows::new(names.0, list, by_file, others)
        }))
    });
    view! {
        <div class="filters">
            <Instants state=state/>
            <div class="segmented" role="group">
                <button type="button" data-testid="lines-by-line" aria-pressed=move || (!by_file.get()).to_string()
                    on:click=move |_| state.shown.update(|s| s.flat = false)>{state.text(Word::PerLine)}</button>
                <button type="button" data-testid="lines-by-file" aria-pressed=move || by_file.get().to_string()
                    on:click=move |_| state.shown.update(|s| s.flat = true)>{state.text(Word::ByFile)}</button>
            </div>
            <label class="check">
                <input type="checkbox" data-testid="others" prop:checked=move || others.get()
                    on:change=move |e| {
                        let yes = event_target_checked(&e);
                        state.shown.update(|s| s.each = !yes);
                    }/>
                {state.text(Word::LibraryLines)}
            </label>
        </div>
        <p class="quiet">{state.text(Word::LinesAt)}</p>
        <DataTable state=state rows=rows label=state.label(Word::SourceLines)/>
    }
}
