//! The timeline: allocated and reserved over events, with steps, phases and findings named.

use std::sync::Arc;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::growth::Kind;
use report::analyze::levels::{Levels, Span};
use report::analyze::steps::{Step, steps};
use report::model::{Rank, StringId};

use super::{Area, Axis, AxisKind, DrawError, Theme, failed, phase_color, text_width, write};
use crate::sentences::{Facts, mark};
use crate::units;
use crate::words::Lang;

/// What is drawn of a rank: levels of detail, made once.
#[derive(Debug)]
pub struct Timeline {
    rank: Arc<Rank>,
    allocated: Levels,
    reserved: Levels,
    /// The steps.
    pub steps: Vec<Step>,
    /// Phases in order of first occurrence: their colours.
    pub phases: Vec<StringId>,
    /// Highest of all figures drawn, bytes.
    pub top: u64,
    by_event: Axis,
    by_step: Axis,
}

/// The part of the axis that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// What the axis counts.
    pub axis: AxisKind,
    /// First position shown.
    pub start: f64,
    /// Last position shown.
    pub end: f64,
}

/// A named place on the chart.
#[derive(Debug, Clone)]
pub struct Flag {
    /// Event at which it stands.
    pub event: usize,
    /// Height, bytes.
    pub bytes: u64,
    /// What it says.
    pub text: String,
    /// Whether it is the peak (else growth).
    pub peak: bool,
}

/// Where the plot lies within the drawing, pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Left edge.
    pub left: i32,
    /// Right edge.
    pub right: i32,
    /// Upper edge.
    pub top: i32,
    /// Lower edge: where 0 bytes lie.
    pub bottom: i32,
}

impl Frame {
    /// The frame within a drawing of `width` by `height` pixels.
    #[must_use]
    pub fn of(width: u32, height: u32, scale: f64) -> Self {
        let px = |v: f64| (v * scale) as i32;
        Self {
            left: px(66.0),
            right: (width as i32 - px(10.0)).max(px(66.0) + 1),
            top: px(46.0),
            bottom: (height as i32 - px(38.0)).max(px(46.0) + 1),
        }
    }

    /// As [`Self::of`], with room for fewer names above the plot.
    #[must_use]
    pub fn low(width: u32, height: u32, scale: f64) -> Self {
        let whole = Self::of(width, height, scale);
        Self {
            top: whole.top - (14.0 * scale) as i32,
            ..whole
        }
    }

    fn width(&self) -> f64 {
        f64::from(self.right - self.left)
    }
}

impl Timeline {
    /// Builds the levels.
    #[must_use]
    pub fn new(rank: Arc<Rank>, facts: &Facts) -> Self {
        let e = &rank.events;
        let steps = steps(&rank);
        let mut seen = vec![false; rank.strings.len()];
        let phases = e
            .phase
            .iter()
            .copied()
            .filter(|p| {
                seen.get_mut(p.0 as usize)
                    .is_some_and(|s| !std::mem::replace(s, true))
            })
            .collect();
        let bytes = |p: Option<report::analyze::peak::At>| p.map_or(0, |p| p.bytes);
        Self {
            allocated: Levels::of(&e.allocated_after),
            reserved: Levels::of(&e.reserved_after),
            by_event: Axis::new(AxisKind::Event, e.len(), &steps),
            by_step: Axis::new(AxisKind::Step, e.len(), &steps),
            top: bytes(facts.peak.allocated).max(bytes(facts.peak.reserved)),
            phases,
            steps,
            rank,
        }
    }

    /// The axis of a kind.
    #[must_use]
    pub fn axis(&self, kind: AxisKind) -> &Axis {
        match kind {
            AxisKind::Event | AxisKind::Time => &self.by_event,
            AxisKind::Step => &self.by_step,
        }
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self, axis: AxisKind) -> View {
        View {
            axis,
            start: 0.0,
            end: self.axis(axis).length(),
        }
    }

    /// The events under a horizontal range of the view, `from..to` as shares of its width.
    #[must_use]
    pub fn events_at(&self, view: View, from: f64, to: f64) -> (usize, usize) {
        let axis = self.axis(view.axis);
        let at = |share: f64| axis.to_event(view.start + share * (view.end - view.start));
        let start = (at(from) as usize).min(self.rank.events.len().saturating_sub(1));
        (
            start,
            (at(to).ceil() as usize)
                .max(start + 1)
                .min(self.rank.events.len()),
        )
    }

    /// Where in a view an event's left edge lies, as a share of the view's width.
    #[must_use]
    pub fn place_of(&self, view: View, event: f64) -> f64 {
        (self.axis(view.axis).of_event(event) - view.start) / (view.end - view.start).max(1e-12)
    }

