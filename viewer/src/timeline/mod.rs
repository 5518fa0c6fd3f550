//! The timeline chart: canvas, what lies over it, minimap and readout.

mod input;
mod overlay;

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{AxisKind, Frame, Theme, View, draw, minimap, phase_color, svg};
use present::units::{bytes, count};
use present::visible::short;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::HtmlCanvasElement;

use crate::browser::{next_frame, pixel_ratio};
use crate::components::ChartActions;
use crate::data::RankData;
use crate::state::State;

/// Height of the chart in CSS pixels; `style.css` has the same.
const HEIGHT: f64 = 250.0;
/// Height of the minimap.
const MINI: f64 = 34.0;

/// The chart's own signals.
#[derive(Clone, Copy)]
pub(crate) struct Chart {
    pub(crate) state: State,
    /// Width in CSS pixels.
    pub(crate) width: RwSignal<f64>,
    /// The event under the pointer or the keyboard's cursor.
    pub(crate) cursor: RwSignal<Option<usize>>,
    /// A range being selected by dragging, as shares of the plot's width.
    pub(crate) range: RwSignal<Option<(f64, f64)>>,
    /// Every event of the selection, in rising order.
    pub(crate) hits: Memo<Arc<Vec<u32>>>,
    /// The press that is going on.
    pub(crate) press: StoredValue<Option<Press>>,
}

/// A press of the pointer on the chart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Press {
    /// Where it began, as a share of the plot's width.
    pub(crate) at: f64,
    /// What was shown then.
    pub(crate) zoom: (f64, f64),
    /// Whether it selects a range (else it pans).
    pub(crate) ranging: bool,
    /// Whether it has moved far enough not to be a click.
    pub(crate) moved: bool,
}

impl Chart {
    /// The shown part of the axis.
    pub(crate) fn view(self, data: &RankData) -> View {
        let (axis, zoom) = self.state.shown.with(|s| (s.axis, s.zoom));
        let length = data.timeline.axis(axis).length();
        View {
            axis,
            start: zoom.0 * length,
            end: zoom.1 * length,
        }
    }

    /// Shows another part, kept within the whole and no narrower than two events.
    pub(crate) fn zoom(self, start: f64, end: f64) {
        let Some(data) = self.state.data.get_untracked() else {
            return;
        };
        let events = data.rank.events.len().max(1) as f64;
        let width = (end - start).clamp((2.0 / events).min(1.0), 1.0);
        let start = (start + (end - start) / 2.0 - width / 2.0).clamp(0.0, 1.0 - width);
        self.state.shown.update(|s| s.zoom = (start, start + width));
    }

    /// Zooms by a factor (below 1: in) around a share of the plot's width.
    pub(crate) fn zoom_by(self, factor: f64, around: f64) {
        let (a, b) = self.state.shown.with_untracked(|s| s.zoom);
        let fixed = a + around * (b - a);
        let width = ((b - a) * factor).min(1.0);
        let start = fixed - around * width;
        self.zoom(start, start + width);
    }

    /// Moves by a share of the shown width.
    pub(crate) fn pan(self, share: f64) {
        let (a, b) = self.state.shown.with_untracked(|s| s.zoom);
        let by = (share * (b - a)).clamp(-a, 1.0 - b);
        self.zoom(a + by, b + by);
    }

    /// Brings an event into sight.
    pub(crate) fn reveal(self, event: usize) {
        let Some(data) = self.state.data.get_untracked() else {
            return;
        };
        let (axis, (a, b)) = self.state.shown.with_untracked(|s| (s.axis, s.zoom));
        let axis = data.timeline.axis(axis);
        let at = axis.of_event(event as f64 + 0.5) / axis.length();
        if at < a || at > b {
            let half = (b - a) / 2.0;
            self.zoom(at - half, at + half);
        }
    }
}

