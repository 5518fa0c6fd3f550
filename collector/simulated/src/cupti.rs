//! CUPTI's callbacks.

use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::sync::{PoisonError, RwLock};

use crate::cuda::current;

/// `CUpti_CallbackFunc`
type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);

const TAKEN: u32 = 39;
const HANDLE: usize = 0x5b5c;

static SUBSCRIBER: RwLock<Option<Subscriber>> = RwLock::new(None);

struct Subscriber {
    callback: Callback,
    enabled: HashSet<(u32, u32)>,
}

/// `CUpti_CallbackData`
#[repr(C)]
struct Data {
    site: u32,
    function: *const c_char,
    params: *const c_void,
    result: *const u32,
    symbol: *const c_char,
    context: u64,
    context_uid: u32,
    correlation_data: *mut u64,
    correlation: u32,
}

/// `CUpti_ResourceData`
#[repr(C)]
struct Resource {
    context: u64,
    resource: u64,
    descriptor: *const c_void,
}

fn enabled(domain: u32, cbid: u32) -> Option<Callback> {
    let subscriber = SUBSCRIBER.read().unwrap_or_else(PoisonError::into_inner);
    let subscriber = subscriber.as_ref()?;
    subscriber
        .enabled
        .contains(&(domain, cbid))
        .then_some(subscriber.callback)
}

/// Runs a call of the driver, and tells of it before and after.
pub(crate) fn called<P>(cbid: u32, name: &str, params: &P, run: impl FnOnce() -> u32) -> u32 {
    let Some(callback) = enabled(1, cbid) else {
        return run();
    };
    let mut correlation = 0;
    let mut data = Data {
        site: 0,
        function: name.as_ptr().cast(),
        params: (&raw const *params).cast(),
        result: std::ptr::null(),
        symbol: std::ptr::null(),
        context: current(),
        context_uid: 1,
        correlation_data: &raw mut correlation,
        correlation: 1,
    };
    // SAFETY: the subscriber takes this struct in this domain.
    unsafe { callback(std::ptr::null_mut(), 1, cbid, (&raw const data).cast()) };
    let rc = run();
    data.site = 1;
    data.result = &raw const rc;
    data.context = current();
    // SAFETY: as above.
    unsafe { callback(std::ptr::null_mut(), 1, cbid, (&raw const data).cast()) };
    rc
}

/// Tells that a context is about to go.
pub(crate) fn context_ends(context: u64) {
    if let Some(callback) = enabled(3, 2) {
        let data = Resource {
            context,
            resource: 0,
            descriptor: std::ptr::null(),
        };
        // SAFETY: the subscriber takes this struct in this domain.
        unsafe { callback(std::ptr::null_mut(), 3, 2, (&raw const data).cast()) };
    }
}

/// `CUpti_SubscriberParams`
#[repr(C)]
#[derive(Debug)]
pub struct Params {
    size: usize,
    name: *const c_char,
    old: *mut c_char,
    old_size: usize,
}

/// As `cupti_callbacks.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSubscribe_v2(
    subscriber: *mut usize,
    callback: Callback,
    _data: *mut c_void,
    params: *mut Params,
) -> u32 {
    if let Ok(holder) = std::env::var("SIMULATED_HOLDER") {
        // SAFETY: the caller gave room for a name.
        unsafe {
            let room = (*params).old_size.saturating_sub(1).min(holder.len());
            std::ptr::copy_nonoverlapping(holder.as_ptr().cast(), (*params).old, room);
            *(*params).old.add(room) = 0;
        }
        return TAKEN;
    }
    *SUBSCRIBER.write().unwrap_or_else(PoisonError::into_inner) = Some(Subscriber {
        callback,
        enabled: HashSet::new(),
    });
    // SAFETY: the caller gave room for a handle.
    unsafe { *subscriber = HANDLE };
    0
}

/// As `cupti_callbacks.h` says.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiEnableCallback(
    enable: u32,
    subscriber: usize,
    domain: u32,
    cbid: u32,
) -> u32 {
    let mut held = SUBSCRIBER.write().unwrap_or_else(PoisonError::into_inner);
    let Some(held) = held.as_mut().filter(|_| subscriber == HANDLE) else {
        return 1;
    };
    if enable == 0 {
        held.enabled.remove(&(domain, cbid));
    } else {
        held.enabled.insert((domain, cbid));
    }
    0
}

/// As `cupti_version.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetVersion(version: *mut u32) -> u32 {
    // SAFETY: the caller gave room for a number.
    unsafe { *version = 130_000 };
    0
}

/// As `cupti_callbacks.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetDeviceId(_context: u64, device: *mut u32) -> u32 {
    // SAFETY: the caller gave room for a number.
    unsafe { *device = 0 };
    0
}
