//! What the driver and NVML say about devices. All of it may be missing; then it is unknown.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use super::dl::Library;
use crate::records::Device;

/// Bytes of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    /// Not in use by anybody.
    pub(super) free: u64,
    /// All.
    pub(super) total: u64,
    /// Number of the device, where known.
    pub(super) device: Option<u32>,
}

impl Memory {
    /// In use by all processes.
    pub(super) fn used(self) -> u64 {
        self.total.saturating_sub(self.free)
    }
}

type GetInfo = unsafe extern "C" fn(*mut usize, *mut usize) -> u32;
type Count = unsafe extern "C" fn(*mut i32) -> u32;
type Name = unsafe extern "C" fn(*mut c_char, i32, i32) -> u32;
type Uuid = unsafe extern "C" fn(*mut [u8; 16], i32) -> u32;
type TotalMem = unsafe extern "C" fn(*mut usize, i32) -> u32;
type GetState = unsafe extern "C" fn(i32, *mut u32, *mut i32) -> u32;
type Retain = unsafe extern "C" fn(*mut *mut c_void, i32) -> u32;
type Release = unsafe extern "C" fn(i32) -> u32;
type SetCurrent = unsafe extern "C" fn(*mut c_void) -> u32;
type CaptureMode = unsafe extern "C" fn(*mut u32) -> u32;

/// The driver that called us.
#[derive(Debug, Clone, Copy)]
pub(super) struct Driver {
    library: Library,
    get_info: Option<GetInfo>,
}

impl Driver {
    /// The driver of this process.
    pub(super) fn loaded() -> Option<Self> {
        let library =
            Library::loaded(c"libcuda.so.1").or_else(|| Library::loaded(c"libcuda.so"))?;
        // SAFETY: the type is that of cuda.h.
        let get_info = unsafe { library.function(c"cuMemGetInfo_v2") };
        Some(Self { library, get_info })
    }

    /// Memory of the device whose context is current on this thread.
    pub(super) fn memory(&self) -> Option<Memory> {
        let (mut free, mut total) = (0_usize, 0_usize);
        // SAFETY: both are written where the call succeeds.
        let rc = unsafe { self.get_info?(&raw mut free, &raw mut total) };
        (rc == 0).then_some(Memory {
            free: free as u64,
            total: total as u64,
            device: None,
        })
    }

    /// Whether a device has a primary context; `None` where the driver cannot say.
    pub(super) fn active(&self, device: i32) -> Option<bool> {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: the type is that of cuda.h; both are written where the call succeeds.
        let rc = unsafe {
            let state = self
                .library
                .function::<GetState>(c"cuDevicePrimaryCtxGetState")?;
            state(device, &raw mut flags, &raw mut active)
        };
        (rc == 0).then_some(active != 0)
    }

    /// Memory of a device that has a primary context; none is made for the question.
    pub(super) fn memory_of(&self, device: i32) -> Option<Memory> {
        if self.active(device) != Some(true) {
            return None;
        }
        // SAFETY: the types are those of cuda.h.
        let (retain, release, current, mode) = unsafe {
            let library = self.library;
            (
                library.function::<Retain>(c"cuDevicePrimaryCtxRetain")?,
                library.function::<Release>(c"cuDevicePrimaryCtxRelease_v2")?,
                library.function::<SetCurrent>(c"cuCtxSetCurrent")?,
                library.function::<CaptureMode>(c"cuThreadExchangeStreamCaptureMode"),
            )
        };
        // SAFETY: out-parameters live through the calls; this thread is ours, and its current
        // context is put back to none. RELAXED (2): a capture elsewhere is not disturbed.
        unsafe {
            let mut relaxed = 2;
            if let Some(mode) = mode {
                mode(&raw mut relaxed);
            }
            let mut context = std::ptr::null_mut();
            if retain(&raw mut context, device) != 0 {
                return None;
            }
            current(context);
            let memory = self.memory().map(|m| Memory {
                device: u32::try_from(device).ok(),
                ..m
            });
            current(std::ptr::null_mut());
            release(device);
            memory
        }
    }