/// The timeline.
#[component]
pub fn TimelineChart(
    /// The page.
    state: State,
) -> impl IntoView {
    let chart = Chart {
        state,
        width: RwSignal::new(0.0),
        cursor: RwSignal::new(None),
        range: RwSignal::new(None),
        hits: Memo::new(move |_| {
            let Some((selection, data)) = state.selection.get().zip(state.data.get()) else {
                return Arc::default();
            };
            let all = 0..data.rank.events.len() as u32;
            Arc::new(
                all.filter(|&i| selection.has_event(i as usize, &data))
                    .collect(),
            )
        }),
        press: StoredValue::new(None),
    };
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let over = NodeRef::<leptos::html::Canvas>::new();
    let mini = NodeRef::<leptos::html::Canvas>::new();
    let host = NodeRef::<leptos::html::Div>::new();
    watch_width(host, chart.width);
    painted(chart, canvas, mini);
    Effect::new(move |_| {
        if let Some(c) = over.get() {
            overlay::paint(chart, &c);
        }
    });
    // A selection made in a table is brought into sight.
    Effect::new(move |_| {
        let selection = state.selection.get();
        let Some((selection, data)) = selection.zip(state.data.get_untracked()) else {
            return;
        };
        if let Some(event) = selection.event(&data) {
            chart.reveal(event);
        }
    });
    let axis = move |kind: AxisKind| {
        state.shown.update(|s| {
            s.axis = kind;
            s.zoom = (0.0, 1.0);
        });
    };
    let pressed = move |kind: AxisKind| move || (state.shown.with(|s| s.axis) == kind).to_string();
    let export = Callback::new(move |()| {
        let data = state.data.get_untracked();
        let data = data.ok_or_else(|| present::chart::DrawError("no report is open".to_owned()))?;
        let view = untrack(|| chart.view(&data));
        let theme = Theme::of(state.dark.get_untracked());
        let lang = state.lang.get_untracked();
        let width = chart.width.get_untracked().max(300.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            draw(area, &data.timeline, &data.facts, view, &theme, 1.0, lang)
        })
    });
    view! {
        <section class="timeline" aria-label=state.text(Word::Timeline)>
            <div class="above">
                <h2>{state.text(Word::Timeline)}</h2>
                <Legend state=state/>
                <span class="grow"></span>
                <div class="segmented" role="group">
                    <button type="button" data-testid="axis-event" aria-pressed=pressed(AxisKind::Event)
                        on:click=move |_| axis(AxisKind::Event)>{state.text(Word::ByEvent)}</button>
                    <button type="button" data-testid="axis-step" aria-pressed=pressed(AxisKind::Step)
                        on:click=move |_| axis(AxisKind::Step)>{state.text(Word::ByStep)}</button>
                </div>
                <div class="actions" role="group">
                    <button type="button" data-testid="zoom-in" title=state.text(Word::ZoomIn)
                        aria-label=state.text(Word::ZoomIn) on:click=move |_| chart.zoom_by(0.5, 0.5)>"+"</button>
                    <button type="button" data-testid="zoom-out" title=state.text(Word::ZoomOut)
                        aria-label=state.text(Word::ZoomOut) on:click=move |_| chart.zoom_by(2.0, 0.5)>"−"</button>
                    <button type="button" data-testid="zoom-all" on:click=move |_| chart.zoom(0.0, 1.0)>
                        {state.text(Word::ZoomAll)}
                    </button>
                </div>
                <ChartActions name="timeline" canvas=canvas draw=export/>
            </div>
            <div class="plot" id="timeline" node_ref=host tabindex="0" role="application"
                data-testid="timeline"
                aria-label=move || described(state) aria-describedby="readout"
                on:wheel=move |e| input::wheel(chart, &e)
                on:pointerdown=move |e| input::down(chart, &e)
                on:pointermove=move |e| input::moved(chart, &e)
                on:pointerup=move |e| input::up(chart, &e)
                on:pointerleave=move |_| input::left(chart)
                on:dblclick=move |_| chart.zoom(0.0, 1.0)
                on:keydown=move |e| input::key(chart, &e)>
                <canvas class="base" node_ref=canvas aria-hidden="true"></canvas>
                <canvas class="over" node_ref=over aria-hidden="true"></canvas>
            </div>
            <div class="mini" data-testid="minimap"
                on:pointerdown=move |e| input::mini(chart, &e)
                on:pointermove=move |e| input::mini(chart, &e)>
                <canvas node_ref=mini aria-hidden="true"></canvas>
                <MiniWindow chart=chart/>
            </div>
            <div class="under">
            <PhaseLegend state=state/>
            <p class="readout" id="readout" data-testid="readout" aria-live="polite">{move || readout(chart)}</p>
            </div>
        </section>
    }
}

