//! What stands on and around the picture of [`Memory`]: axes, steps, annotations, marks.

use plotters::prelude::*;
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::snapshot::Instant;
use report::analyze::snapshot::categories::Category;

use super::memory::{Clock, Column, Lane, Memory, Window};
use super::{
    Area, Color, DrawError, Frame, Theme, category_color, failed, mixed, text_width, write,
};
use crate::units;
use crate::words::Lang;

struct Lines<'a, DB: DrawingBackend> {
    area: &'a Area<DB>,
    memory: &'a Memory,
    window: Window,
    frame: Frame,
    theme: &'a Theme,
    scale: f64,
    size: f64,
    lang: Lang,
}

/// Draws axes, steps, annotations, the outline of reserved, and marks. The plot itself is drawn
/// before, by [`Memory::raster`] or [`areas`]; `columns` are those of [`Memory::columns`] for the
/// plot's width.
///
/// # Errors
/// What the backend reports.
pub fn lines<DB: DrawingBackend>(
    area: &Area<DB>,
    memory: &Memory,
    window: Window,
    columns: &[Column],
    theme: &Theme,
    scale: f64,
    lang: Lang,
) -> Result<(), DrawError> {
    let (w, h) = area.dim_in_pixel();
    let d = Lines {
        area,
        memory,
        window,
        frame: Frame::low(w, h, scale),
        theme,
        scale,
        size: 11.0 * scale,
        lang,
    };
    d.grid()?;
    d.reserved(columns)?;
    d.steps()?;
    d.annotations()?;
    d.capacity()?;
    d.marks()
}

/// The stack as one area a category, for drawings that hold no pixels.
///
/// # Errors
/// What the backend reports.
pub fn areas<DB: DrawingBackend>(
    area: &Area<DB>,
    memory: &Memory,
    columns: &[Column],
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let f = Frame::low(w, h, scale);
    let y = |bytes: u64| f.bottom - memory.height(bytes, f).round() as i32;
    let draw = |edge: &dyn Fn(usize) -> (u64, u64), color: Color| -> Result<(), DrawError> {
        let steps = |pick: &dyn Fn((u64, u64)) -> u64| {
            let mut points: Vec<(i32, i32)> = Vec::new();
            for x in 0..columns.len() {
                let at = y(pick(edge(x)));
                let px = f.left + x as i32;
                let n = points.len();
                if n >= 2 && points[n - 1].1 == at && points[n - 2].1 == at {
                    points[n - 1].0 = px + 1;
                } else {
                    points.push((px, at));
                    points.push((px + 1, at));
                }
            }
            points
        };
        let mut outline = steps(&|e| e.1);
        outline.extend(steps(&|e| e.0).into_iter().rev());
        area.draw(&Polygon::new(outline, color.filled()))
            .map_err(failed)
    };
    draw(
        &|x| (0, columns.get(x).map_or(0, |c| c.reserved)),
        theme.reserved,
    )?;
    let slots: Vec<usize> = columns.iter().map(|c| c.slot).collect();
    let sums = memory.by_category(&slots);
    for (n, &category) in Category::ALL.iter().enumerate() {
        if sums.iter().all(|s| s.get(n).is_none_or(|&b| b == 0)) {
            continue;
        }
        let below = |x: usize, upto: usize| {
            sums.get(x).map_or(0, |s| {
                s.iter().take(upto).fold(0u64, |a, &b| a.saturating_add(b))
            })
        };
        draw(
            &|x| (below(x, n), below(x, n + 1)),
            category_color(category, theme.dark),
        )?;
    }
    Ok(())
}

/// The plot as one drawing: [`areas`] and [`lines`].
///
/// # Errors
/// What the backend reports.
pub fn whole<DB: DrawingBackend>(
    area: &Area<DB>,
    memory: &Memory,
    window: Window,
    theme: &Theme,
    lang: Lang,
) -> Result<(), DrawError> {
    let (w, h) = area.dim_in_pixel();
    let f = Frame::low(w, h, 1.0);
    let columns = memory.columns(window, (f.right - f.left).max(1) as usize);
    areas(area, memory, &columns, theme, 1.0)?;
    lines(area, memory, window, &columns, theme, 1.0, lang)
}

