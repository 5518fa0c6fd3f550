//! The slider over the history, its buttons, and where it stands.

use leptos::prelude::*;
use present::Word;
use present::units::count;
use report::analyze::snapshot::Instant;

use super::play::{Step, instant_at, play, position, step, step_of_key};
use super::{Looked, Seen};
use crate::state::State;

/// The controls.
#[component]
pub(super) fn Controls(state: State, look: Looked) -> impl IntoView {
    let playing = RwSignal::new(false);
    let press = move |s: Step| {
        playing.set(false);
        step(state, s);
    };
    let events = move || look.with(|l| l.as_ref().map_or(0, |l| l.analysis.replay.events().len()));
    let at = move || look.with(|l| l.as_ref().map_or(0, |l| position(&l.analysis, l.at)));
    let slide = move |e: web_sys::Event| {
        let to = event_target_value(&e).parse().ok();
        if let Some((to, l)) = to.zip(look.get_untracked()) {
            state.set_instant(instant_at(&l.analysis, to));
        }
    };
    let key = move |e: web_sys::KeyboardEvent| {
        if e.ctrl_key() || e.meta_key() || e.alt_key() {
            return;
        }
        let s = match e.key().as_str() {
            "ArrowLeft" | "ArrowDown" => Step::By(-1),
            "ArrowRight" | "ArrowUp" => Step::By(1),
            " " => {
                e.prevent_default();
                return toggle(state, playing);
            }
            other => match step_of_key(other) {
                Some(s) => s,
                None => return,
            },
        };
        e.prevent_default();
        e.stop_propagation();
        press(s);
    };
    let ooms = Memo::new(move |_| {
        look.with(|l| {
            l.as_ref()
                .map_or(0, |l| l.analysis.replay.ooms.len() as u32)
        })
    });
    let button = move |id: &'static str, sign: &'static str, word: Word, s: Step| {
        view! {
            <button type="button" data-testid=id title=state.text(word) aria-label=state.text(word)
                on:click=move |_| press(s)>{sign}</button>
        }
    };
    view! {
        <div class="scrub" role="group" aria-label=state.text(Word::Instant)>
            <div class="actions">
                {button("state-first", "|‹", Word::FirstInstant, Step::First)}
                {button("state-previous-segment", "«", Word::PreviousSegmentEvent, Step::PreviousSegment)}
                {button("state-previous", "‹", Word::PreviousEvent, Step::By(-1))}
                <button type="button" data-testid="state-play" class="wide"
                    aria-pressed=move || playing.get().to_string()
                    on:click=move |_| toggle(state, playing)>
                    {move || state.t(if playing.get() { Word::Pause } else { Word::Play })}
                </button>
                {button("state-next", "›", Word::NextEvent, Step::By(1))}
                {button("state-next-segment", "»", Word::NextSegmentEvent, Step::NextSegment)}
                {button("state-last", "›|", Word::LastInstant, Step::Last)}
            </div>
            <input type="range" data-testid="state-slider" id="state-slider" min="0" step="1"
                aria-label=state.text(Word::Instant)
                aria-valuetext=move || look.get().map(|l| said(&l, state))
                prop:max=move || events().to_string() prop:value=move || at().to_string()
                on:input=slide on:keydown=key/>
            <div class="actions">
                <button type="button" data-testid="state-peak"
                    aria-pressed=move || is(look, Instant::Peak)
                    on:click=move |_| press(Step::To(Instant::Peak))>{state.text(Word::AtThePeak)}</button>
                {move || (0..ooms.get()).take(4).map(|n| view! {
                    <button type="button" data-testid=format!("state-oom{}", n + 1)
                        aria-pressed=move || is(look, Instant::Oom(n))
                        on:click=move |_| press(Step::To(Instant::Oom(n)))>
                        {move || if n == 0 {
                            state.t(Word::AtTheOom).to_owned()
                        } else {
                            format!("{} {}", state.t(Word::AtTheOom), n + 1)
                        }}
                    </button>
                }).collect_view()}
            </div>
            <span class="quiet where" data-testid="state-at">{move || {
                // The language first: what is read after it may depend on it.
                let _ = state.lang.get();
                look.get().map(|l| said(&l, state))
            }}</span>
        </div>
    }
}

fn toggle(state: State, playing: RwSignal<bool>) {
    if playing.get_untracked() {
        playing.set(false);
    } else {
        play(state, playing);
    }
}

/// Whether the instant is that of a button, as it or as the event that it stands for.
fn is(look: Looked, instant: Instant) -> String {
    let same = |l: &Seen| l.analysis.event_of(instant) == l.at;
    look.with(|l| l.as_ref().is_some_and(same)).to_string()
}

/// `t412 · 412 / 1,500 · segment_alloc`
fn said(l: &Seen, state: State) -> String {
    let n = count(l.analysis.replay.events().len() as u64);
    let place = format!("{} / {n}", count(u64::from(position(&l.analysis, l.at))));
    let Some(at) = l.at else {
        return format!("{} · {place}", state.t(Word::FirstInstant));
    };
    let action = l.analysis.snapshot().events.action.get(at.index()).copied();
    let action = action.unwrap_or_default().word();
    format!("{} · {place} · {action}", Instant::Event(at))
}
