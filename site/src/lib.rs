//! The `memscope` command, as a library so that tests can call its parts.
//!
//! * [`run`]: the command with its arguments; the binary is one line around it.
//! * [`input`]: finding, naming and reading what is given.
//! * [`output`]: files that are whole or not there.
//! * [`pack`]: the one HTML file.
//! * [`watch`]: running ranks.
//!
//! Figures come from `report`, words from `present`; this crate opens files and writes them.

mod cli;
pub mod input;
pub mod output;
pub mod pack;
pub mod progress;
pub mod watch;

pub use cli::run;
