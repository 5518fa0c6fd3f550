//! The chart of a memory snapshot: every allocation over time, with minimap, readout and the
//! details of what is picked.

mod input;
mod overlay;
mod picked;

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::memory::{Clock, Memory, Window};
use present::chart::memory_lines::{annotation_color, lines, memory_minimap, whole};
use present::chart::{AxisKind, DrawError, Frame, Theme, category_color, css, svg};
use present::rows::Pick;
use present::visible::short;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::categories::Category;
use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{Press, follow_width, paint_soon, sized};

pub use picked::PickedPanel;

/// Height of the chart in CSS pixels; `style.css` has the same.
const HEIGHT: f64 = 250.0;
/// Height of the minimap.
const MINI: f64 = 34.0;

/// The chart's own signals.
#[derive(Clone, Copy)]
pub(crate) struct Chart {
    pub(crate) state: State,
    /// What is drawn; `None` until a snapshot is open.
    pub(crate) memory: Memo<Option<Shared>>,
    /// Width in CSS pixels.
    pub(crate) width: RwSignal<f64>,
    /// Slot and bytes under the pointer.
    pub(crate) cursor: RwSignal<Option<(usize, u64)>>,
    /// A range being selected by dragging, as shares of the plot's width.
    pub(crate) range: RwSignal<Option<(f64, f64)>>,
    /// The press that is going on.
    pub(crate) press: StoredValue<Option<Press>>,
}

/// The picture in a signal; two are equal when they are the same one.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<Memory>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Chart {
    pub(crate) fn memory(self) -> Option<Arc<Memory>> {
        self.memory.get().map(|m| m.0)
    }

    /// The shown part of the axis.
    pub(crate) fn window(self) -> Window {
        let (axis, zoom) = self.state.shown.with(|s| (s.axis, s.zoom));
        Window {
            clock: clock(axis),
            start: zoom.0,
            end: zoom.1,
        }
    }

    /// Shows another part, kept within the whole and no narrower than two slots.
    pub(crate) fn zoom(self, start: f64, end: f64) {
        let Some(memory) = untrack(|| self.memory()) else {
            return;
        };
        let least = (2.0 / memory.slots().max(1) as f64).min(1.0);
        let least = if untrack(|| self.window()).clock == Clock::Time {
            least / 1000.0
        } else {
            least
        };
        let width = (end - start).clamp(least, 1.0);
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

    /// Brings a slot into sight.
    pub(crate) fn reveal(self, slot: usize) {
        let Some(memory) = untrack(|| self.memory()) else {
            return;
        };
        let (a, b) = self.state.shown.with_untracked(|s| s.zoom);
        let at = memory.share_of(untrack(|| self.window()).clock, slot);
        if at < a || at > b {
            let half = (b - a) / 2.0;
            self.zoom(at - half, at + half);
        }
    }

    /// The slot of the instant that is looked at.
    pub(crate) fn slot(self) -> Option<usize> {
        let memory = self.memory()?;
        self.state.instant().map(|i| memory.slot_of(i))
    }
}

fn clock(axis: AxisKind) -> Clock {
    match axis {
        AxisKind::Time => Clock::Time,
        _ => Clock::Event,
    }
}

