//! Phases as bars and table.

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{Bar, Theme, bars, phase_color, svg};
use present::rows::PhaseRows;
use present::units::bytes;
use present::visible::short;

use super::table;
use crate::components::{ChartActions, DataTable};
use crate::state::State;
use crate::timeline::sized;

/// Height of one bar in CSS pixels.
const LINE: f64 = 24.0;
/// More bars than this are left to the table.
const MOST: usize = 24;

/// The tab.
#[component]
pub fn Phases(state: State) -> impl IntoView {
    let rows = table(state, |d| PhaseRows::new(std::sync::Arc::clone(&d.rank)));
    view! {
        <Bars state=state/>
        <DataTable state=state rows=rows label=state.label(Word::Phases)/>
    }
}

fn list(state: State) -> Vec<Bar> {
    let dark = state.dark.get();
    let Some(data) = state.data.get() else {
        return Vec::new();
    };
    let rows = PhaseRows::new(std::sync::Arc::clone(&data.rank));
    rows.phases
        .iter()
        .enumerate()
        .take(MOST)
        .map(|(n, p)| Bar {
            name: short(rows.name_of(n), 40).into_owned(),
            bytes: p.max_allocated.unwrap_or(0),
            label: p.max_allocated.map_or_else(|| "–".to_owned(), bytes),
            color: phase_color(n, dark),
        })
        .collect()
}

#[component]
fn Bars(state: State) -> impl IntoView {
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let width = RwSignal::new(0.0);
    crate::timeline::watch_canvas(canvas, width);
    let height = Memo::new(move |_| list(state).len() as f64 * LINE);
    Effect::new(move |_| {
        let (Some(c), list, theme) = (canvas.get(), list(state), Theme::of(state.dark.get()))
        else {
            return;
        };
        let scale = sized(&c, width.get(), height.get());
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            bars(&backend.into_drawing_area(), &list, &theme, scale).ok();
        }
    });
    let export = Callback::new(move |()| {
        let (list, theme) = untrack(|| (list(state), Theme::of(state.dark.get())));
        let width = width.get_untracked().max(300.0) as u32;
        let height = height.get_untracked().max(LINE) as u32;
        svg(width, height, |area| bars(area, &list, &theme, 1.0))
    });
    let label = move || {
        let said: Vec<String> = list(state)
            .iter()
            .map(|b| format!("{} {}", b.name, b.label))
            .collect();
        format!(
            "{}, {}: {}",
            state.t(Word::Phases),
            state.t(Word::MaxAllocatedAfter),
            said.join("; ")
        )
    };
    view! {
        <div class="above">
            <h2>{state.text(Word::MaxAllocatedAfter)}</h2>
            <span class="grow"></span>
            <ChartActions name="phases" canvas=canvas draw=export/>
        </div>
        <div class="bar-host" role="img" aria-label=label data-testid="phase-bars">
            <canvas node_ref=canvas aria-hidden="true" style:height=move || format!("{}px", height.get())></canvas>
        </div>
    }
}
