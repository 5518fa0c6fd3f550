//! The field names of snapshots. Their ids in the string table are their numbers here.

/// Declares the names with a constant each; number 0 is the empty string.
macro_rules! keys {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        #[derive(Clone, Copy)]
        #[repr(u32)]
        enum Number { EMPTY = 0, $($name),* }
        $(pub(crate) const $name: u32 = Number::$name as u32;)*
        /// Every name in the order of the numbers, from 1.
        pub(super) const NAMES: &[&str] = &[$($text),*];
    };
}

keys! {
    ACTION = "action",
    ADDR = "addr",
    SIZE = "size",
    STREAM = "stream",
    TIME_US = "time_us",
    COMPILE_CONTEXT = "compile_context",
    USER_METADATA = "user_metadata",
    FRAMES = "frames",
    POOL_ID = "pool_id",
    DEVICE_FREE = "device_free",
    FORWARD_FRAMES = "forward_frames",
    INTERNAL_METADATA = "internal_metadata",
    CATEGORY = "category",
    NAME = "name",
    FILENAME = "filename",
    LINE = "line",
    FX_NODE_OP = "fx_node_op",
    FX_NODE_NAME = "fx_node_name",
    FX_NODE_TARGET = "fx_node_target",
    FX_ORIGINAL_TRACE = "fx_original_trace",
    ADDRESS = "address",
    REQUESTED_SIZE = "requested_size",
    STATE = "state",
    HISTORY = "history",
    REAL_SIZE = "real_size",
    DEVICE = "device",
    TOTAL_SIZE = "total_size",
    ALLOCATED_SIZE = "allocated_size",
    ACTIVE_SIZE = "active_size",
    SEGMENT_TYPE = "segment_type",
    SEGMENT_POOL_ID = "segment_pool_id",
    IS_EXPANDABLE = "is_expandable",
    BLOCKS = "blocks",
    ALLOCATED = "allocated",
    ACTIVE = "active",
    OWNER_POOL = "owner_private_pool_id",
    CONTEXT = "context_when_allocated",
    STAGE = "stage",
    SEGMENTS = "segments",
    DEVICE_TRACES = "device_traces",
    ALLOCATOR_SETTINGS = "allocator_settings",
    EXTERNAL_ANNOTATIONS = "external_annotations",
    HOST_SEGMENTS = "host_segments",
    HOST_TRACES = "host_traces",
    ALLOC = "alloc",
    FREE_REQUESTED = "free_requested",
    FREE_COMPLETED = "free_completed",
    SEGMENT_ALLOC = "segment_alloc",
    SEGMENT_FREE = "segment_free",
    SEGMENT_MAP = "segment_map",
    SEGMENT_UNMAP = "segment_unmap",
    OOM = "oom",
    SNAPSHOT = "snapshot",
    ANNOTATE = "annotate",
    USER_DEFINED = "user_defined",
    FREE = "free",
    ACTIVE_ALLOCATED = "active_allocated",
    ACTIVE_PENDING_FREE = "active_pending_free",
    ACTIVE_AWAITING_FREE = "active_awaiting_free",
    INACTIVE = "inactive",
    SMALL = "small",
    LARGE = "large",
    START = "START",
    END = "END",
}
