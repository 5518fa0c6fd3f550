//! What several tabs of a snapshot share: names, the instant, what lives then.

use std::ops::Deref;
use std::sync::Arc;

use leptos::prelude::*;
use present::Word;
use present::names::Names;
use present::rows::{FactRows, Rows};
use report::analyze::snapshot::Instant;
use report::analyze::snapshot::moment::Moment;

use crate::components::Table;
use crate::state::State;

/// Something in a signal; two are equal when they are the same.
pub(super) struct Same<T: ?Sized>(pub(super) Arc<T>);

impl<T> Same<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> Clone for Same<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: ?Sized> Deref for Same<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// An instant with its names.
pub(super) struct Held {
    pub(super) names: Arc<Names>,
    pub(super) moment: Moment,
}

/// The names of the snapshot that is shown.
pub(super) fn names(state: State) -> Memo<Option<Same<Names>>> {
    Memo::new(move |_| state.data.get().and_then(|d| d.names()).map(Same))
}

/// The instant that is looked at.
pub(super) fn held(state: State) -> Memo<Option<Same<Held>>> {
    let names = names(state);
    let instant = Memo::new(move |_| state.instant());
    Memo::new(move |_| {
        let names = names.get()?;
        let moment = names.analysis().moment(instant.get()?);
        Some(Same::new(Held {
            names: names.0,
            moment,
        }))
    })
}

/// Rows of something that may not be there.
pub(super) fn rows_of<R: Rows + 'static>(rows: Option<R>) -> Table {
    match rows {
        Some(rows) => Table(Arc::new(rows)),
        None => Table(Arc::new(FactRows::of("empty", Vec::new()))),
    }
}

/// Buttons for the instants that matter, and one for the instant that was picked elsewhere.
#[component]
pub(super) fn Instants(state: State) -> impl IntoView {
    /// Buttons for so many out-of-memory events; the chart has all.
    const OOMS: usize = 3;
    let list = Memo::new(move |_| {
        let snapshot = state.snapshot()?;
        let ooms = snapshot.replay.ooms.len();
        let mut all: Vec<Instant> = vec![Instant::Peak];
        all.extend((0..ooms.min(OOMS) as u32).map(Instant::Oom));
        all.push(Instant::End);
        let now = state.instant()?;
        if !all.contains(&now) {
            all.push(now);
        }
        Some((all, ooms))
    });
    view! {
        <div class="segmented" role="group" data-testid="instants" aria-label=state.text(Word::Instant)>
            {move || {
                let lang = state.lang.get();
                list.get().map(|(all, ooms)| all.into_iter().map(|i| view! {
                    <button type="button" data-testid=format!("at-{i}")
                        aria-pressed=move || (state.instant() == Some(i)).to_string()
                        on:click=move |_| state.set_instant(i)>
                        {present::said::instant(i, ooms, lang)}
                    </button>
                }).collect_view())
            }}
        </div>
    }
}
