//! [`TensorRows`].

use std::sync::Arc;

use report::analyze::tensors::{Role, TensorUse, tensors};
use report::model::Rank;

use super::{BLANK, Cell, Column, Rows, Subject, figure, text};
use crate::words::{Lang, Word};

/// Tensors that events named, largest first, one row for the same description at the same module.
#[derive(Debug)]
pub struct TensorRows {
    rank: Arc<Rank>,
    /// The figures.
    pub uses: Vec<TensorUse>,
}

impl TensorRows {
    /// Asks the analysis.
    #[must_use]
    pub fn new(rank: Arc<Rank>) -> Self {
        Self {
            uses: tensors(&rank),
            rank,
        }
    }

    /// Keeps only the rows that `keep` accepts.
    #[must_use]
    pub fn filtered(
        rank: Arc<Rank>,
        uses: &[TensorUse],
        keep: impl Fn(&TensorUse) -> bool,
    ) -> Self {
        Self {
            uses: uses.iter().copied().filter(keep).collect(),
            rank,
        }
    }
}

/// The word for a role.
#[must_use]
pub fn role(role: Role) -> Word {
    match role {
        Role::Input => Word::Input,
        Role::Output => Word::Output,
        Role::Gradient => Word::Gradient,
    }
}

impl Rows for TensorRows {
    fn name(&self) -> &'static str {
        "tensors"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                figure("bytes", Word::Size),
                text("role", Word::Role),
                text("module", Word::Module),
                text("shape", Word::Shape),
                text("dtype", Word::Dtype),
                text("device", Word::Device),
                text("requires_grad", Word::RequiresGrad),
                figure("times", Word::Times),
                text("name", Word::Name),
            ]
        }
    }

    fn len(&self) -> usize {
        self.uses.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(u) = self.uses.get(row) else {
            return BLANK;
        };
        let Some(t) = self.rank.tensors.get(u.tensor) else {
            return BLANK;
        };
        let string = |id| Cell::Text(self.rank.strings.get(id).into());
        match column {
            0 => Cell::Bytes(u.bytes),
            1 => Cell::Text(role(u.role).text(lang).into()),
            2 => string(u.module),
            3 => {
                let dims: Vec<String> = t.shape.iter().map(i64::to_string).collect();
                Cell::Text(format!("[{}]", dims.join(", ")).into())
            }
            4 => string(t.dtype),
            5 => string(t.device),
            6 => Cell::Text(
                t.requires_grad
                    .map_or("–", |b| if b { "true" } else { "false" })
                    .into(),
            ),
            7 => Cell::Count(Some(u.count as i64)),
            8 => string(t.name),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        self.uses
            .get(row)
            .map_or_else(Subject::default, |u| Subject {
                event: Some(u.event),
                module: Some(u.module),
                ..Subject::default()
            })
    }
}
