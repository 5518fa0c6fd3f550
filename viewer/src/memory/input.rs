//! Pointer, wheel and keyboard on the chart, and what is said about the place under them.

use leptos::prelude::*;
use present::Word;
use present::chart::Frame;
use present::names::{category_word, certainty_word};
use present::rows::Pick;
use present::units::{bytes, seconds};
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::{Instant, Named, steps};
use wasm_bindgen::JsCast as _;
use web_sys::{Element, KeyboardEvent, PointerEvent, WheelEvent};

use super::{Chart, HEIGHT};
use crate::timeline::Press;

/// A press that moves less than this many pixels is a click.
const CLICK: f64 = 4.0;

fn host_of(e: &web_sys::Event) -> Option<Element> {
    e.current_target()?.dyn_into::<Element>().ok()
}

fn frame(chart: Chart) -> Frame {
    Frame::low(chart.width.get_untracked() as u32, HEIGHT as u32, 1.0)
}

/// Where a pointer is, as a share of the plot's width; outside the plot below 0 or above 1.
fn share_at(chart: Chart, host: &Element, client_x: f64) -> f64 {
    let f = frame(chart);
    let x = client_x - host.get_bounding_client_rect().left() - f64::from(f.left);
    x / f64::from((f.right - f.left).max(1))
}

/// The slot under a share of the plot, which is the highest of its pixel column, and the bytes
/// that a height stands for.
fn place_at(chart: Chart, host: &Element, x: f64, y: f64) -> Option<(usize, u64)> {
    let share = share_at(chart, host, x);
    let memory = untrack(|| chart.memory())?;
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let w = untrack(|| chart.window());
    let f = frame(chart);
    let pixel = 1.0 / f64::from((f.right - f.left).max(1));
    let at = |s: f64| w.start + (w.end - w.start) * s;
    // The pixel column as it is drawn, not the one that begins at the pointer.
    let column = (share / pixel).floor() * pixel;
    let (from, to) = memory.slots_at(w.clock, at(column), at(column + pixel));
    let slot = memory.highest(from, to);
    let up = f64::from(f.bottom) - (y - host.get_bounding_client_rect().top());
    let height = f64::from((f.bottom - f.top).max(1));
    let bytes = (up / height * memory.scale_top() as f64).max(0.0) as u64;
    Some((slot, bytes))
}

/// Zooms around the pointer; sideways movement pans.
pub(super) fn wheel(chart: Chart, e: &WheelEvent) {
    let Some(host) = host_of(e) else { return };
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
    let Some(host) = host_of(e) else { return };
    host.set_pointer_capture(e.pointer_id()).ok();
    let zoom = chart.state.shown.with_untracked(|s| s.zoom);
    chart.press.set_value(Some(Press {
        at: share_at(chart, &host, f64::from(e.client_x())),
        zoom,
        ranging: (zoom == (0.0, 1.0)) != e.shift_key(),
        moved: false,
    }));
}

