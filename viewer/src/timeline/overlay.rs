//! What lies over the chart: cursor, selection, the range being dragged. Drawn apart from the
//! chart so that moving the pointer redraws a few lines only.

use leptos::prelude::*;
use present::chart::{Frame, Theme};
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{Chart, HEIGHT, sized};
use crate::data::RankData;
use crate::selection::Selection;

/// Draws all of it.
pub(super) fn paint(chart: Chart, canvas: &HtmlCanvasElement) {
    let state = chart.state;
    let width = chart.width.get();
    let (cursor, range, selection) = (chart.cursor.get(), chart.range.get(), state.selection.get());
    let theme = Theme::of(state.dark.get());
    let Some(data) = state.data.get() else { return };
    let view = chart.view(&data);
    let scale = sized(canvas, width, HEIGHT);
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
    let frame = Frame::of(canvas.width(), canvas.height(), scale);
    let (top, bottom) = (f64::from(frame.top), f64::from(frame.bottom));
    let plot = f64::from(frame.right - frame.left);
    let x = |share: f64| f64::from(frame.left) + share * plot;
    let ink = theme.ink;
    let paint_in = |alpha: f64| format!("rgba({},{},{},{alpha})", ink.0, ink.1, ink.2);
    if let Some((from, to)) = range {
        c.set_fill_style_str(&paint_in(0.15));
        c.fill_rect(x(from), top, (to - from) * plot, bottom - top);
    }
    if let Some(selection) = selection {
        c.set_fill_style_str(&paint_in(0.85));
        for (from, to) in chart.hits.with(|h| runs(h, &data, view, plot as usize)) {
            // A tick below the phases for every pixel with an event of the selection.
            c.fill_rect(
                x(0.0) + from as f64,
                bottom + 9.0 * scale,
                ((to - from) as f64).max(scale),
                3.0 * scale,
            );
        }
        if let Selection::Event(event) = selection {
            let at = data.timeline.place_of(view, event as f64 + 0.5);
            if (0.0..=1.0).contains(&at) {
                c.fill_rect(x(at) - scale, top, 2.0 * scale, bottom - top + 12.0 * scale);
            }
        }
    }
    if let Some(event) = cursor {
        let at = data.timeline.place_of(view, event as f64 + 0.5);
        if (0.0..=1.0).contains(&at) {
            c.set_fill_style_str(&paint_in(0.55));
            c.fill_rect(x(at) - scale / 2.0, top, scale.max(1.0), bottom - top);
        }
    }
}

/// Runs of pixel columns that hold one of `hits`, which are events in rising order.
fn runs(
    hits: &[u32],
    data: &RankData,
    view: present::chart::View,
    width: usize,
) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    if hits.is_empty() {
        return out;
    }
    for px in 0..width {
        let share = |p: usize| p as f64 / width as f64;
        let (start, end) = data.timeline.events_at(view, share(px), share(px + 1));
        let next = hits.partition_point(|&i| (i as usize) < start);
        if hits.get(next).is_some_and(|&i| (i as usize) < end) {
            match out.last_mut() {
                Some(last) if last.1 == px => last.1 = px + 1,
                _ => out.push((px, px + 1)),
            }
        }
    }
    out
}
