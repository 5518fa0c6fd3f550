//! Memory figures at one moment.

/// What is known of memory at one moment. All in bytes but for the counts; `None` is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Bytes that live tensors (or buffers) hold, as the allocator counts them.
    pub allocated: Option<u64>,
    /// Bytes that the allocator holds of the device.
    pub reserved: Option<u64>,
    /// Bytes in active blocks: allocated, and freed but still in use by a stream.
    pub active: Option<u64>,
    /// Bytes that the program asked for, before rounding.
    pub requested: Option<u64>,
    /// High-water mark of `allocated` since the allocator's mark was reset.
    pub max_allocated: Option<u64>,
    /// High-water mark of `reserved` since the allocator's mark was reset.
    pub max_reserved: Option<u64>,
    /// Bytes in use on the whole device, by all processes.
    pub device_used: Option<u64>,
    /// Bytes that the device has.
    pub device_total: Option<u64>,
    /// Bytes that this process uses on the device, as the driver says.
    pub process_used: Option<u64>,
    /// How often the allocator freed its cache and tried again.
    pub retries: Option<u64>,
    /// How many requests failed.
    pub ooms: Option<u64>,
}
