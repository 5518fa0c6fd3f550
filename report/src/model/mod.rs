//! The tables: columns, not rows of objects.
//!
//! Strings are interned ([`StringTable`]), ids are newtypes, bytes are `u64`, and an absent figure
//! is `None`. Mixing ids of two [`Rank`]s is a logic error: it yields wrong names, not a panic.

mod events;
mod figures;
mod metadata;
mod rank;
#[cfg(feature = "snapshot")]
pub mod recording;
mod series;
mod skipped;
pub mod snapshot;
mod strings;
mod tensors;

pub use events::{Event, EventRow, Events, Figure};
pub use figures::{Bytes, Deltas};
pub use metadata::{Metadata, Value};
pub use rank::{Rank, RecordedPeak, Report, Source};
pub use series::{Series, SeriesCategory};
pub use skipped::{Skip, Skipped};
pub use strings::{Interner, StringId, StringTable};
pub use tensors::{Tensor, TensorId, TensorInterner, TensorListId, Tensors};
