//! What makes this library, under yet another name, one that asks the driver for memory: calls that
//! leave a frame of this library on the stack.

use std::hint::black_box;

use crate::cuda::IpcHandle;

/// A function of the driver whose parameters fit into registers.
pub type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64) -> u32;

/// `cuIpcOpenMemHandle_v2`
pub type OpenIpc = unsafe extern "C" fn(*mut u64, IpcHandle, u32) -> u32;

/// Calls the function. Those of fewer parameters leave the rest alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simulated_ask(
    function: Function,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
) -> u32 {
    // SAFETY: the caller's.
    black_box(unsafe { function(a, b, c, d, e) })
}

/// Calls `cuIpcOpenMemHandle_v2`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simulated_ask_ipc(function: OpenIpc, out: *mut u64) -> u32 {
    // SAFETY: the caller's; a handle may be any bytes.
    black_box(unsafe { function(out, std::mem::zeroed(), 1) })
}
