//! The signed flame graph.

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{
    DrawError, FLAME_ROW, FlameBox, SignedBox, Theme, flame, node_said, signed, signed_rows, svg,
};
use report::analyze::diff::snapshot::flame::{self as tree_of, Flame};
use report::analyze::snapshot::flame::{Direction, NodeId};

use crate::compare::Same;
use crate::components::ChartActions;
use crate::state::State;
use crate::timeline::{sized, watch_canvas};

#[derive(Clone, Copy)]
struct Chart {
    state: State,
    tree: Memo<Option<Same<Flame>>>,
    /// The node that is as wide as the drawing.
    focus: Memo<u32>,
    /// The node that is pointed at.
    active: RwSignal<Option<u32>>,
    width: RwSignal<f64>,
}

impl Chart {
    fn boxes(self) -> Vec<SignedBox> {
        let (lang, theme) = (self.state.lang.get(), Theme::of(self.state.dark.get()));
        let (tree, focus) = (self.tree.get(), self.focus.get());
        let seen = self.state.compared.seen.get();
        let live = seen.as_ref().and_then(|s| s.0.live.as_ref());
        match (live, tree) {
            (Some(live), Some(tree)) => signed(live, &tree.0, NodeId(focus), &theme, lang),
            _ => Vec::new(),
        }
    }

    /// What is shown, from and to, bytes of width.
    fn range(self) -> (u64, u64) {
        self.tree.with(|t| {
            let Some(tree) = t else { return (0, 1) };
            let at = self.focus.get() as usize;
            let start = tree.0.starts().get(at).copied().unwrap_or(0);
            let width = tree.0.nodes.get(at).map_or(1, |n| n.width);
            (start, start.saturating_add(width))
        })
    }

    /// The box under a point of the drawing, CSS pixels.
    fn at(self, x: f64, y: f64) -> Option<u32> {
        untrack(|| {
            let (from, to) = self.range();
            let place = from as f64 + x / self.width.get().max(1.0) * (to - from) as f64;
            let row = (y / FLAME_ROW) as u32;
            let hit = |b: &SignedBox| {
                let f = &b.flame;
                f.depth == row
                    && f.start as f64 <= place
                    && place < f.start.saturating_add(f.bytes) as f64
            };
            self.boxes().into_iter().find(hit).map(|b| b.node.0)
        })
    }

    /// The node that an arrow key leads to.
    fn step(self, key: &str) -> Option<u32> {
        let tree = self.tree.get_untracked()?;
        let nodes = &tree.0.nodes;
        let now = self
            .active
            .get_untracked()
            .unwrap_or(self.focus.get_untracked());
        let node = nodes.get(now as usize)?;
        let children = |of: u32| {
            let own = nodes.iter().enumerate();
            own.filter(move |(_, n)| n.parent == Some(NodeId(of)))
                .map(|(i, _)| i as u32)
        };
        match key {
            "ArrowUp" => node.parent.map(|p| p.0),
            "ArrowDown" => children(now).next(),
            "ArrowRight" => children(node.parent?.0).find(|&i| i > now),
            "ArrowLeft" => children(node.parent?.0).take_while(|&i| i < now).last(),
            _ => None,
        }
    }
}

