//! A profiler's memory timeline: the picture, and its peak by category.

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{Theme, series, svg};
use present::rows::SeriesRows;
use present::sentences::series::headline;

use crate::components::{ChartActions, DataTable};
use crate::state::State;
use crate::timeline::sized;
use crate::views::table;

/// Height of the picture in CSS pixels.
const HEIGHT: f64 = 260.0;

/// The tab.
#[component]
pub fn Series(state: State) -> impl IntoView {
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let width = RwSignal::new(0.0);
    crate::timeline::watch_canvas(canvas, width);
    Effect::new(move |_| {
        let (lang, theme) = (state.lang.get(), Theme::of(state.dark.get()));
        let (Some(c), Some(data)) = (canvas.get(), state.data.get()) else {
            return;
        };
        let scale = sized(&c, width.get(), HEIGHT);
        if let (Some(backend), Some(of)) = (CanvasBackend::with_canvas_object(c), &data.rank.series)
        {
            series(&backend.into_drawing_area(), of, &theme, scale, lang).ok();
        }
    });
    let export = Callback::new(move |()| {
        let (lang, theme) = untrack(|| (state.lang.get(), Theme::of(state.dark.get())));
        let width = width.get_untracked().max(300.0) as u32;
        let data = state.data.get_untracked();
        svg(width, HEIGHT as u32, |area| {
            match data.as_ref().and_then(|d| d.rank.series.as_ref()) {
                Some(of) => series(area, of, &theme, 1.0, lang),
                None => Ok(()),
            }
        })
    });
    let said = move || {
        let lang = state.lang.get();
        let data = state.data.get();
        let series = data.as_ref().and_then(|d| d.rank.series.as_ref());
        series.map(|s| headline(s, lang)).unwrap_or_default()
    };
    let rows = table(state, |d| match &d.rank.series {
        Some(series) => SeriesRows::new(series),
        None => SeriesRows::new(&report::model::Series::default()),
    });
    view! {
        <div class="above">
            <p data-testid="series-said">{said}</p>
            <span class="grow"></span>
            <ChartActions name="memory_timeline" canvas=canvas draw=export/>
        </div>
        <div class="bar-host" role="img" aria-label=said data-testid="series-chart">
            <canvas node_ref=canvas aria-hidden="true" style:height=format!("{HEIGHT}px")></canvas>
        </div>
        <DataTable state=state rows=rows label=state.label(Word::ProfilerTimeline)/>
    }
}
