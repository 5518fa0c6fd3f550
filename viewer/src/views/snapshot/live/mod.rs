//! What lives at an instant: by stack, line, function, category, pool and stream; as table, flame
//! graph and treemap.

mod bar;
mod choice;
mod detail;
mod flame;
mod groups;
mod treemap;

use leptos::prelude::*;
use present::Word;

use super::held::{Instants, held};
use crate::state::State;

use bar::CategoryBar;
use choice::{Choices, Picture};
use flame::FlameView;
use groups::Groups;
use treemap::TreemapView;

/// The tab.
#[component]
pub fn Live(state: State) -> impl IntoView {
    let held = held(state);
    let picture = Memo::new(move |_| state.how().picture);
    let nothing = move || held.with(|h| h.as_ref().is_some_and(|h| h.moment.ids.is_empty()));
    view! {
        <div class="filters">
            <Instants state=state/>
            <span class="quiet" data-testid="live-moment">{move || {
                let lang = state.lang.get();
                held.get().map(|h| present::said::moment(&h.names, &h.moment, lang))
            }}</span>
        </div>
        <CategoryBar state=state held=held/>
        <Choices state=state/>
        <Show when=nothing><p class="quiet">{state.text(Word::NothingLive)}</p></Show>
        {move || match picture.get() {
            Picture::Table => view! { <Groups state=state held=held/> }.into_any(),
            Picture::Tree => view! {
                <TreemapView state=state held=held/>
                <Groups state=state held=held/>
            }.into_any(),
            Picture::Flame => view! { <FlameView state=state held=held/> }.into_any(),
        }}
    }
}
