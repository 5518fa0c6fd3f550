//! Flame graph of what is live, with its frames as a table.

use std::sync::Arc;

use leptos::prelude::*;
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use present::Word;
use present::chart::{DrawError, FLAME_ROW, FlameBox, FrameBox, Theme, flame, frame_boxes, svg};
use present::names::{Names, category_word};
use present::rows::snapshot::FlameRows;
use present::units::{bytes, count, exact, percent};
use present::visible::short;
use report::analyze::snapshot::categories::Category;
use report::analyze::snapshot::flame::{self as tree_of, Direction, Flame, NodeId};
use report::analyze::snapshot::group::main_category;

use super::super::held::{Held, Same, rows_of};
use crate::components::{ChartActions, DataTable};
use crate::state::State;
use crate::timeline::{sized, watch_canvas};

/// The picture is at most so high, CSS pixels; deeper trees scroll.
const MOST: f64 = 24.0 * FLAME_ROW;

/// The tree with its names.
struct Tree {
    names: Arc<Names>,
    flame: Arc<Flame>,
    categories: Vec<[u64; Category::ALL.len()]>,
    /// What it is the tree of.
    held: Same<Held>,
    how: (Direction, bool),
}

/// The picture's own signals.
#[derive(Clone, Copy)]
struct Chart {
    state: State,
    tree: Memo<Option<Same<Tree>>>,
    /// The frame over the full width.
    top: Memo<NodeId>,
    /// The frame under the pointer or the keyboard's cursor.
    active: RwSignal<Option<NodeId>>,
    boxes: Memo<Same<Vec<FrameBox>>>,
    width: RwSignal<f64>,
    /// First row in sight.
    first: RwSignal<u32>,
    host: NodeRef<leptos::html::Div>,
}

/// The picture, its reading and its table.
#[component]
pub(super) fn FlameView(state: State, held: Memo<Option<Same<Held>>>) -> impl IntoView {
    let how = Memo::new(move |_| state.how());
    let tree = Memo::new(move |_| {
        let (how, held) = (how.get(), held.get()?);
        let a = held.names.analysis();
        let (ids, fold) = (&held.moment.ids, how.fold);
        let flame = tree_of::flame(a.snapshot(), &a.replay, a.sites(), ids, how.direction, fold);
        let categories = tree_of::by_category(a, &flame, ids, how.direction, fold);
        Some(Same::new(Tree {
            names: Arc::clone(&held.names),
            flame: Arc::new(flame),
            categories,
            how: (how.direction, fold),
            held,
        }))
    });
    let width = RwSignal::new(0.0);
    let top = Memo::new(move |_| {
        let name = state.shown.with(|s| s.flame.clone());
        let node = tree.get().and_then(|t| {
            let a = t.names.analysis();
            tree_of::named(a, &t.flame, t.how, &name)
        });
        node.unwrap_or(NodeId(0))
    });
    let boxes = Memo::new(move |_| {
        let (lang, dark) = (state.lang.get(), state.dark.get());
        let (top, width) = (top.get(), width.get());
        Same::new(tree.get().map_or_else(Vec::new, |t| {
            let theme = Theme::of(dark);
            frame_boxes(&t.names, &t.flame, &t.categories, top, width, &theme, lang)
        }))
    });
    let chart = Chart {
        state,
        tree,
        top,
        active: RwSignal::new(None),
        boxes,
        width,
        first: RwSignal::new(0),
        host: NodeRef::new(),
    };
    // Another tree has other nodes.
    Effect::new(move |_| {
        tree.track();
        chart.active.set(None);
    });
    let rows = Memo::new(move |_| {
        let top = top.get();
        rows_of(tree.get().map(|t| {
            let top = t.flame.get(top).map_or(NodeId(0), |_| top);
            FlameRows::below(Arc::clone(&t.names), Arc::clone(&t.flame), top)
        }))
    });
    view! {
        <Picture chart=chart/>
        <h2>{state.text(Word::FlameTable)}</h2>
        <DataTable state=state rows=rows sorted=("bytes", true) label=state.label(Word::FlameTable)/>
    }
}

