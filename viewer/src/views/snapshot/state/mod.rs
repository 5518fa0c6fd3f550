//! The allocator at an instant: its segments with their blocks, how well they are used, and what
//! keeps free memory in them.

mod controls;
mod figures;
mod input;
mod overlay;
mod picture;
mod play;

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use present::Word;
use present::names::Names;
use present::rows::{FactRows, PinRows, Rows, SegmentRows};
use report::analyze::snapshot::state::{
    Fragmentation, Pin, Pool, State as Allocator, Untold, fragmentation, pins, pools, untold,
};
use report::analyze::snapshot::{Analysis, Instant};
use report::model::snapshot::TraceId;

use crate::browser::next_frame;
use crate::components::{DataTable, Table};
use crate::state::State;
use controls::Controls;
use figures::Figures;
use picture::SegmentPicture;

/// Milliseconds without another instant after which the tables follow: they cost more than the
/// picture, and nobody reads them while it moves.
const CALM: u64 = 150;

/// The allocator at an instant, with all that is shown of it.
pub(super) struct Look {
    pub(super) analysis: Arc<Analysis>,
    pub(super) names: Arc<Names>,
    pub(super) instant: Instant,
    /// The event after which it is; `None` is before the first.
    pub(super) at: Option<TraceId>,
    pub(super) state: Arc<Allocator>,
    pub(super) pools: Vec<Pool>,
    pub(super) pins: Arc<Vec<Pin>>,
    pub(super) figures: Fragmentation,
    pub(super) requested: u64,
    pub(super) untold: Untold,
}

impl Look {
    fn of(names: Arc<Names>, instant: Instant) -> Self {
        let analysis = Arc::clone(names.analysis());
        let state = analysis.state_at(instant);
        let replay = &analysis.replay;
        let at = analysis.event_of(instant);
        Self {
            at,
            pools: pools(replay, &state),
            pins: Arc::new(pins(replay, &state)),
            figures: fragmentation(replay, &state),
            requested: replay.value(&replay.requested, at),
            untold: untold(replay, &state),
            instant,
            state: Arc::new(state),
            analysis,
            names,
        }
    }
}

/// A look in a signal; two are equal when they are the same.
#[derive(Clone)]
pub(super) struct Seen(Arc<Look>);

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Seen {
    type Target = Look;
    fn deref(&self) -> &Look {
        &self.0
    }
}

/// What is looked at.
pub(super) type Looked = Memo<Option<Seen>>;

/// The tab.
#[component]
pub fn StateView(state: State) -> impl IntoView {
    // Only the instant: nothing else that the link holds makes the state anew.
    let instant = Memo::new(move |_| state.instant());
    let look: Looked = Memo::new(move |_| {
        let instant = instant.get()?;
        let names = state.data.with(|d| d.as_ref()?.names())?;
        Some(Seen(Arc::new(Look::of(names, instant))))
    });
    let calm = calmed(look);
    let segments = Memo::new(move |_| {
        table(calm.get().map(|l| {
            Arc::new(SegmentRows::new(Arc::clone(&l.names), Arc::clone(&l.state))) as Arc<dyn Rows>
        }))
    });
    let pinned = Memo::new(move |_| {
        table(calm.get().map(|l| {
            Arc::new(PinRows::new(Arc::clone(&l.names), Arc::clone(&l.pins))) as Arc<dyn Rows>
        }))
    });
    let any_pins = Memo::new(move |_| pinned.with(|p| !p.is_empty()));
    view! {
        <Controls state=state look=look/>
        <Figures state=state look=look/>
        <SegmentPicture state=state look=look/>
        <Show when=move || any_pins.get()>
            <h2 class="under-picture">{state.text(Word::Pins)}</h2>
            <DataTable state=state rows=pinned sorted=("held", true) label=state.label(Word::Pins)/>
        </Show>
        <h2 class="under-picture">{state.text(Word::Segments)}</h2>
        <DataTable state=state rows=segments sorted=("size", true) label=state.label(Word::Segments)/>
    }
}

fn table(rows: Option<Arc<dyn Rows>>) -> Table {
    Table(rows.unwrap_or_else(|| Arc::new(FactRows::of("empty", Vec::new()))))
}

/// A look that follows when nothing has moved for a while, at first when the picture stands.
fn calmed(look: Looked) -> RwSignal<Option<Seen>> {
    let calm = RwSignal::new(None);
    let latest = StoredValue::new(0u64);
    Effect::new(move |before: Option<u64>| {
        look.track();
        let n = before.map_or(0, |b| b + 1);
        latest.set_value(n);
        let follow = move || {
            // The view may be gone, or another instant have come.
            if latest.try_get_value() == Some(n)
                && let Some(next) = look.try_get_untracked()
            {
                calm.try_set(next);
            }
        };
        let wait = if n == 0 { 0 } else { CALM };
        next_frame(move || set_timeout(follow, Duration::from_millis(wait)));
        n
    });
    calm
}
