//! The groups as a table, with the one that is picked beside it.

use leptos::prelude::*;
use present::Word;
use present::rows::Pick;
use present::rows::snapshot::GroupRows;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::group::{By, Group, Key, group, key};
use report::model::snapshot::StackId;

use super::super::held::{Held, Same, rows_of};
use super::detail::Detail;
use crate::components::DataTable;
use crate::state::State;

/// The group of what is picked.
#[derive(Clone, PartialEq)]
pub(super) struct Picked {
    /// Its row.
    pub(super) row: usize,
    /// What it has in common.
    pub(super) key: Key,
    /// What is picked.
    pub(super) pick: Pick,
}

/// Table and details.
#[component]
pub(super) fn Groups(state: State, held: Memo<Option<Same<Held>>>) -> impl IntoView {
    let by = Memo::new(move |_| state.grouping());
    let groups: Memo<Option<Same<Vec<Group>>>> = Memo::new(move |_| {
        let (by, held) = (by.get(), held.get()?);
        let a = held.names.analysis();
        let ids = &held.moment.ids;
        Some(Same::new(group(
            &a.replay,
            a.sites(),
            a.categories(),
            ids,
            by,
        )))
    });
    let picked = Memo::new(move |_| {
        let (by, pick) = (by.get(), state.pick.get()?);
        let key = key_of(&*held.get()?, by, pick)?;
        let row = groups.get()?.iter().position(|g| g.key == key)?;
        Some(Picked { row, key, pick })
    });
    let rows = Memo::new(move |_| {
        let by = by.get();
        let parts = held.get().zip(groups.get());
        rows_of(parts.map(|(held, groups)| {
            let picked = picked.get().map(|p| (p.row, p.pick));
            GroupRows::new(held.names.clone(), groups.0, by, picked)
        }))
    });
    let open = move || picked.with(Option::is_some);
    view! {
        <div class="split" class:open=open>
            <div class="left">
                <DataTable state=state rows=rows label=state.label(Word::Live)/>
                <Show when=move || !open()><p class="quiet" data-testid="pick-hint">{move || {
                    let (none, gone) = (state.t(Word::PickGroup), state.t(Word::PickNotLive));
                    if state.pick.with(Option::is_some) { gone } else { none }
                }}</p></Show>
            </div>
            <Show when=open><Detail state=state held=held groups=groups picked=picked/></Show>
        </div>
    }
}

/// What the group of a pick has in common; `None` for what does not live at the instant.
fn key_of(held: &Held, by: By, pick: Pick) -> Option<Key> {
    let a = held.names.analysis();
    match (pick, by) {
        (Pick::Allocation(n), _) => {
            let id = AllocationId(n);
            held.moment.ids.binary_search(&id).ok()?;
            Some(key(&a.replay, a.sites(), a.categories(), id, by))
        }
        (Pick::Stack(n), By::Stack) => Some(Key::Stack(Some(StackId(n)))),
        (Pick::Stack(n), By::Line) => Some(Key::Line(a.sites().line(StackId(n)))),
        (Pick::Stack(n), By::Function) => Some(Key::Function(a.sites().function(StackId(n)))),
        _ => None,
    }
}
