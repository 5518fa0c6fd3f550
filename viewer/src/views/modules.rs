//! Modules: a tree with figures rolled up, and flat.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::rows::{ModuleRows, Rows, order};
use present::units::count;
use report::analyze::modules::{ModuleId, Modules};

use super::table;
use crate::components::{DataTable, Table, Tree};
use crate::data::RankData;
use crate::selection::Selection;
use crate::state::State;

/// Opening everything stops here: more rows than this nobody reads as a tree.
const MOST_OPEN: usize = 50_000;

/// The tab.
#[component]
pub fn ModulesView(state: State) -> impl IntoView {
    let flat = Memo::new(move |_| state.shown.with(|s| s.flat));
    view! {
        {move || if flat.get() {
            view! { <Flat state=state/> }.into_any()
        } else {
            view! { <TreeTable state=state/> }.into_any()
        }}
    }
}

/// Tree or flat, and how the events pair.
#[component]
fn Shape(state: State) -> impl IntoView {
    let flat = move || state.shown.with(|s| s.flat);
    let set = move |flat: bool| {
        state.shown.update(|s| {
            s.flat = flat;
            s.sort = None;
        })
    };
    view! {
        <div class="segmented" role="group">
            <button type="button" data-testid="modules-tree" aria-pressed=move || (!flat()).to_string()
                on:click=move |_| set(false)>{state.text(Word::Tree)}</button>
            <button type="button" data-testid="modules-flat" aria-pressed=move || flat().to_string()
                on:click=move |_| set(true)>{state.text(Word::Flat)}</button>
        </div>
        <span class="quiet" data-testid="pairs">{move || state.data.get().map(|d| pairs(state, &d))}</span>
    }
}

/// How many events have their partner.
fn pairs(state: State, data: &RankData) -> String {
    let p = data.pairing();
    let mut out = format!("{} {}", count(p.pairs), state.t(Word::Pairs));
    for (n, word) in [(p.lone_pre, Word::LonePre), (p.lone_post, Word::LonePost)] {
        if n > 0 {
            out += &format!(" · {} {}", count(n), state.t(word));
        }
    }
    out
}

#[component]
fn Flat(state: State) -> impl IntoView {
    let rows = table(state, |d| ModuleRows::flat(Arc::clone(d.modules())));
    view! {
        <div class="filters"><Shape state=state/></div>
        <DataTable state=state rows=rows sorted=("total_delta", true)
            label=state.label(Word::Modules)/>
    }
}

