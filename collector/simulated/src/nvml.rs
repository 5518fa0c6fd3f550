//! The management library.

use std::ffi::c_char;

use crate::device::gpu;

/// `NVML_ERROR_NOT_FOUND`
const NOT_FOUND: u32 = 6;

/// As `nvml.h` says.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> u32 {
    0
}

/// As `nvml.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(version: *mut c_char, _length: u32) -> u32 {
    let text = c"999.0".to_bytes_with_nul();
    // SAFETY: the caller gave room for a version.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), version, text.len()) };
    0
}

/// As `nvml.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut usize) -> u32 {
    // SAFETY: the caller points to a text and to room for a handle.
    let known = unsafe { std::ffi::CStr::from_ptr(uuid) };
    if known != c"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f" {
        return NOT_FOUND;
    }
    // SAFETY: as above.
    unsafe { *device = 1 };
    0
}

/// What the driver keeps of the device for itself.
const KEPT: u64 = 600 << 20;

/// `nvmlMemory_v2_t`: version, total, reserved, free, used.
#[repr(C)]
#[derive(Debug)]
pub struct Memory2 {
    version: u32,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

/// As `nvml.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(_device: usize, memory: *mut Memory2) -> u32 {
    // SAFETY: the caller points to a struct whose version says which it is.
    let memory = unsafe { &mut *memory };
    if memory.version != 0x0200_0028 {
        return 25; // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    }
    let gpu = gpu();
    memory.total = gpu.total + KEPT;
    memory.reserved = KEPT;
    memory.free = gpu.total - gpu.used();
    memory.used = gpu.used();
    0
}

/// As `nvml.h` says: total, free, used; what the driver keeps is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo(_device: usize, memory: *mut [u64; 3]) -> u32 {
    let gpu = gpu();
    // SAFETY: the caller gave room for three numbers.
    unsafe { *memory = [gpu.total + KEPT, gpu.total - gpu.used(), gpu.used() + KEPT] };
    0
}

/// `nvmlProcessInfo_t`
#[repr(C)]
#[derive(Debug)]
pub struct Process {
    pid: u32,
    used: u64,
    gpu_instance: u32,
    compute_instance: u32,
}

/// As `nvml.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    _device: usize,
    count: *mut u32,
    list: *mut Process,
) -> u32 {
    let hidden = std::env::var_os("SIMULATED_CONTAINER").is_some();
    // SAFETY: the caller gave room for one and more.
    unsafe {
        *count = 1;
        *list = Process {
            pid: if hidden { 1 } else { std::process::id() },
            used: gpu().used(),
            gpu_instance: u32::MAX,
            compute_instance: u32::MAX,
        };
    }
    0
}
