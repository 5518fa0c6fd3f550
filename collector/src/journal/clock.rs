//! The two clocks of a journal.

use rustix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, ns: what records are stamped with.
#[must_use]
pub fn monotonic() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// `CLOCK_REALTIME`, ns since 1970: what puts journals of several hosts on one axis.
#[must_use]
pub fn realtime() -> u64 {
    nanoseconds(ClockId::Realtime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
