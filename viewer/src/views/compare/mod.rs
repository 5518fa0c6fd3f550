//! Two recordings side by side.

mod overlay;
mod tree;

use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::compare::{self as said, DiffRows, Seen, notes, status_word};
use present::rows::{FactRows, Rows};
use report::analyze::diff::snapshot::groups::By;
use report::analyze::diff::{Status, Which};
use report::analyze::snapshot::Instant;

use crate::compare::Same;
use crate::components::{DataTable, Table};
use crate::state::State;

use overlay::Overlay;
use tree::Tree;

/// A table of the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Groups(By),
    Parts,
    Modules,
    Phases,
    Steps,
    Figures,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Groups(By::Line),
        Self::Groups(By::Function),
        Self::Groups(By::Stack),
        Self::Groups(By::Category),
        Self::Parts,
        Self::Modules,
        Self::Phases,
        Self::Steps,
        Self::Figures,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Groups(by) => by.word(),
            Self::Parts => "parts",
            Self::Modules => "modules",
            Self::Phases => "phases",
            Self::Steps => "steps",
            Self::Figures => "figures",
        }
    }

    fn name(self) -> Word {
        match self {
            Self::Groups(by) => said::by_word(by),
            Self::Parts => Word::DiffParts,
            Self::Modules => Word::Modules,
            Self::Phases => Word::Phases,
            Self::Steps => Word::Steps,
            Self::Figures => Word::DiffFigures,
        }
    }

    /// Whether two recordings have it in common.
    fn is_of(self, seen: &Seen) -> bool {
        let runtime = seen.comparison.runtime.as_ref();
        match self {
            Self::Groups(_) => seen.live.is_some(),
            Self::Parts => runtime.is_some_and(|r| r.parts.is_some()),
            Self::Modules | Self::Phases | Self::Steps => runtime.is_some(),
            Self::Figures => true,
        }
    }

    fn rows(self, seen: &Seen) -> Option<DiffRows> {
        let c = &seen.comparison;
        match self {
            Self::Groups(by) => seen.live.as_ref().map(|live| said::groups(live, by)),
            Self::Parts => said::parts(c),
            Self::Modules => said::modules(c),
            Self::Phases => said::phases(c),
            Self::Steps => said::steps(c),
            Self::Figures => Some(said::figures(c)),
        }
    }
}

/// The table that is shown: the one that the link names, else the first.
fn kind(state: State, seen: &Seen) -> Kind {
    let word = state.shown.with(|s| s.by.clone());
    let mut kinds = Kind::ALL.into_iter().filter(|k| k.is_of(seen));
    let first = kinds.clone().next().unwrap_or(Kind::Figures);
    kinds.find(|k| k.word() == word).unwrap_or(first)
}

