//! [`LineRows`].

use std::sync::Arc;

use report::analyze::snapshot::lines::{Line, total};
use report::analyze::snapshot::sites::Owner;

use super::{known, number};
use crate::names::Names;
use crate::rows::{BLANK, Cell, Column, Rows, figure, text};
use crate::words::{Lang, Word};

/// Memory by line, or by file, as a line profiler prints it; one's own code first.
#[derive(Debug)]
pub struct LineRows {
    names: Arc<Names>,
    lines: Vec<Line>,
    files: bool,
}

impl LineRows {
    /// Wraps the lines; `files` when each stands for its file. Without `others`, lines of
    /// libraries, of torch and of C++ are left out; what has no recorded stack is nobody's and
    /// stays.
    #[must_use]
    pub fn new(names: Arc<Names>, mut lines: Vec<Line>, files: bool, others: bool) -> Self {
        let sites = names.analysis().sites();
        let owner = |l: &Line| l.frame.map(|f| sites.owner(f));
        lines.retain(|l| others || owner(l).is_none_or(|o| o == Owner::User));
        // Stable: within one owner's the largest peak stays first.
        lines.sort_by_key(|l| owner(l).unwrap_or(Owner::Native));
        Self {
            names,
            lines,
            files,
        }
    }
}

impl Rows for LineRows {
    fn name(&self) -> &'static str {
        if self.files { "files" } else { "lines" }
    }

    fn columns(&self) -> &'static [Column] {
        const CURRENT: Column = figure("current", Word::Current);
        const LIVE: Column = figure("live", Word::LiveNow);
        const PEAK: Column = figure("peak", Word::LinePeak);
        const ALLOCATED: Column = figure("allocated", Word::AllocatedSum);
        const FREED: Column = figure("freed", Word::FreedSum);
        const COUNT: Column = figure("count", Word::HowMany);
        const FILE: Column = text("file", Word::FilePath);
        if self.files {
            const { &[CURRENT, LIVE, PEAK, ALLOCATED, FREED, COUNT, FILE] }
        } else {
            const {
                &[
                    text("place", Word::Place),
                    text("function", Word::FunctionName),
                    CURRENT,
                    LIVE,
                    PEAK,
                    ALLOCATED,
                    FREED,
                    COUNT,
                    FILE,
                ]
            }
        }
    }

    fn len(&self) -> usize {
        self.lines.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(l) = self.lines.get(row) else {
            return BLANK;
        };
        // Files have no line and no function.
        let column = if self.files { column + 2 } else { column };
        match column {
            0 => match l.frame {
                Some(f) => Cell::Text(self.names.place(f).into()),
                None => Cell::Text(self.names.nowhere(lang).into()),
            },
            1 => known(l.frame.map(|f| self.names.function(f))),
            2 => Cell::Bytes(Some(l.current)),
            3 => number(l.live),
            4 => Cell::Bytes(Some(l.peak)),
            5 => Cell::Bytes(Some(l.allocated)),
            6 => Cell::Bytes(Some(l.freed)),
            7 => number(l.count),
            8 => match l.frame {
                None if self.files => Cell::Text(self.names.nowhere(lang).into()),
                frame => known(frame.and_then(|f| self.names.path(f)).map(Into::into)),
            },
            _ => BLANK,
        }
    }

    fn total(&self, column: usize) -> Option<Cell<'static>> {
        let all = total(&self.lines);
        let column = if self.files { column + 2 } else { column };
        Some(match column {
            2 => Cell::Bytes(Some(all.current)),
            3 => number(all.live),
            5 => Cell::Bytes(Some(all.allocated)),
            6 => Cell::Bytes(Some(all.freed)),
            7 => number(all.count),
            _ => BLANK,
        })
    }
}
