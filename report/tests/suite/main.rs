//! What this crate promises, checked from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

mod analyze;
mod bodies;
mod container;
mod diff;
mod hostile;
#[cfg(feature = "snapshot")]
mod journal;
mod messages;
mod mutation;
mod properties;
mod random;
mod runtime_report;
#[cfg(feature = "snapshot")]
mod snapshot;
mod support;