/// Hover, or what the press began.
pub(super) fn moved(chart: Chart, e: &PointerEvent) {
    let Some(host) = host_of(e) else { return };
    let Some(mut press) = chart.press.get_value() else {
        let next = place_at(
            chart,
            &host,
            f64::from(e.client_x()),
            f64::from(e.client_y()),
        );
        if next != chart.cursor.get_untracked() {
            chart.cursor.set(next);
        }
        return;
    };
    let at = share_at(chart, &host, f64::from(e.client_x()));
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

/// A click looks at the instant and picks the allocation; a range is zoomed into.
pub(super) fn up(chart: Chart, e: &PointerEvent) {
    let Some(press) = chart.press.get_value() else {
        return;
    };
    chart.press.set_value(None);
    if !press.moved {
        let place = host_of(e).and_then(|host| {
            place_at(
                chart,
                &host,
                f64::from(e.client_x()),
                f64::from(e.client_y()),
            )
        });
        if let Some((slot, bytes)) = place {
            look(chart, slot, Some(bytes));
        }
    } else if let Some((from, to)) = chart.range.get_untracked() {
        let (a, b) = press.zoom;
        chart.zoom(a + from * (b - a), a + to * (b - a));
    }
    chart.range.set(None);
}

/// Looks at an instant, and picks what lies at a height.
fn look(chart: Chart, slot: usize, bytes: Option<u64>) {
    let Some(memory) = untrack(|| chart.memory()) else {
        return;
    };
    chart.state.set_instant(memory.instant(slot));
    let pick = bytes.and_then(|b| memory.allocation(slot, b));
    chart.state.set_pick(pick.map(Pick::Allocation));
}

/// The pointer went away.
pub(super) fn left(chart: Chart) {
    if chart.press.get_value().is_none() {
        chart.cursor.set(None);
    }
}

/// The chart's own keys.
pub(super) fn key(chart: Chart, e: &KeyboardEvent) {
    let Some(memory) = untrack(|| chart.memory()) else {
        return;
    };
    if e.ctrl_key() || e.meta_key() || e.alt_key() {
        return;
    }
    let last = memory.slots().saturating_sub(1);
    let slot = untrack(|| chart.slot()).unwrap_or(0);
    let go = |slot: usize| {
        chart.state.set_instant(memory.instant(slot.min(last)));
    };
    // Up and down walk through what is stacked at the instant.
    let through = |up: bool| {
        let picked = match chart.state.pick.get_untracked() {
            Some(Pick::Allocation(id)) => Some(id),
            _ => None,
        };
        let ids = memory.live(slot);
        let at = picked.and_then(|p| ids.iter().position(|&id| id == p));
        let next = match (at, up) {
            (Some(at), true) => at + 1,
            (Some(at), false) => at.wrapping_sub(1),
            (None, true) => 0,
            (None, false) => ids.len().wrapping_sub(1),
        };
        if let Some(&id) = ids.get(next) {
            chart.state.set_pick(Some(Pick::Allocation(id)));
        }
    };
    let around = || {
        let at = memory.share_of(untrack(|| chart.window()).clock, slot);
        let (a, b) = chart.state.shown.with_untracked(|s| s.zoom);
        let at = (at - a) / (b - a).max(1e-12);
        if (0.0..=1.0).contains(&at) { at } else { 0.5 }
    };
    match (e.key().as_str(), e.shift_key()) {
        ("ArrowLeft", true) => chart.pan(-0.2),
        ("ArrowRight", true) => chart.pan(0.2),
        ("ArrowLeft", false) => go(slot.saturating_sub(1)),
        ("ArrowRight", false) => go(slot + 1),
        ("ArrowUp", _) => through(true),
        ("ArrowDown", _) => through(false),
        ("Home", _) => go(0),
        ("End", _) => go(last),
        ("p", _) => chart.state.set_instant(Instant::Peak),
        ("o", _) if !memory.analysis.replay.ooms.is_empty() => {
            chart.state.set_instant(Instant::Oom(0));
        }
        ("+" | "=", _) => chart.zoom_by(0.5, around()),
        ("-" | "_", _) => chart.zoom_by(2.0, around()),
        _ => return,
    }
    e.prevent_default();
    e.stop_propagation();
}

/// The minimap: pressing or dragging centres the view there.
pub(super) fn mini(chart: Chart, e: &PointerEvent) {
    if e.buttons() & 1 == 0 {
        return;
    }
    let Some(host) = host_of(e) else { return };
    let at = share_at(chart, &host, f64::from(e.client_x()));
    host.set_pointer_capture(e.pointer_id()).ok();
    let (a, b) = chart.state.shown.with_untracked(|s| s.zoom);
    // From the whole, a press goes to a tenth around it.
    let width = if b - a >= 1.0 { 0.1 } else { b - a };
    let start = (at - width / 2.0).clamp(0.0, 1.0 - width);
    chart.zoom(start, start + width);
}

/// The figures at the cursor, else at the instant that is looked at.
pub(super) fn readout(chart: Chart) -> String {
    let lang = chart.state.lang.get();
    let (cursor, Some(memory)) = (chart.cursor.get(), chart.memory()) else {
        return String::new();
    };
    let Some(slot) = cursor.map(|c| c.0).or_else(|| chart.slot()) else {
        return String::new();
    };
    let a = &memory.analysis;
    let instant = memory.instant(slot);
    let mut parts = vec![instant.to_string()];
    if let Some(&ns) = memory.times().and_then(|t| t.get(slot)) {
        parts.push(seconds(ns));
    }
    if let Instant::Event(t) = instant {
        if let Some(step) = steps::step_of(a.steps(), t) {
            parts.push(format!("{} {}", Word::Step.text(lang), step.number));
        }
        parts.push(a.snapshot().events.row(t.index()).action.word().to_owned());
    }
    let what = if a.replay.stated {
        Word::Allocated
    } else {
        Word::Requested
    };
    parts.push(format!(
        "{} {}",
        what.text(lang),
        bytes(memory.requested(slot))
    ));
    parts.push(format!(
        "{} {}",
        Word::Reserved.text(lang),
        bytes(memory.reserved(slot))
    ));
    let under = cursor.and_then(|(slot, bytes)| memory.allocation(slot, bytes));
    if let Some(id) = under.map(AllocationId)
        && let Some(row) = a.replay.allocations.get(id)
    {
        let (category, sure) = a.categories().get(id);
        let site = row.stack.and_then(|s| a.sites().place(s)).map_or_else(
            || {
                let missing = a.missing_since(row.born);
                present::names::missing_word(missing).text(lang).to_owned()
            },
            |f| present::sentences::snapshot::line(a, f),
        );
        parts.push(format!(
            "▪ {} {} {} ({}) {site}",
            a.name(Named::Allocation(id)),
            bytes(row.size),
            category_word(category).text(lang),
            certainty_word(sure).text(lang),
        ));
    }
    parts.join(" · ")
}
