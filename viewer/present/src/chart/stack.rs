//! The picture of allocations stacked over time, as pixels.
//!
//! One pixel column shows the live set after one event (the one with most live bytes among those
//! that fall on the column), each allocation as high as its bytes. Nothing is left out: where
//! several fall on one pixel, the largest of them gives the colour, and the height of the stack is
//! the exact sum.

use plotters::style::RGBColor;
use report::analyze::stacked::Stacked;

use super::Color;

/// Pixels, row by row from the top, four bytes each (red, green, blue, opacity).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The bytes.
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// Transparent pixels.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            rgba: vec![0; width * height * 4],
        }
    }

    /// The colour of a pixel; `None` where nothing was drawn.
    #[must_use]
    pub fn get(&self, x: usize, y: usize) -> Option<Color> {
        let at = (y * self.width + x) * 4;
        match self.rgba.get(at..at + 4)? {
            [_, _, _, 0] => None,
            [r, g, b, _] => Some(Color {
                0: *r,
                1: *g,
                2: *b,
            }),
            _ => None,
        }
    }
}

/// The live sets as columns of pixels, each from below: what is filled lies together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// Pixels in a column.
    height: usize,
    /// The columns. Each pixel is red, green, blue and opacity from its lowest byte; 0 where nothing
    /// was drawn.
    pixels: Vec<u32>,
}

/// Pixels of a row that are turned at once: the parts of the columns that they come from stay in cache.
const TILE: usize = 16;

impl Columns {
    /// As an image on a ground, with every column `stride` times as wide, `width` in all. `ground`
    /// gets the column and gives how many rows from below have which colour, and the colour above.
    #[must_use]
    pub fn over(
        &self,
        width: usize,
        stride: usize,
        ground: impl Fn(usize) -> (usize, Color, Color),
    ) -> Pixels {
        let mut out = Pixels::new(width, self.height);
        let stride = stride.max(1);
        let grounds: Vec<(usize, u32, u32)> = (0..width)
            .map(|x| {
                let (rows, below, above) = ground(x);
                (rows, packed(below), packed(above))
            })
            .collect();
        for (tile, grounds) in grounds.chunks(TILE).enumerate() {
            let first = tile * TILE;
            let mut columns: [&[u32]; TILE] = [&[]; TILE];
            for (x, column) in columns.iter_mut().enumerate() {
                let start = (first + x) / stride * self.height;
                *column = self.pixels.get(start..start + self.height).unwrap_or(&[]);
            }
            for up in 0..self.height {
                let start = ((self.height - 1 - up) * width + first) * 4;
                let Some(row) = out.rgba.get_mut(start..start + grounds.len() * 4) else {
                    continue;
                };
                let sources = columns.iter().zip(grounds);
                for (to, (column, &(rows, below, above))) in row.chunks_exact_mut(4).zip(sources) {
                    let pixel = match column.get(up) {
                        Some(&own) if own != 0 => own,
                        _ if up < rows => below,
                        _ => above,
                    };
                    to.copy_from_slice(&pixel.to_le_bytes());
                }
            }
        }
        out
    }
}

fn packed(RGBColor(r, g, b): Color) -> u32 {
    u32::from_le_bytes([r, g, b, 255])
}

