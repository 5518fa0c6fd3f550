//! The heart of MemScope: **bytes in, tables in between, answers out**.
//!
//! ```
//! use report::read::{Input, read};
//!
//! let json = br#"{"runtime_trace": [{"event_type": "step", "module": "train_step",
//!     "phase": "step_start", "step": 0, "mem_allocated_after": 4096, "max_mem_allocated": 8192}]}"#;
//! let report = read(Input { name: "runtime_report.json", bytes: &json[..] })?;
//! let peak = report::analyze::peak::peak(&report.ranks[0]);
//! assert_eq!(peak.allocated.map(|p| p.bytes), Some(8192));
//! # Ok::<(), report::Error>(())
//! ```
//!
//! # Rooms
//!
//! * [`model`]: the tables, one a file. Columns, interned strings, newtype ids.
//! * [`read`]: one source format a file; each turns bytes into a [`model::Rank`].
//! * `write`: tables as `runtime_report.json` (feature `snapshot`).
//! * [`container`]: the packed form that an HTML report carries, and back.
//! * [`mod@merge`]: several inputs of one rank become one.
//! * [`mod@pause`]: long work in pieces, for a page that must not freeze.
//! * [`analyze`]: one question a file; each turns tables into an answer.
//!
//! # Design constraints
//!
//! * **Pure.** No files, clocks, threads, CUDA or web: the same code runs in the `memscope`
//!   command and, compiled to WASM, in the page. Readers take [`std::io::Read`] or bytes; who
//!   opens the file is the caller's matter.
//! * **A figure is computed once.** Text, Markdown, JSON and the page call the functions of
//!   [`analyze`]; nothing else adds up bytes.
//! * **Unknown is unknown.** A figure that the input lacks is `None`, never 0, and what a reader
//!   could not use is counted in [`model::Skipped`].
//! * **Units.** Sizes are bytes (`u64`), differences signed bytes (`i64`). Sums that could leave
//!   those ranges saturate and are wide (`i128`) on the way.
//! * **No figure of people's languages.** Sentences, units and colours live in `present`.

pub mod analyze;
pub mod container;
mod error;
pub mod merge;
pub mod model;
pub mod pause;
pub mod read;
#[cfg(feature = "snapshot")]
pub mod write;

pub use error::Error;
