//! [`ModuleRows`].

use std::sync::Arc;

use report::analyze::modules::{ModuleId, Modules};

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// Modules, all or some, as a tree (figures rolled up, last segment as the name) or flat (figures
/// of the module's own events, whole path as the name).
#[derive(Debug)]
pub struct ModuleRows {
    modules: Arc<Modules>,
    /// The modules shown.
    pub shown: Vec<ModuleId>,
    flat: bool,
}

impl ModuleRows {
    /// Every module that has events of its own, by path.
    #[must_use]
    pub fn flat(modules: Arc<Modules>) -> Self {
        let shown = (0..modules.rows.len() as u32)
            .map(ModuleId)
            .filter(|&id| modules.get(id).is_some_and(|m| m.own.count > 0))
            .collect();
        Self {
            modules,
            shown,
            flat: true,
        }
    }

    /// These modules of the tree.
    #[must_use]
    pub fn tree(modules: Arc<Modules>, shown: Vec<ModuleId>) -> Self {
        Self {
            modules,
            shown,
            flat: false,
        }
    }

    /// The `most` modules whose own calls added most, by path, for where a tree cannot be opened.
    #[must_use]
    pub fn first(modules: Arc<Modules>, most: usize) -> Self {
        let mut out = Self::flat(modules);
        let modules = Arc::clone(&out.modules);
        out.shown
            .sort_by_key(|&id| std::cmp::Reverse(modules.get(id).and_then(|m| m.own.total_delta)));
        out.shown.truncate(most);
        out
    }

    /// The module of a row.
    #[must_use]
    pub fn id(&self, row: usize) -> Option<ModuleId> {
        self.shown.get(row).copied()
    }
}

impl Rows for ModuleRows {
    fn name(&self) -> &'static str {
        if self.flat { "modules" } else { "module_tree" }
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("module", Word::Module),
                figure("count", Word::Count),
                figure("max_allocated", Word::MaxAllocatedAfter),
                figure("max_delta", Word::MaxDelta),
                figure("total_delta", Word::TotalDelta),
                figure("share", Word::Share),
                figure("output_bytes", Word::OutputBytes),
                figure("grad_bytes", Word::GradBytes),
                figure("unpaired", Word::Unpaired),
            ]
        }
    }

    fn len(&self) -> usize {
        self.shown.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some((id, m)) = self
            .id(row)
            .and_then(|id| Some((id, self.modules.get(id)?)))
        else {
            return BLANK;
        };
        let f = if self.flat { &m.own } else { &m.rolled };
        match column {
            0 if self.flat => Cell::Text(self.modules.path(id).into()),
            0 => Cell::Text(m.name.as_str().into()),
            1 => Cell::Count(Some(f.count as i64)),
            2 => Cell::Bytes(f.max_allocated),
            3 => Cell::Delta(f.max_delta),
            4 => Cell::Delta(f.total_delta),
            5 => Cell::Share(
                f.total_delta
                    .filter(|_| self.modules.total_delta > 0)
                    .map(|d| d as f64 / self.modules.total_delta as f64),
            ),
            6 => Cell::Bytes(Some(f.output_bytes)),
            7 => Cell::Bytes(Some(f.grad_bytes)),
            8 => Cell::Count(Some(f.unpaired as i64)),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        let event = self
            .id(row)
            .and_then(|id| self.modules.get(id))
            .and_then(|m| m.event);
        Subject {
            event,
            node: self.id(row),
            ..Subject::default()
        }
    }
}
