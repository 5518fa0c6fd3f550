//! How figures look to people. The command and the page both use this crate, so that a terminal,
//! a Markdown file, the static part of a page and its live part say the same thing.
//!
//! * [`units`], [`visible`]: one formatter for sizes, one for text of strangers.
//! * [`words`], [`sentences`]: everything that is said, in English and Chinese.
//! * [`rows`], [`export`]: tables and what they are written as.
//! * [`chart`]: drawing with plotters, on any of its backends.
//! * `verbs`, `parquet` (feature `snapshot`): what the command answers about memory snapshots.
//! * `names`, `said`: frames, groups and findings of memory snapshots (feature `snapshot`).
//! * [`compare`]: two recordings side by side.
//! * [`page`]: the static part of an HTML report. [`text`]: the summary as text or Markdown.
//!
//! Nothing here adds up bytes: every figure comes from [`report::analyze`].

#[cfg(feature = "snapshot")]
pub mod allocator;
#[cfg(feature = "snapshot")]
pub mod brief;
pub mod chart;
#[cfg(feature = "snapshot")]
pub mod compare;
pub mod export;
#[cfg(feature = "snapshot")]
pub mod names;
pub mod page;
#[cfg(feature = "snapshot")]
pub mod parquet;
pub mod rows;
#[cfg(feature = "snapshot")]
pub mod said;
pub mod sentences;
pub mod text;
pub mod units;
#[cfg(feature = "snapshot")]
pub mod verbs;
pub mod visible;
pub mod words;

pub use words::{Lang, Word};
