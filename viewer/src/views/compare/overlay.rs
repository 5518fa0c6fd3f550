//! Both timelines over one axis.

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{DrawError, Frame, Theme, css, overlay, overlay_at, svg};
use present::compare::{headline, readout};
use report::analyze::diff::curves::{Curves, Shown};

use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{sized, watch_canvas};

const HEIGHT: f64 = 250.0;

/// The part of the axis that is shown.
fn range(state: State, curves: &Curves) -> (f64, f64) {
    let (from, to) = state.shown.with(|s| s.zoom);
    let length = curves.align.length();
    (from * length, to * length)
}

/// Zooms about a share of the width.
fn zoom(state: State, factor: f64, about: f64) {
    state.shown.update(|s| {
        let (from, to) = s.zoom;
        let wide = ((to - from) * factor).clamp(1e-5, 1.0);
        let start = (from + about * (to - from - wide)).clamp(0.0, 1.0 - wide);
        s.zoom = (start, start + wide);
    });
}

/// The chart.
#[component]
pub fn Overlay(state: State) -> impl IntoView {
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let width = RwSignal::new(0.0);
    let cursor = RwSignal::new(None::<f64>);
    watch_canvas(canvas, width);
    Effect::new(move |_| {
        let (lang, theme) = (state.lang.get(), Theme::of(state.dark.get()));
        let (Some(c), Some(seen)) = (canvas.get(), state.compared.seen.get()) else {
            return;
        };
        let curves = &seen.0.comparison.curves;
        let range = range(state, curves);
        let scale = sized(&c, width.get(), HEIGHT);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            overlay(
                &backend.into_drawing_area(),
                curves,
                range,
                &theme,
                scale,
                lang,
            )
            .ok();
        }
    });
    let export = Callback::new(move |()| {
        let seen = state.compared.seen.get_untracked();
        let seen = seen.ok_or_else(|| DrawError("nothing is compared".to_owned()))?;
        let curves = &seen.0.comparison.curves;
        let range = untrack(|| range(state, curves));
        let theme = Theme::of(state.dark.get_untracked());
        let lang = state.lang.get_untracked();
        let width = width.get_untracked().max(300.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            overlay(area, curves, range, &theme, 1.0, lang)
        })
    });
    let said = move || {
        let lang = state.lang.get();
        let seen = state.compared.seen.get()?;
        let curves = &seen.0.comparison.curves;
        let column = overlay_at(curves, range(state, curves), cursor.get()?, width.get())?;
        Some(readout(&column, lang))
    };
    let figure = move || {
        let seen = state.compared.seen.get();
        let word = match seen.map(|s| s.0.comparison.curves.shown) {
            Some(Shown::Requested) => Word::Requested,
            _ => Word::Allocated,
        };
        state.t(word)
    };
    let label = move || {
        let lang = state.lang.get();
        let seen = state.compared.seen.get();
        seen.map(|s| headline(&s.0, lang))
    };
    let share = move |x: f64| {
        let f = Frame::of(width.get_untracked() as u32, HEIGHT as u32, 1.0);
        let (left, right) = (f64::from(f.left), f64::from(f.right));
        ((x - left) / (right - left).max(1.0)).clamp(0.0, 1.0)
    };
    let on_key = move |e: web_sys::KeyboardEvent| {
        let f = Frame::of(width.get_untracked() as u32, HEIGHT as u32, 1.0);
        let by = match e.key().as_str() {
            "ArrowRight" => 1.0,
            "ArrowLeft" => -1.0,
            "PageDown" => 40.0,
            "PageUp" => -40.0,
            _ => return,
        };
        e.prevent_default();
        e.stop_propagation();
        let (left, right) = (f64::from(f.left), f64::from(f.right) - 1.0);
        cursor.update(|c| *c = Some(c.map_or(left, |c| (c + by).clamp(left, right))));
    };
    let swatch = move |dark: bool, b: bool| {
        let theme = Theme::of(dark);
        css(if b {
            theme.high_water
        } else {
            theme.allocated_range
        })
    };
    view! {
        <section class="timeline" aria-label=state.text(Word::Timeline)>
            <div class="above">
                <h2>{state.text(Word::Timeline)}", "{figure}</h2>
                <ul class="legend">
                    <li><i style:background=move || swatch(state.dark.get(), false)></i>"A"</li>
                    <li><i class="stroke" style:background=move || swatch(state.dark.get(), true)></i>"B"</li>
                </ul>
                <span class="grow"></span>
                <div class="actions" role="group">
                    <button type="button" aria-label=state.text(Word::ZoomIn) on:click=move |_| zoom(state, 0.5, 0.5)>"+"</button>
                    <button type="button" aria-label=state.text(Word::ZoomOut) on:click=move |_| zoom(state, 2.0, 0.5)>"−"</button>
                    <button type="button" on:click=move |_| zoom(state, 1e9, 0.0)>{state.text(Word::ZoomAll)}</button>
                </div>
                <ChartActions name="compare" canvas=canvas draw=export/>
            </div>
            <div class="plot" id="timeline" tabindex="0" role="application" data-testid="compare-chart"
                aria-label=label aria-describedby="compare-readout"
                on:keydown=on_key
                on:pointermove=move |e| cursor.set(Some(f64::from(e.offset_x())))
                on:pointerleave=move |_| cursor.set(None)
                on:wheel=move |e| {
                    e.prevent_default();
                    let factor = if e.delta_y() > 0.0 { 1.25 } else { 0.8 };
                    zoom(state, factor, share(f64::from(e.offset_x())));
                }>
                <canvas node_ref=canvas aria-hidden="true"></canvas>
                <div class="cursor" style:left=move || format!("{}px", cursor.get().unwrap_or(-9.0))></div>
            </div>
            <p class="readout" id="compare-readout" data-testid="compare-readout">{said}</p>
        </section>
    }
}
