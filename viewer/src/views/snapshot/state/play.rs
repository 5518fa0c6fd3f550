//! Moving through the history.

use leptos::prelude::*;
use report::analyze::snapshot::{Analysis, Instant};
use report::model::snapshot::TraceId;

use crate::browser::next_frame;
use crate::state::State;

/// Milliseconds in which the whole history plays.
const WHOLE: f64 = 20_000.0;
/// Milliseconds that one frame stands for at most: a page in the background gets none.
const FRAME: f64 = 100.0;

/// Where an instant lies: 0 is before the first event, `n` after the `n`th.
pub(super) fn position(analysis: &Analysis, at: Option<TraceId>) -> u32 {
    at.map_or(0, |t| t.0.saturating_sub(analysis.replay.first) + 1)
}

/// The inverse of [`position`].
pub(super) fn instant_at(analysis: &Analysis, position: u32) -> Instant {
    match position.checked_sub(1) {
        None => Instant::Start,
        Some(n) => {
            let last = analysis.replay.past.saturating_sub(1);
            let at = analysis.replay.first.saturating_add(n).min(last);
            Instant::Event(TraceId(at))
        }
    }
}

/// A step through the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// To before the first event.
    First,
    /// To after the last.
    Last,
    /// By events.
    By(i64),
    /// By hundredths of the history.
    Percent(i64),
    /// To the next segment event.
    NextSegment,
    /// To the one before.
    PreviousSegment,
    /// To an instant with a name.
    To(Instant),
}

/// Takes a step.
pub(super) fn step(state: State, step: Step) {
    let Some(analysis) = untrack(|| state.snapshot()) else {
        return;
    };
    let at = untrack(|| state.instant()).and_then(|i| analysis.event_of(i));
    let n = analysis.replay.events().len() as i64;
    let by = |events: i64| {
        let to = (i64::from(position(&analysis, at)) + events).clamp(0, n);
        instant_at(&analysis, to as u32)
    };
    let next = match step {
        Step::First => Instant::Start,
        Step::Last => Instant::End,
        Step::By(events) => by(events),
        Step::Percent(hundredths) => by(hundredths * (n / 100).max(1)),
        Step::NextSegment => match analysis.segment_event_after(at) {
            Some(t) => Instant::Event(t),
            None => return,
        },
        Step::PreviousSegment => match analysis.segment_event_before(at) {
            Some(t) => Instant::Event(t),
            None => Instant::Start,
        },
        Step::To(instant) => instant,
    };
    state.set_instant(next);
}

/// The step of a key that means the same on the slider and on the picture.
pub(super) fn step_of_key(key: &str) -> Option<Step> {
    Some(match key {
        "PageUp" => Step::Percent(-1),
        "PageDown" => Step::Percent(1),
        "Home" => Step::First,
        "End" => Step::Last,
        "," => Step::PreviousSegment,
        "." => Step::NextSegment,
        _ => return None,
    })
}

/// Plays on while `playing` says so; ends with the view.
pub(super) fn play(state: State, playing: RwSignal<bool>) {
    let Some(analysis) = untrack(|| state.snapshot()) else {
        return;
    };
    let at = untrack(|| state.instant()).and_then(|i| analysis.event_of(i));
    if at == analysis.replay.last_event() {
        state.set_instant(Instant::Start);
    }
    playing.set(true);
    frame(state, playing, js_sys::Date::now(), 0.0);
}

/// One frame: `before` is the time of the last one, `rest` the part of an event that is due.
fn frame(state: State, playing: RwSignal<bool>, before: f64, rest: f64) {
    next_frame(move || {
        if playing.try_get_untracked() != Some(true) {
            return;
        }
        let Some(analysis) = untrack(|| state.snapshot()) else {
            return;
        };
        let now = js_sys::Date::now();
        let n = analysis.replay.events().len() as f64;
        let due = rest + n * (now - before).clamp(0.0, FRAME) / WHOLE;
        let whole = due.floor();
        let at = untrack(|| state.instant()).and_then(|i| analysis.event_of(i));
        let to = f64::from(position(&analysis, at)) + whole;
        if whole > 0.0 {
            state.set_instant(instant_at(&analysis, to as u32));
        }
        if to >= n {
            playing.set(false);
        } else {
            frame(state, playing, now, due - whole);
        }
    });
}
