//! The chart of a memory snapshot.

use leptos::prelude::*;

use crate::state::State;

/// The chart.
#[component]
pub fn MemoryChart(state: State) -> impl IntoView {
    view! { <p>{move || state.instant().map(|i| i.to_string())}</p> }
}
