//! [`SeriesRows`].

use report::analyze::series::{Moment, moment, peak};
use report::model::{Series, SeriesCategory};

use super::{BLANK, Cell, Column, Rows, figure, text};
use crate::names::series_word;
use crate::words::{Lang, Word};

/// What memory was for at the peak of a profiler's timeline, and at its end.
#[derive(Debug)]
pub struct SeriesRows {
    peak: Option<Moment>,
    end: Option<Moment>,
    /// Categories that hold anything at one of them, the largest at the peak first.
    listed: Vec<SeriesCategory>,
}

impl SeriesRows {
    /// Asks the analysis.
    #[must_use]
    pub fn new(series: &Series) -> Self {
        let peak = peak(series);
        let end = series.len().checked_sub(1).and_then(|i| moment(series, i));
        let at = |m: &Option<Moment>, c| m.map_or(0, |m| m.of(c));
        let mut listed: Vec<SeriesCategory> = SeriesCategory::ALL
            .into_iter()
            .filter(|&c| at(&peak, c) > 0 || at(&end, c) > 0)
            .collect();
        listed.sort_by_key(|&c| std::cmp::Reverse(at(&peak, c)));
        Self { peak, end, listed }
    }
}

impl Rows for SeriesRows {
    fn name(&self) -> &'static str {
        "memory_timeline"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("category", Word::Category),
                figure("peak", Word::AtPeak),
                figure("share", Word::Share),
                figure("end", Word::AtEnd),
            ]
        }
    }

    fn len(&self) -> usize {
        self.listed.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(&category) = self.listed.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(series_word(category).text(lang).into()),
            1 => Cell::Bytes(self.peak.map(|m| m.of(category))),
            2 => Cell::Share(
                self.peak
                    .filter(|m| m.total > 0)
                    .map(|m| m.of(category) as f64 / m.total as f64),
            ),
            3 => Cell::Bytes(self.end.map(|m| m.of(category))),
            _ => BLANK,
        }
    }
}
