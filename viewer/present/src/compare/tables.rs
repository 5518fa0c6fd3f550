//! Tables of two recordings.

use std::borrow::Cow;

#[cfg(feature = "snapshot")]
use report::analyze::diff::Which;
use report::analyze::diff::figures::Quantity;
use report::analyze::diff::runtime::Part;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::LiveDiff;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::answer;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::groups::{By, Key, Match};
use report::analyze::diff::{Comparison, Pair, Status};
use report::analyze::snapshot::categories::Category;
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::missing::Missing;
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::{Analysis, Named};
use report::analyze::{difference, holders};

use super::sentences::status_word;
#[cfg(feature = "snapshot")]
use crate::rows::Pick;
use crate::rows::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::sentences::holder;
#[cfg(feature = "snapshot")]
use crate::visible::short;
use crate::words::{Lang, Word};

/// A table of both sides.
#[derive(Debug, Clone)]
pub struct DiffRows {
    name: &'static str,
    columns: &'static [Column],
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    status: Status,
    /// What it is, in English and in Chinese.
    said: [String; 2],
    figures: Vec<Cell<'static>>,
    /// How it was matched.
    #[cfg(feature = "snapshot")]
    how: Match,
    #[cfg(feature = "snapshot")]
    pick: Option<Pick>,
}

impl Row {
    fn new(status: Status, said: impl Fn(Lang) -> String, figures: Vec<Cell<'static>>) -> Self {
        Self {
            status,
            said: [said(Lang::En), said(Lang::Zh)],
            figures,
            #[cfg(feature = "snapshot")]
            how: Match::Exact,
            #[cfg(feature = "snapshot")]
            pick: None,
        }
    }
}

impl DiffRows {
    /// The rows of one status; all of them for `None`.
    #[must_use]
    pub fn only(mut self, status: Option<Status>) -> Self {
        if let Some(status) = status {
            self.rows.retain(|r| r.status == status);
        }
        self
    }

    /// The first rows.
    #[must_use]
    pub fn first(mut self, most: usize) -> Self {
        self.rows.truncate(most);
        self
    }

    /// How many rows have a status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|r| r.status == status).count()
    }
}

/// A sign that tells what became of something without its colour.
#[must_use]
pub(super) fn sign(status: Status) -> &'static str {
    match status {
        Status::New => "+",
        Status::Gone => "×",
        Status::Grown => "▲",
        Status::Shrunk => "▼",
        Status::Same => "=",
    }
}

impl Rows for DiffRows {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(row) = self.rows.get(row) else {
            return BLANK;
        };
        match self.columns.get(column).map(|c| c.id) {
            None => BLANK,
            Some("status") => {
                let word = status_word(row.status).text(lang);
                Cell::Text(Cow::Owned(format!("{} {word}", sign(row.status))))
            }
            Some("what") => {
                let [en, zh] = &row.said;
                Cell::Text(Cow::Borrowed(if lang == Lang::En { en } else { zh }))
            }
            #[cfg(feature = "snapshot")]
            Some("matched") => Cell::Text(Cow::Borrowed(match row.how {
                Match::Exact => "",
                Match::Moved => Word::DiffMoved.text(lang),
                Match::Renamed => Word::DiffRenamed.text(lang),
                Match::Folded => Word::DiffFolded.text(lang),
                Match::Inner => Word::DiffInner.text(lang),
                Match::Alike => Word::DiffAlike.text(lang),
            })),
            // Figures follow the status.
            Some(_) => row
                .figures
                .get(column.saturating_sub(1))
                .cloned()
                .unwrap_or(BLANK),
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let _ = row;
        Subject {
            #[cfg(feature = "snapshot")]
            pick: self.rows.get(row).and_then(|r| r.pick),
            ..Subject::default()
        }
    }
}

/// A's, B's and the difference.
fn both(pair: Pair) -> Vec<Cell<'static>> {
    vec![
        Cell::Bytes(pair.a),
        Cell::Bytes(pair.b),
        Cell::Delta(pair.delta()),
    ]
}

fn compared(pair: Pair) -> Status {
    Status::of(pair.a.is_some(), pair.b.is_some(), pair.b.cmp(&pair.a))
}

