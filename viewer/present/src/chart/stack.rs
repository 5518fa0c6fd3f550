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

    /// Fills pixels of one column, counted from the bottom: from `low` up to below `high`.
    #[inline]
    fn column(&mut self, x: usize, low: usize, high: usize, RGBColor(r, g, b): Color) {
        for up in low..high.min(self.height) {
            let at = ((self.height - 1 - up) * self.width + x) * 4;
            if let Some(pixel) = self.rgba.get_mut(at..at + 4) {
                pixel.copy_from_slice(&[r, g, b, 255]);
            }
        }
    }

    /// These pixels on a ground, with every column `stride` times as wide, `width` in all.
    /// `ground` gets the column and the row counted from the bottom.
    #[must_use]
    pub fn over(
        &self,
        width: usize,
        stride: usize,
        ground: impl Fn(usize, usize) -> Color,
    ) -> Self {
        let mut out = Self::new(width, self.height);
        let own = self.rgba.chunks_exact((self.width * 4).max(1));
        let rows = out.rgba.chunks_exact_mut((width * 4).max(1)).zip(own);
        for (y, (row, own)) in rows.enumerate() {
            let up = self.height - 1 - y;
            let wide = row.chunks_mut((stride * 4).max(4)).zip(own.chunks_exact(4));
            for (n, (pixels, own)) in wide.enumerate() {
                for (i, pixel) in pixels.chunks_exact_mut(4).enumerate() {
                    if own[3] == 0 {
                        let RGBColor(r, g, b) = ground(n * stride + i, up);
                        pixel.copy_from_slice(&[r, g, b, 255]);
                    } else {
                        pixel.copy_from_slice(own);
                    }
                }
            }
        }
        out
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

/// Draws the live sets after `samples` (one event a pixel column, in rising order, behind any number
/// of [`BEFORE_FIRST`](report::analyze::stacked::BEFORE_FIRST)) into `height` pixels that stand for `top` bytes.
#[must_use]
pub fn stack(
    stacked: &Stacked,
    samples: &[usize],
    height: usize,
    top: u64,
    color: impl Fn(u32) -> Color,
) -> Pixels {
    let mut out = Pixels::new(samples.len(), height);
    let scale = height as f64 / top.max(1) as f64;
    stacked.walk(samples, |x, ids| {
        let mut sum = 0u64;
        // The largest part of the pixel row that is being filled.
        let mut largest: (f64, Option<u32>) = (0.0, None);
        let mut row = 0usize;
        for id in ids {
            let size = stacked.size(id);
            let low = sum as f64 * scale;
            sum = sum.saturating_add(size);
            let high = sum as f64 * scale;
            if high < (row + 1) as f64 {
                if high - low > largest.0 {
                    largest = (high - low, Some(id));
                }
                continue;
            }
            let own = (row + 1) as f64 - low;
            let paint = color(id);
            match largest {
                (part, Some(other)) if part > own => out.column(x, row, row + 1, color(other)),
                _ => out.column(x, row, row + 1, paint),
            }
            let end = high as usize;
            out.column(x, row + 1, end, paint);
            row = end;
            largest = (high - end as f64, Some(id));
        }
        if let (part, Some(id)) = largest
            && part > 0.0
        {
            out.column(x, row, row + 1, color(id));
        }
    });
    out
}

/// The allocation at a height of `bytes` in the stack after an event.
#[must_use]
pub fn at(stacked: &Stacked, event: usize, bytes: u64) -> Option<u32> {
    let mut found = None;
    stacked.walk(&[event], |_, ids| {
        let mut sum = 0u64;
        for id in ids {
            sum = sum.saturating_add(stacked.size(id));
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
        let p = stack(&stacked, &[0, 1, 3, 4], 10, 100, shade);
        let column = |x: usize| -> Vec<u8> {
            (0..10)
                .rev()
                .map_while(|y| p.get(x, y))
                .map(|c| c.0)
                .collect()
        };
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
