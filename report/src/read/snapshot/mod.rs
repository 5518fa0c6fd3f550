//! PyTorch memory snapshots: `torch.cuda.memory._dump_snapshot()` by Python or C++, the bare list
//! of `torch.cuda.memory.memory_snapshot()`, and JSON dumps of either.
//!
//! Fields of torch 2.0 to 2.15 are read by name, in whatever order they come; unknown ones are
//! counted in [`Skipped`](crate::model::Skipped). Rows of the same microsecond keep their order.

mod budget;
pub(crate) mod builder;
mod finish;
pub(crate) mod intern;
mod json;
pub(crate) mod keys;
pub(crate) mod rows;

use std::io::Read;

use crate::error::Result;
use crate::model::Rank;

/// The name of this format in [`Source::format`](crate::model::Source::format).
pub const FORMAT: &str = "PyTorch memory snapshot";

/// Reads a pickled snapshot. `name` is used in messages and as the source's name.
///
/// # Errors
/// [`crate::Error::Malformed`] with the byte offset, or [`crate::Error::Io`] from `source`.
pub fn read_pickle(name: &str, source: impl Read) -> Result<Rank> {
    super::pickle::read(name, source, None)
}

/// Reads a snapshot that was dumped as JSON.
///
/// # Errors
/// As [`read_pickle`].
pub fn read_json(name: &str, source: impl Read) -> Result<Rank> {
    json::read(name, source)
}