    /// How many devices the process sees.
    pub(super) fn count(&self) -> i32 {
        let mut count = 0;
        // SAFETY: the type is that of cuda.h, and the count is written where the call succeeds.
        let rc = unsafe {
            self.library
                .function::<Count>(c"cuDeviceGetCount")
                .map(|f| f(&raw mut count))
        };
        if rc == Some(0) { count } else { 0 }
    }

    /// Version of the driver's API: `13.0`.
    pub(super) fn version(&self) -> Option<String> {
        let mut version = 0;
        // SAFETY: the type is that of cuda.h, and the version is written where the call succeeds.
        let rc =
            unsafe { self.library.function::<Count>(c"cuDriverGetVersion")?(&raw mut version) };
        (rc == 0).then(|| format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    /// A device by its number.
    pub(super) fn device(&self, ordinal: u32) -> Option<Device> {
        let number = i32::try_from(ordinal).ok()?;
        let mut name = [0 as c_char; 256];
        let mut total = 0_usize;
        // SAFETY: the types are those of cuda.h; the name ends with NUL within its length.
        let (name, total) = unsafe {
            let rc =
                self.library.function::<Name>(c"cuDeviceGetName")?(name.as_mut_ptr(), 255, number);
            let name = if rc == 0 {
                CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
            } else {
                String::new()
            };
            let rc = self
                .library
                .function::<TotalMem>(c"cuDeviceTotalMem_v2")
                .map(|f| f(&raw mut total, number));
            (name, (rc == Some(0)).then_some(total as u64))
        };
        Some(Device {
            ordinal: u64::from(ordinal),
            name,
            uuid: self
                .uuid(number)
                .map(|u| format!("GPU-{u}"))
                .unwrap_or_default(),
            total,
        })
    }

    /// A device's id without `GPU-` or `MIG-`.
    pub(super) fn uuid(&self, device: i32) -> Option<String> {
        let mut bytes = [0_u8; 16];
        // SAFETY: the types are those of cuda.h; 16 bytes are written where the call succeeds.
        let rc = unsafe {
            let library = self.library;
            let get = library
                .function::<Uuid>(c"cuDeviceGetUuid_v2")
                .or_else(|| library.function::<Uuid>(c"cuDeviceGetUuid"))?;
            get(&raw mut bytes, device)
        };
        let hex = |range: std::ops::Range<usize>| {
            bytes[range]
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        };
        (rc == 0).then(|| [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)].join("-"))
    }
}

/// `nvmlMemory_t`
#[repr(C)]
#[derive(Default)]
struct NvmlMemory {
    total: u64,
    free: u64,
    used: u64,
}

/// `nvmlMemory_v2_t`: what the driver keeps for itself is apart from what is used, as in `cuMemGetInfo`.
#[repr(C)]
#[derive(Default)]
struct NvmlMemory2 {
    version: u32,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

/// `nvmlMemory_v2`: the struct's size and its version, as nvml.h makes it.
const MEMORY_2: u32 = size_of::<NvmlMemory2>() as u32 | 2 << 24;

/// `nvmlProcessInfo_t` of `…_v3`
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct NvmlProcess {
    pid: u32,
    used: u64,
    instances: [u32; 2],
}

/// `NVML_VALUE_NOT_AVAILABLE`
const NOT_AVAILABLE: u64 = u64::MAX;

/// The management library: what it says needs no context.
#[derive(Debug)]
pub(super) struct Nvml {
    library: Library,
    /// Its handles by our numbers of devices.
    devices: Mutex<HashMap<i32, usize>>,
}

impl Nvml {
    /// The library where the machine (or container) has it.
    pub(super) fn open() -> Option<Self> {
        let library = Library::open(c"libnvidia-ml.so.1")?;
        // SAFETY: the type is that of nvml.h.
        let rc = unsafe { library.function::<unsafe extern "C" fn() -> u32>(c"nvmlInit_v2")?() };
        (rc == 0).then(|| Self {
            library,
            devices: Mutex::default(),
        })
    }

