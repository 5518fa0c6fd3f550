//! Answers from a memory snapshot.
//!
//! [`replay::replay`] plays the history of a device; everything else asks its result. A set of
//! allocations is a list of [`allocations::AllocationId`]: what [`live::LiveIndex`] gives for an
//! event, and what [`group::group`] and [`flame::flame`] take.
//!
//! ```
//! use report::analyze::snapshot::{live::LiveIndex, replay::replay};
//!
//! let json = br#"{"segments": [], "device_traces": [[
//!     {"action": "segment_alloc", "addr": 4096, "size": 2097152, "stream": 0},
//!     {"action": "alloc", "addr": 4096, "size": 1000, "stream": 0}]]}"#;
//! let rank = report::read::snapshot::read_json("snapshot.json", &json[..])?;
//! let snapshot = rank.snapshot.as_ref().unwrap();
//! let replay = replay(snapshot, snapshot.main_device().unwrap());
//! let peak = replay.peak_requested();
//! assert_eq!(peak.bytes, 1000);
//! assert_eq!(LiveIndex::of(&replay).after(&replay, peak.event.unwrap()).len(), 1);
//! # Ok::<(), report::Error>(())
//! ```

pub mod align;
pub mod allocations;
pub mod analysis;
mod before;
pub mod categories;
mod check;
pub mod entries;
pub mod figures;
pub mod findings;
pub mod flame;
pub mod group;
pub mod instant;
mod inventory;
pub mod lifetimes;
pub mod lines;
pub mod live;
pub mod missing;
pub mod moment;
pub mod nested;
pub mod pages;
pub mod replay;
mod rounding;
pub mod sites;
pub mod spans;
pub mod state;
pub mod steps;

pub use analysis::Analysis;
pub use instant::{Instant, Named};
