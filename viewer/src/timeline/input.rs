//! Pointer, wheel and keyboard on the chart.

use leptos::prelude::*;
use present::chart::Frame;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, KeyboardEvent, PointerEvent, WheelEvent};

use super::{Chart, HEIGHT};
use crate::selection::Selection;

/// A press that moves less than this many pixels is a click.
const CLICK: f64 = 4.0;

/// Where a pointer is, as a share of the plot's width; outside the plot below 0 or above 1.
fn share(chart: Chart, e: &PointerEvent) -> Option<f64> {
    let host = e.current_target()?.dyn_into::<Element>().ok()?;
    Some(share_at(chart, &host, f64::from(e.client_x())))
}

fn share_at(chart: Chart, host: &Element, client_x: f64) -> f64 {
    let frame = Frame::of(chart.width.get_untracked() as u32, HEIGHT as u32, 1.0);
    let x = client_x - host.get_bounding_client_rect().left() - f64::from(frame.left);
    x / f64::from((frame.right - frame.left).max(1))
}

/// The event under a share of the plot; among those of one pixel the one with most allocated.
fn event_at(chart: Chart, share: f64) -> Option<usize> {
    let data = chart.state.data.get_untracked()?;
    if data.rank.events.is_empty() || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let view = untrack(|| chart.view(&data));
    let frame = Frame::of(chart.width.get_untracked() as u32, HEIGHT as u32, 1.0);
    let pixel = 1.0 / f64::from((frame.right - frame.left).max(1));
    let (start, end) = data
        .timeline
        .events_at(view, share, (share + pixel).min(1.0));
    // One event wide or less: the one under the pointer itself.
    let end = if end - start <= 2 { start + 1 } else { end };
    let allocated = &data.rank.events.allocated_after;
    (start..end).max_by_key(|&i| (allocated.get(i), std::cmp::Reverse(i)))
}

/// Zooms around the pointer; sideways movement pans.
pub(super) fn wheel(chart: Chart, e: &WheelEvent) {
    let Some(host) = e
        .current_target()
        .and_then(|t| t.dyn_into::<Element>().ok())
    else {
        return;
    };
    e.prevent_default();
    let lines = if e.delta_mode() == WheelEvent::DOM_DELTA_LINE {
        16.0
    } else {
        1.0
    };
    if e.shift_key() || e.delta_x().abs() > e.delta_y().abs() {
        let by = if e.delta_x() == 0.0 {
            e.delta_y()
        } else {
            e.delta_x()
        };
        chart.pan(by * lines / chart.width.get_untracked().max(1.0));
    } else {
        let around = share_at(chart, &host, f64::from(e.client_x())).clamp(0.0, 1.0);
        chart.zoom_by((e.delta_y() * lines * 0.002).clamp(-1.0, 1.0).exp(), around);
    }
}

/// A press begins a selection of a range, or a pan when zoomed in (the other one with Shift).
pub(super) fn down(chart: Chart, e: &PointerEvent) {
    if e.button() != 0 {
        return;
    }
    let Some(at) = share(chart, e) else { return };
    if let Some(host) = e
        .current_target()
        .and_then(|t| t.dyn_into::<Element>().ok())
    {
        host.set_pointer_capture(e.pointer_id()).ok();
    }
    chart.press.set_value(Some(super::Press {
        at,
        zoom: chart.state.shown.with_untracked(|s| s.zoom),
        ranging: (chart.state.shown.with_untracked(|s| s.zoom) == (0.0, 1.0)) != e.shift_key(),
        moved: false,
    }));
}

/// Hover, or what the press began.
pub(super) fn moved(chart: Chart, e: &PointerEvent) {
    let Some(at) = share(chart, e) else { return };
    let Some(mut press) = chart.press.get_value() else {
        let next = event_at(chart, at);
        if next != chart.cursor.get_untracked() {
            chart.cursor.set(next);
        }
        return;
    };
    if !press.moved && (at - press.at).abs() * chart.width.get_untracked() < CLICK {
        return;
    }
    press.moved = true;
    chart.press.set_value(Some(press));
    if press.ranging {
        chart
            .range
            .set(Some((press.at.min(at).max(0.0), press.at.max(at).min(1.0))));
    } else {
        let (a, b) = press.zoom;
        let by = ((press.at - at) * (b - a)).clamp(-a, 1.0 - b);
        chart.zoom(a + by, b + by);
    }
}

