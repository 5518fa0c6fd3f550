//! What lies over the picture: what is picked, what the keyboard is at, what the pointer is over.

use leptos::prelude::*;
use present::chart::Theme;
use present::chart::segments::Outline;
use present::rows::Pick;
use report::analyze::snapshot::allocations::{AllocationId, SpanId};
use report::analyze::snapshot::state::StateBlock;
use report::model::snapshot::StackId;
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::Look;
use super::picture::Map;
use crate::timeline::sized;

/// So many boxes are drawn at most: one stack may have made thousands of blocks.
const MOST: usize = 2000;

/// Bytes of a range: its place, first address and size.
type Area = (usize, u64, u64);

/// Draws all of it.
pub(super) fn paint(map: Map, canvas: &HtmlCanvasElement) {
    let theme = Theme::of(map.state.dark.get());
    let pick = map.state.pick.get();
    let Some(look) = map.look.get() else { return };
    let layout = map.layout.get();
    let picture = map.picture(&look, &layout);
    let (width, top) = (map.width.get(), map.top.get());
    let scale = sized(canvas, width, map.height());
    let context = canvas
        .get_context("2d")
        .ok()
        .flatten()
        .and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok());
    let Some(c) = context else { return };
    c.clear_rect(
        0.0,
        0.0,
        f64::from(canvas.width()),
        f64::from(canvas.height()),
    );
    let boxes = |(span, address, size): Area, line: f64, alpha: f64| {
        let ink = theme.ink;
        c.set_stroke_style_str(&format!("rgba({},{},{},{alpha})", ink.0, ink.1, ink.2));
        c.set_line_width(line * scale);
        for o in picture.outlines(width, span, address, size) {
            stroke(&c, o, top, scale);
        }
    };
    let replay = &look.analysis.replay;
    let area = |(span, b): (usize, StateBlock)| (span, b.address, b.size);
    for picked in picked(&look, pick).into_iter().take(MOST) {
        boxes(picked, 2.0, 1.0);
    }
    if let Some(at) = map
        .cursor
        .get()
        .and_then(|a| look.state.block_at(replay, a))
    {
        boxes(area(at), 2.0, 0.7);
    }
    let under = map.pointer.get();
    if let Some(at) = under.and_then(|(x, y)| picture.block_at(width, x, y)) {
        boxes(area(at), 1.0, 0.7);
    }
}

fn stroke(c: &CanvasRenderingContext2d, o: Outline, top: f64, scale: f64) {
    // What is narrower than a few pixels is still seen to be marked.
    let width = o.width.max(4.0);
    let left = o.left - (width - o.width) / 2.0;
    c.stroke_rect(
        left * scale,
        (o.top - top) * scale,
        width * scale,
        o.height * scale,
    );
}

/// Where what is picked lies at the instant; nothing when it does not live then.
fn picked(look: &Look, pick: Option<Pick>) -> Vec<Area> {
    let state = &look.state;
    let all = &look.analysis.replay.allocations;
    match pick {
        Some(Pick::Allocation(n)) => {
            let found = block_of(look, AllocationId(n));
            found
                .map(|(s, b)| (s, b.address, b.size))
                .into_iter()
                .collect()
        }
        Some(Pick::Span(n)) => {
            let at = state.spans.iter().position(|h| h.span == SpanId(n));
            let span = look.analysis.replay.spans.get(SpanId(n));
            at.zip(span)
                .map(|(at, s)| (at, s.address, s.size))
                .into_iter()
                .collect()
        }
        Some(Pick::Stack(n)) => {
            let mine =
                |b: &&StateBlock| b.allocation.and_then(|id| all.stack(id)) == Some(StackId(n));
            let spans = state.spans.iter().enumerate();
            spans
                .flat_map(|(i, h)| {
                    let blocks = h.blocks.iter().filter(mine);
                    blocks.map(move |b| (i, b.address, b.size))
                })
                .collect()
        }
        Some(Pick::Entry(_)) | None => Vec::new(),
    }
}

fn block_of(look: &Look, id: AllocationId) -> Option<(usize, StateBlock)> {
    let replay = &look.analysis.replay;
    let address = replay.allocations.get(id)?.address;
    let found = look.state.block_at(replay, address)?;
    (found.1.allocation == Some(id)).then_some(found)
}

/// The picked allocation, where it lives at the instant.
pub(super) fn picked_block(map: Map, look: &Look) -> Option<(usize, StateBlock)> {
    match map.state.pick.get()? {
        Pick::Allocation(n) => block_of(look, AllocationId(n)),
        _ => None,
    }
}

/// Brings what is picked elsewhere into sight.
pub(super) fn reveal_picks(map: Map) {
    Effect::new(move |_| {
        let pick = map.state.pick.get();
        let area = untrack(|| {
            map.look
                .get()
                .and_then(|l| picked(&l, pick).first().copied())
        });
        if let Some(area) = area {
            reveal(map, area);
        }
    });
}

/// Scrolls so that the first row of something is in sight.
pub(super) fn reveal(map: Map, (span, address, size): Area) {
    let width = map.width.get_untracked();
    let first = map.ask(|p| p.outlines(width, span, address, size).first().copied());
    let (Some(Some(first)), Some(host)) = (first, map.host.get_untracked()) else {
        return;
    };
    let (top, height) = (map.top.get_untracked(), untrack(|| map.height()));
    if first.top < top || first.top + first.height > top + height {
        host.set_scroll_top((first.top - height / 2.0).max(0.0) as i32);
    }
}
