//! The driver's functions.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::Once;

use crate::cupti::{called, context_ends};
use crate::device::{INVALID, Kind, gpu};

/// `CUDA_ERROR_NOT_FOUND`
const NOT_FOUND: u32 = 500;
/// `CUDA_ERROR_INVALID_CONTEXT`
const NO_CONTEXT: u32 = 201;

/// The primary context of the one device.
const PRIMARY: u64 = 0xc0de;

thread_local! {
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// The context that is current on this thread.
pub fn current() -> u64 {
    CURRENT.get()
}

static INJECT: Once = Once::new();

/// Loads what the environment names, once, as the driver does.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: u32) -> u32 {
    INJECT.call_once(|| {
        let Some(path) = std::env::var_os("CUDA_INJECTION64_PATH") else {
            return;
        };
        let Ok(path) = std::ffi::CString::new(path.into_encoded_bytes()) else {
            return;
        };
        // SAFETY: the path ends with NUL; the entry has this type by contract.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            if library.is_null() {
                return;
            }
            let entry = libc::dlsym(library, c"InitializeInjection".as_ptr());
            if !entry.is_null() {
                std::mem::transmute::<*mut c_void, extern "C" fn() -> i32>(entry)();
            }
        }
    });
    0
}

/// Functions that CUPTI tells of: name, number, parameters, what they do.
macro_rules! told {
    ($($name:ident = $cbid:literal ($($p:ident: $t:ty),*) $body:expr)*) => { $(
        /// As `cuda.h` says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) -> u32 {
            #[repr(C)]
            #[derive(Clone, Copy)]
            struct Params { $($p: $t),* }
            let params = Params { $($p),* };
            called($cbid, concat!(stringify!($name), "\0"), &params, || $body)
        }
    )* };
}

/// Functions that it does not tell of.
macro_rules! silent {
    ($($name:ident ($($p:ident: $t:ty),*) $body:expr)*) => { $(
        /// As `cuda.h` says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) -> u32 { $body }
    )* };
}

fn take(out: *mut u64, size: u64, kind: Kind) -> u32 {
    if out.is_null() {
        return INVALID;
    }
    match gpu().take(size, kind, current()) {
        Ok(address) => {
            // SAFETY: the caller points to room for an address.
            unsafe { *out = address };
            0
        }
        Err(rc) => rc,
    }
}

fn retain(out: *mut u64, context: u64) -> u32 {
    let mut gpu = gpu();
    *gpu.contexts.entry(context).or_insert(0) += 1;
    // SAFETY: the caller points to room for a handle.
    unsafe { *out = context };
    0
}

fn end(context: u64) -> u32 {
    if !gpu().contexts.contains_key(&context) {
        return NO_CONTEXT;
    }
    context_ends(context);
    gpu().end(context);
    0
}

fn texels(descriptor: *const u64, dimensions: usize) -> u64 {
    // SAFETY: the caller points to a descriptor: so many sides, then format and channels.
    unsafe {
        let sides = (0..dimensions).map(|i| (*descriptor.add(i)).max(1));
        let rest = descriptor.add(dimensions).cast::<u32>();
        let bytes = match *rest {
            0x01 | 0x08 => 1,
            0x02 | 0x09 | 0x10 => 2,
            _ => 4,
        };
        sides.product::<u64>() * bytes * u64::from(*rest.add(1))
    }
}

/// `CUipcMemHandle`
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct IpcHandle([u8; 64]);

