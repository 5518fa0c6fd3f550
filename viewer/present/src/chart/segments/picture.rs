//! The picture as pixels and as SVG, and what lies where in it.

use plotters::prelude::*;
use report::analyze::snapshot::allocations::AllocationId;
use report::analyze::snapshot::state::{Pool, State, StateBlock};

use super::super::{Color, DrawError, Pixels, Theme, category_color, failed, mixed, svg};
use super::strip::{Strip, strip};
use super::{Layout, Line, Piece};
use crate::names::Names;
use crate::words::Lang;

/// The gap below a row in CSS pixels.
const GAP: f64 = 3.0;
/// Distance of the stripes of a hatch in CSS pixels, and their width.
const HATCH: (f64, f64) = (6.0, 2.0);

/// Where the rows lie from left to right, device pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Their left edge; what they hold is written to the left of it.
    pub left: usize,
    /// Their width.
    pub width: usize,
}

impl Frame {
    /// For a picture of a width in device pixels.
    #[must_use]
    pub fn of(width: usize, scale: f64) -> Self {
        let left = if Self::narrow(width as f64 / scale) {
            62.0
        } else {
            112.0
        };
        let left = (left * scale) as usize;
        Self {
            left,
            width: width.saturating_sub(left).max(1),
        }
    }

    /// Whether a picture of so many CSS pixels has less text.
    #[must_use]
    pub fn narrow(width: f64) -> bool {
        width < 720.0
    }
}

/// A box around something, CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outline {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// All that is drawn.
#[derive(Clone, Copy)]
pub struct Picture<'a> {
    /// The history and its names.
    pub names: &'a Names,
    /// The allocator at an instant.
    pub state: &'a State,
    /// Its pools.
    pub pools: &'a [Pool],
    /// Where everything lies.
    pub layout: &'a Layout,
    /// Colours.
    pub theme: Theme,
    /// Language.
    pub lang: Lang,
}

impl Picture<'_> {
    pub(super) fn color(&self, id: AllocationId) -> Color {
        let (category, _) = self.names.analysis().categories().get(id);
        category_color(category, self.theme.dark)
    }

    fn strip(&self, line: &Line, width: usize, scale: f64) -> Strip {
        strip(
            &self.names.analysis().replay,
            self.state,
            self.layout.pieces_of(line),
            (self.layout.row, width, scale),
            &self.theme,
            &|id| self.color(id),
        )
    }

    /// The rows of a window of `size` device pixels whose upper edge is at `top` CSS pixels.
    #[must_use]
    pub fn pixels(&self, (width, height): (usize, usize), top: f64, scale: f64) -> Pixels {
        let Color { 0: r, 1: g, 2: b } = self.theme.ground;
        let mut out = Pixels {
            width,
            height,
            rgba: [r, g, b, 255].repeat(width * height),
        };
        let frame = Frame::of(width, scale);
        let (every, wide) = (HATCH.0 * scale, HATCH.1 * scale);
        for i in self.layout.between(top, top + height as f64 / scale) {
            let Some(line) = self.layout.lines.get(i) else {
                continue;
            };
            if self.layout.pieces_of(line).is_empty() {
                continue;
            }
            let strip = self.strip(line, frame.width, scale);
            let from = ((line.top - top) * scale).max(0.0) as usize;
            let past = ((line.top + line.height - GAP - top) * scale).max(0.0) as usize;
            for y in from..past.min(height) {
                let start = (y * width + frame.left) * 4;
                let row = out.rgba.get_mut(start..start + frame.width * 4);
                let row = row.into_iter().flat_map(|r| r.chunks_exact_mut(4));
                for (x, (pixel, cell)) in row.zip(&strip.cells).enumerate() {
                    let Some((color, hatched)) = cell else {
                        continue;
                    };
                    let on = !hatched || (x + y) as f64 % every >= wide;
                    if on {
                        pixel.copy_from_slice(&[color.0, color.1, color.2, 255]);
                    }
                }
            }
        }
        out
    }

    /// The whole picture as SVG of a width in pixels.
    ///
    /// # Errors
    /// What drawing reports.
    pub fn svg(&self, width: u32) -> Result<String, DrawError> {
        let height = (self.layout.height.ceil() as u32).max(20);
        svg(width, height, |area| {
            area.fill(&self.theme.ground).map_err(failed)?;
            let frame = Frame::of(width as usize, 1.0);
            for line in &self.layout.lines {
                let cells = self.strip(line, frame.width, 1.0).cells;
                let (top, bottom) = (line.top as i32, (line.top + line.height - GAP) as i32);
                let mut from = 0;
                for run in cells.chunk_by(|a, b| a == b) {
                    let past = from + run.len();
                    if let Some(&Some((color, hatched))) = run.first() {
                        // Stripes do not scale as pixels do: in SVG what waits is paler instead.
                        let color = if hatched {
                            mixed(color, self.theme.ground, 0.55)
                        } else {
                            color
                        };
                        let x = |i: usize| (frame.left + i) as i32;
                        let corners = [(x(from), top), (x(past), bottom)];
                        let style = ShapeStyle::from(&color).filled();
                        area.draw(&Rectangle::new(corners, style)).map_err(failed)?;
                    }
                    from = past;
                }
            }
            self.marks(area, 0.0, 1.0)
        })
    }

    /// The piece and the address at a point, CSS pixels from the picture's corner; `width` is the
    /// picture's.
    #[must_use]
    pub fn address_at(&self, width: f64, x: f64, y: f64) -> Option<(Piece, u64)> {
        let line = self.layout.lines.get(self.layout.between(y, y).start)?;
        if y < line.top {
            return None;
        }
        let frame = Frame::of(width as usize, 1.0);
        let share = (x - frame.left as f64) / frame.width as f64;
        if !(0.0..1.0).contains(&share) {
            return None;
        }
        let at = (share * self.layout.row as f64) as u64;
        let pieces = self.layout.pieces_of(line).iter();
        let piece = *pieces
            .rev()
            .find(|p| p.at <= at && at - p.at < p.to - p.from)?;
        let here = self.state.spans.get(piece.span as usize)?;
        let start = self.names.analysis().replay.spans.get(here.span)?.address;
        Some((piece, start + piece.from + (at - piece.at)))
    }

    /// The block at a point, and the place of its range.
    #[must_use]
    pub fn block_at(&self, width: f64, x: f64, y: f64) -> Option<(usize, StateBlock)> {
        let (_, address) = self.address_at(width, x, y)?;
        self.state.block_at(&self.names.analysis().replay, address)
    }

    /// Boxes around bytes of a range, one a row.
    #[must_use]
    pub fn outlines(&self, width: f64, span: usize, address: u64, size: u64) -> Vec<Outline> {
        let here = self.state.spans.get(span);
        let Some(span_row) = here.and_then(|h| self.names.analysis().replay.spans.get(h.span))
        else {
            return Vec::new();
        };
        let from = address.saturating_sub(span_row.address);
        let to = from.saturating_add(size);
        let frame = Frame::of(width as usize, 1.0);
        let x = |bytes: u64| bytes as f64 / self.layout.row as f64 * frame.width as f64;
        let mut out = Vec::new();
        for line in &self.layout.lines {
            for p in self.layout.pieces_of(line) {
                if p.span as usize != span || p.to <= from || p.from >= to {
                    continue;
                }
                let (a, z) = (from.max(p.from) - p.from, to.min(p.to) - p.from);
                out.push(Outline {
                    left: frame.left as f64 + x(p.at + a),
                    top: line.top,
                    width: x(z - a),
                    height: line.height - GAP,
                });
            }
        }
        out
    }
}
