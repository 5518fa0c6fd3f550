//! Two recordings over one axis: A as a filled ground, B as a line, so that they are told apart
//! without colour.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::diff::Which;
use report::analyze::diff::curves::Curves;
use report::analyze::levels::Span;

use super::{Area, DrawError, Frame, Theme, failed, text_width, write};
use crate::units;
use crate::words::Lang;

/// The part of the axis that is shown.
pub type Range = (f64, f64);

/// What a pixel column shows of each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Column {
    /// A's bytes; `None` where it has nothing.
    pub a: Option<Span>,
    /// B's.
    pub b: Option<Span>,
    /// The step, A's number where they differ.
    pub step: Option<i64>,
}

struct Drawing<'a, DB: DrawingBackend> {
    area: &'a Area<DB>,
    curves: &'a Curves,
    range: Range,
    frame: Frame,
    theme: &'a Theme,
    scale: f64,
    size: f64,
}

/// Draws both curves.
///
/// # Errors
/// What the backend reports.
pub fn overlay<DB: DrawingBackend>(
    area: &Area<DB>,
    curves: &Curves,
    range: Range,
    theme: &Theme,
    scale: f64,
    lang: Lang,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let d = Drawing {
        area,
        curves,
        range,
        frame: Frame::of(w, h, scale),
        theme,
        scale,
        size: 11.0 * scale,
    };
    d.bands(lang)?;
    d.grid()?;
    d.ground()?;
    d.line()?;
    d.peaks(lang)
}

/// The place of the axis at a share of the drawing's width, with what is there; `None` beside the
/// plot. `width` is that of the whole drawing in CSS pixels.
#[must_use]
pub fn overlay_at(curves: &Curves, range: Range, x: f64, width: f64) -> Option<Column> {
    let frame = Frame::of(width as u32, 200, 1.0);
    let (left, right) = (f64::from(frame.left), f64::from(frame.right));
    let px = x.floor();
    if px < left || px >= right {
        return None;
    }
    let place = |px: f64| range.0 + (px - left) / (right - left) * (range.1 - range.0);
    let (from, to) = (place(px), place(px + 1.0));
    let part = curves.align.parts.iter().find(|p| p.end > from);
    Some(Column {
        a: curves.span(Which::A, from, to),
        b: curves.span(Which::B, from, to),
        step: part.and_then(|p| p.step),
    })
}

