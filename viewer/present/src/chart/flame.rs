//! Icicles: parts of parts of a whole, one row a level.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{Area, Color, DrawError, Theme, failed, text_width, write};

/// One box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameBox {
    /// Its row.
    pub depth: u32,
    /// Where it begins in the whole, bytes.
    pub start: u64,
    /// How wide it is, bytes.
    pub bytes: u64,
    /// What it says where it is wide enough.
    pub label: String,
    /// Its colour.
    pub color: Color,
}

/// Height of a row in CSS pixels.
pub const ROW: f64 = 19.0;

/// Draws boxes, from `start` to `end` bytes of the whole. Boxes narrower than a third of a pixel
/// are left to the table beside it.
///
/// # Errors
/// What the backend reports.
pub fn flame<DB: DrawingBackend>(
    area: &Area<DB>,
    boxes: &[FlameBox],
    (start, end): (u64, u64),
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (width, _) = area.dim_in_pixel();
    let size = 11.0 * scale;
    let per_byte = f64::from(width) / end.saturating_sub(start).max(1) as f64;
    let x = |bytes: u64| (bytes as f64 - start as f64) * per_byte;
    for b in boxes {
        let (left, right) = (
            x(b.start).max(0.0),
            x(b.start.saturating_add(b.bytes)).min(f64::from(width)),
        );
        if right - left < 0.33 {
            continue;
        }
        let top = (f64::from(b.depth) * ROW * scale) as i32;
        let bottom = (f64::from(b.depth + 1) * ROW * scale) as i32 - scale.max(1.0) as i32;
        // A gap of one pixel between neighbours that are wide enough to spare it.
        let gap = if right - left > 3.0 { scale } else { 0.0 };
        let (a, z) = (left as i32, ((right - gap) as i32).max(left as i32 + 1));
        area.draw(&Rectangle::new(
            [(a, top), (z, bottom)],
            ShapeStyle::from(&b.color).filled(),
        ))
        .map_err(failed)?;
        let room = right - left - 8.0 * scale;
        if room > 16.0 * scale {
            let text = fitting(&b.label, room, size);
            let at = (a + (4.0 * scale) as i32, (top + bottom) / 2);
            write(
                area,
                &text,
                at,
                size,
                ink_on(b.color),
                HPos::Left,
                VPos::Center,
            )?;
        }
    }
    Ok(())
}

/// As much of a text as fits.
pub(super) fn fitting(text: &str, room: f64, size: f64) -> String {
    // Some systems' sans-serif is wider than most.
    let room = room * 0.92;
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut width = size * 0.6;
    for c in text.chars() {
        width += text_width(c.encode_utf8(&mut [0; 4]), size);
        if width > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Black or white, whichever reads better on a colour.
#[must_use]
pub(super) fn ink_on(RGBColor(r, g, b): Color) -> Color {
    let luma = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if luma > 140.0 {
        RGBColor(0, 0, 0)
    } else {
        RGBColor(255, 255, 255)
    }
}
