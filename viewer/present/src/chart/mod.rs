//! Drawing with plotters, on any of its backends: canvas in the page, SVG in the static part and
//! in exports. Positions are pixels of the drawing area; `scale` is device pixels per CSS pixel.

mod axis;
mod bars;
#[cfg(feature = "snapshot")]
mod device;
mod flame;
#[cfg(feature = "snapshot")]
mod frames;
#[cfg(feature = "snapshot")]
pub mod memory;
#[cfg(feature = "snapshot")]
pub mod memory_lines;
mod overlay;
#[cfg(feature = "snapshot")]
mod parts;
#[cfg(feature = "snapshot")]
pub mod segments;
#[cfg(feature = "snapshot")]
mod series;
#[cfg(feature = "snapshot")]
mod signed;
mod stack;
mod theme;
mod timeline;
#[cfg(feature = "snapshot")]
mod treemap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use axis::{Axis, AxisKind};
pub use bars::{Bar, bars, stacked};
#[cfg(feature = "snapshot")]
pub use device::{device, layer_name};
pub use flame::{FlameBox, ROW as FLAME_ROW, flame};
#[cfg(feature = "snapshot")]
pub use frames::{FrameBox, frame_boxes};
pub use overlay::{Column, Range, overlay, overlay_at};
#[cfg(feature = "snapshot")]
pub use parts::{CategoryPart, category_bar};
#[cfg(feature = "snapshot")]
pub use series::{columns as series_columns, series, series_color};
#[cfg(feature = "snapshot")]
pub use signed::{SignedBox, node_said, signed, signed_rows};
pub use stack::{Pixels, at as allocation_at, stack};
#[cfg(feature = "snapshot")]
pub use theme::category_color;
pub use theme::{Color, Theme, css, mixed, phase_color};
pub use timeline::{Flag, Frame, Timeline, View, draw, minimap};
#[cfg(feature = "snapshot")]
pub use treemap::{Tile, Treemap, Whole};

/// A drawing failed: the backend's own words.
#[derive(Debug)]
pub struct DrawError(pub String);

impl std::fmt::Display for DrawError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drawing failed: {}", self.0)
    }
}

impl std::error::Error for DrawError {}

/// A plotters area of any backend.
pub type Area<DB> = DrawingArea<DB, plotters::coord::Shift>;

fn failed<E: std::error::Error + Send + Sync>(e: DrawingAreaErrorKind<E>) -> DrawError {
    DrawError(e.to_string())
}

/// Writes text at a point; `h` and `v` say which point of the text that is.
fn write<DB: DrawingBackend>(
    area: &Area<DB>,
    text: &str,
    at: (i32, i32),
    size: f64,
    color: RGBColor,
    h: HPos,
    v: VPos,
) -> Result<(), DrawError> {
    let style = TextStyle::from(("sans-serif", size).into_font())
        .color(&color)
        .pos(Pos::new(h, v));
    area.draw(&Text::new(text.to_owned(), at, style))
        .map_err(failed)
}

/// About how wide text comes out in the page's sans-serif, in pixels. Errs on the wide side.
#[must_use]
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|c| if (c as u32) < 0x2e80 { 0.56 } else { 1.0 })
        .sum::<f64>()
        * size
}

/// Renders a drawing as SVG text of the given size.
///
/// # Errors
/// What the drawing reports.
pub fn svg(
    width: u32,
    height: u32,
    drawing: impl FnOnce(&Area<SVGBackend<'_>>) -> Result<(), DrawError>,
) -> Result<String, DrawError> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
        drawing(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(out)
}
