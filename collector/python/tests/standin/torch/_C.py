"""The native half: the graph task at hand, and figures of a real run."""

import json
import os

_task = -1
_reads = 0
_figures = None
_observers = []
if os.environ.get("MEMSCOPE_STANDIN_FIGURES"):
    with open(os.environ["MEMSCOPE_STANDIN_FIGURES"]) as _file:
        _figures = json.load(_file)


def _current_graph_task_id():
    return _task


def _pool(current, peak):
    return {"all": {"current": current, "peak": peak, "allocated": current, "freed": 0}}


def _cuda_memoryStats(device):
    """The next figures of the recording; the last ones from its end on."""
    global _reads
    allocated, reserved, most, most_reserved = _figures[min(_reads, len(_figures) - 1)]
    _reads += 1
    return {
        "allocated_bytes": _pool(allocated, most),
        "reserved_bytes": _pool(reserved, most_reserved),
        "active_bytes": _pool(allocated, most),
        "requested_bytes": _pool(allocated, most),
        "num_alloc_retries": 0,
        "num_ooms": 0,
    }


def _cuda_isHistoryEnabled():
    from .cuda import memory

    return memory.on


def _cuda_attach_out_of_memory_observer(observer):
    _observers.append(observer)
