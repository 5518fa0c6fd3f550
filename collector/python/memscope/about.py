"""What the journal's header says of the process once torch is there."""

import json
import os
import platform


def about(torch, stats, settings, metadata):
    """The keys of an `update` record, as JSON."""
    versions = {"python": platform.python_version(), "torch": str(torch.__version__)}
    if getattr(torch.version, "cuda", None):
        versions["cuda"] = torch.version.cuda
    keys = {
        "versions": versions,
        "settings": settings.as_texts(),
        "metadata": dict(metadata),
    }
    if stats.ready():
        keys["devices"] = [_device(torch, n) for n in range(torch.cuda.device_count())]
        keys["device"] = stats.device
        conf = next(
            (os.environ[v] for v in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF") if os.environ.get(v)),
            None,
        )
        keys["allocator"] = {"backend": _backend(torch)}
        if conf:
            keys["allocator"]["conf"] = conf
        status = ("degraded", "cudaMallocAsync counts less") if stats.is_async() else ("active", "")
    else:
        status = ("unavailable", "CUDA is not initialised in this process")
    source = {"name": "torch_stats", "status": status[0]}
    if status[1]:
        source["reason"] = status[1]
    keys["sources"] = [source]
    return json.dumps(keys, allow_nan=False)


def _backend(torch):
    try:
        return str(torch.cuda.get_allocator_backend())
    except Exception:
        return "native"


def _device(torch, ordinal):
    found = torch.cuda.get_device_properties(ordinal)
    device = {"ordinal": ordinal, "name": str(found.name), "total": int(found.total_memory)}
    uuid = getattr(found, "uuid", None)
    if uuid is not None:
        text = str(uuid)
        device["uuid"] = text if text.startswith("GPU-") else "GPU-" + text
    bus = getattr(found, "pci_bus_id", None)
    if bus is not None:
        device["pci"] = "%08x:%02x:%02x.0" % (
            getattr(found, "pci_domain_id", 0), bus, getattr(found, "pci_device_id", 0)
        )
    return device