/// Peaks and ends.
#[must_use]
pub fn figures(c: &Comparison) -> DiffRows {
    let word = |q: Quantity, lang: Lang| {
        let (en, zh) = match q {
            Quantity::PeakAllocated => ("peak allocated", "峰值已分配"),
            Quantity::PeakReserved => ("peak reserved", "峰值已保留"),
            Quantity::PeakRequested => ("peak requested", "峰值已请求"),
            Quantity::HighestSample => ("highest sample at an event", "事件处最高采样"),
            Quantity::EndAllocated => ("allocated at the end", "结束时已分配"),
            Quantity::EndReserved => ("reserved at the end", "结束时已保留"),
            Quantity::EndRequested => ("requested at the end", "结束时已请求"),
        };
        if lang == Lang::En { en } else { zh }.to_owned()
    };
    let row = |f: &report::analyze::diff::figures::Figure| {
        let mut cells = both(f.pair);
        let share = match (f.pair.a, f.pair.delta()) {
            (Some(a), Some(d)) if a > 0 => Some(d as f64 / a as f64),
            _ => None,
        };
        cells.push(Cell::Share(share));
        let mut row = Row::new(compared(f.pair), |lang| word(f.quantity, lang), cells);
        // A figure that one side does not state is no news.
        if f.pair.delta().is_none() {
            row.status = Status::Same;
        }
        row
    };
    DiffRows {
        name: "compare_figures",
        columns: const {
            &[
                text("what", Word::DiffFigure),
                figure("a", Word::DiffA),
                figure("b", Word::DiffB),
                figure("delta", Word::DiffDelta),
                figure("change", Word::DiffShare),
            ]
        },
        rows: c.figures.iter().map(row).collect(),
    }
}

/// A part of the peaks, as a phrase.
pub(super) fn part(c: &Comparison, part: &Part, lang: Lang) -> String {
    match (&part.b, &part.a) {
        (Some(b), _) => holder(&c.b.rank, b, lang),
        (_, Some(a)) => holder(&c.a.rank, a, lang),
        (None, None) => String::new(),
    }
}

/// The parts of both peaks; `None` unless both could be taken apart.
#[must_use]
pub fn parts(c: &Comparison) -> Option<DiffRows> {
    let parts = c.runtime.as_ref()?.parts.as_ref()?;
    let cell = |h: &Option<holders::Holder>| Cell::Delta(h.as_ref().map(|h| h.bytes));
    Some(DiffRows {
        name: "compare_parts",
        columns: const {
            &[
                text("status", Word::DiffStatus),
                figure("a", Word::DiffA),
                figure("b", Word::DiffB),
                figure("delta", Word::DiffDelta),
                text("what", Word::Part),
            ]
        },
        rows: parts
            .iter()
            .map(|p| {
                let cells = vec![cell(&p.a), cell(&p.b), Cell::Delta(Some(p.delta()))];
                Row::new(p.status(), |lang| part(c, p, lang), cells)
            })
            .collect(),
    })
}

/// B's minus A's of two signed figures.
fn signed(a: Option<i64>, b: Option<i64>) -> [Cell<'static>; 3] {
    let delta = a.zip(b).and_then(|(a, b)| b.checked_sub(a));
    [Cell::Delta(a), Cell::Delta(b), Cell::Delta(delta)]
}

/// Phases; `None` unless both have events.
#[must_use]
pub fn phases(c: &Comparison) -> Option<DiffRows> {
    let rows = &c.runtime.as_ref()?.phases;
    Some(DiffRows {
        name: "compare_phases",
        columns: const {
            &[
                text("status", Word::DiffStatus),
                figure("max_a", Word::DiffHighestA),
                figure("max_b", Word::DiffHighestB),
                figure("max_delta", Word::DiffHighest),
                figure("added_a", Word::DiffAddedA),
                figure("added_b", Word::DiffAddedB),
                figure("added_delta", Word::DiffAddedDelta),
                text("what", Word::Phase),
            ]
        },
        rows: rows
            .iter()
            .map(|p| {
                let mut cells = both(p.pair(|p| p.max_allocated));
                let sum = |s: &Option<report::analyze::phases::Phase>| s.and_then(|p| p.sum_delta);
                cells.extend(signed(sum(&p.a), sum(&p.b)));
                let status = p.status(|p| p.max_allocated.and_then(|b| i64::try_from(b).ok()));
                Row::new(status, |_| p.name.clone(), cells)
            })
            .collect(),
    })
}

/// Modules, by largest difference of what they added; `None` unless both have events.
#[must_use]
pub fn modules(c: &Comparison) -> Option<DiffRows> {
    let rows = &c.runtime.as_ref()?.modules;
    Some(DiffRows {
        name: "compare_modules",
        columns: const {
            &[
                text("status", Word::DiffStatus),
                figure("added_a", Word::DiffAddedA),
                figure("added_b", Word::DiffAddedB),
                figure("added_delta", Word::DiffAddedDelta),
                figure("max_a", Word::DiffHighestA),
                figure("max_b", Word::DiffHighestB),
                figure("max_delta", Word::DiffHighest),
                text("what", Word::Module),
            ]
        },
        rows: rows
            .iter()
            .map(|m| {
                let added =
                    |f: &Option<report::analyze::modules::Figures>| f.and_then(|f| f.total_delta);
                let mut cells: Vec<_> = signed(added(&m.a), added(&m.b)).into();
                cells.extend(both(m.pair(|f| f.max_allocated)));
                Row::new(m.status(|f| f.total_delta), |_| m.name.clone(), cells)
            })
            .collect(),
    })
}