    /// Lowest, highest and last allocated of a range of events.
    #[must_use]
    pub fn allocated(&self, start: usize, end: usize) -> Option<Span> {
        self.allocated
            .span(&self.rank.events.allocated_after, start, end)
    }

    /// Lowest, highest and last reserved of a range of events.
    #[must_use]
    pub fn reserved(&self, start: usize, end: usize) -> Option<Span> {
        self.reserved
            .span(&self.rank.events.reserved_after, start, end)
    }

    /// The colour number of a phase.
    #[must_use]
    pub fn phase_number(&self, phase: StringId) -> usize {
        self.phases.iter().position(|&p| p == phase).unwrap_or(0)
    }

    /// What is named on the chart: the peak, and growth.
    #[must_use]
    pub fn flags(&self, facts: &Facts, lang: Lang) -> Vec<Flag> {
        let mut out = Vec::new();
        if let Some(peak) = facts.peak.allocated.filter(|p| p.bytes > 0)
            && let Some(event) = peak.event
        {
            let size = units::bytes(peak.bytes);
            out.push(Flag {
                event,
                bytes: peak.bytes,
                text: if lang == Lang::En {
                    format!("peak {size}")
                } else {
                    format!("峰值 {size}")
                },
                peak: true,
            });
        }
        for g in &facts.growth {
            out.push(Flag {
                event: g.event,
                bytes: g.level.unwrap_or(0),
                text: mark(&self.rank, g, lang),
                peak: false,
            });
        }
        out
    }

    /// Troughs of the steps since a leak began: event and allocated.
    fn troughs(&self, facts: &Facts) -> Vec<(usize, u64)> {
        let Some(leak) = facts.growth.iter().find(|g| g.kind == Kind::Leak) else {
            return Vec::new();
        };
        self.steps
            .iter()
            .filter(|s| s.step.is_some_and(|n| n >= leak.since_step))
            .filter_map(|s| Some((s.end - 1, s.allocated_end?)))
            .collect()
    }
}

struct Drawing<'a, DB: DrawingBackend> {
    area: &'a Area<DB>,
    timeline: &'a Timeline,
    view: View,
    frame: Frame,
    theme: &'a Theme,
    scale: f64,
    size: f64,
}

/// Draws the timeline.
///
/// # Errors
/// What the backend reports.
pub fn draw<DB: DrawingBackend>(
    area: &Area<DB>,
    timeline: &Timeline,
    facts: &Facts,
    view: View,
    theme: &Theme,
    scale: f64,
    lang: Lang,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let d = Drawing {
        area,
        timeline,
        view,
        frame: Frame::of(w, h, scale),
        theme,
        scale,
        size: 11.0 * scale,
    };
    d.bands(lang)?;
    d.grid()?;
    d.series()?;
    d.high_water()?;
    d.leak(facts)?;
    d.flags(&timeline.flags(facts, lang))
}