/// A click pins the event; a range is zoomed into.
pub(super) fn up(chart: Chart, e: &PointerEvent) {
    let Some(press) = chart.press.get_value() else {
        return;
    };
    chart.press.set_value(None);
    if !press.moved {
        let event = share(chart, e).and_then(|at| event_at(chart, at));
        pin(chart, event);
    } else if let Some((from, to)) = chart.range.get_untracked() {
        let (a, b) = press.zoom;
        chart.zoom(a + from * (b - a), a + to * (b - a));
    }
    chart.range.set(None);
}

/// The pointer went away.
pub(super) fn left(chart: Chart) {
    if chart.press.get_value().is_none() {
        chart.cursor.set(None);
    }
}

/// Pins an event; the pinned one again lets go of it.
fn pin(chart: Chart, event: Option<usize>) {
    let next = event.map(Selection::Event);
    let again = next.is_some() && next == chart.state.selection.get_untracked();
    chart.state.select(if again { None } else { next });
}

/// The chart's own keys.
pub(super) fn key(chart: Chart, e: &KeyboardEvent) {
    let Some(data) = chart.state.data.get_untracked() else {
        return;
    };
    let n = data.rank.events.len();
    if n == 0 || e.ctrl_key() || e.meta_key() || e.alt_key() {
        return;
    }
    let pinned = || {
        chart
            .state
            .selection
            .get_untracked()
            .and_then(|s| s.event(&data))
    };
    let view = untrack(|| chart.view(&data));
    let middle = || data.timeline.events_at(view, 0.5, 0.5).0;
    let at = chart
        .cursor
        .get_untracked()
        .or_else(pinned)
        .unwrap_or_else(middle);
    let go = |event: usize| {
        chart.cursor.set(Some(event.min(n - 1)));
        chart.reveal(event.min(n - 1));
    };
    match (e.key().as_str(), e.shift_key()) {
        ("ArrowLeft", true) => chart.pan(-0.2),
        ("ArrowRight", true) => chart.pan(0.2),
        ("ArrowLeft", false) => go(at.saturating_sub(1)),
        ("ArrowRight", false) => go(at + 1),
        ("Home", _) => go(0),
        ("End", _) => go(n - 1),
        ("p", _) => {
            if let Some(event) = data.facts.peak.allocated.and_then(|p| p.event) {
                go(event);
            }
        }
        ("Enter" | " ", _) => pin(chart, Some(at)),
        ("+" | "=", _) => chart.zoom_by(0.5, around(chart, at)),
        ("-" | "_", _) => chart.zoom_by(2.0, around(chart, at)),
        _ => return,
    }
    e.prevent_default();
    e.stop_propagation();
}

/// Where an event lies in the view, if it does.
fn around(chart: Chart, event: usize) -> f64 {
    let Some(data) = chart.state.data.get_untracked() else {
        return 0.5;
    };
    let view = untrack(|| chart.view(&data));
    let at = data.timeline.place_of(view, event as f64 + 0.5);
    if (0.0..=1.0).contains(&at) { at } else { 0.5 }
}

/// The minimap: pressing or dragging centres the view there.
pub(super) fn mini(chart: Chart, e: &PointerEvent) {
    if e.buttons() & 1 == 0 {
        return;
    }
    let Some(at) = share(chart, e) else { return };
    if let Some(host) = e
        .current_target()
        .and_then(|t| t.dyn_into::<Element>().ok())
    {
        host.set_pointer_capture(e.pointer_id()).ok();
    }
    let (a, b) = chart.state.shown.with_untracked(|s| s.zoom);
    // From the whole, a press goes to a tenth around it.
    let width = if b - a >= 1.0 { 0.1 } else { b - a };
    let start = (at - width / 2.0).clamp(0.0, 1.0 - width);
    chart.zoom(start, start + width);
}
