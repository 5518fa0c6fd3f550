//! Where figures come from when no framework states them.

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
mod driver;

#[cfg(feature = "cuda")]
pub use cuda::CudaProbe;

use crate::figures::Figures;
use crate::records::{Device, Source};

/// Something that says how much memory is used now.
pub trait Probe: Send + Sync {
    /// The figures now; what is not known is `None`. Called at every boundary: must not block and must
    /// not wait for the device.
    fn figures(&self) -> Figures;

    /// The device that the figures are of.
    fn device(&self) -> Option<Device> {
        None
    }

    /// What the figures come from, and whether that works.
    fn sources(&self) -> Vec<Source> {
        Vec::new()
    }
}

/// No device: every figure is unknown.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn figures(&self) -> Figures {
        Figures::default()
    }
}

/// Figures that a function gives, for a program with an allocator of its own.
impl<F: Fn() -> Figures + Send + Sync> Probe for F {
    fn figures(&self) -> Figures {
        self()
    }
}