/// The tab.
#[component]
pub fn Compare(state: State) -> impl IntoView {
    let kind = Memo::new(move |_| {
        let seen = state.compared.seen.get();
        seen.map_or(Kind::Figures, |s| kind(state, &s.0))
    });
    let all = Memo::new(move |_| {
        let (seen, kind) = (state.compared.seen.get(), kind.get());
        let rows = seen.and_then(|s| kind.rows(&s.0));
        rows.map(|rows| Same(Arc::new(rows)))
    });
    let rows = Memo::new(move |_| {
        let status = state.shown.with(|s| Status::of_word(&s.change));
        let rows: Arc<dyn Rows> = match all.get() {
            Some(rows) => Arc::new((*rows.0).clone().only(status)),
            None => Arc::new(FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    });
    let lives = move || {
        let seen = state.compared.seen.get();
        seen.is_some_and(|s| s.0.live.is_some())
    };
    view! {
        <Sides state=state/>
        <Overlay state=state/>
        <div class="filters">
            <Kinds state=state kind=kind/>
            <Changes state=state all=all/>
        </div>
        <DataTable state=state rows=rows label=Signal::derive(move || state.t(kind.get().name()).to_owned())/>
        <Show when=lives><Tree state=state/></Show>
        <ul class="notes quiet" data-testid="compare-notes">{move || {
            let lang = state.lang.get();
            let seen = state.compared.seen.get();
            seen.map(|s| notes(&s.0, lang).into_iter().map(|n| view! { <li>{n}</li> }).collect_view())
        }}</ul>
    }
}

/// What A and B are, at which instant, and what can be done with them.
#[component]
fn Sides(state: State) -> impl IntoView {
    let name = move |which: Which| {
        move || {
            let lang = state.lang.get();
            let seen = state.compared.seen.get();
            seen.map(|s| said::name(s.0.comparison.side(which), lang))
        }
    };
    view! {
        <div class="sides">
            <p data-testid="side-a"><b>"A "</b>{name(Which::A)}" "<At state=state which=Which::A/></p>
            <p data-testid="side-b"><b>"B "</b>{name(Which::B)}" "<OtherRanks state=state/><At state=state which=Which::B/></p>
            <div class="actions" role="group">
                <button type="button" data-testid="compare-swap" on:click=move |_| state.swap_sides()>
                    {state.text(Word::DiffSwap)}</button>
                <button type="button" data-testid="compare-only-b" on:click=move |_| state.only_other()>
                    {state.text(Word::DiffOnlyB)}</button>
                <button type="button" data-testid="compare-close" on:click=move |_| state.close_comparison()>
                    {state.text(Word::DiffClose)}</button>
            </div>
        </div>
    }
}

/// The instant of a side, where both have a snapshot.
#[component]
fn At(state: State, which: Which) -> impl IntoView {
    let (word, id) = match which {
        Which::A => (Word::DiffAtA, "at-a"),
        Which::B => (Word::DiffAtB, "at-b"),
    };
    let chosen = move |e: web_sys::Event| {
        let value = event_target_value(&e);
        state.shown.update(|s| match which {
            Which::A => s.at = value,
            Which::B => s.at_b = value,
        });
    };
    let options = move || {
        let lang = state.lang.get();
        let seen = state.compared.seen.get()?;
        let live = seen.0.live.as_ref()?;
        let now = match which {
            Which::A => live.at.0,
            Which::B => live.at.1,
        };
        let mut all = vec![Instant::Peak];
        let ooms = live.diff.side(which).replay.ooms.len() as u32;
        all.extend((0..ooms).map(Instant::Oom));
        all.extend([Instant::Start, Instant::End]);
        if !all.contains(&now) {
            all.push(now);
        }
        Some(view! {
            <select data-testid=id aria-label=word.text(lang) on:change=chosen>
                {all.into_iter().map(|i| view! {
                    <option value=i.to_string() selected=i == now>{format!("{} {i}", word.text(lang))}</option>
                }).collect_view()}
            </select>
        })
    };
    view! { {options} }
}

/// B's ranks, where the report that was dropped has several.
#[component]
fn OtherRanks(state: State) -> impl IntoView {
    let chosen = move |e: web_sys::Event| {
        if let Ok(rank) = event_target_value(&e).parse() {
            state.set_other_rank(rank);
        }
    };
    view! {{move || {
        let (word, now) = (state.t(Word::Rank), state.compared.rank.get());
        let container = state.compared.container.get()?;
        let ranks = &container.header().ranks;
        (ranks.len() > 1).then(|| view! {
            <select data-testid="rank-b" aria-label=word on:change=chosen>
                {ranks.iter().enumerate().map(|(i, r)| {
                    let name = r.headline.rank.map_or_else(
                        || present::visible::short(&r.source.name, 40).into_owned(),
                        |n| format!("{word} {n}"),
                    );
                    view! { <option value=i.to_string() selected=i == now>{name}</option> }
                }).collect_view()}
            </select>
        })
    }}}
}

/// Which table.
#[component]
fn Kinds(state: State, kind: Memo<Kind>) -> impl IntoView {
    view! {
        <div class="segmented" role="group" data-testid="compare-kinds">{move || {
            let lang = state.lang.get();
            let seen = state.compared.seen.get();
            let kinds = Kind::ALL.into_iter().filter(|k| seen.as_ref().is_some_and(|s| k.is_of(&s.0)));
            kinds.map(|k| view! {
                <button type="button" data-testid=format!("kind-{}", k.word())
                    aria-pressed=move || (kind.get() == k).to_string()
                    on:click=move |_| state.shown.update(|s| {
                        s.by = k.word().to_owned();
                        s.sort = None;
                    })>{k.name().text(lang)}</button>
            }).collect_view()
        }}</div>
    }
}

/// What became of the rows that are shown.
#[component]
fn Changes(state: State, all: Memo<Option<Same<DiffRows>>>) -> impl IntoView {
    let chosen = move |e: web_sys::Event| {
        let value = event_target_value(&e);
        state.shown.update(|s| s.change = value);
    };
    view! {
        <select data-testid="change" aria-label=state.text(Word::DiffStatus) on:change=chosen>{move || {
            let lang = state.lang.get();
            let now = state.shown.with(|s| Status::of_word(&s.change));
            let rows = all.get();
            let of = |status| rows.as_ref().map_or(0, |r| r.0.count(status));
            let mut out = vec![view! {
                <option value=String::new() selected=now.is_none()>{Word::DiffAll.text(lang).to_owned()}</option>
            }];
            out.extend(Status::ALL.into_iter().map(|status| view! {
                <option value=status.word().to_owned() selected=now == Some(status)>
                    {format!("{} ({})", status_word(status).text(lang), of(status))}
                </option>
            }));
            out.collect_view()
        }}</select>
    }
}
