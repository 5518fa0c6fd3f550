//! Groups within groups as areas: squarified, so that tiles are as square as they can be.
//!
//! After Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::flame::{fitting, ink_on};
use super::{Area, Color, DrawError, Theme, failed, text_width, write};

/// A tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size as text.
    pub size: String,
    /// Its colour.
    pub color: Color,
}

/// Tiles that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// What they have in common, with its size.
    pub name: String,
    /// Their bytes.
    pub bytes: u64,
    /// The tiles, largest first.
    pub tiles: Vec<Tile>,
}

/// Left, top, width, height in pixels.
type Rect = [f64; 4];

/// Where everything lies in a picture of one size. `scale` is device pixels per CSS pixel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Treemap {
    outer: Vec<Rect>,
    inner: Vec<Vec<Rect>>,
    scale: f64,
}

/// Room for the name of an outer group, CSS pixels.
const HEAD: f64 = 17.0;

impl Treemap {
    /// Lays tiles out. Largest first gives the squarest tiles.
    #[must_use]
    pub fn of(wholes: &[Whole], width: f64, height: f64, scale: f64) -> Self {
        let sizes: Vec<u64> = wholes.iter().map(|w| w.bytes).collect();
        let outer = squarified(&sizes, [0.0, 0.0, width, height]);
        let inner = wholes
            .iter()
            .zip(&outer)
            .map(|(whole, &[x, y, w, h])| {
                let gap = scale.min(w / 8.0).min(h / 8.0);
                let head = head(h, scale);
                let sizes: Vec<u64> = whole.tiles.iter().map(|t| t.bytes).collect();
                let room = [
                    x + gap,
                    y + head + gap,
                    (w - 2.0 * gap).max(0.0),
                    (h - head - 2.0 * gap).max(0.0),
                ];
                squarified(&sizes, room)
            })
            .collect();
        Self {
            outer,
            inner,
            scale,
        }
    }

    /// The tile at a point: the group's index and its own within.
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let holds = |r: &Rect| x >= r[0] && x < r[0] + r[2] && y >= r[1] && y < r[1] + r[3];
        let outer = self.outer.iter().position(holds)?;
        let inner = self.inner.get(outer)?.iter().position(holds)?;
        Some((outer, inner))
    }

    /// Where a tile lies: left, top, width, height.
    #[must_use]
    pub fn rect(&self, (outer, inner): (usize, usize)) -> Option<[f64; 4]> {
        self.inner.get(outer)?.get(inner).copied()
    }

    /// Draws the tiles that were laid out.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn draw<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        wholes: &[Whole],
        theme: &Theme,
    ) -> Result<(), DrawError> {
        area.fill(&theme.ground).map_err(failed)?;
        let scale = self.scale;
        let size = 11.0 * scale;
        for ((whole, &[x, y, w, h]), tiles) in wholes.iter().zip(&self.outer).zip(&self.inner) {
            if w < 1.0 || h < 1.0 {
                continue;
            }
            let head = head(h, scale);
            if head > 0.0 && w > 30.0 * scale {
                let text = fitting(&whole.name, w - 6.0 * scale, size);
                let at = ((x + 3.0 * scale) as i32, (y + head / 2.0 + scale) as i32);
                write(area, &text, at, size, theme.ink, HPos::Left, VPos::Center)?;
            }
            for (tile, rect) in whole.tiles.iter().zip(tiles) {
                tile_at(area, tile, *rect, scale)?;
            }
        }
        Ok(())
    }
}

