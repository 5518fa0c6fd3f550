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
pub fn figures<'py>(stats: Option<&Bound<'py, PyAny>>, partial: bool) -> Figures {
    let Some(stats) = stats.and_then(|s| s.cast::<PyDict>().ok()) else {
        return Figures::default();
    };
    let py = stats.py();
    let counted = |value: Option<u64>| value.filter(|v| !partial || *v > 0);
    let of = |name: &Bound<'py, PyString>| -> Option<Bound<'py, PyAny>> {
        let pools = stats.get_item(name).ok()??;
        let pools = pools.cast::<PyDict>().ok()?;
        pools.get_item(intern!(py, "all")).ok()?
    };
    let allocated = of(intern!(py, "allocated_bytes"));
    let reserved = of(intern!(py, "reserved_bytes"));
    let current = intern!(py, "current");
    let peak = intern!(py, "peak");
    Figures {
        allocated: number(allocated.as_ref(), current),
        reserved: number(reserved.as_ref(), current),
        max_allocated: number(allocated.as_ref(), peak),
        max_reserved: number(reserved.as_ref(), peak),
        active: counted(number(of(intern!(py, "active_bytes")).as_ref(), current)),
        requested: counted(number(of(intern!(py, "requested_bytes")).as_ref(), current)),
        retries: counted(number(Some(stats), intern!(py, "num_alloc_retries"))),
        ooms: counted(number(Some(stats), intern!(py, "num_ooms"))),
        ..Figures::default()
    }
}

fn number(of: Option<&Bound<'_, PyAny>>, key: &Bound<'_, PyString>) -> Option<u64> {
    let value = of?.cast::<PyDict>().ok()?.get_item(key).ok()??;
    value.extract().ok()
}