told! {
    cuDevicePrimaryCtxRetain = 386 (pctx: *mut u64, _dev: i32) retain(pctx, PRIMARY)
    cuDevicePrimaryCtxReset_v2 = 545 (_dev: i32) end(PRIMARY)
    cuDevicePrimaryCtxRelease_v2 = 544 (_dev: i32) {
        let mut gpu = gpu();
        let held = gpu.contexts.get_mut(&PRIMARY).map(|h| { *h -= 1; *h });
        drop(gpu);
        match held {
            Some(0) => end(PRIMARY),
            Some(_) => 0,
            None => NO_CONTEXT,
        }
    }
    cuCtxCreate_v2 = 235 (pctx: *mut u64, _flags: u32, _dev: i32) {
        let handle = 0xc1de + gpu().contexts.len() as u64;
        CURRENT.set(handle);
        retain(pctx, handle)
    }
    cuCtxDestroy_v2 = 322 (ctx: u64) end(ctx)
    cuMemAlloc_v2 = 243 (dptr: *mut u64, bytesize: usize) take(dptr, bytesize as u64, Kind::Device)
    cuMemAllocPitch_v2 = 244 (dptr: *mut u64, pPitch: *mut usize, WidthInBytes: usize, Height: usize,
        _ElementSizeBytes: u32) {
        let pitch = WidthInBytes.next_multiple_of(512);
        unsafe { *pPitch = pitch };
        take(dptr, (pitch * Height) as u64, Kind::Device)
    }
    cuMemFree_v2 = 245 (dptr: u64) gpu().give(dptr)
    cuMemAllocManaged = 371 (dptr: *mut u64, bytesize: usize, _flags: u32)
        take(dptr, bytesize as u64, Kind::Managed)
    cuMemAllocHost_v2 = 294 (pp: *mut u64, bytesize: usize) take(pp, bytesize as u64, Kind::Pinned)
    cuMemHostAlloc = 39 (pp: *mut u64, bytesize: usize, _Flags: u32)
        take(pp, bytesize as u64, Kind::Pinned)
    cuMemFreeHost = 38 (p: u64) gpu().give(p)
    cuMemHostRegister_v2 = 379 (p: u64, bytesize: usize, _Flags: u32) {
        gpu().register(p, bytesize as u64, current());
        0
    }
    cuMemHostUnregister = 302 (p: u64) gpu().give(p)
    cuArrayCreate_v2 = 272 (pHandle: *mut u64, pAllocateArray: *const u64)
        take(pHandle, texels(pAllocateArray, 2), Kind::Array)
    cuArray3DCreate_v2 = 274 (pHandle: *mut u64, pAllocateArray: *const u64)
        take(pHandle, texels(pAllocateArray, 3), Kind::Array)
    cuArrayDestroy = 89 (hArray: u64) gpu().give(hArray)
    cuMipmappedArrayDestroy = 349 (hMipmappedArray: u64) gpu().give(hMipmappedArray)
    cuMemAllocAsync = 598 (dptr: *mut u64, bytesize: usize, _hStream: u64)
        take(dptr, bytesize as u64, Kind::Pool)
    cuMemAllocAsync_ptsz = 599 (dptr: *mut u64, bytesize: usize, _hStream: u64)
        take(dptr, bytesize as u64, Kind::Pool)
    cuMemFreeAsync = 600 (dptr: u64, _hStream: u64) gpu().give(dptr)
    cuMemFreeAsync_ptsz = 601 (dptr: u64, _hStream: u64) gpu().give(dptr)
    cuMemAllocFromPoolAsync = 611 (dptr: *mut u64, bytesize: usize, _pool: u64, _hStream: u64)
        take(dptr, bytesize as u64, Kind::Pool)
    cuMemAllocFromPoolAsync_ptsz = 612 (dptr: *mut u64, bytesize: usize, _pool: u64, _hStream: u64)
        take(dptr, bytesize as u64, Kind::Pool)
    cuMemPoolCreate = 607 (pool: *mut u64, _poolProps: *const c_void) {
        unsafe { *pool = 0x9001 };
        0
    }
    cuMemPoolDestroy = 608 (_pool: u64) 0
    cuMemPoolTrimTo = 602 (_pool: u64, _minBytesToKeep: usize) 0
    cuMemCreate = 549 (handle: *mut u64, size: usize, _prop: *const c_void, _flags: u64) {
        match gpu().create(size as u64) {
            Ok(made) => {
                unsafe { *handle = made };
                0
            }
            Err(rc) => rc,
        }
    }
    cuMemRelease = 550 (handle: u64) gpu().hold(handle, -1, 0)
    cuMemMap = 551 (ptr: u64, _size: usize, _offset: usize, handle: u64, _flags: u64)
        gpu().map(ptr, handle)
    cuMemUnmap = 552 (ptr: u64, _size: usize) gpu().unmap(ptr)
    cuMemRetainAllocationHandle = 565 (handle: *mut u64, addr: u64) {
        let mut gpu = gpu();
        match gpu.mapped(addr) {
            Some(held) => {
                unsafe { *handle = held };
                gpu.hold(held, 1, 0)
            }
            None => NOT_FOUND,
        }
    }
    cuMemImportFromShareableHandle = 555 (handle: *mut u64, _osHandle: u64, _shHandleType: u32) {
        unsafe { *handle = 0x1111 };
        0
    }
    cuIpcOpenMemHandle_v2 = 567 (pdptr: *mut u64, _handle: IpcHandle, _Flags: u32)
        take(pdptr, 0, Kind::Imported)
    cuIpcCloseMemHandle = 330 (dptr: u64) gpu().give(dptr)
}

silent! {
    cuDriverGetVersion(version: *mut i32) { unsafe { *version = 13000 }; 0 }
    cuDeviceGetCount(count: *mut i32) { unsafe { *count = 1 }; 0 }
    cuDeviceGetName(name: *mut c_char, _len: i32, _dev: i32) {
        let text = c"Simulated GPU".to_bytes_with_nul();
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        0
    }
    cuDeviceGetUuid_v2(uuid: *mut [u8; 16], _dev: i32) {
        unsafe { *uuid = std::array::from_fn(|i| i as u8) };
        0
    }
    cuDeviceTotalMem_v2(bytes: *mut usize, _dev: i32) {
        unsafe { *bytes = gpu().total as usize };
        0
    }
    cuDevicePrimaryCtxGetState(_dev: i32, flags: *mut u32, active: *mut i32) {
        unsafe {
            *flags = 0;
            *active = i32::from(gpu().contexts.contains_key(&PRIMARY));
        }
        0
    }
    cuMemAddressReserve(ptr: *mut u64, _size: usize, _alignment: usize, _addr: u64, _flags: u64) {
        unsafe { *ptr = 0x6000_0000_0000 };
        0
    }
    cuCtxSetCurrent(ctx: u64) { CURRENT.set(ctx); 0 }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        if current() == 0 {
            return NO_CONTEXT;
        }
        let gpu = gpu();
        unsafe {
            *free = gpu.total.saturating_sub(gpu.used()) as usize;
            *total = gpu.total as usize;
        }
        0
    }
}
