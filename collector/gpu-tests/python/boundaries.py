"""Figures at every boundary equal `torch.cuda.memory_stats()`, taken here at the same place.

    PYTHONPATH=OUT python3 boundaries.py
"""

import tempfile

import common

PAIRS = {
    "allocated": "allocated_bytes.all.current", "reserved": "reserved_bytes.all.current",
    "active": "active_bytes.all.current", "requested": "requested_bytes.all.current",
    "max_allocated": "allocated_bytes.all.peak", "max_reserved": "reserved_bytes.all.peak",
    "retries": "num_alloc_retries", "ooms": "num_ooms",
}


def main():
    import torch

    import gpt2
    import memscope
    from memscope import session

    common.machine()
    seen = []
    original = session.Session.emit

    def emit(self, edge, *rest):
        original(self, edge, *rest)
        free, total = torch.cuda.mem_get_info()
        seen.append((edge, torch.cuda.memory_stats(), total - free))

    session.Session.emit = emit
    folder = tempfile.mkdtemp(prefix="memscope-gpu-")
    with memscope.trace(directory=folder):
        gpt2.train(6, batch=4, length=512)
    found, torn = common.records(common.journals(folder)[0])
    samples = common.of_kind(found, "sample")
    common.check("as many boundaries", len(samples) == len(seen) > 40, journal=len(samples), test=len(seen))
    wrong = []
    for record, (edge, stats, used) in zip(samples, seen):
        for key, name in PAIRS.items():
            if record["edge"] != edge or record.get(key) != stats[name]:
                wrong.append((record["step"], edge, key, record.get(key), stats[name]))
        if edge in ("step_start", "step_end") and record.get("device_used") != used:
            wrong.append((record["step"], edge, "device_used", record.get("device_used"), used))
    common.check("figures are equal", not wrong, compared=len(samples) * len(PAIRS), wrong=wrong[:5])
    peaks = [r["bytes"] for r in common.of_kind(found, "peak") if r["what"] == "allocated"]
    highest = torch.cuda.max_memory_allocated()
    close = bool(peaks) and highest - max(peaks) <= max(1 << 20, highest // 1000)
    common.check("the highest peak is the allocator's", close, peak=max(peaks, default=None), torch=highest)
    common.check("no torn line", torn == 0)
    common.finish()


main()
