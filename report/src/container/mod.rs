//! The packed form: what an HTML report carries and what `.memscope` files hold.
//!
//! ```text
//! offset  size  what
//!      0     8  magic "MEMSCOPE"
//!      8     4  format version, little-endian u32
//!     12     4  length H of the header, little-endian u32
//!     16     4  CRC-32 (IEEE) of the header
//!     20     4  zero
//!     24     H  header: JSON, see [`Header`]
//!   24+H     .  slabs: one compressed column each, at the offsets that the header gives
//! ```
//!
//! The header comes first and is small: headline figures, facts and a directory of columns, so a
//! reader can answer before it touches a slab. Every slab has its own CRC-32 and is compressed by
//! itself (raw deflate, or stored where that is smaller), so a reader decodes what it needs. The
//! same tables give the same bytes.

mod column;
mod decode;
mod encode;
mod header;
#[cfg(feature = "snapshot")]
mod snapshot;
mod varint;

pub use decode::Container;
pub use encode::{Level, pack};
pub use header::{Coding, ColumnEntry, Header, Headline, RankEntry};
#[cfg(feature = "snapshot")]
pub use snapshot::SnapshotEntry;

/// First bytes of a container.
pub const MAGIC: &[u8; 8] = b"MEMSCOPE";
/// The format version that this build writes, and the newest that it reads.
pub const VERSION: u32 = 1;
/// The slab that holds what a recorder of MemScope knows, as JSON.
const RECORDING: &str = "recording";
/// Bytes before the header.
const PREFIX: usize = 24;
