//! How the caching allocator rounds requests and splits blocks.
//!
//! As in `CUDACachingAllocator.cpp`: requests are rounded to 512 bytes (or to a part of a power of
//! two, where the settings say so); a block is split when enough is left over, else the request
//! gets it whole.

use crate::model::{Metadata, Value};

/// The smallest block, and what sizes are rounded to, bytes.
const MIN_BLOCK: u64 = 512;
/// The largest request that the small pool serves, bytes.
const SMALL_SIZE: u64 = 1 << 20;
/// Size of a segment of the small pool, bytes.
pub(super) const SMALL_BUFFER: u64 = 2 << 20;
/// Pages of expandable segments of the large pool, bytes; those of the small pool have
/// [`SMALL_BUFFER`].
pub(super) const LARGE_PAGE: u64 = 20 << 20;

/// The settings that decide.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rounding {
    expandable: bool,
    /// `max_split_size`, bytes; blocks from here on are not split.
    max_split: u64,
    /// `roundup_power2_divisions` by the power of two from 1 MiB to 32 GiB; 0 and 1 are none.
    divisions: [u64; 16],
}

impl Rounding {
    pub(super) fn of(settings: &Metadata) -> Self {
        let mut divisions = [0; 16];
        if let Some(Value::Json(text)) = settings.get("roundup_power2_divisions")
            && let Ok(serde_json::Value::Object(map)) = serde_json::from_str(text)
        {
            for (i, slot) in divisions.iter_mut().enumerate() {
                let value = map.get(&(1u64 << i).to_string());
                *slot = value.and_then(serde_json::Value::as_u64).unwrap_or(0);
            }
        }
        Self {
            expandable: settings.get("expandable_segments") == Some(&Value::Bool(true)),
            max_split: settings
                .integer("max_split_size")
                .and_then(|v| u64::try_from(v).ok())
                .unwrap_or(u64::MAX),
            divisions,
        }
    }

    /// The size of the block that a request needs at least.
    pub(super) fn round(&self, size: u64) -> u64 {
        if size < MIN_BLOCK {
            return MIN_BLOCK;
        }
        let log = size.ilog2().saturating_sub(20).min(15) as usize;
        let divisions = self.divisions.get(log).copied().unwrap_or(0);
        if divisions > 1 && size > MIN_BLOCK.saturating_mul(divisions) {
            let floor = 1u64 << size.ilog2();
            let step = (floor / divisions).max(1);
            return size.checked_next_multiple_of(step).unwrap_or(size);
        }
        size.checked_next_multiple_of(MIN_BLOCK).unwrap_or(size)
    }

    /// The size of the block that serves a request out of a free block of `free` bytes.
    pub(super) fn block(&self, size: u64, free: u64, small: bool) -> u64 {
        let rounded = self.round(size);
        let Some(left) = free.checked_sub(rounded) else {
            return rounded;
        };
        let split = if small || self.expandable {
            left >= MIN_BLOCK
        } else {
            rounded < self.max_split && left > SMALL_SIZE
        };
        if split { rounded } else { free }
    }
}
