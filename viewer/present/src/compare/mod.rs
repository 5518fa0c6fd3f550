//! Two recordings side by side, for people: sentences, tables, drawings, and the whole as text,
//! Markdown and HTML.

mod sentences;
pub(crate) mod tables;
mod text;

use report::analyze::diff::Comparison;
#[cfg(feature = "snapshot")]
use report::analyze::diff::snapshot::LiveDiff;

pub use sentences::{headline, name, notes, readout, status_word};
#[cfg(feature = "snapshot")]
pub use tables::groups;
pub use tables::{DiffRows, figures, modules, parts, phases, steps};
pub use text::{Wanted, chart_svg, markdown, static_part, text};
#[cfg(feature = "snapshot")]
pub use text::{by_word, flame_svg};

/// A comparison with the instants that are looked at.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The two.
    pub comparison: Comparison,
    /// What lives at an instant of each; `None` unless both have a snapshot.
    #[cfg(feature = "snapshot")]
    pub live: Option<LiveDiff>,
}