#[component]
fn TreeTable(state: State) -> impl IntoView {
    let open = RwSignal::new(BTreeSet::<u32>::new());
    let modules = move || state.data.get().map(|d| Arc::clone(d.modules()));
    // At first the levels are open that fit a screen; a selected module's parents always.
    Effect::new(move |_| {
        if let Some(m) = modules() {
            open.set(first_levels(&m));
        }
    });
    Effect::new(move |_| {
        let Some((selection, data)) = state.selection.get().zip(state.data.get()) else {
            return;
        };
        let module = match selection {
            Selection::Module(m) => Some(m),
            other => other
                .event(&data)
                .and_then(|e| data.modules().of(data.rank.events.row(e).module)),
        };
        let mut above = module
            .and_then(|m| data.modules().get(m))
            .and_then(|m| m.parent);
        let mut missing = Vec::new();
        while let Some(id) = above {
            if !open.with_untracked(|o| o.contains(&id.0)) {
                missing.push(id.0);
            }
            above = data.modules().get(id).and_then(|m| m.parent);
        }
        if !missing.is_empty() {
            open.update(|o| o.extend(missing));
        }
    });
    let sort = Memo::new(move |_| {
        state
            .shown
            .with(|s| s.sort.clone())
            .filter(|s| s.table == "module_tree")
    });
    let visible = Memo::new(move |_| {
        let Some(data) = state.data.get() else {
            return Arc::new(Vec::new());
        };
        let key = sort.get().map(|s| (s.column, s.descending));
        Arc::new(open.with(|o| shown(&data, o, key.as_ref().map(|(c, d)| (c.as_str(), *d)), state)))
    });
    let rows = Memo::new(move |_| {
        let rows: Arc<dyn Rows> = match state.data.get() {
            Some(d) => Arc::new(ModuleRows::tree(
                Arc::clone(d.modules()),
                visible.get().to_vec(),
            )),
            None => Arc::new(present::rows::FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    });
    let tree = Tree {
        node: Callback::new(move |row: usize| {
            let id = visible.with_untracked(|v| v.get(row).copied());
            let module = id
                .zip(modules_untracked(state))
                .and_then(|(id, m)| m.get(id).map(|m| (id, m.depth, m.children.is_empty())));
            module.map_or((0, None), |(id, depth, leaf)| {
                (
                    depth,
                    (!leaf).then(|| open.with_untracked(|o| o.contains(&id.0))),
                )
            })
        }),
        toggle: Callback::new(move |row: usize| {
            if let Some(id) = visible.with_untracked(|v| v.get(row).copied()) {
                open.update(|o| {
                    if !o.remove(&id.0) {
                        o.insert(id.0);
                    }
                });
            }
        }),
    };
    let all_open = move |_| {
        if let Some(m) = modules_untracked(state) {
            open.set((0..m.rows.len().min(MOST_OPEN) as u32).collect());
        }
    };
    view! {
        <div class="filters">
            <Shape state=state/>
            <button type="button" data-testid="expand-all" on:click=all_open>{state.text(Word::ExpandAll)}</button>
            <button type="button" data-testid="collapse-all" on:click=move |_| open.set(BTreeSet::new())>
                {state.text(Word::CollapseAll)}
            </button>
        </div>
        <DataTable state=state rows=rows tree=tree
            label=state.label(Word::Modules)/>
    }
}

fn modules_untracked(state: State) -> Option<Arc<Modules>> {
    state.data.get_untracked().map(|d| Arc::clone(d.modules()))
}

/// Opens whole levels from the top as long as all rows then shown are few.
fn first_levels(modules: &Modules) -> BTreeSet<u32> {
    const FEW: usize = 24;
    let mut open = BTreeSet::new();
    let mut level: Vec<ModuleId> = modules.roots.clone();
    let mut shown = level.len();
    while !level.is_empty() {
        let next: Vec<ModuleId> = level
            .iter()
            .filter_map(|&id| modules.get(id))
            .flat_map(|m| m.children.iter().copied())
            .collect();
        shown += next.len();
        if shown > FEW && !open.is_empty() {
            break;
        }
        open.extend(level.iter().map(|id| id.0));
        if shown > FEW {
            break;
        }
        level = next;
    }
    open
}

/// The rows in sight, siblings in the order of a column.
fn shown(
    data: &Arc<RankData>,
    open: &BTreeSet<u32>,
    key: Option<(&str, bool)>,
    state: State,
) -> Vec<ModuleId> {
    let modules = data.modules();
    let lang = state.lang.get_untracked();
    let sorted = |ids: &[ModuleId]| -> Vec<ModuleId> {
        let rows = ModuleRows::tree(Arc::clone(modules), ids.to_vec());
        let column = key
            .and_then(|(id, down)| Some((rows.columns().iter().position(|c| c.id == id)?, down)));
        match column {
            Some((column, down)) => order(&rows, column, down, lang)
                .into_iter()
                .filter_map(|i| ids.get(i as usize).copied())
                .collect(),
            None => ids.to_vec(),
        }
    };
    let mut out = Vec::new();
    let mut waiting: Vec<ModuleId> = sorted(&modules.roots);
    waiting.reverse();
    while let Some(id) = waiting.pop() {
        out.push(id);
        if open.contains(&id.0)
            && let Some(m) = modules.get(id)
        {
            waiting.extend(sorted(&m.children).into_iter().rev());
        }
    }
    out
}