/// The flame graph.
#[component]
pub fn Tree(state: State) -> impl IntoView {
    let how = Memo::new(move |_| {
        let how = state.how();
        (how.direction, how.fold)
    });
    let leaf = move || how.get().0 == Direction::LeafFirst;
    let tree = Memo::new(move |_| {
        let (direction, fold) = how.get();
        let seen = state.compared.seen.get()?;
        let tree = seen.0.live.as_ref()?.flame(direction, fold);
        Some(Same(Arc::new(tree)))
    });
    let focus = Memo::new(move |_| {
        let (how, name) = (how.get(), state.shown.with(|s| s.flame.clone()));
        let (seen, tree) = (state.compared.seen.get(), tree.get());
        let live = seen.as_ref().and_then(|s| s.0.live.as_ref());
        let node = live
            .zip(tree)
            .and_then(|(live, tree)| tree_of::named(live, &tree.0, how, &name));
        node.map_or(0, |n| n.0)
    });
    let chart = Chart {
        state,
        tree,
        focus,
        active: RwSignal::new(None),
        width: RwSignal::new(0.0),
    };
    // Another tree has other nodes.
    Effect::new(move |_| {
        chart.tree.track();
        chart.active.set(None);
    });
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    watch_canvas(canvas, chart.width);
    let height = Memo::new(move |_| f64::from(signed_rows(&chart.boxes())) * FLAME_ROW);
    let flames = move || -> Vec<FlameBox> { chart.boxes().into_iter().map(|b| b.flame).collect() };
    Effect::new(move |_| {
        let theme = Theme::of(state.dark.get());
        let (boxes, range) = (flames(), chart.range());
        let Some(c) = canvas.get() else { return };
        let scale = sized(&c, chart.width.get(), height.get());
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            flame(&backend.into_drawing_area(), &boxes, range, &theme, scale).ok();
        }
    });
    let export = Callback::new(move |()| {
        let (boxes, range, height) = untrack(|| (flames(), chart.range(), height.get()));
        if boxes.is_empty() {
            return Err(DrawError("nothing is compared".to_owned()));
        }
        let theme = Theme::of(state.dark.get_untracked());
        let width = chart.width.get_untracked().max(300.0) as u32;
        svg(width, height as u32, |area| {
            flame(area, &boxes, range, &theme, 1.0)
        })
    });
    let said = move || {
        let lang = state.lang.get();
        let tree = chart.tree.get()?;
        let node = *tree
            .0
            .nodes
            .get(chart.active.get().unwrap_or(chart.focus.get()) as usize)?;
        let seen = state.compared.seen.get()?;
        Some(node_said(seen.0.live.as_ref()?, &node, lang))
    };
    let zoom = move |node: u32| {
        let (seen, tree) = (state.compared.seen.get_untracked(), tree.get_untracked());
        let live = seen.as_ref().and_then(|s| s.0.live.as_ref());
        let name = live.zip(tree).map_or_else(String::new, |(live, tree)| {
            tree_of::name(live, &tree.0, how.get_untracked(), NodeId(node))
        });
        state.shown.update(|s| s.flame = name);
        chart.active.set(Some(node));
    };
    let on_key = move |e: web_sys::KeyboardEvent| {
        match e.key().as_str() {
            "Enter" | " " => {
                if let Some(node) = chart.active.get_untracked() {
                    zoom(node);
                }
            }
            "Home" => zoom(0),
            key if key.starts_with("Arrow") => {
                if let Some(node) = chart.step(key) {
                    chart.active.set(Some(node));
                }
            }
            _ => return,
        }
        e.prevent_default();
        e.stop_propagation();
    };
    // Where the node that is pointed at lies, for its outline.
    let outline = move || {
        let active = chart.active.get();
        let (from, to) = chart.range();
        let per = chart.width.get() / (to - from).max(1) as f64;
        let boxes = chart.boxes();
        let found = boxes.iter().find(|b| Some(b.node.0) == active);
        found.map_or_else(
            || "display:none".to_owned(),
            |b| {
                let left = (b.flame.start as f64 - from as f64) * per;
                let width = (b.flame.bytes as f64 * per).max(2.0);
                let top = f64::from(b.flame.depth) * FLAME_ROW;
                format!("left:{left:.1}px;top:{top}px;width:{width:.1}px;height:{FLAME_ROW}px")
            },
        )
    };
    let turn = move |to: Direction| move |_| state.set_how(|h| h.direction = to);
    view! {
        <section aria-label=state.text(Word::DiffTree)>
            <div class="above">
                <h2>{state.text(Word::DiffTree)}</h2>
                <span class="grow"></span>
                <label class="check"><input type="checkbox" data-testid="compare-fold" prop:checked=move || how.get().1
                    on:change=move |_| state.set_how(|h| h.fold = !h.fold)/>{state.text(Word::DiffFold)}</label>
                <div class="segmented" role="group">
                    <button type="button" aria-pressed=move || (!leaf()).to_string()
                        on:click=turn(Direction::RootFirst)>{state.text(Word::DiffRoot)}</button>
                    <button type="button" data-testid="compare-leaf" aria-pressed=move || leaf().to_string()
                        on:click=turn(Direction::LeafFirst)>{state.text(Word::DiffLeaf)}</button>
                </div>
                <button type="button" data-testid="compare-whole" disabled=move || chart.focus.get() == 0
                    on:click=move |_| zoom(0)>{state.text(Word::DiffWhole)}</button>
                <ChartActions name="compare-tree" canvas=canvas draw=export/>
            </div>
            <p class="quiet">{state.text(Word::DiffTreeNote)}</p>
            <div class="flame" tabindex="0" role="application" data-testid="compare-tree"
                aria-label=state.text(Word::DiffTree) aria-describedby="compare-node"
                on:keydown=on_key
                on:pointermove=move |e| chart.active.set(chart.at(f64::from(e.offset_x()), f64::from(e.offset_y())))
                on:pointerleave=move |_| chart.active.set(None)
                on:click=move |e| {
                    if let Some(node) = chart.at(f64::from(e.offset_x()), f64::from(e.offset_y())) {
                        zoom(node);
                    }
                }>
                <canvas node_ref=canvas aria-hidden="true" style:height=move || format!("{}px", height.get())></canvas>
                <div class="outline" style=outline></div>
            </div>
            <p class="readout" id="compare-node" aria-live="polite" data-testid="compare-node">{said}</p>
        </section>
    }
}
