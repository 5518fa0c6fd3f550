//! The head: the answer in one sentence, the run, and what concerns the whole page.

#[cfg(feature = "snapshot")]
use std::sync::Arc;

use leptos::prelude::*;
use present::sentences::{estimate, headline_among, subline};
use present::units::bytes;
use present::visible::short;
use present::{Lang, Word};

use super::actions::say;
use crate::browser::{address, copy};
use crate::open::open_file;
use crate::state::State;

/// The head of the page.
#[component]
pub fn Header(state: State) -> impl IntoView {
    let said =
        move |f: fn(&report::model::Rank, &present::sentences::Facts, Lang) -> Option<String>| {
            move || {
                state
                    .data
                    .get()
                    .and_then(|d| f(&d.rank, &d.facts, state.lang.get()))
            }
        };
    view! {
        <header>
            <div class="bar">
                <span class="brand">"MemScope"</span>
                <Ranks state=state/>
                {devices(state)}
                {with(state)}
                <span class="grow"></span>
                <Tools state=state/>
            </div>
            <h1 data-testid="headline">{move || match state.data.get() {
                #[cfg(feature = "snapshot")]
                Some(_) if state.view() == crate::state::View::Compare => {
                    let lang = state.lang.get();
                    state.compared.seen.get().map_or_else(String::new, |s| present::compare::headline(&s.0, lang))
                }
                Some(d) => {
                    let ranks = state.container.with(|c| c.as_ref().map_or(1, |c| c.header().ranks.len()));
                    headline_among(ranks, &d.rank, &d.facts, state.lang.get())
                }
                None => String::new(),
            }}</h1>
            <div class="run" class:gone=move || state.view() == crate::state::View::Compare>
            <ul class="facts" data-testid="facts">
                {move || state.data.get().map(|d| {
                    subline(&d.rank, &d.facts, state.lang.get())
                        .into_iter()
                        .map(|fact| view! { <li>{fact}</li> })
                        .collect_view()
                })}
            </ul>
            <p class="said" data-testid="estimate">{said(estimate)}</p>
            </div>
            <Show when=move || state.data.with(Option::is_none) && !state.working.get()>
                <label class="drop" data-testid="drop">
                    {state.text(Word::DropHere)}
                    <OpenInput state=state id="open-large"/>
                </label>
            </Show>
            <p class="error" role="alert" data-testid="error">{move || state.error.get()}</p>
            <p class="said" role="status" data-testid="reading">{move || state.reading.get().map(|name| {
                let share = share(state);
                format!("{} {}{}", state.t(Word::Reading), short(&name, 80), share.unwrap_or_default())
            })}</p>
        </header>
    }
}

/// The rank selector, where there is more than one; each with its peak, so that the odd one out
/// shows before it is chosen.
#[component]
fn Ranks(state: State) -> impl IntoView {
    let ranks = move || {
        let container = state.container.get()?;
        let ranks = &container.header().ranks;
        (ranks.len() > 1).then(|| {
            ranks
                .iter()
                .enumerate()
                .map(|(i, r)| {
                    let name = r.headline.rank.map_or_else(
                        || short(&r.source.name, 40).into_owned(),
                        |n| format!("{} {n}", state.t(Word::Rank)),
                    );
                    let peak = r.headline.peak_allocated;
                    (
                        i,
                        peak.map_or_else(|| name.clone(), |p| format!("{name} · {}", bytes(p))),
                    )
                })
                .collect::<Vec<_>>()
        })
    };
    let chosen = move |e: web_sys::Event| {
        if let Ok(rank) = event_target_value(&e).parse() {
            state.set_rank(rank);
        }
    };
    view! {
        {move || ranks().map(|options| view! {
            <select data-testid="rank" aria-label=state.text(Word::Rank) on:change=chosen>
                {options.into_iter().map(|(i, text)| view! {
                    <option value=i.to_string() selected=move || state.rank.get() == i>{text}</option>
                }).collect_view()}
            </select>
        })}
    }
}