/// The shown part on the minimap.
#[component]
fn MiniWindow(chart: Chart) -> impl IntoView {
    let place = Memo::new(move |_| {
        let frame = Frame::of(chart.width.get() as u32, HEIGHT as u32, 1.0);
        let (a, b) = chart.state.shown.with(|s| s.zoom);
        let at = |share: f64| f64::from(frame.left) + share * f64::from(frame.right - frame.left);
        (at(a), (at(b) - at(a)).max(3.0))
    });
    view! {
        <div class="window" style:left=move || format!("{}px", place.get().0)
            style:width=move || format!("{}px", place.get().1)></div>
    }
}

/// What the colours mean.
#[component]
fn Legend(state: State) -> impl IntoView {
    view! {
        <ul class="legend">
            {move || {
                let theme = Theme::of(state.dark.get());
                [(Word::Allocated, theme.allocated), (Word::Reserved, theme.reserved), (Word::HighWater, theme.high_water)]
                    .map(|(word, color)| view! {
                        <li><i style:background=rgb(color)></i>{state.t(word)}</li>
                    }).collect_view()
            }}
        </ul>
    }
}

/// The colours of the strip below the plot.
#[component]
fn PhaseLegend(state: State) -> impl IntoView {
    view! {
        <ul class="legend phases">
            {move || state.data.get().map(|d| {
                let dark = state.dark.get();
                d.timeline.phases.iter().take(10).enumerate().map(|(n, &p)| {
                    let name = short(d.rank.strings.get(p), 40).into_owned();
                    view! { <li class="phase"><i style:background=rgb(phase_color(n, dark))></i>{name}</li> }
                }).collect_view()
            })}
        </ul>
    }
}

fn rgb(c: present::chart::Color) -> String {
    format!("rgb({},{},{})", c.0, c.1, c.2)
}

/// The chart in one sentence, for those who cannot see it.
fn described(state: State) -> String {
    let lang = state.lang.get();
    state.data.get().map_or_else(String::new, |d| {
        let said = present::sentences::headline(&d.rank, &d.facts, lang);
        format!("{}: {said}", state.t(Word::Timeline))
    })
}

/// The figures at the cursor, else of the selection.
fn readout(chart: Chart) -> String {
    let state = chart.state;
    let Some(data) = state.data.get() else {
        return String::new();
    };
    let lang = state.lang.get();
    let pinned = || state.selection.get().and_then(|s| s.event(&data));
    let Some(event) = chart.cursor.get().or_else(pinned) else {
        return String::new();
    };
    let row = data.rank.events.row(event);
    let figure = |word: Word, v: Option<u64>| {
        format!(
            "{} {}",
            word.text(lang),
            v.map_or_else(|| Word::Unknown.text(lang).to_owned(), bytes)
        )
    };
    [
        format!("{} {}", Word::Event.text(lang), count(event as u64)),
        present::sentences::place(&data.rank, event, lang),
        figure(Word::Allocated, row.allocated_after),
        figure(Word::Reserved, row.reserved_after),
        figure(Word::MaxAllocated, row.max_allocated),
    ]
    .join(" · ")
}

fn watch_width(host: NodeRef<leptos::html::Div>, width: RwSignal<f64>) {
    Effect::new(move |_| {
        if let Some(host) = host.get() {
            follow_width(&host, width);
        }
    });
}

