//! [`FactRows`], [`SkippedRows`], [`PartRows`].

use report::model::{Metadata, Skip};

use super::{BLANK, Cell, Column, Rows, figure, text};
use crate::words::{Lang, Word};

/// Key-value facts.
#[derive(Debug)]
pub struct FactRows {
    name: &'static str,
    facts: Vec<(String, String)>,
}

impl FactRows {
    /// All facts of a table, under its name in exports.
    #[must_use]
    pub fn new(name: &'static str, facts: &Metadata) -> Self {
        let facts = facts
            .iter()
            .map(|(k, v)| (k.to_owned(), v.text()))
            .collect();
        Self { name, facts }
    }

    /// Facts made by the caller.
    #[must_use]
    pub fn of(name: &'static str, facts: Vec<(String, String)>) -> Self {
        Self { name, facts }
    }
}

impl Rows for FactRows {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> &'static [Column] {
        const { &[text("field", Word::Key), text("value", Word::Value)] }
    }

    fn len(&self) -> usize {
        self.facts.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        match (self.facts.get(row), column) {
            (Some((key, _)), 0) => Cell::Text(key.as_str().into()),
            (Some((_, value)), 1) => Cell::Text(value.as_str().into()),
            _ => BLANK,
        }
    }
}

/// What a reader could not use.
#[derive(Debug)]
pub struct SkippedRows(pub Vec<Skip>);

impl Rows for SkippedRows {
    fn name(&self) -> &'static str {
        "skipped"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("what", Word::What),
                figure("count", Word::Times),
                figure("first_offset", Word::FirstOffset),
            ]
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize, _: Lang) -> Cell<'_> {
        let Some(s) = self.0.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(s.what.as_str().into()),
            1 => Cell::Count(i64::try_from(s.count).ok()),
            2 => Cell::Count(i64::try_from(s.first_offset).ok()),
            _ => BLANK,
        }
    }
}

/// The parts of an HTML file and their sizes.
#[derive(Debug)]
pub struct PartRows(pub Vec<(Word, u64)>);

impl Rows for PartRows {
    fn name(&self) -> &'static str {
        "file_parts"
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                text("part", Word::Part),
                figure("bytes", Word::Size),
                figure("exact", Word::Bytes),
            ]
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize, lang: Lang) -> Cell<'_> {
        let Some(&(word, bytes)) = self.0.get(row) else {
            return BLANK;
        };
        match column {
            0 => Cell::Text(word.text(lang).into()),
            1 => Cell::Bytes(Some(bytes)),
            2 => Cell::Count(i64::try_from(bytes).ok()),
            _ => BLANK,
        }
    }
}
