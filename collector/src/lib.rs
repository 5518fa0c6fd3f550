//! MemScope's recorder: what a program does with GPU memory, step by step, in a journal that survives
//! a crash.
//!
//! `memscope finalize DIR` makes reports of it, `memscope render DIR` opens it as it is. The journal's
//! records are described in `docs/journal.md`.
//!
//! Recording never fails a program: what cannot be written is counted and said once on stderr.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod error;
mod figures;
mod fork;
pub mod journal;
pub mod place;
pub mod records;

pub use error::Error;
pub use figures::Figures;
