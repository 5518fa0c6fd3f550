//! A pull reader for JSON as Python writes it, made for reports of a gigabyte.
//!
//! Why not `serde_json`: it refuses `NaN` and `Infinity` (which Python's `json` writes) and lone
//! surrogates, it says line and column but no byte offset, and a streamed `Deserializer` copies
//! every string. This one works on a sliding window, hands out borrowed strings, skips what nobody
//! asked for without recursion, and knows the offset of everything.

mod lexer;
mod number;
mod scan;
mod string;
mod value;

pub(crate) use lexer::Json;
pub(crate) use number::Number;
