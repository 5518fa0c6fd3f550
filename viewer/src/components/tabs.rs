//! The tabs.

use leptos::prelude::*;
use present::Word;

use crate::browser::focus;
use crate::state::State;

/// The row of tabs; arrow keys move between them.
#[component]
pub fn Tabs(state: State) -> impl IntoView {
    let on_key = move |e: web_sys::KeyboardEvent| {
        let (now, views) = untrack(|| (state.view(), state.views()));
        let at = views.iter().position(|&v| v == now).unwrap_or(0);
        let n = views.len().max(1);
        let next = match e.key().as_str() {
            "ArrowRight" => (at + 1) % n,
            "ArrowLeft" => (at + n - 1) % n,
            "Home" => 0,
            "End" => n - 1,
            _ => return,
        };
        let Some(&view) = views.get(next) else {
            return;
        };
        e.prevent_default();
        state.go(view);
        focus(&format!("tab-{}", view.word()));
    };
    let views = Memo::new(move |_| state.views());
    view! {
        <div class="tabs" role="tablist" aria-label=state.text(Word::Timeline) on:keydown=on_key>
            {move || views.get().into_iter().map(|view| {
                let current = move || state.view() == view;
                view! {
                    <button type="button" role="tab" id=format!("tab-{}", view.word())
                        aria-controls="panel"
                        aria-selected=move || current().to_string()
                        tabindex=move || if current() { "0" } else { "-1" }
                        on:click=move |_| state.go(view)>
                        {state.text(view.name())}
                    </button>
                }
            }).collect_view()}
        </div>
    }
}