/// The device selector, where a snapshot has several; each with the bytes of its segments, so that
/// the full one shows before it is chosen. The peaks would take playing every history.
#[cfg(feature = "snapshot")]
fn devices(state: State) -> impl IntoView {
    use report::model::snapshot::Device;
    let chosen = move |e: web_sys::Event| {
        if let Some(device) = Device::of_word(&event_target_value(&e)) {
            state.set_device(device);
        }
    };
    let all = Memo::new(move |_| state.devices());
    // While a device is played, the one that is coming is what the selector says.
    let shown = Memo::new(move |_| {
        let asked = state.shown.with(|s| s.device);
        let rank = state.data.get().map(|d| Arc::clone(&d.rank))?;
        rank.snapshot.as_ref()?.device_or_main(asked)
    });
    move || {
        let lang = state.lang.get();
        let all = all.get();
        (!all.is_empty()).then(|| view! {
            <select data-testid="device" aria-label=Word::Device.text(lang) on:change=chosen>
                {all.into_iter().map(|(device, reserved)| {
                    let name = present::sentences::snapshot::device(device, lang);
                    let text = match reserved {
                        Some(n) => format!("{name} · {} {}", bytes(n), Word::Reserved.text(lang)),
                        None => name,
                    };
                    view! {
                        <option value=device.word() selected=move || shown.get() == Some(device)>{text}</option>
                    }
                }).collect_view()}
            </select>
        })
    }
}

#[cfg(not(feature = "snapshot"))]
fn devices(_: State) {}

/// Which other rank of the report is held against the one that is shown.
#[cfg(feature = "snapshot")]
fn with(state: State) -> impl IntoView {
    let chosen = move |e: web_sys::Event| state.set_with(event_target_value(&e).parse().ok());
    move || {
        let lang = state.lang.get();
        let (shown, with) = (state.rank.get(), state.shown.with(|s| s.with));
        let container = state.container.get()?;
        let ranks = &container.header().ranks;
        let others = ranks.iter().enumerate().filter(|(i, _)| *i != shown);
        let name = |r: &report::container::RankEntry| {
            let rank = Word::Rank.text(lang);
            r.headline.rank.map_or_else(
                || short(&r.source.name, 40).into_owned(),
                |n| format!("{rank} {n}"),
            )
        };
        let word = Word::DiffWith.text(lang);
        (ranks.len() > 1).then(|| view! {
            <select data-testid="with" aria-label=word on:change=chosen>
                <option value="" selected=with.is_none()>{format!("{word}: {}", Word::DiffNothing.text(lang))}</option>
                {others.map(|(i, r)| view! {
                    <option value=i.to_string() selected=with == Some(i)>{format!("{word}: {}", name(r))}</option>
                }).collect_view()}
            </select>
        })
    }
}

#[cfg(not(feature = "snapshot"))]
fn with(_: State) {}

/// The browser's own file chooser, unseen inside its label.
#[component]
fn OpenInput(state: State, id: &'static str) -> impl IntoView {
    let input = NodeRef::<leptos::html::Input>::new();
    let picked = move |_| {
        let file = input
            .get_untracked()
            .and_then(|i| i.files())
            .and_then(|f| f.get(0));
        if let Some(file) = file {
            open_file(state, file);
        }
    };
    view! { <input type="file" class="hidden" data-testid=id node_ref=input on:change=picked/> }
}

/// Open, link, language, ground, keyboard.
#[component]
fn Tools(state: State) -> impl IntoView {
    let link = move |_| {
        // The address may lag behind when much has changed at once.
        crate::browser::set_hash(&state.shown.with_untracked(crate::hash::write));
        copy(&address(), move |ok| say(state, ok));
    };
    view! {
        <label class="button">
            {state.text(Word::OpenFile)}
            <OpenInput state=state id="open"/>
        </label>
        <button type="button" data-testid="link" on:click=link>{state.text(Word::CopyLink)}</button>
        <button type="button" data-testid="lang" on:click=move |_| toggle_lang(state)>
            {state.text(Word::Language)}
        </button>
        <button type="button" data-testid="theme" aria-label=state.text(Word::Theme)
            title=state.text(Word::Theme) on:click=move |_| toggle_theme(state)>"◐"</button>
        <button type="button" data-testid="help-open" aria-label=state.text(Word::Help)
            title=state.text(Word::Help) on:click=move |_| state.help.set(true)>"?"</button>
    }
}

/// The other language.
pub(crate) fn toggle_lang(state: State) {
    let next = match state.lang.get_untracked() {
        Lang::En => Lang::Zh,
        Lang::Zh => Lang::En,
    };
    state.shown.update(|s| s.lang = Some(next));
}

/// The other ground.
pub(crate) fn toggle_theme(state: State) {
    let next = !state.dark.get_untracked();
    state.shown.update(|s| s.dark = Some(next));
}

/// How much of a file is read; only what reads in pieces can tell.
#[cfg(feature = "snapshot")]
fn share(state: State) -> Option<String> {
    let share = state.progress.get()?;
    Some(format!(" {:.0} %", share * 100.0))
}

#[cfg(not(feature = "snapshot"))]
fn share(_: State) -> Option<String> {
    None
}
