//! Steps: the table behind the timeline.

use leptos::prelude::*;
use present::Word;
use present::rows::StepRows;

use super::table;
use crate::components::DataTable;
use crate::state::State;

/// The tab.
#[component]
pub fn Steps(state: State) -> impl IntoView {
    let rows = table(state, |d| StepRows::new(&d.rank));
    view! {
        <DataTable state=state rows=rows label=state.label(Word::Steps)/>
    }
}
