//! CUPTI: where it is, and its subscription. Results are numbers: other versions have others.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

use super::calls::CALLS;
use super::dl::Library;
use crate::records::Status;

/// `CUpti_CallbackFunc`: user data, domain, number, data.
pub(super) type Callback = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);

/// `CUPTI_CB_DOMAIN_DRIVER_API`
pub(super) const DRIVER: u32 = 1;
/// `CUPTI_CB_DOMAIN_RESOURCE`
pub(super) const RESOURCE: u32 = 3;
/// `CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING`
pub(super) const CONTEXT_ENDS: u32 = 2;
/// `CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED`
const TAKEN: u32 = 39;

/// `CUpti_CallbackData`
#[repr(C)]
pub(super) struct CallbackData {
    /// 0 before the driver runs the call, 1 after.
    pub(super) site: u32,
    pub(super) function: *const c_char,
    pub(super) params: *const c_void,
    /// A `CUresult`, after.
    pub(super) result: *const u32,
    pub(super) symbol: *const c_char,
    pub(super) context: u64,
    pub(super) context_uid: u32,
    pub(super) correlation_data: *mut u64,
    pub(super) correlation: u32,
}

/// `CUpti_ResourceData`
#[repr(C)]
pub(super) struct ResourceData {
    pub(super) context: u64,
    resource: u64,
    descriptor: *const c_void,
}

/// `CUpti_SubscriberParams` as of CUDA 13.0; later fields are behind these.
#[repr(C)]
struct SubscriberParams {
    size: usize,
    name: *const c_char,
    old: *mut c_char,
    old_size: usize,
}

type Subscribe = unsafe extern "C" fn(*mut usize, Callback, *mut c_void) -> u32;
type Subscribe2 =
    unsafe extern "C" fn(*mut usize, Callback, *mut c_void, *mut SubscriberParams) -> u32;
type Enable = unsafe extern "C" fn(u32, usize, u32, u32) -> u32;
type Version = unsafe extern "C" fn(*mut u32) -> u32;
type DeviceOf = unsafe extern "C" fn(u64, *mut u32) -> u32;

/// A subscription. It is never given back: that deadlocks against calls of other threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cupti {
    library: Library,
    device_of: Option<DeviceOf>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// Denied or unavailable.
    pub(super) status: Status,
    /// In a sentence.
    pub(super) reason: String,
}

impl Cupti {
    /// Subscribes to the calls that are watched. Gives what could not be watched, in a sentence.
    pub(super) fn subscribe(callback: Callback) -> Result<(Self, String), Refused> {
        let mut last = Refused {
            status: Status::Unavailable,
            reason: "libcupti.so was not found: set MEMSCOPE_CUPTI to its path \
                     (pip: nvidia-cuda-cupti, toolkit: extras/CUPTI/lib64)"
                .to_owned(),
        };
        for library in candidates() {
            match attempt(library, callback) {
                Ok(done) => return Ok(done),
                // Another CUPTI would find the same holder.
                Err(refused) if refused.status == Status::Denied => return Err(refused),
                Err(refused) => last = refused,
            }
        }
        Err(last)
    }

    /// Number of the device of a context.
    pub(super) fn device_of(&self, context: u64) -> Option<u32> {
        let mut device = 0;
        // SAFETY: the context is one that CUPTI just spoke of; the number is written on success.
        let rc = unsafe { self.device_of?(context, &raw mut device) };
        (rc == 0).then_some(device)
    }

    /// CUPTI's own version number (`130000`).
    pub(super) fn version(&self) -> Option<String> {
        let mut version = 0;
        // SAFETY: the type is that of cupti_version.h; the number is written on success.
        let rc = unsafe { self.library.function::<Version>(c"cuptiGetVersion")?(&raw mut version) };
        (rc == 0).then(|| version.to_string())
    }
}

