//! The device's memory over time: a layer for the allocator, for each library and for what else is
//! known, stacked.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::driver::{Layer, Layers};

use super::{Area, DrawError, Frame, Theme, failed, phase_color, text_width, write};
use crate::units;
use crate::words::{Lang, Word};

/// What a layer is called.
#[must_use]
pub fn layer_name(layer: &Layer, lang: Lang) -> String {
    let word = match layer {
        Layer::Library(name) => return crate::visible::short(name, 40).into_owned(),
        Layer::Reserved => Word::AllocatorReserved,
        Layer::OtherLibraries => Word::OtherLibraries,
        Layer::Context => Word::DriverContext,
        Layer::Others => Word::OtherProcesses,
        Layer::Rest => Word::DriverRest,
    };
    word.text(lang).to_owned()
}

/// Draws the layers with their axes and a legend.
///
/// # Errors
/// What the backend reports.
pub fn device<DB: DrawingBackend>(
    area: &Area<DB>,
    of: &Layers,
    theme: &Theme,
    scale: f64,
    lang: Lang,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let f = Frame::low(w, h, scale);
    let px = |v: f64| (v * scale) as i32;
    let size = 11.0 * scale;
    let sum = |i: usize| {
        let each = of.layers.iter().filter_map(|(_, bytes)| bytes.get(i));
        each.fold(0u64, |a, &b| a.saturating_add(b))
    };
    let top = (0..of.time_ns.len()).map(sum).max().unwrap_or(0).max(1);
    let height = f64::from(f.bottom - f.top);
    let y = |bytes: u64| f.bottom - (bytes as f64 / top as f64 * height).round() as i32;
    let rows = ((f.bottom - f.top) / px(28.0).max(1)).max(2) as usize;
    for bytes in units::axis(top, rows) {
        let line = vec![(f.left, y(bytes)), (f.right, y(bytes))];
        area.draw(&PathElement::new(line, theme.grid.stroke_width(1)))
            .map_err(failed)?;
        let at = (f.left - px(6.0), y(bytes));
        let text = units::bytes(bytes);
        write(
            area,
            &text,
            at,
            size,
            theme.muted,
            HPos::Right,
            VPos::Center,
        )?;
    }
    let (first, last) = (
        of.time_ns.first().copied().unwrap_or(0),
        of.time_ns.last().copied().unwrap_or(0),
    );
    let span = (last - first).max(1) as f64;
    let x = |t: u64| f.left + ((t - first) as f64 / span * f64::from(f.right - f.left)) as i32;
    let mut below = vec![0u64; of.time_ns.len()];
    let mut legend = f.left;
    for (n, (layer, bytes)) in of.layers.iter().enumerate() {
        let color = phase_color(n, theme.dark);
        for (i, &t) in of.time_ns.iter().enumerate() {
            let from = below.get(i).copied().unwrap_or(0);
            let to = from.saturating_add(bytes.get(i).copied().unwrap_or(0));
            // Memory stays as it was until the next moment.
            let end = of.time_ns.get(i + 1).map_or(f.right, |&t| x(t));
            if to > from {
                let corners = [(x(t), y(to)), (end.max(x(t) + 1), y(from))];
                area.draw(&Rectangle::new(corners, color.filled()))
                    .map_err(failed)?;
            }
            if let Some(slot) = below.get_mut(i) {
                *slot = to;
            }
        }
        let name = layer_name(layer, lang);
        let wide = text_width(&name, size) as i32 + px(26.0);
        if legend + wide < f.right {
            let box_at = [
                (legend, f.top - px(20.0)),
                (legend + px(10.0), f.top - px(10.0)),
            ];
            area.draw(&Rectangle::new(box_at, color.filled()))
                .map_err(failed)?;
            let at = (legend + px(14.0), f.top - px(15.0));
            write(area, &name, at, size, theme.muted, HPos::Left, VPos::Center)?;
            legend += wide;
        }
    }
    for (t, anchor) in [(first, HPos::Left), (last, HPos::Right)] {
        let at = (x(t), f.bottom + px(6.0));
        write(
            area,
            &units::seconds(t),
            at,
            size,
            theme.muted,
            anchor,
            VPos::Top,
        )?;
    }
    Ok(())
}