#[component]
fn Picture(chart: Chart) -> impl IntoView {
    let state = chart.state;
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    watch_canvas(canvas, chart.width);
    let full = Memo::new(move |_| {
        let rows = chart.boxes.with(|b| rows_of_boxes(b));
        f64::from(rows) * FLAME_ROW
    });
    let height = move || full.get().clamp(FLAME_ROW, MOST);
    Effect::new(move |_| {
        let theme = Theme::of(state.dark.get());
        let (boxes, first) = (chart.boxes.get(), chart.first.get());
        let (width, height) = (chart.width.get(), height());
        let Some(c) = canvas.get() else { return };
        let scale = sized(&c, width, height);
        if let Some(backend) = CanvasBackend::with_canvas_object(c) {
            let shapes = shapes(&boxes, first, (height / FLAME_ROW).ceil() as u32);
            let range = untrack(|| chart.range());
            flame(&backend.into_drawing_area(), &shapes, range, &theme, scale).ok();
        }
    });
    let export = Callback::new(move |()| -> Result<String, DrawError> {
        let theme = Theme::of(state.dark.get_untracked());
        let boxes = chart.boxes.get_untracked();
        let rows = rows_of_boxes(&boxes);
        let width = chart.width.get_untracked().max(300.0) as u32;
        let height = (f64::from(rows) * FLAME_ROW).ceil() as u32;
        let range = untrack(|| chart.range());
        svg(width, height.max(1), |area| {
            flame(area, &shapes(&boxes, 0, rows), range, &theme, 1.0)
        })
    });
    let mark = Memo::new(move |_| {
        let (active, first) = (chart.active.get()?, chart.first.get());
        let (start, end) = chart.range();
        let per_byte = chart.width.get() / end.saturating_sub(start).max(1) as f64;
        let boxes = chart.boxes.get();
        let shape = &boxes.iter().find(|b| b.node == active)?.shape;
        let x = |at: u64| {
            ((at as f64 - start as f64) * per_byte).clamp(0.0, chart.width.get_untracked())
        };
        let left = x(shape.start);
        let row = shape.depth.checked_sub(first)?;
        Some((
            left,
            f64::from(row) * FLAME_ROW,
            (x(shape.start.saturating_add(shape.bytes)) - left).max(2.0),
        ))
    });
    let scrolled = move |_| {
        if let Some(host) = chart.host.get_untracked() {
            let rows = (f64::from(host.scroll_top()) / FLAME_ROW).round();
            chart.first.set(rows as u32);
        }
    };
    view! {
        <div class="above">
            <Crumbs chart=chart/>
            <span class="grow"></span>
            <ChartActions name="flame" canvas=canvas draw=export/>
        </div>
        <div class="flame" id="flame" node_ref=chart.host tabindex="0" role="application" data-testid="flame"
            aria-label=state.text(Word::AsFlame) aria-describedby="flame-readout"
            style:height=move || format!("{}px", height())
            on:scroll=scrolled
            on:pointermove=move |e| chart.active.set(chart.at(&e))
            on:pointerleave=move |_| chart.active.set(None)
            on:click=move |e| if let Some(node) = chart.at(&e) { chart.zoom(node) }
            on:keydown=move |e| chart.key(&e)>
            <div class="pane">
                <canvas node_ref=canvas aria-hidden="true" style:height=move || format!("{}px", height())></canvas>
                <div class="mark" hidden=move || mark.get().is_none()
                    style:left=move || format!("{}px", mark.get().map_or(0.0, |m| m.0))
                    style:top=move || format!("{}px", mark.get().map_or(0.0, |m| m.1))
                    style:width=move || format!("{}px", mark.get().map_or(0.0, |m| m.2))></div>
            </div>
            <div style:height=move || format!("{}px", full.get() - height())></div>
        </div>
        <p class="readout" id="flame-readout" data-testid="flame-readout" aria-live="polite">{move || {
            let hint = state.t(Word::FlameHint);
            chart.said().unwrap_or_else(|| hint.to_owned())
        }}</p>
    }
}

