//! Treemap of what is live: lines within files, or within categories, pools, streams.

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{Theme, Tile, Treemap, Whole, category_color, svg};
use present::names::{Names, category_word};
use present::rows::snapshot::group_pick;
use present::units::{bytes, count, exact, percent};
use present::visible::short;
use report::analyze::snapshot::group::{By, Group, Key};
use report::analyze::snapshot::nested::{Nest, Outer, nested};

use super::super::held::{Held, Same};
use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{sized, watch_canvas};

const HEIGHT: f64 = 380.0;

/// The picture's own signals.
#[derive(Clone, Copy)]
struct Chart {
    state: State,
    held: Memo<Option<Same<Held>>>,
    nests: Memo<Option<Same<Vec<Nest>>>>,
    wholes: Memo<Same<Vec<Whole>>>,
    /// In CSS pixels.
    layout: Memo<Same<Treemap>>,
    /// The tile under the pointer or the keyboard's cursor.
    active: RwSignal<Option<(usize, usize)>>,
    host: NodeRef<leptos::html::Div>,
}

/// The picture and its reading.
#[component]
pub(super) fn TreemapView(state: State, held: Memo<Option<Same<Held>>>) -> impl IntoView {
    let by = Memo::new(move |_| state.grouping());
    let nests = Memo::new(move |_| {
        let (by, held) = (by.get(), held.get()?);
        let (outer, inner) = match by {
            By::Stack | By::Line => (None, by),
            By::Function => (None, By::Function),
            other => (Some(other), By::Line),
        };
        let a = held.names.analysis();
        Some(Same::new(nested(a, &held.moment.ids, outer, inner)))
    });
    let wholes = Memo::new(move |_| {
        let (lang, dark) = (state.lang.get(), state.dark.get());
        Same::new(held.get().zip(nests.get()).map_or_else(Vec::new, |(h, n)| {
            n.iter().map(|n| whole(&h.names, n, dark, lang)).collect()
        }))
    });
    let width = RwSignal::new(0.0);
    let layout = Memo::new(move |_| {
        let width = width.get();
        Same::new(wholes.with(|w| Treemap::of(w, width, HEIGHT, 1.0)))
    });
    let chart = Chart {
        state,
        held,
        nests,
        wholes,
        layout,
        active: RwSignal::new(None),
        host: NodeRef::new(),
    };
    Effect::new(move |_| {
        nests.track();
        chart.active.set(None);
    });
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    watch_canvas(canvas, width);
    Effect::new(move |_| {
        let theme = Theme::of(state.dark.get());
        let (wholes, width) = (wholes.get(), width.get());
        let Some(c) = canvas.get() else { return };
        let scale = sized(&c, width, HEIGHT);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            let map = Treemap::of(&wholes, width * scale, HEIGHT * scale, scale);
            map.draw(&backend.into_drawing_area(), &wholes, &theme).ok();
        }
    });
    let export = Callback::new(move |()| {
        let theme = Theme::of(state.dark.get_untracked());
        let (wholes, layout) = (wholes.get_untracked(), layout.get_untracked());
        let width = width.get_untracked().max(1.0) as u32;
        svg(width, HEIGHT as u32, |area| {
            layout.draw(area, &wholes, &theme)
        })
    });
    let picked = Memo::new(move |_| {
        let pick = state.pick.get()?;
        let (nests, held) = (nests.get()?, held.get()?);
        let subject = |g: &Group| group_pick(held.names.analysis(), g);
        let at = nests.iter().enumerate().find_map(|(i, n)| {
            let tile = n.groups.iter().position(|g| subject(g) == pick)?;
            Some((i, tile))
        })?;
        layout.with(|l| l.rect(at))
    });
    let active = Memo::new(move |_| {
        let at = chart.active.get()?;
        layout.with(|l| l.rect(at))
    });
    let mark = move |rect: Memo<Option<[f64; 4]>>, class: &'static str| {
        let px = move |i: usize| move || format!("{}px", rect.get().map_or(0.0, |r| r[i]));
        view! {
            <div class=class hidden=move || rect.get().is_none()
                style:left=px(0) style:top=px(1) style:width=px(2) style:height=px(3)></div>
        }
    };
    view! {
        <div class="above"><span class="grow"></span><ChartActions name="treemap" canvas=canvas draw=export/></div>
        <div class="treemap" id="treemap" node_ref=chart.host tabindex="0" role="application" data-testid="treemap"
            aria-label=state.text(Word::AsTree) aria-describedby="treemap-readout"
            style:height=format!("{HEIGHT}px")
            on:pointermove=move |e| chart.active.set(chart.at(&e))
            on:pointerleave=move |_| chart.active.set(None)
            on:click=move |e| if let Some(tile) = chart.at(&e) { chart.pick(tile) }
            on:keydown=move |e| chart.key(&e)>
            <canvas node_ref=canvas aria-hidden="true" style:height=format!("{HEIGHT}px")></canvas>
            {mark(picked, "mark hit")}
            {mark(active, "mark")}
        </div>
        <p class="readout" id="treemap-readout" data-testid="treemap-readout" aria-live="polite">{move || {
            let hint = state.t(Word::TreeHint);
            chart.said().unwrap_or_else(|| hint.to_owned())
        }}</p>
    }
}

