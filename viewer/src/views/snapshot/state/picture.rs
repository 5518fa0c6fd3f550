//! The picture of the segments: what it shows, and its canvas.

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::allocator::block;
use present::chart::segments::{Arrange, Frame, Layout, Order, Picture, fitting_row, layout};
use present::chart::{DrawError, Theme, category_color, css};
use present::names::category_word;
use present::units::bytes;
use report::analyze::snapshot::categories::Category;
use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::{Look, Looked, input, overlay};
use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{paint_soon, sized, watch_canvas};

/// Height of the picture at most, CSS pixels; what is higher scrolls.
const HEIGHT: f64 = 520.0;

/// The picture's own signals.
#[derive(Clone, Copy)]
pub(super) struct Map {
    pub(super) state: State,
    pub(super) look: Looked,
    pub(super) layout: Memo<Arc<Layout>>,
    /// Width in CSS pixels.
    pub(super) width: RwSignal<f64>,
    /// How far it is scrolled, CSS pixels.
    pub(super) top: RwSignal<f64>,
    /// Where the pointer is, CSS pixels from the corner of the whole picture.
    pub(super) pointer: RwSignal<Option<(f64, f64)>>,
    /// The address of the block that the keyboard is at.
    pub(super) cursor: RwSignal<Option<u64>>,
    pub(super) host: NodeRef<leptos::html::Div>,
}

impl Map {
    /// Height of what is in sight, CSS pixels.
    pub(super) fn height(self) -> f64 {
        self.layout.with(|l| l.height).clamp(24.0, HEIGHT)
    }

