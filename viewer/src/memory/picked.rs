//! What is picked, in detail: size, lifetime, stream, pool, stack, who freed it.

use leptos::prelude::*;
use present::Word;
use present::names::{Names, category_word, certainty_word, evidence};
use present::rows::Pick;
use present::units::{bytes, exact, seconds};
use present::visible::short;
use report::analyze::snapshot::allocations::{Allocation, AllocationId, SpanId};
use report::analyze::snapshot::{Analysis, Instant, Named, steps};
use report::model::snapshot::{StackId, TraceId};

use crate::state::{State, View};

/// Frames shown of a stack before it is opened whole.
const FRAMES: usize = 40;
/// Characters of a frame.
const FRAME: usize = 160;

/// A fact: name and value.
type Fact = (String, String);

/// Whether the tab below shows an allocation's group, and with it the stack: once is enough.
fn shown_below(state: State, a: &Analysis, row: &Allocation) -> bool {
    if state.view() != View::Live || !state.has_groups() {
        return false;
    }
    let at = state.instant().and_then(|i| a.event_of(i));
    row.born <= at && row.free_completed.is_none_or(|end| Some(end) > at)
}

/// What is picked, where something is.
#[component]
pub fn PickedPanel(state: State) -> impl IntoView {
    let content = move || {
        let (lang, pick) = (state.lang.get(), state.pick.get()?);
        let names = state.data.get()?.names()?;
        let a = std::sync::Arc::clone(names.analysis());
        let (title, facts, stacks, instants) = match pick {
            Pick::Allocation(id) => {
                let id = AllocationId(id);
                let row = a.replay.allocations.get(id)?;
                let title = format!("{} · {}", a.name(Named::Allocation(id)), bytes(row.size));
                let mut stacks = vec![(Word::AllocatedBy, row.stack)];
                let freed = row.free_requested.or(row.free_completed);
                let by = freed.and_then(|t| a.snapshot().events.stack(t.index()));
                let by = by.filter(|s| !a.snapshot().stacks.get(*s).is_empty());
                // A free's stack may be a copy of the allocation's: then who freed it is unknown.
                if by.is_some() && by != row.stack {
                    stacks.push((Word::FreedBy, by));
                }
                let mut instants = Vec::new();
                instants.extend(row.born.map(|t| (Word::WhenAllocated, Instant::Event(t))));
                instants.extend(freed.map(|t| (Word::WhenFreed, Instant::Event(t))));
                if shown_below(state, &a, &row) {
                    stacks.remove(0);
                }
                (title, allocation(&names, id, &row, state), stacks, instants)
            }
            // As for an allocation.
            Pick::Stack(_) if state.view() == View::Live => return None,
            Pick::Stack(stack) => {
                let stack = StackId(stack);
                let title = a.name(Named::Stack(stack));
                (
                    title,
                    Vec::new(),
                    vec![(Word::AllocatedBy, Some(stack))],
                    Vec::new(),
                )
            }
            Pick::Span(span) => {
                let span = SpanId(span);
                let row = *a.replay.spans.get(span)?;
                let title = format!("{} · {}", a.name(Named::Span(span)), bytes(row.size));
                let facts = vec![
                    (
                        state.t(Word::Address).to_owned(),
                        format!("0x{:x}", row.address),
                    ),
                    (
                        state.t(Word::Stream).to_owned(),
                        names.stream(row.stream, lang),
                    ),
                    (state.t(Word::Pool).to_owned(), names.pool(row.pool, lang)),
                ];
                let mut instants = Vec::new();
                instants.extend(row.born.map(|t| (Word::WhenAllocated, Instant::Event(t))));
                instants.extend(row.died.map(|t| (Word::WhenFreed, Instant::Event(t))));
                (title, facts, vec![(Word::AllocatedBy, row.stack)], instants)
            }
            Pick::Entry(row) => {
                let t = TraceId(row);
                let event = a.snapshot().events.row(t.index());
                let title = format!("t{row} · {} · {}", event.action.word(), bytes(event.size));
                (
                    title,
                    entry(&names, t, state),
                    vec![(Word::AllocatedBy, event.stack)],
                    vec![(Word::AtInstant, Instant::Event(t))],
                )
            }
        };
        let same = match pick {
            Pick::Allocation(id) => a.replay.allocations.stack(AllocationId(id)),
            _ => None,
        };
        let label = title.clone();
        Some(view! {
            <section class="picked" data-testid="picked" aria-label=label>
                <div class="above">
                    <h2 data-testid="picked-title">{title}</h2>
                    <span class="actions">
                        {instants.into_iter().map(|(word, at)| view! {
                            <button type="button" on:click=move |_| state.set_instant(at)>
                                {format!("{} ({at})", word.text(lang))}
                            </button>
                        }).collect_view()}
                        {matches!(pick, Pick::Entry(_)).then(|| view! {
                            <button type="button" data-testid="show-state" on:click=move |_| {
                                if let Some(Pick::Entry(t)) = state.pick.get_untracked() {
                                    state.set_instant(Instant::Event(TraceId(t)));
                                    state.go(crate::state::View::State);
                                }
                            }>{Word::ShowState.text(lang)}</button>
                        })}
                        {same.map(|stack| view! {
                            <button type="button" data-testid="same-stack"
                                on:click=move |_| state.set_pick(Some(Pick::Stack(stack.0)))>
                                {format!("{} (k{})", Word::SameStack.text(lang), stack.0)}
                            </button>
                        })}
                        <button type="button" data-testid="picked-close" on:click=move |_| state.set_pick(None)>
                            {Word::Close.text(lang)}
                        </button>
                    </span>
                </div>
                <dl class="figures">
                    {facts.into_iter().map(|(name, value)| view! {
                        <div><dt>{name}</dt><dd>{value}</dd></div>
                    }).collect_view()}
                </dl>
                <div class="columns">
                    {stacks.into_iter().map(|(word, stack)| stack_view(&names, word, stack, state)).collect_view()}
                </div>
            </section>
        })
    };
    view! { {content} }
}