/// The frames above the one that fills the width.
#[component]
fn Crumbs(chart: Chart) -> impl IntoView {
    /// Frames named at most; more of them come to nothing that is read.
    const LAST: usize = 5;
    let state = chart.state;
    view! {
        <nav class="crumbs" data-testid="flame-crumbs">
            {move || {
                let lang = state.lang.get();
                let top = chart.top.get();
                let t = chart.tree.get()?;
                let mut path = Vec::new();
                let mut at = Some(top);
                while let Some(id) = at {
                    path.push(id);
                    at = t.flame.get(id).and_then(|n| n.parent);
                }
                let skipped = path.len() > LAST + 1;
                path.truncate(LAST);
                if top != NodeId(0) && !path.contains(&NodeId(0)) {
                    path.push(NodeId(0));
                }
                path.reverse();
                Some(path.into_iter().enumerate().map(|(i, id)| {
                    let name = short(&label(&t, id, lang), 48).into_owned();
                    let dots = (i == 1 && skipped).then_some("… › ");
                    view! {
                        {(i > 0).then_some(" › ")}{dots}
                        <button type="button" aria-current=(id == top).then_some("true")
                            on:click=move |_| chart.zoom(id)>{name}</button>
                    }
                }).collect_view())
            }}
            <Show when=move || chart.top.get() != NodeId(0)>
                <button type="button" class="reset" data-testid="flame-reset"
                    on:click=move |_| chart.zoom(NodeId(0))>{state.text(Word::Reset)}</button>
            </Show>
        </nav>
    }
}

fn label(tree: &Tree, id: NodeId, lang: present::Lang) -> String {
    match tree.flame.get(id).map(|n| (n.frame, n.parent)) {
        Some((Some(frame), _)) => tree.names.function(frame).into_owned(),
        Some((None, Some(_))) => tree.names.nowhere(lang).to_owned(),
        _ => Word::Everything.text(lang).to_owned(),
    }
}

fn rows_of_boxes(boxes: &[FrameBox]) -> u32 {
    boxes.iter().map(|b| b.shape.depth + 1).max().unwrap_or(0)
}

/// What is drawn of `rows` rows from `first` on.
fn shapes(boxes: &[FrameBox], first: u32, rows: u32) -> Vec<FlameBox> {
    boxes
        .iter()
        .filter_map(|b| {
            let depth = b.shape.depth.checked_sub(first).filter(|&d| d < rows)?;
            Some(FlameBox {
                depth,
                ..b.shape.clone()
            })
        })
        .collect()
}

impl Chart {
    /// The bytes in sight, from the left end of the whole.
    fn range(self) -> (u64, u64) {
        let top = self.top.get();
        self.boxes.with(|boxes| {
            let shape = boxes.iter().find(|b| b.node == top).map(|b| &b.shape);
            shape.map_or((0, 1), |s| (s.start, s.start.saturating_add(s.bytes)))
        })
    }

    /// The frame under a pointer.
    fn at(self, e: &impl AsRef<web_sys::MouseEvent>) -> Option<NodeId> {
        let e: &web_sys::MouseEvent = e.as_ref();
        let host = self.host.get_untracked()?;
        let frame = host.get_bounding_client_rect();
        let x = f64::from(e.client_x()) - frame.left();
        let y = f64::from(e.client_y()) - frame.top();
        let row = (y / FLAME_ROW).max(0.0) as u32 + self.first.get_untracked();
        let (start, end) = untrack(|| self.range());
        let width = self.width.get_untracked().max(1.0);
        let byte = start as f64 + x / width * end.saturating_sub(start) as f64;
        self.boxes.with_untracked(|boxes| {
            let holds = |b: &&FrameBox| {
                let from = b.shape.start as f64;
                b.shape.depth == row && byte >= from && byte < from + b.shape.bytes as f64
            };
            boxes.iter().find(holds).map(|b| b.node)
        })
    }