/// Steps; `None` unless both have events.
#[must_use]
pub fn steps(c: &Comparison) -> Option<DiffRows> {
    let rows = &c.runtime.as_ref()?.steps;
    Some(DiffRows {
        name: "compare_steps",
        columns: const {
            &[
                text("status", Word::DiffStatus),
                figure("max_a", Word::DiffHighestA),
                figure("max_b", Word::DiffHighestB),
                figure("max_delta", Word::DiffHighest),
                figure("end_a", Word::DiffEndA),
                figure("end_b", Word::DiffEndB),
                figure("end_delta", Word::DiffEndDelta),
                text("what", Word::Step),
            ]
        },
        rows: rows
            .iter()
            .map(|s| {
                let high = |s: &report::analyze::steps::Step| s.high_water.or(s.sampled_peak);
                let mut cells = both(s.pair(high));
                cells.extend(both(s.pair(|s| s.allocated_end)));
                let status = s.status(|s| high(s).map(|b| difference(b, 0)));
                Row::new(status, |_| s.name.clone(), cells)
            })
            .collect(),
    })
}

/// Groups of what lives at an instant of each of two snapshots.
#[cfg(feature = "snapshot")]
#[must_use]
pub fn groups(live: &LiveDiff, by: By) -> DiffRows {
    let rows = live.groups(by);
    let count = |n: u64| Cell::Count(i64::try_from(n).ok());
    DiffRows {
        name: match by {
            By::Line => "compare_lines",
            By::Function => "compare_functions",
            By::Stack => "compare_stacks",
            By::Category => "compare_categories",
        },
        columns: const {
            &[
                text("status", Word::DiffStatus),
                figure("a", Word::DiffA),
                figure("b", Word::DiffB),
                figure("delta", Word::DiffDelta),
                figure("count_a", Word::DiffCountA),
                figure("count_b", Word::DiffCountB),
                text("what", Word::DiffPlace),
                text("matched", Word::DiffMatch),
            ]
        },
        rows: rows
            .iter()
            .map(|r| {
                let mut cells = both(r.pair());
                cells.extend([count(r.a.count), count(r.b.count)]);
                let mut row = Row::new(r.status(), |lang| place(live, r.key, lang), cells);
                row.how = r.how;
                // The page shows A's tables.
                if let Key::Stack(Some(stack), _) = r.key {
                    row.pick = Some(Pick::Stack(stack.0));
                }
                row
            })
            .collect(),
    }
}

/// What a group has in common, as a phrase: B's line where the two differ, as that is the code
/// that a reader has before them.
#[cfg(feature = "snapshot")]
pub(super) fn place(live: &LiveDiff, key: Key, lang: Lang) -> String {
    let said = |which: Which| -> Option<String> {
        let side: &Analysis = live.diff.side(which);
        let (stack, frame) = answer::place(live, which, key);
        let frame = frame?;
        let line = crate::sentences::snapshot::line(side, frame);
        Some(match (key, stack) {
            (Key::Function(..), _) => {
                let f = side.snapshot().frames.get(frame);
                let (name, file) = (side.strings().get(f.name), side.strings().get(f.file));
                let file = crate::sentences::snapshot::file(file);
                format!("{} ({})", short(name, 80), short(file, 80))
            }
            (_, Some(stack)) => format!("{line} · {}", side.name(Named::Stack(stack))),
            _ => line,
        })
    };
    match key {
        Key::Unrecorded => nowhere(live).text(lang).to_owned(),
        Key::Category(category) => category_name(category, lang).to_owned(),
        Key::Stack(a, b) => match (said(Which::A), said(Which::B), a.zip(b)) {
            // The name of a stack belongs to one recording.
            (Some(x), Some(y), Some((a, b))) => {
                let (line, _) = y.rsplit_once(" · ").unwrap_or((&x, ""));
                format!("{line} · A k{}, B k{}", a.0, b.0)
            }
            (Some(x), ..) => x.replacen(" · ", " · A ", 1),
            (_, Some(y), _) => y.replacen(" · ", " · B ", 1),
            _ => nowhere(live).text(lang).to_owned(),
        },
        _ => said(Which::B)
            .or_else(|| said(Which::A))
            .unwrap_or_default(),
    }
}

#[cfg(feature = "snapshot")]
fn category_name(category: Category, lang: Lang) -> &'static str {
    let (en, zh) = match category {
        Category::Parameter => ("parameters", "参数"),
        Category::Gradient => ("gradients", "梯度"),
        Category::OptimizerState => ("optimizer state", "优化器状态"),
        Category::Activation => ("activations", "激活"),
        Category::Temporary => ("temporary", "临时"),
        Category::Input => ("inputs", "输入数据"),
        Category::Unknown => ("unknown", "未知"),
    };
    if lang == Lang::En { en } else { zh }
}

/// What stands where neither side has a stack.
#[cfg(feature = "snapshot")]
pub(crate) fn nowhere(live: &LiveDiff) -> Word {
    let (a, b) = (live.diff.a.missing(), live.diff.b.missing());
    crate::names::missing_word(if a == b { a } else { Missing::Either })
}