/// Draws the live sets after `samples` (one event a pixel column, in rising order, behind any number
/// of [`BEFORE_FIRST`](report::analyze::stacked::BEFORE_FIRST)) into `height` pixels that stand for `top` bytes.
#[must_use]
pub fn stack(
    stacked: &Stacked,
    samples: &[usize],
    height: usize,
    top: u64,
    color: impl Fn(u32) -> Color,
) -> Columns {
    let mut out = Columns {
        height,
        pixels: vec![0; samples.len() * height],
    };
    let scale = height as f64 / top.max(1) as f64;
    // Bytes below each pixel row, rounded up: most allocations end within the row they begin in, and
    // are told by one comparison.
    let edges: Vec<u64> = (0..height + 2)
        .map(|row| (row as f64 / scale).ceil() as u64)
        .collect();
    let edge = |row: usize| edges.get(row).copied().unwrap_or(u64::MAX);
    stacked.walk(samples, |x, parts| {
        let start = x * height;
        let Some(column) = out.pixels.get_mut(start..start + height) else {
            return;
        };
        let mut sum = 0u64;
        // The largest part of the pixel row that is being filled.
        let mut largest: (u64, Option<u32>) = (0, None);
        let (mut row, mut limit) = (0usize, edge(1));
        for (id, bytes) in parts {
            let low = sum;
            sum = sum.saturating_add(bytes);
            if sum < limit {
                if bytes > largest.0 {
                    largest = (bytes, Some(id));
                }
                continue;
            }
            let paint = packed(color(id));
            let first = match largest {
                (part, Some(other)) if part > limit.saturating_sub(low) => packed(color(other)),
                _ => paint,
            };
            if let Some(pixel) = column.get_mut(row) {
                *pixel = first;
            }
            let end = ((sum as f64 * scale) as usize).max(row + 1);
            if let Some(rest) = column.get_mut(row + 1..end.min(height)) {
                rest.fill(paint);
            }
            (row, limit) = (end, edge(end + 1));
            largest = (sum.saturating_sub(edge(end)), Some(id));
        }
        if let (part, Some(id)) = largest
            && part > 0
            && let Some(pixel) = column.get_mut(row)
        {
            *pixel = packed(color(id));
        }
    });
    out
}

/// The allocation at a height of `bytes` in the stack after an event.
#[must_use]
pub fn at(stacked: &Stacked, event: usize, bytes: u64) -> Option<u32> {
    let mut found = None;
    stacked.walk(&[event], |_, parts| {
        let mut sum = 0u64;
        for (id, size) in parts {
            sum = sum.saturating_add(size);
            if sum > bytes {
                found = Some(id);
                break;
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::analyze::stacked::{BEFORE, NEVER};

    fn shade(id: u32) -> Color {
        Color {
            0: id as u8 + 1,
            1: 0,
            2: 0,
        }
    }

    #[test]
    fn heights_are_sums_and_the_largest_gives_the_colour() {
        // 40 bytes from before, 50 born at 1, then 5 and 3 that share one pixel of ten bytes.
        let size = vec![40, 50, 5, 3];
        let stacked = Stacked::new(5, size, &[BEFORE, 1, 2, 3], &[4, NEVER, NEVER, NEVER]);
        let drawn = stack(&stacked, &[0, 1, 3, 4], 10, 100, shade);
        let (above, below) = (shade(254), shade(253));
        let p = drawn.over(7, 2, |x| (x, below, above));
        let column = |x: usize| -> Vec<u8> {
            (0..10)
                .rev()
                .map_while(|y| p.get(2 * x, y))
                .map(|c| c.0)
                .take_while(|&c| c < 254)
                .collect()
        };
        assert_eq!(p.get(6, 3), Some(above));
        assert_eq!(
            p.get(0, 5),
            Some(above),
            "rows from below: none in the first column"
        );
        assert_eq!(p.get(1, 5), Some(above));
        assert_eq!(p.get(5, 9), p.get(4, 9), "columns are twice as wide");
        assert_eq!(column(0), [1, 1, 1, 1]);
        assert_eq!(column(1), [1, 1, 1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(
            column(2),
            [1, 1, 1, 1, 2, 2, 2, 2, 2, 3],
            "98 bytes reach the tenth pixel"
        );
        assert_eq!(
            column(3),
            [2, 2, 2, 2, 2, 3],
            "what was below is gone, the rest sinks"
        );
        assert_eq!(at(&stacked, 3, 39), Some(0));
        assert_eq!(at(&stacked, 3, 40), Some(1));
        assert_eq!(at(&stacked, 3, 98), None);
    }
}
