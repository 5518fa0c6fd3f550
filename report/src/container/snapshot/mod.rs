//! Memory snapshots in a container.
//!
//! Columns are called `snapshot.TABLE.COLUMN`. A training loop uses few addresses, sizes and
//! stacks again and again, and a free repeats what its allocation said, so the columns of the
//! history hold small numbers that mostly repeat from step to step:
//!
//! * `address`: 0 for the address of the row above, else 1 + its place in `addresses`;
//! * `size`, `stack`, `stream`, `pool`: 0 for what the last event at the same address had;
//! * `time`: 0 for none, else 1 + the zigzag difference to the last known, in `time_unit` ns;
//! * `total_allocated`, `total_reserved`: only where the source states them;
//! * `compile_context`, `user_metadata`: 0 for what the row above had, else 1 + the string.

mod history;
mod open;
mod pack;

pub(super) use pack::slabs;

use serde::{Deserialize, Serialize};

use crate::model::Metadata;
use crate::model::snapshot::{DeviceTrace, PoolId};

/// What the header holds of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SnapshotEntry {
    /// Number of events over all devices.
    pub events: u64,
    /// Which events belong to which device.
    pub devices: Vec<DeviceTrace>,
    /// Stream handles.
    pub streams: Vec<u64>,
    /// Memory pools.
    pub pools: Vec<PoolId>,
    /// The allocator's settings.
    pub settings: Metadata,
    /// Nanoseconds in a unit of the `time` columns.
    pub time_unit: u64,
}

/// What the last event at an address had.
#[derive(Clone, Copy)]
struct Last {
    size: u64,
    stack: u32,
    stream: u16,
    pool: u32,
}

impl Default for Last {
    fn default() -> Self {
        Self {
            size: 0,
            stack: u32::MAX,
            stream: 0,
            pool: u32::MAX,
        }
    }
}