    fn device(&self, driver: &Driver, device: i32) -> Option<usize> {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = devices.get(&device) {
            return Some(*known);
        }
        let uuid = driver.uuid(device)?;
        let mut handle = 0_usize;
        for kind in ["GPU", "MIG"] {
            let text = format!("{kind}-{uuid}\0");
            let text = CStr::from_bytes_with_nul(text.as_bytes()).ok()?;
            // SAFETY: the type is that of nvml.h; the handle is written where the call succeeds.
            let rc = unsafe {
                self.library
                    .function::<unsafe extern "C" fn(*const c_char, *mut usize) -> u32>(
                        c"nvmlDeviceGetHandleByUUID",
                    )?(text.as_ptr(), &raw mut handle)
            };
            if rc == 0 {
                devices.insert(device, handle);
                return Some(handle);
            }
        }
        None
    }

    /// Bytes of a device.
    pub(super) fn memory(&self, driver: &Driver, device: i32) -> Option<Memory> {
        let handle = self.device(driver, device)?;
        let device = u32::try_from(device).ok();
        let mut memory = NvmlMemory2 {
            version: MEMORY_2,
            ..NvmlMemory2::default()
        };
        // SAFETY: the type is that of nvml.h; the struct is written where the call succeeds.
        let rc = unsafe {
            self.library
                .function::<unsafe extern "C" fn(usize, *mut NvmlMemory2) -> u32>(
                    c"nvmlDeviceGetMemoryInfo_v2",
                )
                .map(|get| get(handle, &raw mut memory))
        };
        if rc == Some(0) {
            let total = memory.total.saturating_sub(memory.reserved);
            return Some(Memory {
                free: total.saturating_sub(memory.used),
                total,
                device,
            });
        }
        // Before driver 510 what the driver keeps counts as used.
        let mut memory = NvmlMemory::default();
        // SAFETY: the type is that of nvml.h; the struct is written where the call succeeds.
        let rc = unsafe {
            self.library
                .function::<unsafe extern "C" fn(usize, *mut NvmlMemory) -> u32>(
                    c"nvmlDeviceGetMemoryInfo",
                )?(handle, &raw mut memory)
        };
        (rc == 0).then_some(Memory {
            free: memory.total.saturating_sub(memory.used),
            total: memory.total,
            device,
        })
    }

    /// Bytes that this process uses on a device: absent where NVML knows it by another number, as
    /// in containers.
    pub(super) fn process(&self, driver: &Driver, device: i32) -> Option<u64> {
        let handle = self.device(driver, device)?;
        let mut list = [NvmlProcess::default(); 256];
        let mut count = list.len() as u32;
        // SAFETY: the type is that of nvml.h; at most `count` entries are written.
        let rc = unsafe {
            self.library
                .function::<unsafe extern "C" fn(usize, *mut u32, *mut NvmlProcess) -> u32>(
                    c"nvmlDeviceGetComputeRunningProcesses_v3",
                )?(handle, &raw mut count, list.as_mut_ptr())
        };
        let own = std::process::id();
        let ours = list.iter().take(count as usize).find(|p| p.pid == own);
        ours.map(|p| p.used)
            .filter(|used| rc == 0 && *used != NOT_AVAILABLE)
    }

    /// The driver's package: `580.65.06`.
    pub(super) fn version(&self) -> Option<String> {
        let mut text = [0 as c_char; 81];
        // SAFETY: the type is that of nvml.h; the text ends with NUL within its length.
        unsafe {
            let rc = self
                .library
                .function::<unsafe extern "C" fn(*mut c_char, u32) -> u32>(
                    c"nvmlSystemGetDriverVersion",
                )?(text.as_mut_ptr(), 80);
            (rc == 0).then(|| CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_nvml_h() {
        assert_eq!(
            (size_of::<NvmlMemory>(), size_of::<NvmlProcess>()),
            (24, 24)
        );
        assert_eq!((size_of::<NvmlMemory2>(), MEMORY_2), (40, 0x0200_0028));
        assert_eq!(std::mem::offset_of!(NvmlProcess, used), 8);
    }
}
