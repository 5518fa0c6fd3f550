//! MemScope's recorder: what a program does with GPU memory, step by step, in a journal that survives
//! a crash.
//!
//! ```
//! # fn main() -> Result<(), memscope::Error> {
//! # let folder = std::env::temp_dir().join(format!("memscope-doc-{}", std::process::id()));
//! let recorder = memscope::Recorder::builder().directory(&folder).start()?;
//! for _ in 0..3 {
//!     let _step = recorder.step();
//!     let _forward = recorder.phase("forward");
//! }
//! recorder.finish();
//! # std::fs::remove_dir_all(folder).ok();
//! # Ok(())
//! # }
//! ```
//!
//! `memscope finalize DIR` makes reports of it, `memscope render DIR` opens it as it is. The journal's
//! records are described in `docs/journal.md`.
//!
//! Recording never fails a program: what cannot be written is counted and said once on stderr.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod c;
pub mod device;
mod error;
mod figures;
mod fork;
#[cfg(target_os = "linux")]
mod inject;
pub mod journal;
pub mod peaks;
pub mod place;
pub mod recorder;
pub mod records;

pub use error::Error;
pub use figures::Figures;
pub use recorder::Recorder;