fn outer_name(names: &Names, nest: &Nest, lang: present::Lang) -> String {
    match nest.outer {
        Outer::File(Some(file)) if !names.file(file).is_empty() => names.file(file).to_owned(),
        Outer::File(_) => names.nowhere(lang).to_owned(),
        Outer::Key(key) => names.key(key, lang),
    }
}

/// A line's name within its file: the line and its function.
fn inner_name(names: &Names, nest: &Nest, group: &Group, lang: present::Lang) -> String {
    match (nest.outer, group.key) {
        (Outer::File(_), Key::Line(Some(frame))) => {
            let line = names.analysis().snapshot().frames.get(frame).line;
            match line {
                0 => names.function(frame).into_owned(),
                line => format!("{} :{line}", names.function(frame)),
            }
        }
        (Outer::File(_), Key::Stack(stack)) => names
            .innermost(stack)
            .unwrap_or_else(|| names.key(group.key, lang)),
        (_, key) => names.key(key, lang),
    }
}

fn whole(names: &Names, nest: &Nest, dark: bool, lang: present::Lang) -> Whole {
    let tile = |g: &Group| Tile {
        name: short(&inner_name(names, nest, g, lang), 160).into_owned(),
        bytes: g.bytes,
        size: bytes(g.bytes),
        color: category_color(g.main_category(), dark),
    };
    let name = short(&outer_name(names, nest, lang), 160).into_owned();
    Whole {
        name: format!("{name}  {}", bytes(nest.bytes)),
        bytes: nest.bytes,
        tiles: nest.groups.iter().map(tile).collect(),
    }
}

impl Chart {
    fn at(self, e: &impl AsRef<web_sys::MouseEvent>) -> Option<(usize, usize)> {
        let e: &web_sys::MouseEvent = e.as_ref();
        let frame = self.host.get_untracked()?.get_bounding_client_rect();
        let x = f64::from(e.client_x()) - frame.left();
        let y = f64::from(e.client_y()) - frame.top();
        self.layout.with_untracked(|l| l.at(x, y))
    }

    fn pick(self, (outer, inner): (usize, usize)) {
        let Some(held) = self.held.get_untracked() else {
            return;
        };
        let subject = |g: &Group| group_pick(held.names.analysis(), g);
        let group = self
            .nests
            .with_untracked(|n| n.as_ref()?.get(outer)?.groups.get(inner).map(subject));
        let again = group.is_some() && self.state.pick.get_untracked() == group;
        self.state.set_pick(group.filter(|_| !again));
    }

    fn key(self, e: &web_sys::KeyboardEvent) {
        let wholes = self.wholes.get_untracked();
        let all = || {
            let tiles = |(i, w): (usize, &Whole)| (0..w.tiles.len()).map(move |t| (i, t));
            wholes
                .iter()
                .enumerate()
                .flat_map(tiles)
                .collect::<Vec<_>>()
        };
        let now = self.active.get_untracked();
        let step = |by: isize| {
            let all = all();
            let at = now.and_then(|n| all.iter().position(|&t| t == n));
            let next = at.map_or(0, |at| at.saturating_add_signed(by));
            all.get(next.min(all.len().saturating_sub(1))).copied()
        };
        let next = match e.key().as_str() {
            "ArrowRight" | "ArrowDown" => step(1),
            "ArrowLeft" | "ArrowUp" => step(-1),
            "Home" => all().first().copied(),
            "Enter" | " " => {
                if let Some(tile) = now {
                    self.pick(tile);
                }
                now
            }
            _ => return,
        };
        e.prevent_default();
        e.stop_propagation();
        self.active.set(next);
    }

    /// The figures of the tile under the cursor.
    fn said(self) -> Option<String> {
        let lang = self.state.lang.get();
        let (outer, inner) = self.active.get()?;
        let (held, nests) = (self.held.get()?, self.nests.get()?);
        let nest = nests.get(outer)?;
        let group = nest.groups.get(inner)?;
        let names = &held.names;
        let all = held.moment.requested.max(1) as f64;
        let mut said = vec![short(&outer_name(names, nest, lang), 120).into_owned()];
        said.push(short(&inner_name(names, nest, group, lang), 120).into_owned());
        said.push(format!("{} ({})", bytes(group.bytes), exact(group.bytes)));
        said.push(percent(group.bytes as f64 / all));
        said.push(format!(
            "{} {}",
            count(group.count),
            Word::Allocations.text(lang)
        ));
        said.push(category_word(group.main_category()).text(lang).to_owned());
        Some(said.join(" · "))
    }
}
