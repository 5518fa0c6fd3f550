//! What lies over the chart: the instant looked at, the cursor, the range being dragged. Drawn
//! apart from the chart so that moving the pointer redraws a few lines only.

use leptos::prelude::*;
use present::chart::{Frame, Theme};
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{Chart, HEIGHT};
use crate::timeline::sized;

/// Draws all of it.
pub(super) fn paint(chart: Chart, canvas: &HtmlCanvasElement) {
    let (width, cursor, range) = (chart.width.get(), chart.cursor.get(), chart.range.get());
    let theme = Theme::of(chart.state.dark.get());
    let (slot, window) = (chart.slot(), chart.window());
    let Some(memory) = chart.memory() else { return };
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
    let frame = Frame::low(canvas.width(), canvas.height(), scale);
    let (top, bottom) = (f64::from(frame.top), f64::from(frame.bottom));
    let plot = f64::from(frame.right - frame.left);
    let x = |share: f64| f64::from(frame.left) + share * plot;
    let ink = theme.ink;
    let paint_in = |alpha: f64| format!("rgba({},{},{},{alpha})", ink.0, ink.1, ink.2);
    let at = |slot: usize| {
        let whole = memory.share_of(window.clock, slot);
        let share = (whole - window.start) / (window.end - window.start).max(1e-12);
        (-0.001..=1.001)
            .contains(&share)
            .then(|| x(share.clamp(0.0, 1.0)))
    };
    if let Some((from, to)) = range {
        c.set_fill_style_str(&paint_in(0.15));
        c.fill_rect(x(from), top, (to - from) * plot, bottom - top);
    }
    if let Some(x) = slot.and_then(at) {
        c.set_fill_style_str(&paint_in(0.9));
        c.fill_rect(x - scale, top, 2.0 * scale, bottom - top + 8.0 * scale);
        // A foot that tells it from the cursor and from the marks.
        c.fill_rect(
            x - 4.0 * scale,
            bottom + 6.0 * scale,
            8.0 * scale,
            3.0 * scale,
        );
    }
    if let Some((slot, _)) = cursor
        && let Some(x) = at(slot)
    {
        c.set_fill_style_str(&paint_in(0.55));
        c.fill_rect(x - scale / 2.0, top, scale.max(1.0), bottom - top);
    }
}
