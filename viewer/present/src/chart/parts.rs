//! One bar of categories, by how sure each is.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::snapshot::categories::{Category, Certainty};

use super::flame::ink_on;
use super::{Area, DrawError, Theme, category_color, failed, mixed, text_width, write};

/// A part of the bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryPart {
    /// What the memory is for.
    pub category: Category,
    /// How sure that is: possible parts are hatched.
    pub certainty: Certainty,
    /// Bytes.
    pub bytes: u64,
    /// What stands in the part where it fits.
    pub label: String,
}

/// Draws the parts side by side.
///
/// # Errors
/// What the backend reports.
pub fn category_bar<DB: DrawingBackend>(
    area: &Area<DB>,
    parts: &[CategoryPart],
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let (w, h) = (f64::from(w), f64::from(h));
    let total: f64 = parts.iter().map(|p| p.bytes as f64).sum();
    let size = 12.0 * scale;
    let mut left = 0.0;
    for part in parts {
        let width = part.bytes as f64 / total.max(1.0) * w;
        let color = category_color(part.category, theme.dark);
        let hatched = part.certainty == Certainty::Possible;
        let light = mixed(color, theme.ground, 0.5);
        let fill = if hatched { light } else { color };
        // A gap between parts that are wide enough to spare it.
        let right = left + width - if width > 3.0 { scale } else { 0.0 };
        let corners = [
            (left as i32, 0),
            ((right as i32).max(left as i32 + 1), h as i32),
        ];
        area.draw(&Rectangle::new(corners, fill.filled()))
            .map_err(failed)?;
        if hatched {
            hatch(area, (left, right), h, color, scale)?;
        }
        if text_width(&part.label, size) + 8.0 * scale < width {
            let at = ((left + width / 2.0) as i32, (h / 2.0) as i32);
            if hatched {
                // The text stands on plain ground: lines behind letters are hard to read.
                let half = text_width(&part.label, size) / 2.0 + 2.0 * scale;
                let (x, y) = (f64::from(at.0), h / 2.0);
                let plate = [
                    ((x - half) as i32, (y - size * 0.75) as i32),
                    ((x + half) as i32, (y + size * 0.75) as i32),
                ];
                area.draw(&Rectangle::new(plate, light.filled()))
                    .map_err(failed)?;
            }
            let ink = ink_on(fill);
            write(area, &part.label, at, size, ink, HPos::Center, VPos::Center)?;
        }
        left += width;
    }
    Ok(())
}

/// Slanted lines between `left` and `right`.
fn hatch<DB: DrawingBackend>(
    area: &Area<DB>,
    (left, right): (f64, f64),
    height: f64,
    color: RGBColor,
    scale: f64,
) -> Result<(), DrawError> {
    let step = 7.0 * scale;
    let style = color.stroke_width((1.5 * scale).round().max(1.0) as u32);
    let mut x = left - height;
    while x < right {
        let (from, to) = (x.max(left), (x + height).min(right));
        if from < to {
            let y = |at: f64| (height - (at - x)) as i32;
            let line = vec![(from as i32, y(from)), (to as i32, y(to))];
            area.draw(&PathElement::new(line, style)).map_err(failed)?;
        }
        x += step;
    }
    Ok(())
}