/// Redraws the chart at most once a frame, and the minimap when its picture changes.
fn painted(
    chart: Chart,
    canvas: NodeRef<leptos::html::Canvas>,
    mini: NodeRef<leptos::html::Canvas>,
) {
    let state = chart.state;
    let waiting = StoredValue::new(false);
    Effect::new(move |_| {
        // Everything that the picture depends on.
        let (Some(data), Some(_)) = (state.data.get(), canvas.get()) else {
            return;
        };
        let _ = (
            chart.view(&data),
            chart.width.get(),
            state.dark.get(),
            state.lang.get(),
        );
        paint_soon(state, waiting, move || {
            if let (Some(data), Some(c)) = (state.data.get(), canvas.get()) {
                paint(chart, &data, &c);
            }
        });
    });
    // A memo: zooming changes nothing of the minimap.
    let axis = Memo::new(move |_| state.shown.with(|s| s.axis));
    Effect::new(move |_| {
        let (Some(data), Some(c)) = (state.data.get(), mini.get()) else {
            return;
        };
        let (axis, width, dark) = (axis.get(), chart.width.get(), state.dark.get());
        let scale = sized(&c, width, MINI);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            minimap(
                &backend.into_drawing_area(),
                &data.timeline,
                axis,
                &Theme::of(dark),
                scale,
            )
            .ok();
        }
    });
}

fn paint(chart: Chart, data: &Arc<RankData>, canvas: &HtmlCanvasElement) {
    let state = chart.state;
    let scale = sized(canvas, chart.width.get(), HEIGHT);
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else {
        return;
    };
    let area = backend.into_drawing_area();
    let theme = Theme::of(state.dark.get());
    let view = chart.view(data);
    if let Err(e) = draw(
        &area,
        &data.timeline,
        &data.facts,
        view,
        &theme,
        scale,
        state.lang.get(),
    ) {
        state.error.set(Some(e.to_string()));
    }
}

/// Paints before the next frame, once however often it is asked for; at once while the page is
/// printed, as no frame comes then.
pub(crate) fn paint_soon(state: State, waiting: StoredValue<bool>, paint: impl FnOnce() + 'static) {
    if state.printing.get_untracked() {
        untrack(paint);
        return;
    }
    if waiting.get_value() {
        return;
    }
    waiting.set_value(true);
    next_frame(move || {
        // Given back when the view is gone.
        if waiting.try_set_value(false).is_none() {
            untrack(paint);
        }
    });
}

/// Gives a canvas its size in device pixels, and returns device pixels per CSS pixel.
pub(crate) fn sized(canvas: &HtmlCanvasElement, width: f64, height: f64) -> f64 {
    let scale = pixel_ratio();
    let (w, h) = ((width * scale) as u32, (height * scale) as u32);
    if canvas.width() != w || canvas.height() != h {
        canvas.set_width(w.max(1));
        canvas.set_height(h.max(1));
    }
    scale
}

/// Keeps `width` at the CSS width of a canvas's parent.
pub(crate) fn watch_canvas(canvas: NodeRef<leptos::html::Canvas>, width: RwSignal<f64>) {
    Effect::new(move |_| {
        let parent = canvas
            .get()
            .and_then(|c| c.parent_element())
            .and_then(|p| p.dyn_into::<web_sys::HtmlElement>().ok());
        if let Some(parent) = parent {
            follow_width(&parent, width);
        }
    });
}

pub(crate) fn follow_width(element: &web_sys::HtmlElement, width: RwSignal<f64>) {
    width.set(f64::from(element.client_width()));
    let watched = element.clone();
    let resized = Closure::<dyn FnMut()>::new(move || {
        let now = f64::from(watched.client_width());
        // The view may be gone by the time the observer speaks.
        if width
            .try_get_untracked()
            .is_some_and(|w| (now - w).abs() > 0.5)
        {
            width.try_set(now);
        }
    });
    if let Ok(observer) = web_sys::ResizeObserver::new(resized.as_ref().unchecked_ref()) {
        observer.observe(element);
    }
    resized.forget();
}