fn when(a: &Analysis, at: TraceId, state: State) -> String {
    let mut text = format!("t{}", at.0);
    let times = &a.snapshot().events.time_ns;
    let first = times.get(a.replay.events().start);
    if let Some((now, first)) = times.get(at.index()).zip(first) {
        text += &format!(", {}", seconds(now.saturating_sub(first)));
    }
    if let Some(step) = steps::step_of(a.steps(), at) {
        text += &format!(", {} {}", state.t(Word::Step), step.number);
    }
    text
}

fn allocation(names: &Names, id: AllocationId, row: &Allocation, state: State) -> Vec<Fact> {
    let (a, lang) = (names.analysis(), state.lang.get());
    let fact = |word: Word, value: String| (word.text(lang).to_owned(), value);
    let (category, sure) = a.categories().get(id);
    let mut out = vec![
        fact(Word::Requested, exact(row.size)),
        fact(
            Word::RoundedTo,
            if row.rounded_known {
                exact(row.rounded)
            } else {
                Word::Unknown.text(lang).to_owned()
            },
        ),
        fact(
            Word::Category,
            format!(
                "{} ({}: {})",
                category_word(category).text(lang),
                certainty_word(sure).text(lang),
                evidence(category, sure).text(lang)
            ),
        ),
        fact(
            Word::Born,
            row.born.map_or_else(
                || Word::BeforeHistory.text(lang).to_owned(),
                |t| when(a, t, state),
            ),
        ),
    ];
    match (row.free_requested, row.free_completed) {
        (None, None) => out.push(fact(Word::FreedAt, Word::NeverFreed.text(lang).to_owned())),
        (requested, completed) => {
            if let Some(t) = requested.or(completed) {
                out.push(fact(Word::FreedAt, when(a, t, state)));
            }
            let late = requested.zip(completed).filter(|(r, c)| c.0 > r.0 + 1);
            match (late, requested, completed) {
                (Some((_, c)), ..) => out.push(fact(Word::PendingUntil, when(a, c, state))),
                (None, Some(_), None) => out.push(fact(
                    Word::PendingUntil,
                    Word::NeverFreed.text(lang).to_owned(),
                )),
                _ => {}
            }
        }
    }
    let times = &a.snapshot().events.time_ns;
    let time = |t: Option<TraceId>| t.and_then(|t| times.get(t.index()));
    if let Some((born, end)) = time(row.born).zip(time(row.free_completed)) {
        out.push(fact(Word::Lifetime, seconds(end.saturating_sub(born))));
    }
    out.push(fact(Word::Stream, names.stream(row.stream, lang)));
    out.push(fact(Word::Pool, names.pool(row.pool, lang)));
    if let Some(span) = row.span {
        out.push(fact(Word::InSegment, a.name(Named::Span(span))));
    }
    if let Some(t) = row.born {
        let event = a.snapshot().events.row(t.index());
        let text = a.strings().get(event.user_metadata);
        if !text.is_empty() {
            out.push(fact(Word::Metadata2, short(text, 300).into_owned()));
        }
    }
    out
}

fn entry(names: &Names, at: TraceId, state: State) -> Vec<Fact> {
    let (a, lang) = (names.analysis(), state.lang.get());
    let event = a.snapshot().events.row(at.index());
    let fact = |word: Word, value: String| (word.text(lang).to_owned(), value);
    let mut out = vec![
        fact(Word::Time, when(a, at, state)),
        fact(Word::Size, exact(event.size)),
        fact(Word::Address, format!("0x{:x}", event.address)),
        fact(Word::Stream, names.stream(event.stream, lang)),
    ];
    if let Some(id) = a.replay.allocations.find(event.address, at, event.action) {
        out.push(fact(Word::Allocation, a.name(Named::Allocation(id))));
    }
    out
}

/// A stack, the innermost frame on top; frames of torch and C++ are quiet.
fn stack_view(names: &Names, word: Word, stack: Option<StackId>, state: State) -> AnyView {
    let (a, lang) = (names.analysis(), state.lang.get());
    let head = format!(
        "{}{}",
        word.text(lang),
        stack.map_or_else(String::new, |s| format!(" (k{})", s.0))
    );
    let Some(stack) = stack else {
        return view! {
            <div><h3>{head}</h3><p class="quiet">{Word::NoFrames.text(lang)}</p></div>
        }
        .into_any();
    };
    let place = a.sites().place(stack);
    let frames = a.snapshot().stacks.get(stack);
    let row = |id: &report::model::snapshot::FrameId| {
        let id = *id;
        let own = a.sites().owner(id) == report::analyze::snapshot::sites::Owner::User;
        let text = names.whole(id);
        let title = names.path(id).unwrap_or_default().to_owned();
        view! {
            <li class:own=own class:place=Some(id) == place title=title>{short(&text, FRAME).into_owned()}</li>
        }
    };
    let more = frames.len().saturating_sub(FRAMES);
    view! {
        <div>
            <h3>{head}</h3>
            <ol class="frames">
                {frames.iter().take(FRAMES).map(row).collect_view()}
            </ol>
            {(more > 0).then(|| view! {
                <details><summary>{format!("+{more}")}</summary>
                    <ol class="frames">{frames.iter().skip(FRAMES).map(row).collect_view()}</ol>
                </details>
            })}
        </div>
    }
    .into_any()
}
