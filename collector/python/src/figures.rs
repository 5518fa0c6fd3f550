//! Picks figures out of what PyTorch's allocator says of itself: the nested dictionary of
//! `torch._C._cuda_memoryStats`, taken as it is, since `torch.cuda.memory_stats` flattens and sorts it
//! at every call.

use memscope::Figures;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Figures of the allocator; all unknown for `None` and before CUDA is initialised (an empty
/// dictionary). `partial`: the backend leaves zeros where it does not count (`cudaMallocAsync`), which
/// are unknown.
pub fn figures(stats: Option<&Bound<'_, PyAny>>, partial: bool) -> Figures {
    let Some(stats) = stats.and_then(|s| s.cast::<PyDict>().ok()) else {
        return Figures::default();
    };
    let py = stats.py();
    let counted = |value: Option<u64>| value.filter(|v| !partial || *v > 0);
    let current = |name| number(all(stats, name).as_ref(), intern!(py, "current"));
    Figures {
        active: counted(current(intern!(py, "active_bytes"))),
        requested: counted(current(intern!(py, "requested_bytes"))),
        retries: counted(number(Some(stats), intern!(py, "num_alloc_retries"))),
        ooms: counted(number(Some(stats), intern!(py, "num_ooms"))),
        ..four(stats)
    }
}

/// Calls `torch._C._cuda_memoryStats` of a device and takes the four figures that modules and gradients
/// carry; all unknown where either is `None` or the call fails. What it gave is gone when this returns,
/// so that whoever takes the time counts its end as well.
pub fn read(raw: Option<&Bound<'_, PyAny>>, device: Option<i64>) -> Figures {
    let read = || raw?.call1((device?,)).ok()?.cast_into::<PyDict>().ok();
    read().map_or_else(Figures::default, |stats| four(&stats))
}

fn four(stats: &Bound<'_, PyDict>) -> Figures {
    let py = stats.py();
    let allocated = all(stats, intern!(py, "allocated_bytes"));
    let reserved = all(stats, intern!(py, "reserved_bytes"));
    let current = intern!(py, "current");
    let peak = intern!(py, "peak");
    Figures {
        allocated: number(allocated.as_ref(), current),
        reserved: number(reserved.as_ref(), current),
        max_allocated: number(allocated.as_ref(), peak),
        max_reserved: number(reserved.as_ref(), peak),
        ..Figures::default()
    }
}

/// A statistic of all pools together.
fn all<'py>(stats: &Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyDict>> {
    let pools = stats.get_item(name).ok()??;
    let pools = pools.cast::<PyDict>().ok()?;
    let all = pools.get_item(intern!(stats.py(), "all")).ok()??;
    all.cast_into().ok()
}

fn number(of: Option<&Bound<'_, PyDict>>, key: &Bound<'_, PyString>) -> Option<u64> {
    of?.get_item(key).ok()??.extract().ok()
}