    /// Asks the picture, untracked.
    pub(super) fn ask<T>(self, question: impl FnOnce(&Picture<'_>) -> T) -> Option<T> {
        untrack(|| {
            let look = self.look.get()?;
            let layout = self.layout.get();
            Some(question(&self.picture(&look, &layout)))
        })
    }

    pub(super) fn picture<'a>(self, look: &'a Look, layout: &'a Layout) -> Picture<'a> {
        Picture {
            names: &look.names,
            state: &look.state,
            pools: &look.pools,
            layout,
            theme: Theme::of(self.state.dark.get()),
            lang: self.state.lang.get(),
        }
    }
}

/// The picture with its legend and buttons.
#[component]
pub(super) fn SegmentPicture(state: State, look: Looked) -> impl IntoView {
    let lay = Memo::new(move |_| state.shown.with(|s| s.lay.clone()));
    let order = move || match lay.with(|l| l.starts_with("address")) {
        true => Order::Address,
        false => Order::Size,
    };
    let apart = move || lay.with(|l| !l.ends_with("together"));
    let arrange = move |order: Order, apart: bool| {
        let mut words = Vec::new();
        if order == Order::Address {
            words.push("address");
        }
        if !apart {
            words.push("together");
        }
        state.shown.update(|s| s.lay = words.join("-"));
    };
    // Powers of two by which a row holds less than fits the history.
    let zoom = RwSignal::new(0u32);
    let width = RwSignal::new(0.0);
    let fitting = Memo::new(move |_| {
        state
            .snapshot()
            .map_or(1, |analysis| fitting_row(&analysis.replay))
    });
    let row = Memo::new(move |_| (fitting.get() >> zoom.get()).max(4096));
    let layout = Memo::new(move |_| {
        let arrange = Arrange {
            order: order(),
            apart: apart(),
            row: row.get(),
            narrow: Frame::narrow(width.get()),
        };
        Arc::new(look.with(|l| match l {
            Some(l) => layout(&l.analysis.replay, &l.state, &l.pools, arrange),
            None => Layout::default(),
        }))
    });
    let map = Map {
        state,
        look,
        layout,
        width,
        top: RwSignal::new(0.0),
        pointer: RwSignal::new(None),
        cursor: RwSignal::new(None),
        host: NodeRef::new(),
    };
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    let over = NodeRef::<leptos::html::Canvas>::new();
    watch_canvas(canvas, width);
    painted(map, canvas);
    Effect::new(move |_| {
        if let Some(c) = over.get() {
            overlay::paint(map, &c);
        }
    });
    overlay::reveal_picks(map);
    let export = Callback::new(move |()| {
        let wide = width.get_untracked().max(360.0) as u32;
        map.ask(|p| p.svg(wide))
            .unwrap_or_else(|| Err(DrawError("no snapshot is open".to_owned())))
    });
    let pressed = move |o: Order| move || (order() == o).to_string();
    let zoomed = move |by: i32| zoom.update(|z| *z = z.saturating_add_signed(by).min(16));
    view! {
        <section aria-label=state.text(Word::AllocatorState)>
            <div class="above">
                <div class="segmented" role="group">
                    <button type="button" data-testid="order-size" aria-pressed=pressed(Order::Size)
                        on:click=move |_| arrange(Order::Size, untrack(apart))>{state.text(Word::BySize)}</button>
                    <button type="button" data-testid="order-address" aria-pressed=pressed(Order::Address)
                        on:click=move |_| arrange(Order::Address, untrack(apart))>{state.text(Word::ByAddress)}</button>
                </div>
                <label class="check">
                    <input type="checkbox" data-testid="pools-apart" prop:checked=apart
                        on:change=move |e| arrange(untrack(order), event_target_checked(&e))/>
                    {state.text(Word::PoolsApart)}
                </label>
                <span class="quiet" data-testid="state-scale" data-raw=move || row.get().to_string()>{move || {
                    let lang = state.lang.get();
                    format!("{} {}", Word::RowIs.text(lang), bytes(row.get()))
                }}</span>
                <span class="grow"></span>
                <div class="actions" role="group">
                    <button type="button" data-testid="state-zoom-in" title=state.text(Word::ZoomIn)
                        aria-label=state.text(Word::ZoomIn) on:click=move |_| zoomed(1)>"+"</button>
                    <button type="button" data-testid="state-zoom-out" title=state.text(Word::ZoomOut)
                        aria-label=state.text(Word::ZoomOut) on:click=move |_| zoomed(-1)>"−"</button>
                    <button type="button" data-testid="state-zoom-all" on:click=move |_| zoom.set(0)>
                        {state.text(Word::ZoomAll)}
                    </button>
                </div>
                <ChartActions name="segments" canvas=canvas draw=export/>
            </div>
            <Legend state=state look=look/>
            <div class="segments" node_ref=map.host tabindex="0" role="application"
                data-testid="segments" aria-describedby="state-readout"
                aria-label=move || format!("{}. {}", state.t(Word::AllocatorState), state.t(Word::StateKeys))
                style:height=move || format!("{}px", map.height())
                on:scroll=move |_| input::scrolled(map)
                on:pointermove=move |e| input::moved(map, &e)
                on:pointerleave=move |_| map.pointer.set(None)
                on:click=move |e| input::clicked(map, &e)
                on:keydown=move |e| input::key(map, &e)>
                <div class="stage" style:height=move || format!("{}px", layout.with(|l| l.height))>
                    <div class="frame" style:height=move || format!("{}px", map.height())>
                        <canvas node_ref=canvas aria-hidden="true" data-testid="segments-canvas"></canvas>
                        <canvas class="over" node_ref=over aria-hidden="true"></canvas>
                    </div>
                </div>
            </div>
            <Show when=move || look.with(|l| l.as_ref().is_some_and(|l| l.state.spans.is_empty()))>
                <p class="quiet" data-testid="no-segments">{state.text(Word::NoSegments)}</p>
            </Show>
            <p class="readout" id="state-readout" data-testid="state-readout" aria-live="polite">
                {move || readout(map)}
            </p>
        </section>
    }
}

/// What the colours mean: the categories that live at the instant, and the states.
#[component]
fn Legend(state: State, look: Looked) -> impl IntoView {
    let present = Memo::new(move |_| {
        look.with(|l| {
            let mut seen = [false; Category::ALL.len()];
            let Some(l) = l else { return seen };
            let blocks = l.state.spans.iter().flat_map(|h| &h.blocks);
            for id in blocks.filter_map(|b| b.allocation) {
                let (category, _) = l.analysis.categories().get(id);
                let at = Category::ALL.iter().position(|c| *c == category);
                if let Some(slot) = at.and_then(|i| seen.get_mut(i)) {
                    *slot = true;
                }
            }
            seen
        })
    });
    view! {
        <ul class="legend" data-testid="state-legend">
            {move || {
                let (lang, dark) = (state.lang.get(), state.dark.get());
                let theme = Theme::of(dark);
                let categories = Category::ALL.into_iter().zip(present.get()).filter(|c| c.1).map(|(c, _)| {
                    (category_word(c).text(lang), css(category_color(c, dark)), "")
                });
                let states = [
                    (Word::Free.text(lang), css(theme.grid), ""),
                    (Word::PendingFree.text(lang), css(theme.muted), "hatched"),
                    (Word::RoundingLoss.text(lang), css(theme.high_water), ""),
                ];
                categories.chain(states).map(|(name, color, class)| view! {
                    <li><i class=class style:background-color=color></i>{name}</li>
                }).collect_view()
            }}
        </ul>
    }
}

/// What is under the pointer, else at the keyboard's cursor, else picked.
fn readout(map: Map) -> String {
    let lang = map.state.lang.get();
    let Some(look) = map.look.get() else {
        return String::new();
    };
    let layout = map.layout.get();
    let pointer = map.pointer.get();
    let picture = map.picture(&look, &layout);
    let replay = &look.analysis.replay;
    let under = pointer.and_then(|(x, y)| picture.block_at(map.width.get(), x, y));
    let at = under.or_else(|| look.state.block_at(replay, map.cursor.get()?));
    match at.or_else(|| overlay::picked_block(map, &look)) {
        Some((span, b)) => block(&look.names, &look.state, span, &b, look.at, lang),
        None => Word::StateKeys.text(lang).to_owned(),
    }
}

/// Redraws at most once a frame.
fn painted(map: Map, canvas: NodeRef<leptos::html::Canvas>) {
    let waiting = StoredValue::new(false);
    Effect::new(move |_| {
        // Everything that the picture depends on.
        let _ = (map.state.dark.get(), map.state.lang.get());
        map.look.track();
        map.layout.track();
        let _ = (map.width.get(), map.top.get());
        if canvas.get().is_none() {
            return;
        }
        paint_soon(map.state, waiting, move || {
            if let (Some(look), Some(c)) = (map.look.get(), canvas.get()) {
                paint(map, &look, &c);
            }
        });
    });
}

fn paint(map: Map, look: &Look, canvas: &HtmlCanvasElement) {
    let layout = map.layout.get();
    let picture = map.picture(look, &layout);
    let scale = sized(canvas, map.width.get(), map.height());
    let top = map.top.get();
    let size = (canvas.width() as usize, canvas.height() as usize);
    let pixels = picture.pixels(size, top, scale);
    let context = canvas
        .get_context("2d")
        .ok()
        .flatten()
        .and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok());
    let data = Clamped(pixels.rgba.as_slice());
    let image = ImageData::new_with_u8_clamped_array_and_sh(data, size.0 as u32, size.1 as u32);
    if let (Some(context), Ok(image)) = (context, image) {
        context.put_image_data(&image, 0.0, 0.0).ok();
    }
    if let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone())
        && let Err(e) = picture.marks(&backend.into_drawing_area(), top, scale)
    {
        map.state.error.set(Some(e.to_string()));
    }
}
