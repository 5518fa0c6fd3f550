//! A forked child must not write to its parent's journal.

#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// How often this process is the child of a fork since [`watch`] was first called.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Has forks counted from now on.
pub(crate) fn watch() {
    WATCH.call_once(|| {
        // SAFETY: the handler only adds to an atomic, which is allowed between fork and exec; it is
        // a plain function of this library, which a recording process does not unload.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        if failed != 0 {
            eprintln!("memscope: forks cannot be watched (error {failed}): a forked child may write to this journal");
        }
    });
}