/// The chart.
#[component]
pub fn MemoryChart(
    /// The page.
    state: State,
) -> impl IntoView {
    let chart = Chart {
        state,
        memory: Memo::new(move |_| state.snapshot().map(|a| Shared(Arc::new(Memory::new(a))))),
        width: RwSignal::new(0.0),
        cursor: RwSignal::new(None),
        range: RwSignal::new(None),
        press: StoredValue::new(None),
    };
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let over = NodeRef::<leptos::html::Canvas>::new();
    let mini = NodeRef::<leptos::html::Canvas>::new();
    let host = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        if let Some(host) = host.get() {
            follow_width(&host, chart.width);
        }
    });
    painted(chart, canvas, mini);
    Effect::new(move |_| {
        if let Some(c) = over.get() {
            overlay::paint(chart, &c);
        }
    });
    // A link's instant that this history does not have is said, not passed over.
    Effect::new(move |_| {
        let at = state.shown.with(|s| s.at.clone());
        if let Some(a) = state.snapshot().filter(|_| !at.is_empty())
            && let Err(e) = a.instant(&at)
        {
            state.status.set(e.to_string());
        }
    });
    // An instant chosen elsewhere is brought into sight; what a link shows stays as it says.
    Effect::new(move |was: Option<Option<usize>>| {
        let slot = chart.slot();
        if let Some(was) = was
            && was != slot
            && let Some(slot) = slot
        {
            chart.reveal(slot);
        }
        slot
    });
    let axis = move |kind: AxisKind| {
        state.shown.update(|s| {
            s.axis = kind;
            s.zoom = (0.0, 1.0);
        });
    };
    let pressed = move |kind: AxisKind| {
        move || {
            let now = clock(state.shown.with(|s| s.axis));
            (now == clock(kind)).to_string()
        }
    };
    let timed = move || chart.memory().is_some_and(|m| m.times().is_some());
    let export = Callback::new(move |()| {
        let memory = untrack(|| chart.memory());
        let memory = memory.ok_or_else(|| DrawError("no snapshot is open".to_owned()))?;
        let window = untrack(|| chart.window());
        let theme = Theme::of(state.dark.get_untracked());
        let lang = state.lang.get_untracked();
        let width = chart.width.get_untracked().max(300.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            whole(area, &memory, window, &theme, lang)
        })
    });
    view! {
        <section class="timeline" aria-label=state.text(Word::MemoryOverTime)>
            <div class="above">
                <h2>{state.text(Word::MemoryOverTime)}</h2>
                <Legend chart=chart/>
                <span class="grow"></span>
                <Show when=timed>
                    <div class="segmented" role="group">
                        <button type="button" data-testid="axis-event" aria-pressed=pressed(AxisKind::Event)
                            on:click=move |_| axis(AxisKind::Event)>{state.text(Word::ByEvent)}</button>
                        <button type="button" data-testid="axis-time" aria-pressed=pressed(AxisKind::Time)
                            on:click=move |_| axis(AxisKind::Time)>{state.text(Word::ByTime)}</button>
                    </div>
                </Show>
                <div class="actions" role="group">
                    <button type="button" data-testid="zoom-in" title=state.text(Word::ZoomIn)
                        aria-label=state.text(Word::ZoomIn) on:click=move |_| chart.zoom_by(0.5, 0.5)>"+"</button>
                    <button type="button" data-testid="zoom-out" title=state.text(Word::ZoomOut)
                        aria-label=state.text(Word::ZoomOut) on:click=move |_| chart.zoom_by(2.0, 0.5)>"−"</button>
                    <button type="button" data-testid="zoom-all" on:click=move |_| chart.zoom(0.0, 1.0)>
                        {state.text(Word::ZoomAll)}
                    </button>
                </div>
            </div>
            <div class="plot" id="timeline" node_ref=host tabindex="0" role="application"
                data-testid="memory"
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
                <Annotations chart=chart/>
                <span class="grow"></span>
                <ChartActions name="memory" canvas=canvas draw=export/>
            </div>
            <p class="readout" id="readout" data-testid="readout" aria-live="polite">{move || input::readout(chart)}</p>
            <PickedPanel state=state/>
        </section>
    }
}

/// The shown part on the minimap.
#[component]
fn MiniWindow(chart: Chart) -> impl IntoView {
    let place = Memo::new(move |_| {
        let frame = Frame::low(chart.width.get() as u32, HEIGHT as u32, 1.0);
        let (a, b) = chart.state.shown.with(|s| s.zoom);
        let at = |share: f64| f64::from(frame.left) + share * f64::from(frame.right - frame.left);
        (at(a), (at(b) - at(a)).max(3.0))
    });
    view! {
        <div class="window" style:left=move || format!("{}px", place.get().0)
            style:width=move || format!("{}px", place.get().1)></div>
    }
}

/// What the colours mean: the categories that occur, and reserved.
#[component]
fn Legend(chart: Chart) -> impl IntoView {
    let state = chart.state;
    let found = Memo::new(move |_| {
        state.snapshot().map_or_else(Vec::new, |a| {
            let mut seen = [false; Category::ALL.len()];
            for id in a.replay.allocations.ids() {
                let category = a.categories().get(id).0;
                if let Some(n) = Category::ALL.iter().position(|&c| c == category) {
                    seen[n] = true;
                }
            }
            Category::ALL
                .into_iter()
                .zip(seen)
                .filter_map(|(c, s)| s.then_some(c))
                .collect()
        })
    });
    view! {
        <ul class="legend">
            {move || {
                let (lang, dark) = (state.lang.get(), state.dark.get());
                let theme = Theme::of(dark);
                let mut items: Vec<(String, String)> = found
                    .get()
                    .into_iter()
                    .map(|c| (css(category_color(c, dark)), present::names::category_word(c).text(lang).to_owned()))
                    .collect();
                items.push((css(theme.reserved), state.t(Word::Reserved).to_owned()));
                items.into_iter().map(|(color, name)| view! {
                    <li><i style:background=color></i>{name}</li>
                }).collect_view()
            }}
        </ul>
    }
}

