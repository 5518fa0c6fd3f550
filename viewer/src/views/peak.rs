//! What holds the peak, as one stacked bar with its table, and what memory does from step to step.

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{Bar, Theme, phase_color, stacked, svg};
use present::rows::{FactRows, HolderRows, Rows};
use present::sentences::{between, finding, holder};
use present::units::bytes;

use crate::components::{ChartActions, DataTable, Table};
use crate::selection::Selection;
use crate::state::State;
use crate::timeline::sized;

const HEIGHT: f64 = 34.0;

/// The tab.
#[component]
pub fn Peak(state: State) -> impl IntoView {
    let rows = Memo::new(move |_| {
        let data = state.data.get();
        let holders = data
            .as_ref()
            .and_then(|d| d.facts.holders.clone().map(|h| (Arc::clone(&d.rank), h)));
        let rows: Arc<dyn Rows> = match holders {
            Some((rank, holders)) => Arc::new(HolderRows::new(rank, holders)),
            None => Arc::new(FactRows::of("empty", Vec::new())),
        };
        Table(rows)
    });
    let known = move || {
        state
            .data
            .with(|d| d.as_ref().is_some_and(|d| d.facts.holders.is_some()))
    };
    let findings = move || {
        state.data.get().map(|d| {
            d.facts.growth.iter().map(|g| {
                let text = finding(&d.rank, g, state.lang.get());
                let event = g.event;
                view! {
                    <li data-kind=g.kind.word()>
                        <button type="button" on:click=move |_| state.select(Some(Selection::Event(event)))>{text}</button>
                    </li>
                }
            }).collect_view()
        })
    };
    let grows = move || {
        state
            .data
            .with(|d| d.as_ref().is_some_and(|d| !d.facts.growth.is_empty()))
    };
    view! {
        <div class="columns">
            <Show when=known>
                <div>
                    <PartsBar state=state/>
                    <DataTable state=state rows=rows label=state.label(Word::Holders)/>
                </div>
            </Show>
            <Show when=grows>
                <div class="growth">
                    <h2>{state.text(Word::Findings)}</h2>
                    <ul class="findings" data-testid="findings">{findings}</ul>
                    <p class="quiet" data-testid="between">{move || state.data.get().and_then(|d| {
                        between(&d.rank, &d.facts, state.lang.get())
                    })}</p>
                </div>
            </Show>
            <Show when=move || !known() && !grows()>
                <p class="quiet">{move || state.data.get().map(|d| {
                    present::sentences::headline(&d.rank, &d.facts, state.lang.get())
                })}</p>
            </Show>
        </div>
    }
}

/// The parts that add to the peak, side by side. Parts that took away are in the table only.
fn parts(state: State) -> Vec<Bar> {
    let (lang, dark) = (state.lang.get(), state.dark.get());
    let Some(data) = state.data.get() else {
        return Vec::new();
    };
    let Some(holders) = &data.facts.holders else {
        return Vec::new();
    };
    holders
        .parts
        .iter()
        .enumerate()
        .filter(|(_, p)| p.bytes > 0)
        .map(|(n, p)| Bar {
            name: holder(&data.rank, p, lang),
            bytes: p.bytes.unsigned_abs(),
            label: bytes(p.bytes.unsigned_abs()),
            // The palette's first colour is grey: it comes last here.
            color: phase_color(n + 1, dark),
        })
        .collect()
}

#[component]
fn PartsBar(state: State) -> impl IntoView {
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let draw = move |area_width: f64| {
        let Some(c) = canvas.get() else { return };
        let bars = parts(state);
        let theme = Theme::of(state.dark.get());
        let scale = sized(&c, area_width, HEIGHT);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            stacked(&backend.into_drawing_area(), &bars, &theme, scale).ok();
        }
    };
    let width = RwSignal::new(0.0);
    crate::timeline::watch_canvas(canvas, width);
    Effect::new(move |_| draw(width.get()));
    let export = Callback::new(move |()| {
        let (bars, theme) = untrack(|| (parts(state), Theme::of(state.dark.get())));
        let width = width.get_untracked().max(300.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            stacked(area, &bars, &theme, 1.0)
        })
    });
    let label = move || {
        let said: Vec<String> = parts(state)
            .iter()
            .map(|b| format!("{} {}", b.label, b.name))
            .collect();
        format!("{}: {}", state.t(Word::Holders), said.join("; "))
    };
    view! {
        <div class="above"><span class="grow"></span><ChartActions name="peak" canvas=canvas draw=export/></div>
        <div class="bar-host" role="img" aria-label=label data-testid="peak-bar">
            <canvas node_ref=canvas aria-hidden="true" style:height=format!("{HEIGHT}px")></canvas>
        </div>
    }
}
