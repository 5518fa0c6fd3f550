//! Pointer and keyboard on the picture.

use leptos::prelude::*;
use present::chart::segments::What;
use present::rows::Pick;
use report::analyze::snapshot::state::StateBlock;
use web_sys::{KeyboardEvent, MouseEvent, PointerEvent};

use super::overlay::reveal;
use super::picture::Map;
use super::play::{Step, step, step_of_key};

/// A place of the picture that a pointer is at, CSS pixels.
fn place(map: Map, e: &MouseEvent) -> Option<(f64, f64)> {
    let frame = map.host.get_untracked()?.get_bounding_client_rect();
    let x = f64::from(e.client_x()) - frame.left();
    let y = f64::from(e.client_y()) - frame.top() + map.top.get_untracked();
    Some((x, y))
}

/// The picture was scrolled.
pub(super) fn scrolled(map: Map) {
    if let Some(host) = map.host.get_untracked() {
        map.top.set(f64::from(host.scroll_top()));
    }
}

/// The pointer moved.
pub(super) fn moved(map: Map, e: &PointerEvent) {
    map.pointer.set(place(map, e));
}

/// A click picks a block; on free memory its range.
pub(super) fn clicked(map: Map, e: &MouseEvent) {
    let width = map.width.get_untracked();
    let found = place(map, e).and_then(|(x, y)| map.ask(|p| p.block_at(width, x, y)).flatten());
    if let Some((span, block)) = found {
        map.cursor.set(Some(block.address));
        pick(map, span, &block);
    }
}

fn pick(map: Map, span: usize, block: &StateBlock) {
    let range = || {
        let id = map.ask(|p| p.state.spans.get(span).map(|h| h.span))??;
        Some(Pick::Span(id.0))
    };
    let next = match block.allocation {
        Some(id) => Some(Pick::Allocation(id.0)),
        None => range(),
    };
    // The same again lets go of it.
    let again = next.is_some() && map.state.pick.get_untracked() == next;
    map.state.set_pick(if again { None } else { next });
}

/// The picture's own keys.
pub(super) fn key(map: Map, e: &KeyboardEvent) {
    if e.ctrl_key() || e.meta_key() || e.alt_key() {
        return;
    }
    let key = e.key();
    match (key.as_str(), e.shift_key()) {
        ("ArrowLeft", true) => step(map.state, Step::By(-1)),
        ("ArrowRight", true) => step(map.state, Step::By(1)),
        ("ArrowLeft", false) => go(map, beside(map, false)),
        ("ArrowRight", false) => go(map, beside(map, true)),
        ("ArrowUp", _) => go(map, above(map, false)),
        ("ArrowDown", _) => go(map, above(map, true)),
        ("Enter" | " ", _) => match at(map) {
            Some((span, block)) => pick(map, span, &block),
            None => return,
        },
        (other, _) => match step_of_key(other) {
            Some(s) => step(map.state, s),
            None => return,
        },
    }
    e.prevent_default();
    e.stop_propagation();
}

/// The block that the keyboard is at.
fn at(map: Map) -> Option<(usize, StateBlock)> {
    let address = map.cursor.get_untracked()?;
    map.ask(|p| p.state.block_at(&p.names.analysis().replay, address))?
}

fn go(map: Map, to: Option<(usize, StateBlock)>) {
    if let Some((span, block)) = to {
        map.pointer.set(None);
        map.cursor.set(Some(block.address));
        reveal(map, (span, block.address, block.size));
    }
}

/// The next block or the one before, from range to range in the order of the picture.
fn beside(map: Map, next: bool) -> Option<(usize, StateBlock)> {
    let now = at(map);
    map.ask(|p| {
        let mut order: Vec<usize> = p.layout.pieces.iter().map(|x| x.span as usize).collect();
        order.dedup();
        let blocks = |span: usize| p.state.spans.get(span).map(|h| h.blocks.as_slice());
        let Some((span, block)) = now else {
            let first = *order.first()?;
            return Some((first, *blocks(first)?.first()?));
        };
        let here = blocks(span)?;
        let i = here.iter().position(|b| b.address == block.address)?;
        let inside = if next { Some(i + 1) } else { i.checked_sub(1) };
        if let Some(b) = inside.and_then(|i| here.get(i)) {
            return Some((span, *b));
        }
        let k = order.iter().position(|&s| s == span)?;
        let k = if next { k + 1 } else { k.checked_sub(1)? };
        let other = *order.get(k)?;
        let list = blocks(other)?;
        let b = if next { list.first() } else { list.last() };
        Some((other, *b?))
    })?
}

/// The block in the row above or below.
fn above(map: Map, below: bool) -> Option<(usize, StateBlock)> {
    let Some((span, block)) = at(map) else {
        return beside(map, true);
    };
    let width = map.width.get_untracked();
    map.ask(|p| {
        let boxes = p.outlines(width, span, block.address, block.size);
        let from = if below { boxes.last() } else { boxes.first() }?;
        let x = from.left + (from.width / 2.0).min(20.0);
        let row = p.layout.lines.iter().position(|l| l.top == from.top)?;
        let rows: Vec<f64> = if below {
            p.layout
                .lines
                .iter()
                .skip(row + 1)
                .filter(is_row)
                .map(|l| l.top)
                .collect()
        } else {
            let before = p.layout.lines.iter().take(row).rev();
            before.filter(is_row).map(|l| l.top).collect()
        };
        // A row may end before that place: then its last block.
        let top = *rows.first()?;
        let mut x = x;
        loop {
            if let Some(found) = p.block_at(width, x, top + 2.0) {
                return Some(found);
            }
            x -= 8.0;
            if x < 0.0 {
                return None;
            }
        }
    })?
}

fn is_row(line: &&present::chart::segments::Line) -> bool {
    matches!(line.what, What::Row { .. })
}
