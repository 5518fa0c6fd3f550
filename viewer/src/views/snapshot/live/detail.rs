//! One group: its stack and its largest allocations.

use leptos::prelude::*;
use present::Word;
use present::rows::Pick;
use present::rows::snapshot::AllocationRows;
use present::units::{bytes, count, exact, percent};
use present::visible::short;
use report::analyze::snapshot::Named;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::group::{Group, key};
use report::analyze::snapshot::sites::Owner;
use report::model::snapshot::{FrameId, StackId};

use super::super::held::{Held, Same, rows_of};
use super::choice::Fold;
use super::groups::Picked;
use crate::components::DataTable;
use crate::state::State;

/// So many of the largest allocations are listed.
const MOST: usize = 1000;
/// Frames of a stack that are shown; recursion can make thousands.
const FRAMES: usize = 300;

/// The panel.
#[component]
pub(super) fn Detail(
    state: State,
    held: Memo<Option<Same<Held>>>,
    groups: Memo<Option<Same<Vec<Group>>>>,
    picked: Memo<Option<Picked>>,
) -> impl IntoView {
    let by = Memo::new(move |_| state.grouping());
    let chosen = Memo::new(move |_| picked.get().map(|p| p.key));
    let rows = Memo::new(move |_| {
        let by = by.get();
        let parts = held.get().zip(chosen.get());
        rows_of(parts.map(|(held, wanted)| {
            let a = held.names.analysis();
            let is =
                |&id: &AllocationId| key(&a.replay, a.sites(), a.categories(), id, by) == wanted;
            let ids = held.moment.ids.iter().copied().filter(is).collect();
            AllocationRows::largest(held.names.clone(), ids, MOST, held.moment.event)
        }))
    });
    // The stack of what is picked: of an allocation, or the group's own.
    let stack = Memo::new(move |_| {
        let (held, p) = (held.get()?, picked.get()?);
        Some(match p.pick {
            Pick::Stack(s) => Some(StackId(s)),
            Pick::Allocation(n) => held
                .names
                .analysis()
                .replay
                .allocations
                .stack(AllocationId(n)),
            _ => None,
        })
    });
    let head = move || {
        let lang = state.lang.get();
        let (held, groups, p) = (held.get()?, groups.get()?, picked.get()?);
        let g = groups.get(p.row)?.clone();
        let name = short(&held.names.key(g.key, lang), 120).into_owned();
        Some(view! {
            <h2>{name}</h2>
            <p data-testid="detail-figures" title=exact(g.bytes)>
                <b>{bytes(g.bytes)}</b>" · "{percent(g.share)}" · "{count(g.count)}" "{Word::Allocations.text(lang)}
            </p>
        })
    };
    let name = move || {
        let (held, p) = (held.get()?, picked.get()?);
        let a = held.names.analysis();
        Some(match p.pick {
            Pick::Stack(s) => a.name(Named::Stack(StackId(s))),
            Pick::Allocation(n) => a.name(Named::Allocation(AllocationId(n))),
            Pick::Span(_) | Pick::Entry(_) => return None,
        })
    };
    view! {
        <div class="detail" data-testid="detail">
            <div class="above">
                <div class="grow">{head}</div>
                <button type="button" data-testid="detail-close" on:click=move |_| state.set_pick(None)>{state.text(Word::Close)}</button>
            </div>
            <div class="above"><h2>{state.text(Word::WholeStack)}</h2><code>{name}</code><span class="grow"></span><Fold state=state/></div>
            {move || {
                let lang = state.lang.get();
                let fold = state.how().fold;
                let (held, stack) = (held.get()?, stack.get()?);
                Some(match stack {
                    Some(stack) => frames(&held, stack, fold, lang).into_any(),
                    None => view! { <p class="quiet">{Word::NoFrames.text(lang)}</p> }.into_any(),
                })
            }}
            <h2>{state.text(Word::LargestHere)}</h2>
            <DataTable state=state rows=rows label=state.label(Word::LargestHere)/>
        </div>
    }
}

/// The frames of a stack, innermost first; with `fold` runs of frames of torch and C++ as one line.
fn frames(held: &Held, stack: StackId, fold: bool, lang: present::Lang) -> impl IntoView + use<> {
    let names = &held.names;
    let a = names.analysis();
    let all = a.snapshot().stacks.get(stack);
    let owner = |f: &FrameId| a.sites().owner(*f);
    // A stack of nothing else is shown as it is.
    let fold = fold && all.iter().any(|f| owner(f) <= Owner::Library);
    let mut out: Vec<AnyView> = Vec::new();
    let mut hidden = 0u64;
    let place = a.sites().place(stack);
    let folded = |n: u64| {
        let text = match lang {
            present::Lang::En if n == 1 => "… 1 frame of torch or C++".to_owned(),
            present::Lang::En => format!("… {n} frames of torch or C++"),
            present::Lang::Zh => format!("… {n} 个 torch 或 C++ 帧"),
        };
        view! { <li class="quiet">{text}</li> }.into_any()
    };
    for f in all.iter().take(FRAMES) {
        if fold && owner(f) > Owner::Library {
            hidden += 1;
            continue;
        }
        if hidden > 0 {
            out.push(folded(std::mem::take(&mut hidden)));
        }
        let row = a.snapshot().frames.get(*f);
        let whole = format!(
            "{} {}:{}",
            short(a.strings().get(row.name), 2000),
            short(a.strings().get(row.file), 1000),
            row.line
        );
        let function = short(&names.function(*f), 120).into_owned();
        let at = names.place(*f);
        let at = if at == function { String::new() } else { at };
        let own = owner(f) == Owner::User;
        let here = place == Some(*f);
        out.push(
            view! {
                <li class:own=own class:here=here title=whole><span>{function}</span>" "<span class="quiet">{at}</span></li>
            }
            .into_any(),
        );
    }
    if hidden > 0 {
        out.push(folded(hidden));
    }
    view! { <ol class="stack" data-testid="stack" tabindex="0">{out}</ol> }
}
