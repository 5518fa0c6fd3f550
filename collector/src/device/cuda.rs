//! Figures of a device for programs that use cudarc (also through candle and burn).
//!
//! Their allocations come from the device's stream-ordered memory pool: what lives in it is
//! `CU_MEMPOOL_ATTR_USED_MEM_CURRENT`, what it holds of the device `RESERVED_MEM_CURRENT`, and the
//! high-water marks are `…_HIGH` (CUDA driver API, `CUmemPool_attribute`). Everything else on the
//! device shows in `cuMemGetInfo`.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cudarc::driver::sys::{self, CUmemPool_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, result};

use super::{Probe, driver};
use crate::error::Error;
use crate::figures::Figures;
use crate::records::{Device, Source, Status};

/// The figures of one CUDA device: its default memory pool and the device as a whole.
pub struct CudaProbe {
    context: Arc<CudaContext>,
    /// The pool's handle as a number; 0 where the device has no pools.
    pool: usize,
    device: Device,
}

impl fmt::Debug for CudaProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaProbe")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl CudaProbe {
    /// The device of this number, in its primary context.
    ///
    /// # Errors
    /// [`Error::Driver`] when there is no driver, only a stub of it, or no such device. Never panics.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        driver::check()?;
        // cudarc panics where the library lacks what it calls; what was not checked for must not end
        // the program either.
        catch_unwind(AssertUnwindSafe(|| {
            let context = CudaContext::new(ordinal).map_err(|error| {
                Error::Driver(format!(
                    "CUDA device {ordinal} cannot be used: {error}. See nvidia-smi, and CUDA_VISIBLE_DEVICES"
                ))
            })?;
            Ok(Self::of(&context))
        }))
        .unwrap_or_else(|_| {
            Err(Error::Driver(format!(
                "CUDA device {ordinal} cannot be used: the driver's library lacks a function (above)"
            )))
        })
    }

    /// The device of a context that stands already: candle's and burn's devices give theirs.
    #[must_use]
    pub fn of(context: &Arc<CudaContext>) -> Self {
        let pool = if context.has_async_alloc() {
            // SAFETY: the device is the context's own, so it came from `cuDeviceGet`.
            unsafe { result::device::get_default_mem_pool(context.cu_device()) }
                .map_or(0, |pool| pool as usize)
        } else {
            0
        };
        let uuid = context.uuid().map(|u| uuid_text(&u.bytes.map(|b| b as u8)));
        let device = Device {
            ordinal: context.ordinal() as u64,
            name: context.name().unwrap_or_default(),
            uuid: uuid.unwrap_or_default(),
            total: context.total_mem().ok().map(|b| b as u64),
        };
        Self {
            context: Arc::clone(context),
            pool,
            device,
        }
    }

    fn attribute(&self, attribute: Attribute) -> Option<u64> {
        if self.pool == 0 {
            return None;
        }
        let mut value: u64 = 0;
        // SAFETY: the pool is the device's default one, which lives as long as the device; these four
        // attributes are cuuint64_t, which `value` is.
        let done = unsafe {
            result::mem_pool::get_attribute(
                self.pool as sys::CUmemoryPool,
                attribute,
                (&raw mut value).cast::<c_void>(),
            )
        };
        done.ok().map(|()| value)
    }
}

/// `GPU-8f2b…` as nvidia-smi prints it.
fn uuid_text(bytes: &[u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl Probe for CudaProbe {
    fn figures(&self) -> Figures {
        let device = self.context.mem_get_info().ok();
        Figures {
            allocated: self.attribute(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
            reserved: self.attribute(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
            max_allocated: self.attribute(Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH),
            max_reserved: self.attribute(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH),
            device_used: device.map(|(free, total)| total.saturating_sub(free) as u64),
            device_total: device.map(|(_, total)| total as u64),
            ..Figures::default()
        }
    }

    fn device(&self) -> Option<Device> {
        Some(self.device.clone())
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source {
                name: "cuda_pool",
                status: if self.pool == 0 {
                    Status::Unavailable
                } else {
                    Status::Active
                },
                reason: if self.pool == 0 {
                    "the device has no stream-ordered memory pools: allocated and reserved are unknown".to_owned()
                } else {
                    String::new()
                },
            },
            Source {
                name: "cuda_mem_get_info",
                status: Status::Active,
                reason: String::new(),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_look_as_nvidia_smi_prints_them() {
        let bytes = [0x8f, 0x2b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xff];
        assert_eq!(
            uuid_text(&bytes),
            "GPU-8f2b0001-0203-0405-0607-08090a0b0cff"
        );
    }

    /// On a machine with a GPU this is the probe's first use; on one without, an error and no panic.
    #[test]
    fn a_machine_without_a_driver_gets_an_error() {
        match CudaProbe::new(0) {
            Ok(probe) => assert!(probe.figures().device_total.is_some_and(|b| b > 0)),
            Err(error) => assert!(error.to_string().contains("CUDA"), "{error}"),
        }
    }
}