fn tile_at<DB: DrawingBackend>(
    area: &Area<DB>,
    tile: &Tile,
    [x, y, w, h]: Rect,
    scale: f64,
) -> Result<(), DrawError> {
    if w < 0.5 || h < 0.5 {
        return Ok(());
    }
    let gap = if w > 4.0 * scale && h > 4.0 * scale {
        scale
    } else {
        0.0
    };
    let (left, top) = (x as i32, y as i32);
    let (right, bottom) = (
        ((x + w - gap) as i32).max(left + 1),
        ((y + h - gap) as i32).max(top + 1),
    );
    area.draw(&Rectangle::new(
        [(left, top), (right, bottom)],
        ShapeStyle::from(&tile.color).filled(),
    ))
    .map_err(failed)?;
    let size = 11.0 * scale;
    let line = 14.0 * scale;
    let room = w - 8.0 * scale;
    if room < 24.0 * scale || h < line + 2.0 * scale {
        return Ok(());
    }
    let ink = ink_on(tile.color);
    let lines = if h > 2.0 * line + 4.0 * scale {
        vec![tile.name.clone(), tile.size.clone()]
    } else {
        vec![format!("{}  {}", tile.name, tile.size)]
    };
    for (i, text) in lines.iter().enumerate() {
        let at = (
            (x + 4.0 * scale) as i32,
            (y + (i as f64 + 0.5) * line + 2.0 * scale) as i32,
        );
        let text = fitting(text, room, size);
        if text_width(&text, size) <= room + size {
            write(area, &text, at, size, ink, HPos::Left, VPos::Center)?;
        }
    }
    Ok(())
}

/// Height of the head of an outer group; low ones have none.
fn head(height: f64, scale: f64) -> f64 {
    let head = HEAD * scale;
    if height > 2.2 * head { head } else { 0.0 }
}

/// Rectangles of areas in proportion to `sizes`, filling `room`; empty ones for sizes of 0.
fn squarified(sizes: &[u64], room: Rect) -> Vec<Rect> {
    let total: f64 = sizes.iter().map(|&s| s as f64).sum();
    let mut out = Vec::with_capacity(sizes.len());
    let [mut x, mut y, mut w, mut h] = room;
    let per_byte = if total > 0.0 { w * h / total } else { 0.0 };
    let mut rest = sizes;
    while !rest.is_empty() {
        let short = w.min(h);
        // A strip along the short side takes tiles as long as that makes them squarer.
        let mut n = 0;
        let (mut sum, mut worst) = (0.0, f64::INFINITY);
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for &size in rest {
            let tile = size as f64 * per_byte;
            let (next, l, t) = (sum + tile, low.min(tile), high.max(tile));
            let ratio = if next > 0.0 && l > 0.0 {
                (short * short * t / (next * next)).max(next * next / (short * short * l))
            } else {
                f64::INFINITY
            };
            if n > 0 && ratio > worst {
                break;
            }
            (sum, low, high, worst) = (next, l, t, ratio);
            n += 1;
        }
        let (strip, left) = rest.split_at(n.min(rest.len()));
        rest = left;
        let thick = if short > 0.0 { sum / short } else { 0.0 };
        let mut at = 0.0;
        for &size in strip {
            let long = if thick > 0.0 {
                size as f64 * per_byte / thick
            } else {
                0.0
            };
            out.push(if w >= h {
                [x, y + at, thick, long]
            } else {
                [x + at, y, long, thick]
            });
            at += long;
        }
        if w >= h {
            x += thick;
            w = (w - thick).max(0.0);
        } else {
            y += thick;
            h = (h - thick).max(0.0);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fill_the_room_in_proportion_and_do_not_overlap() {
        let mut seed = 3u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 40
        };
        for n in [1usize, 2, 3, 7, 40] {
            let mut sizes: Vec<u64> = (0..n).map(|_| next() + 1).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            let room = [10.0, 20.0, 640.0, 300.0];
            let rects = squarified(&sizes, room);
            assert_eq!(rects.len(), n);
            let total: u64 = sizes.iter().sum();
            for (size, r) in sizes.iter().zip(&rects) {
                let share = *size as f64 / total as f64;
                assert!((r[2] * r[3] - share * 640.0 * 300.0).abs() < 1e-6);
                assert!(r[0] >= 9.999 && r[1] >= 19.999);
                assert!(r[0] + r[2] < 650.001 && r[1] + r[3] < 320.001);
            }
            for (i, a) in rects.iter().enumerate() {
                for b in &rects[i + 1..] {
                    let wide = (a[0] + a[2]).min(b[0] + b[2]) - a[0].max(b[0]);
                    let high = (a[1] + a[3]).min(b[1] + b[3]) - a[1].max(b[1]);
                    assert!(wide < 1e-6 || high < 1e-6, "{a:?} over {b:?}");
                }
            }
        }
        assert_eq!(squarified(&[0, 0], [0.0, 0.0, 9.0, 9.0]).len(), 2);
        assert_eq!(squarified(&[], [0.0, 0.0, 9.0, 9.0]).len(), 0);
    }
}