impl<DB: DrawingBackend> Drawing<'_, DB> {
    fn px(&self, css: f64) -> i32 {
        (css * self.scale).round() as i32
    }

    fn y(&self, bytes: u64) -> i32 {
        let f = self.frame;
        let share = bytes as f64 / (self.timeline.top.max(1) as f64 * 1.04);
        f.bottom - (share * f64::from(f.bottom - f.top)) as i32
    }

    fn x(&self, event: f64) -> i32 {
        let share = self.timeline.place_of(self.view, event);
        self.frame.left + (share * self.frame.width()).clamp(-1e6, 1e6) as i32
    }

    fn rectangle(&self, a: (i32, i32), b: (i32, i32), color: RGBColor) -> Result<(), DrawError> {
        self.area
            .draw(&Rectangle::new([a, b], color.filled()))
            .map_err(failed)
    }

    fn line(&self, points: Vec<(i32, i32)>, color: RGBColor, width: f64) -> Result<(), DrawError> {
        let width = (width * self.scale).round().max(1.0) as u32;
        self.area
            .draw(&PathElement::new(points, color.stroke_width(width)))
            .map_err(failed)
    }

    /// Steps as bands with their numbers, phases as a strip of colours below the plot.
    fn bands(&self, lang: Lang) -> Result<(), DrawError> {
        let f = self.frame;
        let mut free = f.left;
        for (n, step) in self.timeline.steps.iter().enumerate() {
            let (a, b) = (self.x(step.start as f64), self.x(step.end as f64));
            if b < f.left || a > f.right || b - a < 1 {
                continue;
            }
            let (a, b) = (a.max(f.left), b.min(f.right));
            if n % 2 == 1 {
                self.rectangle((a, f.top), (b, f.bottom), self.theme.band)?;
            }
            let Some(number) = step.step else { continue };
            let long = match lang {
                Lang::En => format!("step {number}"),
                Lang::Zh => format!("第 {number} 步"),
            };
            let fits = |t: &str| text_width(t, self.size) + 4.0 * self.scale < f64::from(b - a);
            let text = if fits(&long) {
                long
            } else {
                number.to_string()
            };
            let middle = (a + b) / 2;
            let half = (text_width(&text, self.size) / 2.0) as i32 + self.px(3.0);
            if middle - half >= free && middle + half <= f.right + self.px(8.0) {
                let at = (middle, f.bottom + self.px(13.0));
                write(
                    self.area,
                    &text,
                    at,
                    self.size,
                    self.theme.muted,
                    HPos::Center,
                    VPos::Top,
                )?;
                free = middle + half;
            }
        }
        self.phases()
    }

    fn phases(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let (top, bottom) = (f.bottom + self.px(2.0), f.bottom + self.px(8.0));
        let mut run: Option<(i32, usize)> = None;
        for px in f.left..f.right {
            let number = self.column(px).map(|(start, _)| {
                let phase = self.timeline.rank.events.row(start).phase;
                self.timeline.phase_number(phase)
            });
            if run.map(|(_, n)| n) != number {
                if let Some((from, n)) = run {
                    self.rectangle((from, top), (px, bottom), phase_color(n, self.theme.dark))?;
                }
                run = number.map(|n| (px, n));
            }
        }
        if let Some((from, n)) = run {
            self.rectangle(
                (from, top),
                (f.right, bottom),
                phase_color(n, self.theme.dark),
            )?;
        }
        Ok(())
    }

    /// The events under a pixel column.
    fn column(&self, px: i32) -> Option<(usize, usize)> {
        let f = self.frame;
        let share = |p: i32| f64::from(p - f.left) / f.width();
        let (start, end) = self.timeline.events_at(self.view, share(px), share(px + 1));
        (start < end).then_some((start, end))
    }

    fn grid(&self) -> Result<(), DrawError> {
        let f = self.frame;
        for bytes in units::axis(
            self.timeline.top,
            ((f.bottom - f.top) / self.px(28.0).max(1)).max(2) as usize,
        ) {
            let y = self.y(bytes);
            self.line(vec![(f.left, y), (f.right, y)], self.theme.grid, 1.0)?;
            let text = units::bytes(bytes);
            write(
                self.area,
                &text,
                (f.left - self.px(6.0), y),
                self.size,
                self.theme.muted,
                HPos::Right,
                VPos::Center,
            )?;
        }
        Ok(())
    }

    /// Reserved as a ground, allocated on it: full up to its lowest in each pixel column, lighter
    /// up to its highest.
    fn series(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let columns: Vec<(i32, (usize, usize))> = (f.left..f.right)
            .filter_map(|px| Some((px, self.column(px)?)))
            .collect();
        let outline = |figure: &dyn Fn(usize, usize) -> Option<u64>| {
            let mut runs: Vec<Vec<(i32, i32)>> = Vec::new();
            let mut open = false;
            for &(px, (start, end)) in &columns {
                let Some(bytes) = figure(start, end) else {
                    open = false;
                    continue;
                };
                let y = self.y(bytes);
                if !open {
                    runs.push(vec![(px, y)]);
                    open = true;
                }
                let Some(run) = runs.last_mut() else { continue };
                let level = run.len() > 1 && run.last() == Some(&(px, y));
                match run.last_mut() {
                    // A level stretch needs its ends only.
                    Some(last) if level => last.0 = px + 1,
                    _ => {
                        run.push((px, y));
                        run.push((px + 1, y));
                    }
                }
            }
            runs
        };
        let t = self.timeline;
        let fill = |runs: Vec<Vec<(i32, i32)>>, color: RGBColor| -> Result<(), DrawError> {
            for mut run in runs {
                let (Some(&first), Some(&last)) = (run.first(), run.last()) else {
                    continue;
                };
                run.push((last.0, f.bottom));
                run.push((first.0, f.bottom));
                self.area
                    .draw(&Polygon::new(run, color.filled()))
                    .map_err(failed)?;
            }
            Ok(())
        };
        fill(
            outline(&|a, b| t.reserved(a, b).map(|s| s.max)),
            self.theme.reserved,
        )?;
        fill(
            outline(&|a, b| t.allocated(a, b).map(|s| s.max)),
            self.theme.allocated_range,
        )?;
        fill(
            outline(&|a, b| t.allocated(a, b).map(|s| s.min)),
            self.theme.allocated,
        )
    }

    fn high_water(&self) -> Result<(), DrawError> {
        let f = self.frame;
        let marks = &self.timeline.rank.events.max_allocated;
        let mut run: Vec<(i32, i32)> = Vec::new();
        for px in f.left..f.right {
            // The mark only rises, so the last event of a column has its highest; where a recorder
            // resets it, the line falls with it.
            let bytes = self.column(px).and_then(|(_, end)| marks.get(end - 1));
            match bytes.map(|b| self.y(b)) {
                Some(y) => {
                    if let Some(&(_, last)) = run.last()
                        && last != y
                    {
                        run.push((px, last));
                    }
                    if run.len() < 2 || run[run.len() - 2].1 != y || run[run.len() - 1].1 != y {
                        run.push((px, y));
                    } else if let Some(last) = run.last_mut() {
                        last.0 = px;
                    }
                }
                None => self.line(std::mem::take(&mut run), self.theme.high_water, 1.5)?,
            }
        }
        if run.is_empty() {
            Ok(())
        } else {
            self.line(run, self.theme.high_water, 1.5)
        }
    }

    /// The line through the troughs of a leak.
    fn leak(&self, facts: &Facts) -> Result<(), DrawError> {
        let f = self.frame;
        let points: Vec<(i32, i32)> = self
            .timeline
            .troughs(facts)
            .into_iter()
            .map(|(event, bytes)| (self.x(event as f64 + 0.5), self.y(bytes)))
            .collect();
        for pair in points.windows(2) {
            let at = |x: i32| {
                let share = f64::from(x - pair[0].0) / f64::from((pair[1].0 - pair[0].0).max(1));
                (
                    x,
                    pair[0].1 + (share * f64::from(pair[1].1 - pair[0].1)) as i32,
                )
            };
            // What lies outside the plot is cut off.
            let (a, b) = (at(pair[0].0.max(f.left)), at(pair[1].0.min(f.right)));
            if a.0 < b.0 {
                // On allocated's blue the line needs an edge to be seen.
                self.line(vec![a, b], self.theme.ground, 5.0)?;
                self.line(vec![a, b], self.theme.growth, 2.0)?;
            }
        }
        for &(x, y) in points.iter().filter(|p| (f.left..=f.right).contains(&p.0)) {
            let r = self.px(3.5);
            self.rectangle((x - r, y - r), (x + r, y + r), self.theme.ground)?;
            let r = self.px(2.5);
            self.rectangle((x - r, y - r), (x + r, y + r), self.theme.growth)?;
        }
        Ok(())
    }

    /// Names above the plot, in rows so that none covers another, each with a line to its place.
    fn flags(&self, flags: &[Flag]) -> Result<(), DrawError> {
        const ROWS: usize = 3;
        let f = self.frame;
        let mut taken: [Vec<(i32, i32)>; ROWS] = [const { Vec::new() }; ROWS];
        for flag in flags {
            let x = self.x(flag.event as f64 + 0.5);
            if x < f.left || x > f.right {
                continue;
            }
            let color = if flag.peak {
                self.theme.high_water
            } else {
                self.theme.growth
            };
            let y = self.y(flag.bytes);
            let width = text_width(&flag.text, self.size) as i32;
            let left = (x - width / 2).clamp(0, (f.right + self.px(8.0) - width).max(0));
            let span = (left - self.px(4.0), left + width + self.px(4.0));
            let row =
                (0..ROWS).find(|&r| taken[r].iter().all(|&(a, b)| span.1 <= a || span.0 >= b));
            let r = self.px(3.0);
            self.area
                .draw(&Circle::new((x, y), r, color.filled()))
                .map_err(failed)?;
            let Some(row) = row else { continue };
            taken[row].push(span);
            let base = f.top - self.px(4.0) - row as i32 * self.px(14.0);
            self.line(vec![(x, base), (x, y - r)], color, 1.0)?;
            // Ground behind the text, so that lines of lower rows do not cross it.
            self.rectangle(
                (left, base - self.px(12.0)),
                (left + width, base),
                self.theme.ground,
            )?;
            write(
                self.area,
                &flag.text,
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

/// Draws the whole range small, without text.
///
/// # Errors
/// What the backend reports.
pub fn minimap<DB: DrawingBackend>(
    area: &Area<DB>,
    timeline: &Timeline,
    axis: AxisKind,
    theme: &Theme,
    scale: f64,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let wide = Frame::of(w, h, scale);
    let frame = Frame {
        left: wide.left,
        right: wide.right,
        top: 0,
        bottom: h as i32,
    };
    let d = Drawing {
        area,
        timeline,
        view: timeline.whole(axis),
        frame,
        theme,
        scale,
        size: 0.0,
    };
    d.series()
}