    /// Shows a frame over the full width; the one that fills it already gives way to its caller.
    fn zoom(self, node: NodeId) {
        let parent = self
            .tree
            .with_untracked(|t| t.as_ref()?.flame.get(node)?.parent);
        let next = if self.top.get_untracked() == node {
            parent.unwrap_or(node)
        } else {
            node
        };
        self.fill(next);
    }

    /// Scrolls to a frame's row.
    fn reveal(self, node: NodeId) {
        let depth = self
            .tree
            .with_untracked(|t| Some(t.as_ref()?.flame.get(node)?.depth));
        let (Some(host), Some(depth)) = (self.host.get_untracked(), depth) else {
            return;
        };
        let rows = (f64::from(host.client_height()) / FLAME_ROW).floor() as u32;
        let first = self.first.get_untracked();
        if depth < first || depth + 1 >= first + rows {
            let to = depth.saturating_sub(rows / 3);
            host.set_scroll_top((f64::from(to) * FLAME_ROW) as i32);
        }
    }

    fn key(self, e: &web_sys::KeyboardEvent) {
        let Some(tree) = self.tree.get_untracked() else {
            return;
        };
        let now = self
            .active
            .get_untracked()
            .unwrap_or_else(|| self.top.get_untracked());
        let node = |id: NodeId| tree.flame.get(id).copied();
        let parent = node(now).and_then(|n| n.parent);
        let sibling = |id: Option<u32>| {
            let id = NodeId(id?);
            (node(id)?.parent == parent && parent.is_some()).then_some(id)
        };
        let next = match e.key().as_str() {
            // Children of one parent stand together.
            "ArrowDown" => {
                let mut all = tree.flame.nodes.iter();
                all.position(|n| n.parent == Some(now))
                    .map(|i| NodeId(i as u32))
            }
            "ArrowUp" => parent,
            "ArrowLeft" => sibling(now.0.checked_sub(1)),
            "ArrowRight" => sibling(now.0.checked_add(1)),
            "Home" => {
                self.fill(NodeId(0));
                None
            }
            "Enter" | " " => {
                self.zoom(now);
                None
            }
            "Backspace" => {
                let top = self.top.get_untracked();
                self.fill(node(top).and_then(|n| n.parent).unwrap_or(NodeId(0)));
                None
            }
            _ => return,
        };
        e.prevent_default();
        e.stop_propagation();
        if let Some(next) = next {
            let drawn = |b: &FrameBox| b.node == next;
            // What is outside the picture is reached by zooming out, as with the pointer.
            if self.boxes.with_untracked(|b| b.iter().any(drawn)) {
                self.active.set(Some(next));
                self.reveal(next);
            }
        }
    }

    /// Shows a node over the full width.
    fn fill(self, to: NodeId) {
        let Some(t) = self.tree.get_untracked() else {
            return;
        };
        let (a, ids) = (t.names.analysis(), &t.held.moment.ids);
        let name = tree_of::name(a, &t.flame, ids, t.how, to);
        self.state.shown.update(|s| s.flame = name);
        self.active.set(Some(to));
        self.reveal(to);
    }

    /// The figures of the frame under the cursor.
    fn said(self) -> Option<String> {
        let lang = self.state.lang.get();
        let id = self.active.get()?;
        let tree = self.tree.get()?;
        let node = tree.flame.get(id)?;
        let whole = tree.flame.nodes.first()?.bytes;
        let name = match node.frame {
            Some(frame) => short(&tree.names.whole(frame), 240).into_owned(),
            None => label(&tree, id, lang),
        };
        let category = tree.categories.get(id.0 as usize).map(main_category)?;
        Some(
            [
                name,
                format!("{} ({})", bytes(node.bytes), exact(node.bytes)),
                percent(node.bytes as f64 / whole.max(1) as f64),
                format!("{} {}", count(node.count), Word::Allocations.text(lang)),
                format!("{} {}", Word::Own.text(lang), bytes(node.own)),
                category_word(category).text(lang).to_owned(),
            ]
            .join(" · "),
        )
    }
}
