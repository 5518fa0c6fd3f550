//! The tab.

use leptos::prelude::*;

use crate::state::State;

/// The tab.
#[component]
pub fn Lifetimes(state: State) -> impl IntoView {
    view! { <p class="quiet">{move || state.instant().map(|i| i.to_string())}</p> }
}
