//! Horizontal bars, and one stacked bar.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::flame::ink_on;
use super::{Area, DrawError, Theme, failed, text_width, write};

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size as text.
    pub label: String,
    /// Its colour.
    pub color: RGBColor,
}

/// Draws a list of bars, one below the other.
///
/// # Errors
/// What the backend reports.
pub fn bars<DB: DrawingBackend>(
    area: &Area<DB>,
    rows: &[Bar],
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let size = 12.0 * scale;
    let max = rows.iter().map(|b| b.bytes).max().unwrap_or(0).max(1);
    let widest = |f: &dyn Fn(&Bar) -> &str| {
        rows.iter()
            .map(|b| text_width(f(b), size))
            .fold(0.0, f64::max)
    };
    let left = (widest(&|b| &b.name) + 10.0 * scale).min(f64::from(w) * 0.45);
    let right = widest(&|b| &b.label) + 12.0 * scale;
    let room = (f64::from(w) - left - right).max(1.0);
    let line = f64::from(h) / rows.len().max(1) as f64;
    for (i, bar) in rows.iter().enumerate() {
        let (top, middle) = (i as f64 * line, (i as f64 + 0.5) * line);
        let length = bar.bytes as f64 / max as f64 * room;
        let fit = ((left - 8.0 * scale) / (size * 0.56)).max(1.0) as usize;
        let name = crate::visible::short(&bar.name, fit.max(4));
        write(
            area,
            &name,
            ((left - 6.0 * scale) as i32, middle as i32),
            size,
            theme.ink,
            HPos::Right,
            VPos::Center,
        )?;
        let edge = (left + length.max(1.0)) as i32;
        area.draw(&Rectangle::new(
            [
                (left as i32, (top + line * 0.15) as i32),
                (edge, (top + line * 0.85) as i32),
            ],
            bar.color.filled(),
        ))
        .map_err(failed)?;
        let at = (edge + (5.0 * scale) as i32, middle as i32);
        write(
            area,
            &bar.label,
            at,
            size,
            theme.ink,
            HPos::Left,
            VPos::Center,
        )?;
    }
    Ok(())
}

/// Draws parts of a whole side by side; a part's label stands in it where it fits.
///
/// # Errors
/// What the backend reports.
pub fn stacked<DB: DrawingBackend>(
    area: &Area<DB>,
    parts: &[Bar],
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let total: f64 = parts.iter().map(|p| p.bytes as f64).sum();
    let size = 12.0 * scale;
    let mut at = 0.0;
    for part in parts {
        let width = part.bytes as f64 / total.max(1.0) * f64::from(w);
        let (a, b) = (at as i32, ((at + width) as i32).max(at as i32 + 1));
        area.draw(&Rectangle::new(
            [(a, 0), (b, h as i32)],
            part.color.filled(),
        ))
        .map_err(failed)?;
        // A line of the ground's colour between parts, so that neighbours never run together.
        area.draw(&Rectangle::new(
            [(b - scale as i32, 0), (b, h as i32)],
            theme.ground.filled(),
        ))
        .map_err(failed)?;
        if text_width(&part.label, size) + 8.0 * scale < width {
            let ink = ink_on(part.color);
            let point = ((at + width / 2.0) as i32, h as i32 / 2);
            write(
                area,
                &part.label,
                point,
                size,
                ink,
                HPos::Center,
                VPos::Center,
            )?;
        }
        at += width;
    }
    Ok(())
}
