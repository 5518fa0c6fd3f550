//! Tables of a memory snapshot.

mod allocations;
mod entries;
mod flame;
mod groups;
mod lifetimes;
mod lines;

pub use allocations::AllocationRows;
pub use entries::EntryTable;
pub use flame::FlameRows;
pub use groups::{GroupRows, group_pick};
pub use lifetimes::{BriefRows, PendingRows, SurvivorRows};
pub use lines::LineRows;

use std::borrow::Cow;

use super::Cell;
use crate::words::{Lang, Word};

/// A text that is not there is a dash.
fn known(text: Option<Cow<'_, str>>) -> Cell<'_> {
    Cell::Text(text.unwrap_or(Cow::Borrowed("–")))
}

fn said(word: Word, lang: Lang) -> Cell<'static> {
    Cell::Text(word.text(lang).into())
}

fn number(n: u64) -> Cell<'static> {
    Cell::Count(i64::try_from(n).ok())
}
