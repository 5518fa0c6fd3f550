//! The tabs of a recording: the device's memory by who holds it, and what is known by name.

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{Theme, device, layer_name, svg};
use present::rows::{DriverRows, FactRows, InventoryRows, NameSumRows, RankRows, Rows};
use present::units::bytes;
use report::analyze::driver::{Layers, layers};
use report::analyze::recording::inventory;

use crate::components::{ChartActions, DataTable, Table};
use crate::state::{State, View};
use crate::timeline::sized;
use crate::views::table;

/// Height of the picture in CSS pixels.
const HEIGHT: f64 = 260.0;
/// Moments of the picture, at most.
const MOMENTS: usize = 1200;

impl State {
    /// Whether a tab has something of the recording to show.
    pub fn recorded(self, view: View) -> bool {
        self.data.with(|d| {
            let Some(d) = d else { return false };
            let Some(recording) = &d.rank.recording else {
                return false;
            };
            match view {
                View::ByName => inventory(recording).is_some(),
                _ => !DriverRows::new(&d.rank).is_empty() || self.several(),
            }
        })
    }

    /// Whether there are several ranks and at least one was recorded.
    fn several(self) -> bool {
        self.container.with(|c| {
            let ranks = c.as_ref().map(|c| &c.header().ranks);
            ranks.is_some_and(|r| r.len() > 1 && r.iter().any(|r| r.headline.span.is_some()))
        })
    }
}

/// The ranks of the report side by side.
fn ranks(state: State) -> Option<RankRows> {
    state.container.with(|c| {
        let ranks = &c.as_ref().filter(|_| state.several())?.header().ranks;
        let each = ranks.iter();
        Some(RankRows::new(
            each.map(|r| (r.source.name.clone(), r.headline.clone()))
                .collect(),
        ))
    })
}

/// The device's memory.
#[component]
pub fn DeviceView(state: State) -> impl IntoView {
    let found = Memo::new(move |_| {
        let data = state.data.get();
        Arc::new(data.map_or_else(Layers::default, |d| layers(&d.rank, MOMENTS)))
    });
    let rows = table(state, |d| DriverRows::new(&d.rank));
    let compared = Memo::new(move |_| match ranks(state) {
        Some(rows) => Table(Arc::new(rows)),
        None => Table(Arc::new(FactRows::of("empty", Vec::new()))),
    });
    let imbalance = move || ranks(state).and_then(|r| r.imbalance(state.lang.get()));
    view! {
        <Picture state=state found=found/>
        <DataTable state=state rows=rows label=state.label(Word::DeviceMemory)/>
        <Show when=move || state.several()>
            <h2>{state.text(Word::RanksCompared)}</h2>
            <p data-testid="imbalance">{imbalance}</p>
            <DataTable state=state rows=compared label=state.label(Word::RanksCompared)/>
        </Show>
    }
}

#[component]
fn Picture(state: State, found: Memo<Arc<Layers>>) -> impl IntoView {
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let width = RwSignal::new(0.0);
    crate::timeline::watch_canvas(canvas, width);
    Effect::new(move |_| {
        let (lang, theme) = (state.lang.get(), Theme::of(state.dark.get()));
        let (Some(c), found) = (canvas.get(), found.get()) else {
            return;
        };
        let scale = sized(&c, width.get(), HEIGHT);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            device(&backend.into_drawing_area(), &found, &theme, scale, lang).ok();
        }
    });
    let export = Callback::new(move |()| {
        let (lang, theme) = untrack(|| (state.lang.get(), Theme::of(state.dark.get())));
        let width = width.get_untracked().max(300.0) as u32;
        let found = found.get_untracked();
        svg(width, HEIGHT as u32, |area| {
            device(area, &found, &theme, 1.0, lang)
        })
    });
    // What the picture shows, in words: each layer with its highest.
    let said = move || {
        let (lang, found) = (state.lang.get(), found.get());
        let each = found.layers.iter().map(|(layer, column)| {
            let most = column.iter().max().copied().unwrap_or(0);
            format!("{} {}", layer_name(layer, lang), bytes(most))
        });
        each.collect::<Vec<_>>().join("; ")
    };
    let label = move || format!("{}: {}", state.t(Word::DeviceOverTime), said());
    view! {
        <Show when=move || !found.with(|f| f.layers.is_empty())>
            <div class="above">
                <h2>{state.text(Word::DeviceOverTime)}</h2>
                <span class="grow"></span>
                <ChartActions name="device_memory" canvas=canvas draw=export/>
            </div>
            <div class="bar-host" role="img" aria-label=label data-testid="device-chart">
                <canvas node_ref=canvas aria-hidden="true" style:height=format!("{HEIGHT}px")></canvas>
            </div>
        </Show>
    }
}

/// What is known by name.
#[component]
pub fn ByName(state: State) -> impl IntoView {
    let kinds = table(state, |d| NameSumRows::new(&d.rank, false));
    let modules = table(state, |d| NameSumRows::new(&d.rank, true));
    let items = table(state, |d| InventoryRows::new(&d.rank));
    view! {
        <DataTable state=state rows=kinds label=state.label(Word::SumsByKind)/>
        <h2>{state.text(Word::SumsByModule)}</h2>
        <DataTable state=state rows=modules label=state.label(Word::SumsByModule)/>
        <h2>{state.text(Word::ByName)}</h2>
        <DataTable state=state rows=items label=state.label(Word::ByName)/>
    }
}
