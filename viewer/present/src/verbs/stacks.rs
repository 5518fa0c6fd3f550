//! [`StackRows`]: the frames behind the names of stacks.

use report::analyze::snapshot::{Analysis, Named};
use report::model::snapshot::StackId;

use super::{file_line, function, whole_stack};
use crate::rows::{BLANK, Cell, Column, Pick, Rows, Subject, text};
use crate::words::{Lang, Word};

/// Every distinct stack: other tables name them only.
#[derive(Debug)]
pub struct StackRows<'a>(pub &'a Analysis);

impl Rows for StackRows<'_> {
    fn name(&self) -> &'static str {
        "stacks"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("stack", Word::StackHead),
                text("line", Word::LineHead),
                text("function", Word::FunctionHead),
                text("frames", Word::FramesHead),
            ]
        }
    }

    fn len(&self) -> usize {
        self.0.snapshot().stacks.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let a = self.0;
        let stack = StackId(row as u32);
        let site = a.sites().place(stack);
        let words = |t: Option<String>| Cell::Text(t.unwrap_or_default().into());
        match column {
            0 => words(Some(a.name(Named::Stack(stack)))),
            1 => words(site.map(|f| file_line(a, f, true))),
            2 => words(site.map(|f| function(a, f))),
            3 => words(Some(whole_stack(a, stack).join(";"))),
            _ => BLANK,
        }
    }

    fn subject(&self, row: usize) -> Subject {
        Subject {
            pick: Some(Pick::Stack(row as u32)),
            ..Subject::default()
        }
    }
}
