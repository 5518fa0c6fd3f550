//! A profiler's memory timeline: one area a category, stacked, over true time.

use plotters::prelude::*;
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, VPos};
use report::analyze::series::{peak, total};
use report::model::{Series, SeriesCategory};

use super::{Area, Color, DrawError, Frame, Theme, failed, phase_color, text_width, write};
use crate::names::series_word;
use crate::units;
use crate::words::Lang;

/// From the bottom up: what stays longest lies lowest.
const ORDER: [SeriesCategory; 8] = [
    SeriesCategory::Parameter,
    SeriesCategory::OptimizerState,
    SeriesCategory::Input,
    SeriesCategory::Gradient,
    SeriesCategory::Activation,
    SeriesCategory::AutogradDetail,
    SeriesCategory::Temporary,
    SeriesCategory::Unknown,
];

/// The colour of a category: that of the same category of snapshots.
#[must_use]
pub fn series_color(category: SeriesCategory, dark: bool) -> Color {
    let n = match category {
        SeriesCategory::Unknown => 0,
        SeriesCategory::Parameter => 1,
        SeriesCategory::Gradient => 2,
        SeriesCategory::OptimizerState => 3,
        SeriesCategory::Activation => 4,
        SeriesCategory::Temporary => 5,
        SeriesCategory::Input => 6,
        SeriesCategory::AutogradDetail => 7,
    };
    phase_color(n, dark)
}

/// For each of `columns` pixel columns over the whole time the moment that it shows: of those that
/// last into it the one with most bytes, so that no peak is lost.
#[must_use]
pub fn columns(series: &Series, columns: usize) -> Vec<usize> {
    let (Some(&start), Some(&end)) = (series.time_ns.first(), series.time_ns.last()) else {
        return Vec::new();
    };
    let span = u128::from(end.saturating_sub(start)) + 1;
    let mut next = 0;
    let mut out = Vec::with_capacity(columns);
    for column in 0..columns {
        // The first time that belongs to the next column.
        let past = span * (column as u128 + 1) / columns as u128;
        let mut shown = next.max(1) - 1;
        while series
            .time_ns
            .get(next)
            .is_some_and(|&t| u128::from(t - start) < past)
        {
            if total(series, next) > total(series, shown) {
                shown = next;
            }
            next += 1;
        }
        out.push(shown);
    }
    out
}

/// Draws the timeline with its axes and a legend.
///
/// # Errors
/// What the backend reports.
pub fn series<DB: DrawingBackend>(
    area: &Area<DB>,
    series: &Series,
    theme: &Theme,
    scale: f64,
    lang: Lang,
) -> Result<(), DrawError> {
    area.fill(&theme.ground).map_err(failed)?;
    let (w, h) = area.dim_in_pixel();
    let f = Frame::low(w, h, scale);
    let px = |v: f64| (v * scale) as i32;
    let size = 11.0 * scale;
    let top = peak(series).map_or(0, |m| m.total).max(1);
    let height = f64::from(f.bottom - f.top);
    let y = |bytes: u64| f.bottom - (bytes as f64 / top as f64 * height).round() as i32;
    let rows = ((f.bottom - f.top) / px(28.0).max(1)).max(2) as usize;
    for bytes in units::axis(top, rows) {
        let line = vec![(f.left, y(bytes)), (f.right, y(bytes))];
        area.draw(&PathElement::new(line, theme.grid.stroke_width(1)))
            .map_err(failed)?;
        let at = (f.left - px(6.0), y(bytes));
        let text = units::bytes(bytes);
        write(
            area,
            &text,
            at,
            size,
            theme.muted,
            HPos::Right,
            VPos::Center,
        )?;
    }
    let shown = columns(series, (f.right - f.left).max(1) as usize);
    let mut below = vec![0u64; shown.len()];
    let mut legend = f.left;
    for category in ORDER {
        let column = series.bytes.get(category as usize);
        let of = |moment: usize| column.and_then(|c| c.get(moment)).copied().unwrap_or(0);
        let above: Vec<u64> = below
            .iter()
            .zip(&shown)
            .map(|(&b, &moment)| b.saturating_add(of(moment)))
            .collect();
        if above == below {
            continue;
        }
        let edge = |heights: &[u64]| -> Vec<(i32, i32)> {
            let steps = heights.iter().enumerate();
            steps
                .flat_map(|(i, &b)| {
                    let x = f.left + i as i32;
                    [(x, y(b)), (x + 1, y(b))]
                })
                .collect()
        };
        let mut points = edge(&above);
        points.extend(edge(&below).into_iter().rev());
        // Corners that lie on a level line are not needed.
        points.dedup();
        let color = series_color(category, theme.dark);
        area.draw(&Polygon::new(points, color.filled()))
            .map_err(failed)?;
        let word = series_word(category).text(lang);
        let wide = px(14.0) + text_width(word, size) as i32 + px(10.0);
        if legend + wide <= f.right {
            let (low, high) = (f.top - px(20.0), f.top - px(10.0));
            let corners = [(legend, low), (legend + px(10.0), high)];
            area.draw(&Rectangle::new(corners, color.filled()))
                .map_err(failed)?;
            let at = (legend + px(14.0), (low + high) / 2);
            write(area, word, at, size, theme.muted, HPos::Left, VPos::Center)?;
            legend += wide;
        }
        below = above;
    }
    let span = match (series.time_ns.first(), series.time_ns.last()) {
        (Some(first), Some(last)) => last.saturating_sub(*first),
        _ => 0,
    };
    for (part, anchor) in [(0u64, HPos::Left), (1, HPos::Center), (2, HPos::Right)] {
        let x = f.left + (f.right - f.left) * part as i32 / 2;
        let text = units::seconds(span / 2 * part);
        let at = (x, f.bottom + px(6.0));
        write(area, &text, at, size, theme.muted, anchor, VPos::Top)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peak_is_lost_at_any_width() {
        let mut series = Series::default();
        let mut highest = 0;
        for i in 0..1000u64 {
            let bytes = (i * 7919) % 1009;
            highest = highest.max(bytes + 5);
            let mut row = [0; 8];
            (row[0], row[4]) = (5, bytes);
            super::Series::push(&mut series, i * i, row);
        }
        for width in [1, 2, 7, 100, 900, 5000] {
            let shown = columns(&series, width);
            assert_eq!(shown.len(), width);
            assert!(shown.is_sorted_by(|a, b| a <= b));
            let top = shown.iter().map(|&m| total(&series, m)).max();
            assert_eq!(top, Some(highest), "{width}");
        }
        assert!(columns(&Series::default(), 9).is_empty());
    }
}
