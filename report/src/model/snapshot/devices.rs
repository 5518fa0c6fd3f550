//! Devices, streams and pools: what tells memory apart.

use serde::{Deserialize, Serialize};

/// The ordinal of a device in its process, or the host.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Device(pub u32);

impl Device {
    /// Pinned host memory (`host_segments`, `host_traces`).
    pub const HOST: Self = Self(u32::MAX);

    /// Whether this is pinned host memory rather than a device.
    #[must_use]
    pub fn is_host(self) -> bool {
        self == Self::HOST
    }

    /// What links and options call it: its number, or `host`.
    #[must_use]
    pub fn word(self) -> String {
        if self.is_host() {
            "host".to_owned()
        } else {
            self.0.to_string()
        }
    }

    /// The inverse of [`Self::word`].
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        if word == "host" {
            return Some(Self::HOST);
        }
        word.parse().ok().map(Self).filter(|d| !d.is_host())
    }
}

/// Rows of the trace that belong to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceTrace {
    /// The device: its place in `device_traces`.
    pub device: Device,
    /// First row.
    pub start: u32,
    /// Row after the last.
    pub end: u32,
}

impl DeviceTrace {
    /// The rows.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A memory pool's id, both halves as the source writes them. `(0, 0)` is the default pool.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct PoolId(pub u64, pub u64);

impl PoolId {
    /// The pool of everything that is neither a CUDA graph's nor a `MemPool`'s.
    pub const DEFAULT: Self = Self(0, 0);
}

/// Index into [`Snapshot::pools`](super::Snapshot::pools).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PoolIndex(pub u32);

/// Index into [`Snapshot::streams`](super::Snapshot::streams).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamIndex(pub u16);
