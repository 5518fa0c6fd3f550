//! The tabs.

use leptos::prelude::*;
use present::Word;

use crate::browser::focus;
use crate::state::{State, View};

/// The row of tabs; arrow keys move between them.
#[component]
pub fn Tabs(state: State) -> impl IntoView {
    let go = move |view: View| {
        state.shown.update(|s| {
            s.view = view;
            s.sort = None;
        })
    };
    let on_key = move |e: web_sys::KeyboardEvent| {
        let now = state.shown.with_untracked(|s| s.view);
        let at = View::ALL.iter().position(|&v| v == now).unwrap_or(0);
        let n = View::ALL.len();
        let next = match e.key().as_str() {
            "ArrowRight" => (at + 1) % n,
            "ArrowLeft" => (at + n - 1) % n,
            "Home" => 0,
            "End" => n - 1,
            _ => return,
        };
        e.prevent_default();
        go(View::ALL[next]);
        focus(&format!("tab-{}", View::ALL[next].word()));
    };
    view! {
        <div class="tabs" role="tablist" aria-label=state.text(Word::Timeline) on:keydown=on_key>
            {View::ALL.iter().map(|&view| {
                let current = move || state.shown.with(|s| s.view) == view;
                view! {
                    <button type="button" role="tab" id=format!("tab-{}", view.word())
                        aria-controls="panel"
                        aria-selected=move || current().to_string()
                        tabindex=move || if current() { "0" } else { "-1" }
                        on:click=move |_| go(view)>
                        {state.text(view.name())}
                    </button>
                }
            }).collect_view()}
        </div>
    }
}