/// The whole history small, without text.
///
/// # Errors
/// What the backend reports.
pub fn memory_minimap<DB: DrawingBackend>(
    area: &Area<DB>,
    memory: &Memory,
    clock: Clock,
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let f = Frame::low(w, h, scale);
    let columns = memory.columns(Window::whole(clock), (f.right - f.left).max(1) as usize);
    let top = memory.scale_top() as f64;
    let y = |bytes: u64| (f64::from(h) * (1.0 - bytes as f64 / top)) as i32;
    for (color, pick) in [(theme.reserved, 1u8), (theme.allocated, 0)] {
        let mut points = vec![(f.left, h as i32)];
        for (x, c) in columns.iter().enumerate() {
            let at = y(if pick == 1 { c.reserved } else { c.requested });
            let px = f.left + x as i32;
            points.extend([(px, at), (px + 1, at)]);
        }
        points.push((f.right, h as i32));
        area.draw(&Polygon::new(points, color.filled()))
            .map_err(failed)?;
    }
    Ok(())
}

impl<DB: DrawingBackend> Lines<'_, DB> {
    fn px(&self, css: f64) -> i32 {
        (css * self.scale).round() as i32
    }

    fn y(&self, bytes: u64) -> i32 {
        self.frame.bottom - self.memory.height(bytes, self.frame) as i32
    }

    /// Where a slot lies; far outside the plot is cut to a safe distance.
    fn x(&self, share: f64) -> i32 {
        let w = self.window;
        let at = (share - w.start) / (w.end - w.start).max(1e-12);
        let f = self.frame;
        f.left + (at * f64::from(f.right - f.left)).clamp(-1e6, 1e6) as i32
    }

    fn x_of(&self, slot: usize) -> i32 {
        self.x(self.memory.share_of(self.window.clock, slot))
    }

    fn rectangle(&self, a: (i32, i32), b: (i32, i32), color: Color) -> Result<(), DrawError> {
        self.area
            .draw(&Rectangle::new([a, b], color.filled()))
            .map_err(failed)
    }

    fn line(&self, points: Vec<(i32, i32)>, color: RGBAColor, width: f64) -> Result<(), DrawError> {
        let width = (width * self.scale).round().max(1.0) as u32;
        self.area
            .draw(&PathElement::new(points, color.stroke_width(width)))
            .map_err(failed)
    }

    fn grid(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let rows = ((f.bottom - f.top) / self.px(28.0).max(1)).max(2) as usize;
        for bytes in units::axis(self.memory.scale_top(), rows) {
            let y = self.y(bytes);
            if y < f.top {
                continue;
            }
            self.line(
                vec![(f.left, y), (f.right, y)],
                self.theme.ink.mix(0.14),
                1.0,
            )?;
            write(
                self.area,
                &units::bytes(bytes),
                (f.left - self.px(6.0), y),
                self.size,
                self.theme.muted,
                HPos::Right,
                VPos::Center,
            )?;
        }
        Ok(())
    }

    /// The upper edge of reserved.
    fn reserved(&self, columns: &[Column]) -> Result<(), DrawError> {
        let f = self.frame;
        let mut points: Vec<(i32, i32)> = Vec::new();
        for (x, c) in columns.iter().enumerate() {
            let (px, y) = (f.left + x as i32, self.y(c.reserved));
            let n = points.len();
            if n >= 2 && points[n - 1].1 == y && points[n - 2].1 == y {
                points[n - 1].0 = px + 1;
            } else {
                points.push((px, y));
                points.push((px + 1, y));
            }
        }
        self.line(points, self.theme.muted.to_rgba(), 1.0)
    }

    /// Steps by lines and numbers; without steps the axis counts entries or time.
    fn steps(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let m = self.memory;
        let at = f.bottom + self.px(13.0);
        let steps = m.analysis.steps();
        if steps.is_empty() {
            return self.ticks(at);
        }
        self.ticks(at + self.px(12.0))?;
        let mut free = f.left;
        for step in steps {
            let (a, b) = (
                self.x_of(m.slot_after(step.start)),
                self.x_of(m.slot_after(report::model::snapshot::TraceId(
                    step.end.0.saturating_sub(1),
                ))),
            );
            if b < f.left || a > f.right {
                continue;
            }
            // Lines closer than that would hide the picture.
            if a > f.left && b - a >= self.px(12.0) {
                self.line(
                    vec![(a, f.top), (a, f.bottom + self.px(12.0))],
                    self.theme.ink.mix(0.3),
                    1.0,
                )?;
            }
            let (a, b) = (a.max(f.left), b.min(f.right));
            let long = match self.lang {
                Lang::En => format!("step {}", step.number),
                Lang::Zh => format!("第 {} 步", step.number),
            };
            let fits = |t: &str| text_width(t, self.size) + 4.0 * self.scale < f64::from(b - a);
            let text = if fits(&long) {
                long
            } else {
                step.number.to_string()
            };
            let middle = (a + b) / 2;
            let half = (text_width(&text, self.size) / 2.0) as i32 + self.px(3.0);
            if middle - half >= free && middle + half <= f.right + self.px(8.0) {
                write(
                    self.area,
                    &text,
                    (middle, at),
                    self.size,
                    self.theme.muted,
                    HPos::Center,
                    VPos::Top,
                )?;
                free = middle + half;
            }
        }
        Ok(())
    }

    fn ticks(&self, y: i32) -> Result<(), DrawError> {
        let f = self.frame;
        let m = self.memory;
        let clock = m.usable(self.window.clock);
        let whole = match (clock, m.times()) {
            (Clock::Time, Some(t)) => t.last().copied().unwrap_or(0) as f64,
            _ => m.slots() as f64,
        };
        let (from, to) = (self.window.start * whole, self.window.end * whole);
        let most = (f64::from(f.right - f.left) / f64::from(self.px(90.0).max(1))).max(1.0);
        let step = nice((to - from) / most).max(1.0);
        let mut at = (from / step).ceil() * step;
        while at <= to {
            let x = match clock {
                Clock::Time => self.x(at / whole.max(1.0)),
                Clock::Event => self.x((at + m.lead() as f64 + 0.5) / whole.max(1.0)),
            };
            let text = match clock {
                Clock::Time => units::seconds(at as u64),
                // Names of entries count all devices, as everywhere.
                Clock::Event => match m.instant(at as usize + m.lead()) {
                    Instant::Event(t) => t_name(t.0),
                    _ => "start".to_owned(),
                },
            };
            let half = (text_width(&text, self.size) / 2.0) as i32;
            if x - half >= f.left - self.px(30.0) && x + half <= f.right + self.px(8.0) {
                write(
                    self.area,
                    &text,
                    (x, y),
                    self.size,
                    self.theme.muted,
                    HPos::Center,
                    VPos::Top,
                )?;
            }
            at += step;
        }
        Ok(())
    }

    /// Annotations as strips of colours below the plot, a strip for each depth.
    fn annotations(&self) -> Result<(), DrawError> {
        let high = match self.memory.phases.len() {
            0 | 1 => 6.0,
            2 => 4.0,
            _ => 3.0,
        };
        let mut top = self.frame.bottom + self.px(2.0);
        for lane in &self.memory.phases {
            let bottom = top + self.px(high);
            self.lane(lane, top, bottom)?;
            top = bottom;
        }
        Ok(())
    }

    fn lane(&self, lane: &Lane, top: i32, bottom: i32) -> Result<(), DrawError> {
        let f = self.frame;
        let m = self.memory;
        let mut run: Option<(i32, usize)> = None;
        let w = self.window;
        let width = f64::from((f.right - f.left).max(1));
        for px in f.left..=f.right {
            let share = |p: i32| w.start + (w.end - w.start) * f64::from(p - f.left) / width;
            let number = (px < f.right)
                .then(|| m.slots_at(w.clock, share(px), share(px + 1)).0)
                .and_then(|slot| {
                    let at = lane.partition_point(|(s, _)| *s <= slot).checked_sub(1)?;
                    let name = lane.get(at)?.1?;
                    m.names.iter().position(|&n| n == name)
                });
            if run.map(|(_, n)| n) != number {
                if let Some((from, n)) = run {
                    self.rectangle((from, top), (px, bottom), annotation_color(n, self.theme))?;
                }
                run = number.map(|n| (px, n));
            }
        }
        Ok(())
    }

    fn capacity(&self) -> Result<(), DrawError> {
        let Some(bytes) = self.memory.capacity else {
            return Ok(());
        };
        let f = self.frame;
        let y = self.y(bytes);
        let mut x = f.left;
        while x < f.right {
            let end = (x + self.px(6.0)).min(f.right);
            self.line(vec![(x, y), (end, y)], self.theme.high_water.to_rgba(), 1.5)?;
            x = end + self.px(4.0);
        }
        let size = units::bytes(bytes);
        let text = match self.lang {
            Lang::En => format!("the process could have {size}"),
            Lang::Zh => format!("进程可用 {size}"),
        };
        write(
            self.area,
            &text,
            (f.right - self.px(4.0), y + self.px(3.0)),
            self.size,
            self.theme.high_water,
            HPos::Right,
            VPos::Top,
        )
    }

    /// The peak and every OOM, named above the plot.
    fn marks(&self) -> Result<(), DrawError> {
        let m = self.memory;
        let a = &m.analysis;
        let f = self.frame;
        let mut free = [i32::MIN; 2];
        let peak = a.replay.peak_requested();
        let size = units::bytes(peak.bytes);
        let mut all = vec![(
            m.slot_of(Instant::Peak),
            match (self.lang, a.replay.stated) {
                (Lang::En, false) => format!("peak {size} requested"),
                (Lang::Zh, false) => format!("峰值：请求 {size}"),
                // A profiler's trace has the sizes of blocks, not of requests.
                (Lang::En, true) => format!("peak {size} allocated"),
                (Lang::Zh, true) => format!("峰值：已分配 {size}"),
            },
        )];
        for (n, &oom) in a.replay.ooms.iter().enumerate().take(20) {
            let size = units::bytes(a.snapshot().events.row(oom.index()).size);
            let text = match self.lang {
                Lang::En => format!("out of memory: {size} asked for"),
                Lang::Zh => format!("显存不足：请求 {size}"),
            };
            all.push((m.slot_of(Instant::Oom(n as u32)), text));
        }
        for (n, (slot, text)) in all.into_iter().enumerate() {
            let x = self.x_of(slot);
            if x < f.left - 1 || x > f.right + 1 {
                continue;
            }
            let (x, color) = (x.clamp(f.left, f.right), self.theme.high_water);
            let y = self.y(m.requested(slot));
            let r = self.px(3.0);
            if n == 0 {
                self.area
                    .draw(&Circle::new((x, y), r, color.filled()))
                    .map_err(failed)?;
            } else {
                self.line(vec![(x - r, y - r), (x + r, y + r)], color.to_rgba(), 2.0)?;
                self.line(vec![(x - r, y + r), (x + r, y - r)], color.to_rgba(), 2.0)?;
            }
            let width = text_width(&text, self.size) as i32;
            let left = (x - width / 2).clamp(0, (f.right + self.px(8.0) - width).max(0));
            let Some(row) = free.iter().position(|&end| left > end) else {
                continue;
            };
            free[row] = left + width + self.px(8.0);
            let base = f.top - self.px(4.0) - row as i32 * self.px(14.0);
            self.line(vec![(x, base), (x, y - r)], color.to_rgba(), 1.0)?;
            self.rectangle(
                (left, base - self.px(12.0)),
                (left + width, base),
                self.theme.ground,
            )?;
            write(
                self.area,
                &text,
                (left, base),
                self.size,
                color,
                HPos::Left,
                VPos::Bottom,
            )?;
        }
        Ok(())
    }
}

/// The colour of an annotation: tones of ink, as the palette's colours mean categories here.
#[must_use]
pub fn annotation_color(n: usize, theme: &Theme) -> Color {
    const TONES: [f64; 4] = [0.75, 0.35, 0.55, 0.2];
    mixed(theme.ink, theme.ground, TONES[n % TONES.len()])
}

/// The name of an entry of the trace.
fn t_name(row: u32) -> String {
    format!("t{row}")
}

/// The next of 1, 2, 5, 10, 20, ... from a value on.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    let lead = value / power;
    let steps = [1.0, 2.0, 5.0, 10.0];
    power * steps.into_iter().find(|&s| s >= lead).unwrap_or(10.0)
}
