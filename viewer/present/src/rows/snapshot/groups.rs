//! [`GroupRows`].

use std::sync::Arc;

use report::analyze::snapshot::group::{By, Group, Key, total};
use report::analyze::snapshot::{Analysis, Named};

use super::{known, number, said};
use crate::names::{Names, category_word, certainty_word, evidence};
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// A set of allocations in groups, largest first; they sum to the set.
#[derive(Debug)]
pub struct GroupRows {
    names: Arc<Names>,
    groups: Arc<Vec<Group>>,
    by: By,
    picked: Option<(usize, Pick)>,
}

impl GroupRows {
    /// Wraps the groups. `picked` is what is picked and the group that it belongs to, so that its
    /// row is found.
    #[must_use]
    pub fn new(
        names: Arc<Names>,
        groups: Arc<Vec<Group>>,
        by: By,
        picked: Option<(usize, Pick)>,
    ) -> Self {
        Self {
            names,
            groups,
            by,
            picked,
        }
    }

    /// Size and share, then what the group is, then count and largest: numbered as if these two
    /// came before what it is, which differs between groupings.
    fn what(&self, column: usize) -> usize {
        let behind = self.columns().len().saturating_sub(2);
        match column {
            0 | 1 => column,
            _ if column >= behind => column - behind + 2,
            _ => column + 2,
        }
    }
}

/// What stands for a group where something of it is picked: the stack of its largest allocation;
/// that allocation itself where its stack tells nothing of the group.
#[must_use]
pub fn group_pick(analysis: &Analysis, group: &Group) -> Pick {
    let stack = match group.key {
        Key::Stack(stack) => stack,
        Key::Line(Some(_)) | Key::Function(Some(_)) => {
            analysis.replay.allocations.stack(group.largest)
        }
        _ => None,
    };
    stack.map_or(Pick::Allocation(group.largest.0), |s| Pick::Stack(s.0))
}

impl Rows for GroupRows {
    fn name(&self) -> &'static str {
        match self.by {
            By::Stack => "live_stack",
            By::Line => "live_line",
            By::Function => "live_function",
            By::Category => "live_category",
            By::Stream => "live_stream",
            By::Pool => "live_pool",
            By::Span => "live_segment",
        }
    }

    fn columns(&self) -> &'static [Column] {
        const BYTES: Column = figure("bytes", Word::Size);
        const SHARE: Column = figure("share", Word::Share);
        const COUNT: Column = figure("count", Word::HowMany);
        const LARGEST: Column = figure("largest", Word::Largest);
        const CATEGORY: Column = text("category", Word::Category);
        match self.by {
            By::Stack => {
                const {
                    &[
                        BYTES,
                        SHARE,
                        text("place", Word::Place),
                        text("innermost", Word::Innermost),
                        CATEGORY,
                        text("stack", Word::ByStack),
                        COUNT,
                        LARGEST,
                    ]
                }
            }
            By::Line => {
                const {
                    &[
                        BYTES,
                        SHARE,
                        text("place", Word::Place),
                        text("function", Word::FunctionName),
                        CATEGORY,
                        text("file", Word::FilePath),
                        COUNT,
                        LARGEST,
                    ]
                }
            }
            By::Function => {
                const {
                    &[
                        BYTES,
                        SHARE,
                        text("function", Word::FunctionName),
                        text("place", Word::Place),
                        CATEGORY,
                        text("file", Word::FilePath),
                        COUNT,
                        LARGEST,
                    ]
                }
            }
            By::Category => {
                const {
                    &[
                        BYTES,
                        SHARE,
                        CATEGORY,
                        text("certainty", Word::HowSure),
                        text("why", Word::Why),
                        COUNT,
                        LARGEST,
                    ]
                }
            }
            By::Stream => const { &[BYTES, SHARE, text("stream", Word::Stream), COUNT, LARGEST] },
            By::Pool => const { &[BYTES, SHARE, text("pool", Word::Pool), COUNT, LARGEST] },
            By::Span => const { &[BYTES, SHARE, text("segment", Word::Name), COUNT, LARGEST] },
        }
    }

    fn len(&self) -> usize {
        self.groups.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(g) = self.groups.get(row) else {
            return BLANK;
        };
        let names = &self.names;
        let frame = match g.key {
            Key::Line(frame) | Key::Function(frame) => frame,
            _ => None,
        };
        let name = || Cell::Text(names.key(g.key, lang).into());
        let function = || known(frame.map(|f| names.function(f)));
        match (self.what(column), self.by, g.key) {
            (0, ..) => Cell::Bytes(Some(g.bytes)),
            (1, ..) => Cell::Share(Some(g.share)),
            (2, ..) => number(g.count),
            (3, ..) => Cell::Bytes(Some(names.analysis().replay.allocations.size(g.largest))),
            (4, By::Function, _) if frame.is_some() => function(),
            (4, ..) => name(),
            (5, _, Key::Stack(stack)) => known(names.innermost(stack).map(Into::into)),
            (7, _, Key::Stack(stack)) => {
                known(stack.map(|s| names.analysis().name(Named::Stack(s)).into()))
            }
            (5, By::Line, _) => function(),
            (5, By::Function, _) => known(frame.map(|f| names.place(f).into())),
            (6, By::Stack | By::Line | By::Function, _) => {
                said(category_word(g.main_category()), lang)
            }
            (7, By::Line | By::Function, _) => {
                known(frame.and_then(|f| names.path(f)).map(Into::into))
            }
            (5, _, Key::Category(_, certainty)) => said(certainty_word(certainty), lang),
            (6, _, Key::Category(category, certainty)) => said(evidence(category, certainty), lang),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let own = self
            .groups
            .get(row)
            .map(|g| group_pick(self.names.analysis(), g));
        let picked = self.picked.filter(|p| p.0 == row).map(|p| p.1);
        Subject {
            pick: picked.or(own),
            ..Subject::default()
        }
    }

    fn total(&self, column: usize) -> Option<Cell<'static>> {
        let (bytes, count) = total(&self.groups);
        Some(match self.what(column) {
            0 => Cell::Bytes(Some(bytes)),
            1 => Cell::Share((bytes > 0).then_some(1.0)),
            2 => number(count),
            _ => BLANK,
        })
    }
}