impl<DB: DrawingBackend> Drawing<'_, DB> {
    fn px(&self, css: f64) -> i32 {
        (css * self.scale).round() as i32
    }

    fn y(&self, bytes: u64) -> i32 {
        let f = self.frame;
        let share = bytes as f64 / (self.curves.top.max(1) as f64 * 1.04);
        f.bottom - (share * f64::from(f.bottom - f.top)) as i32
    }

    fn x(&self, place: f64) -> i32 {
        let f = self.frame;
        let length = (self.range.1 - self.range.0).max(1e-9);
        let share = (place - self.range.0) / length;
        f.left + (share * f64::from(f.right - f.left)).clamp(-1e6, 1e6) as i32
    }

    /// What a side has under a pixel column.
    fn span(&self, which: Which, px: i32) -> Option<Span> {
        let f = self.frame;
        let per = (self.range.1 - self.range.0) / f64::from(f.right - f.left).max(1.0);
        let place = |px: i32| self.range.0 + f64::from(px - f.left) * per;
        let to = place(px + 1).min(self.curves.align.length());
        self.curves.span(which, place(px), to)
    }

    fn stroke(
        &self,
        points: Vec<(i32, i32)>,
        color: RGBColor,
        width: f64,
    ) -> Result<(), DrawError> {
        let width = (width * self.scale).round().max(1.0) as u32;
        self.area
            .draw(&PathElement::new(points, color.stroke_width(width)))
            .map_err(failed)
    }

    /// Steps as bands with their numbers.
    fn bands(&self, lang: Lang) -> Result<(), DrawError> {
        let f = self.frame;
        let mut free = f.left;
        for (n, part) in self.curves.align.parts.iter().enumerate() {
            let (a, b) = (self.x(part.start), self.x(part.end));
            if b < f.left || a > f.right || b - a < 1 {
                continue;
            }
            let (a, b) = (a.max(f.left), b.min(f.right));
            if n % 2 == 1 {
                let band = Rectangle::new([(a, f.top), (b, f.bottom)], self.theme.band.filled());
                self.area.draw(&band).map_err(failed)?;
            }
            let Some(number) = part.step else { continue };
            let only = match (part.a, part.b) {
                (Some(_), None) => Some("A"),
                (None, Some(_)) => Some("B"),
                _ => None,
            };
            let mut long = match lang {
                Lang::En => format!("step {number}"),
                Lang::Zh => format!("第 {number} 步"),
            };
            if let Some(side) = only {
                long += &match lang {
                    Lang::En => format!(" ({side} only)"),
                    Lang::Zh => format!("（仅 {side}）"),
                };
            }
            let fits = |t: &str| text_width(t, self.size) + 4.0 * self.scale < f64::from(b - a);
            let text = if fits(&long) {
                long
            } else {
                number.to_string()
            };
            let middle = (a + b) / 2;
            let half = (text_width(&text, self.size) / 2.0) as i32 + self.px(3.0);
            if middle - half >= free && middle + half <= f.right + self.px(8.0) {
                let at = (middle, f.bottom + self.px(6.0));
                self.text(&text, at, self.theme.muted, HPos::Center, VPos::Top)?;
                free = middle + half;
            }
        }
        Ok(())
    }

    fn text(
        &self,
        text: &str,
        at: (i32, i32),
        color: RGBColor,
        h: HPos,
        v: VPos,
    ) -> Result<(), DrawError> {
        write(self.area, text, at, self.size, color, h, v)
    }

    fn grid(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let most = ((f.bottom - f.top) / self.px(28.0).max(1)).max(2) as usize;
        for bytes in units::axis(self.curves.top, most) {
            let y = self.y(bytes);
            self.stroke(vec![(f.left, y), (f.right, y)], self.theme.grid, 1.0)?;
            let at = (f.left - self.px(6.0), y);
            let text = units::bytes(bytes);
            self.text(&text, at, self.theme.muted, HPos::Right, VPos::Center)?;
        }
        Ok(())
    }

    /// A: filled up to its highest in each pixel column.
    fn ground(&self) -> Result<(), DrawError> {
        let f = self.frame;
        for run in self.runs(Which::A, |span, _| vec![self.y(span.max)]) {
            let outline = run.clone();
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let mut shape = run.clone();
            shape.push((last.0, f.bottom));
            shape.push((first.0, f.bottom));
            self.area
                .draw(&Polygon::new(shape, self.theme.allocated_range.filled()))
                .map_err(failed)?;
            self.stroke(outline, self.theme.allocated, 1.0)?;
        }
        Ok(())
    }

    /// B: a line through all that it does within a pixel column.
    fn line(&self) -> Result<(), DrawError> {
        let through = |span: Span, before: Option<i32>| {
            let (low, high) = (self.y(span.min), self.y(span.max));
            // Up first when it comes from below, so that the line crosses itself least.
            let from_below = before.is_some_and(|y| y >= low);
            if low == high {
                vec![low]
            } else if from_below {
                vec![low, high, self.y(span.last)]
            } else {
                vec![high, low, self.y(span.last)]
            }
        };
        for run in self.runs(Which::B, through) {
            self.stroke(run, self.theme.high_water, 1.6)?;
        }
        Ok(())
    }

    /// Points of a side, a run for each stretch without holes; `ys` says the heights that a pixel
    /// column goes through.
    fn runs(
        &self,
        which: Which,
        ys: impl Fn(Span, Option<i32>) -> Vec<i32>,
    ) -> Vec<Vec<(i32, i32)>> {
        let f = self.frame;
        let mut runs: Vec<Vec<(i32, i32)>> = Vec::new();
        let mut open = false;
        for px in f.left..f.right {
            let Some(span) = self.span(which, px) else {
                open = false;
                continue;
            };
            if !open {
                runs.push(Vec::new());
                open = true;
            }
            let Some(run) = runs.last_mut() else { continue };
            for y in ys(span, run.last().map(|p| p.1)) {
                let n = run.len();
                let level = n > 1 && run.get(n - 2).is_some_and(|p| p.1 == y);
                match run.last_mut() {
                    // A level stretch needs its ends only.
                    Some(last) if level && last.1 == y => last.0 = px,
                    _ => run.push((px, y)),
                }
            }
            if let Some(&(x, y)) = run.last()
                && x == px
                && px + 1 == f.right
            {
                run.push((f.right, y));
            }
        }
        runs
    }

    /// Where each side is highest, with its figure: a ring for A, a lozenge for B.
    fn peaks(&self, lang: Lang) -> Result<(), DrawError> {
        let f = self.frame;
        let mut taken: Option<(i32, i32, i32)> = None;
        for which in [Which::A, Which::B] {
            let Some((position, bytes)) = self.curves.line(which).peak else {
                continue;
            };
            let Some(place) = self.curves.align.to_axis(which, position) else {
                continue;
            };
            let (x, y) = (self.x(place), self.y(bytes));
            if x < f.left || x > f.right {
                continue;
            }
            let r = self.px(4.0);
            let color = match which {
                Which::A => self.theme.allocated,
                Which::B => self.theme.high_water,
            };
            if which == Which::A {
                let ring = Circle::new((x, y), r, color.stroke_width(self.px(1.5).max(1) as u32));
                self.area.draw(&ring).map_err(failed)?;
            } else {
                let shape = vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
                self.area
                    .draw(&Polygon::new(shape, color.filled()))
                    .map_err(failed)?;
            }
            let size = units::bytes(bytes);
            let text = match lang {
                Lang::En => format!("{} peak {size}", which.letter()),
                Lang::Zh => format!("{} 峰值 {size}", which.letter()),
            };
            let wide = text_width(&text, self.size) as i32;
            let most = (f.right - wide).max(f.left);
            let gap = self.px(10.0);
            // Above the plot, where nothing is drawn; beside the other one where both meet.
            let left = match taken {
                Some((a, z, other)) if x - wide / 2 < z + gap && x + wide / 2 > a - gap => {
                    if x < other && a - gap - wide >= 0 {
                        a - gap - wide
                    } else {
                        (z + gap).min(most)
                    }
                }
                _ => (x - wide / 2).clamp(f.left, most),
            };
            let clash = taken.is_some_and(|(a, z, _)| left < z && left + wide > a);
            let top = f.top - self.px(if clash { 32.0 } else { 18.0 });
            taken = Some((left, left + wide, x));
            let foot = top + self.px(14.0);
            self.stroke(vec![(x, foot), (x, y - r)], color, 1.0)?;
            self.text(&text, (left, top), self.theme.ink, HPos::Left, VPos::Top)?;
        }
        Ok(())
    }
}