/// The colours of the strip below the plot.
#[component]
fn Annotations(chart: Chart) -> impl IntoView {
    let state = chart.state;
    view! {
        <ul class="legend phases">
            {move || chart.memory().map(|m| {
                let theme = Theme::of(state.dark.get());
                m.names.iter().take(8).enumerate().map(|(n, &p)| {
                    let name = short(m.analysis.strings().get(p), 40).into_owned();
                    view! { <li class="phase"><i style:background=css(annotation_color(n, &theme))></i>{name}</li> }
                }).collect_view()
            })}
        </ul>
    }
}

/// The chart in one sentence, for those who cannot see it.
fn described(state: State) -> String {
    let lang = state.lang.get();
    state.snapshot().map_or_else(String::new, |a| {
        let said = present::sentences::snapshot::headline(&a, lang);
        format!("{}: {said}", state.t(Word::MemoryOverTime))
    })
}

/// Redraws at most once a frame, and the minimap when its picture changes.
fn painted(
    chart: Chart,
    canvas: NodeRef<leptos::html::Canvas>,
    mini: NodeRef<leptos::html::Canvas>,
) {
    let state = chart.state;
    let waiting = StoredValue::new(false);
    // A memo: another instant changes nothing of the picture.
    let window = Memo::new(move |_| chart.window());
    Effect::new(move |_| {
        // Everything that the picture depends on.
        let (Some(_), Some(_)) = (chart.memory.get(), canvas.get()) else {
            return;
        };
        let _ = (
            window.get(),
            chart.width.get(),
            state.dark.get(),
            state.lang.get(),
            state.pick.get(),
        );
        paint_soon(state, waiting, move || {
            if let (Some(memory), Some(c)) = (chart.memory(), canvas.get()) {
                paint(chart, &memory, &c);
            }
        });
    });
    // A memo: zooming changes nothing of the minimap.
    let axis = Memo::new(move |_| state.shown.with(|s| s.axis));
    Effect::new(move |_| {
        let (Some(memory), Some(c)) = (chart.memory(), mini.get()) else {
            return;
        };
        let (axis, width, dark) = (axis.get(), chart.width.get(), state.dark.get());
        let scale = sized(&c, width, MINI);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            let area = backend.into_drawing_area();
            memory_minimap(&area, &memory, clock(axis), &Theme::of(dark), scale).ok();
        }
    });
}

fn paint(chart: Chart, memory: &Arc<Memory>, canvas: &HtmlCanvasElement) {
    let state = chart.state;
    let scale = sized(canvas, chart.width.get(), HEIGHT);
    let theme = Theme::of(state.dark.get());
    let window = chart.window();
    let frame = Frame::low(canvas.width(), canvas.height(), scale);
    let (w, h) = (
        (frame.right - frame.left).max(1) as usize,
        (frame.bottom - frame.top).max(1) as usize,
    );
    let lit = lit(state);
    let columns = memory.columns(window, w);
    let pixels = memory.raster(&columns, h, &theme, lit.as_deref());
    let context = canvas
        .get_context("2d")
        .ok()
        .flatten()
        .and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok());
    let Some(c) = context else { return };
    let ground = css(theme.ground);
    c.set_fill_style_str(&ground);
    c.fill_rect(
        0.0,
        0.0,
        f64::from(canvas.width()),
        f64::from(canvas.height()),
    );
    if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(
        Clamped(&pixels.rgba),
        pixels.width as u32,
        pixels.height as u32,
    ) {
        c.put_image_data(&image, f64::from(frame.left), f64::from(frame.top))
            .ok();
    }
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else {
        return;
    };
    let area = backend.into_drawing_area();
    if let Err(e) = lines(
        &area,
        memory,
        window,
        &columns,
        &theme,
        scale,
        state.lang.get(),
    ) {
        state.error.set(Some(e.to_string()));
    }
}

/// Which allocations are picked: one, or all of a stack or a reserved range.
fn lit(state: State) -> Option<Box<dyn Fn(u32) -> bool>> {
    let pick = state.pick.get()?;
    let a = state.snapshot()?;
    Some(match pick {
        Pick::Allocation(id) => Box::new(move |other| other == id),
        Pick::Stack(stack) => Box::new(move |id| {
            let own = a.replay.allocations.stack(AllocationId(id));
            own.is_some_and(|s| s.0 == stack)
        }),
        Pick::Span(span) => Box::new(move |id| {
            let own = a.replay.allocations.get(AllocationId(id));
            own.and_then(|a| a.span).is_some_and(|s| s.0 == span)
        }),
        Pick::Entry(_) => return None,
    })
}
