//! [`Table`].

use super::super::rows::{BLANK, Cell, Column, Rows};
use crate::words::Lang;

/// A small table whose cells are there already.
#[derive(Debug)]
pub struct Table {
    name: &'static str,
    columns: &'static [Column],
    rows: Vec<Vec<Cell<'static>>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(name: &'static str, columns: &'static [Column]) -> Self {
        Self {
            name,
            columns,
            rows: Vec::new(),
        }
    }

    /// Appends a row; it has one cell a column.
    pub(super) fn push(&mut self, row: Vec<Cell<'static>>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }
}

impl Rows for Table {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let cell = self.rows.get(row).and_then(|r| r.get(column));
        cell.cloned().unwrap_or(BLANK)
    }
}

/// A text cell.
pub(super) fn text(text: impl Into<String>) -> Cell<'static> {
    Cell::Text(text.into().into())
}

/// A size, bytes.
pub(super) fn size(bytes: u64) -> Cell<'static> {
    Cell::Bytes(Some(bytes))
}

/// A number.
pub(super) fn number(n: u64) -> Cell<'static> {
    Cell::Count(i64::try_from(n).ok())
}