fn attempt(library: Library, callback: Callback) -> Result<(Cupti, String), Refused> {
    let unavailable = |reason: String| Refused {
        status: Status::Unavailable,
        reason,
    };
    // SAFETY: the types are those of cupti_callbacks.h.
    let (one, two, enable, device_of) = unsafe {
        (
            library.function::<Subscribe>(c"cuptiSubscribe"),
            library.function::<Subscribe2>(c"cuptiSubscribe_v2"),
            library.function::<Enable>(c"cuptiEnableCallback"),
            library.function::<DeviceOf>(c"cuptiGetDeviceId"),
        )
    };
    let Some(enable) = enable else {
        return Err(unavailable("this libcupti has no callbacks".to_owned()));
    };
    let mut handle = 0_usize;
    let mut holder = [0 as c_char; 128];
    let name = c"MemScope";
    let rc = if let Some(two) = two {
        let mut params = SubscriberParams {
            size: size_of::<SubscriberParams>(),
            name: name.as_ptr(),
            old: holder.as_mut_ptr(),
            old_size: holder.len() - 1,
        };
        // SAFETY: what the parameters point to lives through the call; the callback for ever.
        unsafe {
            two(
                &raw mut handle,
                callback,
                std::ptr::null_mut(),
                &raw mut params,
            )
        }
    } else if let Some(one) = one {
        // SAFETY: the handle is written on success; the callback lives for ever.
        unsafe { one(&raw mut handle, callback, std::ptr::null_mut()) }
    } else {
        return Err(unavailable(
            "this libcupti has no cuptiSubscribe".to_owned(),
        ));
    };
    if rc == TAKEN {
        // SAFETY: CUPTI writes at most one byte less than the buffer has, and it began as zeros.
        let name = unsafe { CStr::from_ptr(holder.as_ptr()) }.to_string_lossy();
        let who = if name.is_empty() {
            "another tool (Nsight, a debugger or a profiler)"
        } else {
            name.trim()
        };
        return Err(Refused {
            status: Status::Denied,
            reason: format!("CUPTI is held by {who} (error 39)"),
        });
    }
    if rc != 0 {
        return Err(unavailable(format!(
            "cuptiSubscribe failed with error {rc}"
        )));
    }
    // SAFETY: the subscription is ours, and no other thread has it yet.
    let watched = |domain, cbid| unsafe { enable(1, handle, domain, cbid) } == 0;
    let missed: Vec<_> = CALLS
        .iter()
        .filter(|c| !watched(DRIVER, c.cbid))
        .map(|c| c.name)
        .collect();
    // Without it, what dies with a context stays in the sums until its address is given anew.
    let contexts = watched(RESOURCE, CONTEXT_ENDS);
    if missed.len() == CALLS.len() {
        return Err(unavailable("CUPTI lets no function be watched".to_owned()));
    }
    let mut reason = String::new();
    if !missed.is_empty() {
        reason = format!("not watched: {}", missed.join(", "));
    }
    if !contexts {
        reason += if reason.is_empty() { "" } else { "; " };
        reason += "the end of contexts is not watched";
    }
    Ok((Cupti { library, device_of }, reason))
}

/// The one that is in the process first: a second instance would collide with it.
fn candidates() -> impl Iterator<Item = Library> {
    const NAMES: [&CStr; 4] = [
        c"libcupti.so.13",
        c"libcupti.so.12",
        c"libcupti.so.14",
        c"libcupti.so",
    ];
    let given = std::env::var_os("MEMSCOPE_CUPTI")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let by_path = given
        .into_iter()
        .filter_map(|path| Library::open_file(&path));
    let files = || {
        folders().into_iter().flat_map(|folder| {
            NAMES
                .iter()
                .filter_map(move |n| Some(folder.join(n.to_str().ok()?)))
                .filter(|p| p.is_file())
        })
    };
    by_path
        .chain(NAMES.iter().filter_map(|n| Library::loaded(n)))
        .chain(NAMES.iter().filter_map(|n| Library::open(n)))
        .chain(
            std::iter::once_with(files)
                .flatten()
                .filter_map(|p| Library::open_file(&p)),
        )
}

/// Where CUPTI lies beside CUDA's libraries in the process: the folders of the wheels, of the toolkit.
fn folders() -> BTreeSet<PathBuf> {
    let mut out = BTreeSet::new();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps
        .lines()
        .filter_map(|l| l.find('/').and_then(|at| l.get(at..)));
    const CUDA: [&str; 5] = ["libcudart", "libcublas", "libcudnn", "libnccl", "libnvrtc"];
    for path in paths.map(PathBuf::from) {
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        if let Some(folder) = path
            .parent()
            .filter(|_| CUDA.iter().any(|c| name.starts_with(c)))
        {
            out.insert(folder.to_owned());
            // site-packages/nvidia/cuda_runtime/lib: beside it nvidia/cuda_cupti/lib, nvidia/cu13/lib.
            if let Some(nvidia) = folder.ancestors().nth(2) {
                out.insert(nvidia.join("cuda_cupti/lib"));
                out.insert(nvidia.join("cu13/lib"));
                // lib64, or targets/x86_64-linux/lib.
                out.insert(nvidia.join("extras/CUPTI/lib64"));
            }
            if let Some(toolkit) = folder.parent() {
                out.insert(toolkit.join("extras/CUPTI/lib64"));
            }
        }
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os);
    for home in homes
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")])
    {
        out.insert(home.join("extras/CUPTI/lib64"));
        out.insert(home.join("lib64"));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn layouts_are_those_of_cupti_callbacks_h() {
        assert_eq!(offset_of!(CallbackData, params), 16);
        assert_eq!(offset_of!(CallbackData, result), 24);
        assert_eq!(offset_of!(CallbackData, context), 40);
        assert_eq!(offset_of!(CallbackData, correlation_data), 56);
        assert_eq!(offset_of!(CallbackData, correlation), 64);
        assert_eq!(size_of::<SubscriberParams>(), 32);
        assert_eq!(size_of::<ResourceData>(), 24);
    }
}
