"""What `memscope record` sees of PyTorch on a GPU, held against what PyTorch and the driver say.

    collector/gpu-tests/run.sh BINDIR

BINDIR holds `memscope` (or libmemscope.so). Prints a line of JSON a measurement; exits with the number of
checks that failed.
"""

import collections
import ctypes
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
FAILED = []


def say(name, **figures):
    print(json.dumps({"name": name, **figures}), flush=True)


def check(name, right, **seen):
    if not right:
        FAILED.append(name)
    say(name, ok=bool(right), **seen)


# ---------------------------------------------------------------- programs that are recorded


def allocator():
    import torch

    blocks = [torch.empty(n * MIB, dtype=torch.uint8, device="cuda") for n in (1, 20, 300, 1024)]
    del blocks[1]
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for _ in range(3):
        x = x @ x
    conv = torch.nn.Conv2d(64, 64, 3).cuda()
    conv(torch.randn(8, 64, 128, 128, device="cuda")).sum().backward()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    big = torch.empty(200 * MIB, dtype=torch.uint8, device="cuda")
    out_of_memory = 0
    try:
        torch.empty(1 << 42, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        out_of_memory = 1
    free, total = torch.cuda.mem_get_info()
    say(
        "torch",
        reserved=torch.cuda.memory_reserved(),
        backend=torch.cuda.get_allocator_backend(),
        ooms=out_of_memory,
        device_used=total - free,
        device_total=total,
    )
    del big, conv


def raw():
    """cuMemCreate, a pool and an array without any runtime."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def ok(rc):
        assert rc == 0, rc

    ok(cuda.cuInit(0))
    context = ctypes.c_void_p()
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    ok(cuda.cuCtxSetCurrent(context))
    prop = (ctypes.c_uint32 * 8)(1, 0, 1, 0, 0, 0, 0, 0)
    handles = []
    for n in (2, 64):
        handle = ctypes.c_uint64()
        ok(cuda.cuMemCreate(ctypes.byref(handle), ctypes.c_size_t(n * MIB), prop, ctypes.c_uint64(0)))
        handles.append(handle)
    address = ctypes.c_uint64()
    size = ctypes.c_size_t(64 * MIB)
    none = ctypes.c_uint64(0)
    ok(cuda.cuMemAddressReserve(ctypes.byref(address), size, ctypes.c_size_t(0), none, none))
    ok(cuda.cuMemMap(address, size, ctypes.c_size_t(0), handles[1], none))
    ok(cuda.cuMemRelease(handles[1]))
    failed = ctypes.c_uint64()
    rc = cuda.cuMemCreate(ctypes.byref(failed), ctypes.c_size_t(1 << 42), prop, none)
    pool_props = (ctypes.c_uint32 * 32)(1, 0, 1, 0)
    pool = ctypes.c_void_p()
    ok(cuda.cuMemPoolCreate(ctypes.byref(pool), pool_props))
    pooled = ctypes.c_uint64()
    stream = ctypes.c_void_p()
    n = ctypes.c_size_t(8 * MIB)
    ok(cuda.cuMemAllocFromPoolAsync(ctypes.byref(pooled), n, pool, stream))
    pinned = ctypes.c_void_p()
    ok(cuda.cuMemAllocHost_v2(ctypes.byref(pinned), ctypes.c_size_t(4 * MIB)))
    say("raw", failed=rc)


def nccl():
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK="0", WORLD_SIZE="1")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")
    x = torch.ones(1 << 20, device="cuda")
    dist.all_reduce(x)
    torch.cuda.synchronize()
    say("torch", reserved=torch.cuda.memory_reserved())
    dist.destroy_process_group()


def profiler():
    """torch.profiler in a recorded program: what of it works?"""
    import torch

    x = torch.randn(1024, 1024, device="cuda")
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as p:
        for _ in range(10):
            x = x @ x
        torch.cuda.synchronize()
    kernels = sum(1 for e in p.events() if "CUDA" in str(e.device_type))
    say("torch", kernels=kernels, reserved=torch.cuda.memory_reserved())


def forks():
    import multiprocessing

    import torch

    def child():
        pass

    torch.empty(MIB, device="cuda")
    workers = [multiprocessing.get_context("fork").Process(target=child) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    say("forked", codes=[w.exitcode for w in workers])


def pairs():
    """µs of a cudaMalloc and a cudaFree, as the program feels it."""
    import torch

    torch.empty(1, device="cuda")
    # The runtime that torch uses, by ctypes: torch.cuda.cudart() has no cudaMalloc.
    path = next(l.split()[-1] for l in open("/proc/self/maps") if "libcudart.so" in l)
    runtime = ctypes.CDLL(path)
    out = ctypes.c_void_p()
    times = []
    for _ in range(2000):
        start = time.perf_counter_ns()
        runtime.cudaMalloc(ctypes.byref(out), ctypes.c_size_t(4 * MIB))
        runtime.cudaFree(out)
        times.append(time.perf_counter_ns() - start)
    say("pairs", us=statistics.median(times) / 1000)


def steps():
    """Median step of a small network after its allocator has settled, ms."""
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(12)]).cuda().bfloat16()
    optimizer = torch.optim.AdamW(net.parameters())
    x = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    times = []
    for _ in range(120):
        start = time.perf_counter()
        net(x).float().pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    say("steps", ms=statistics.median(times[20:]) * 1000)


# ---------------------------------------------------------------- the checks


def recorded(program, bindir, options=(), variables=None, record=True):
    """Runs a program; gives what it said and the records of its journal."""
    folder = tempfile.mkdtemp(prefix="memscope-gpu-")
    environment = {**os.environ, "MEMSCOPE_DIR": folder, **(variables or {})}
    library = os.path.join(bindir, "libmemscope.so")
    if os.path.exists(library):
        environment["MEMSCOPE_LIBRARY"] = os.path.abspath(library)
    command = [sys.executable, os.path.abspath(__file__), "--program", program]
    memscope = os.path.join(bindir, "memscope")
    if record and os.path.exists(memscope):
        command = [os.path.abspath(memscope), "record", *options, "--", *command]
    elif record:
        environment["CUDA_INJECTION64_PATH"] = environment["MEMSCOPE_LIBRARY"]
        if "--poll" in options:
            environment["MEMSCOPE_POLL"] = "1"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    said = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            said.update(json.loads(line))
    if done.returncode != 0:
        check(f"{program} runs", False, code=done.returncode, stderr=done.stderr[-2000:])
    journals = sorted(glob.glob(f"{folder}/rank00000/journal/*.driver.core.jsonl"))
    records = []
    for core in journals[:1]:
        for path in [core, *sorted(glob.glob(core.replace("core", "events.*")))]:
            records += [json.loads(line) for line in open(path)]
    return said, records, journals, done.stderr


def of(records, kind):
    return [r for r in records if r["k"] == kind]


def peak_live(records, lib):
    """Bytes of a library in each `live`."""
    return [sum(b["bytes"] for b in r.get("by", []) if b.get("lib", "").startswith(lib)) for r in of(records, "live")]


def replay(records, lib):
    """Device bytes that a library held after its last event but those of the exit, by events alone."""
    at = {}
    for r in sorted(records, key=lambda r: r["seq"]):
        if r["k"] == "alloc" and r["rc"] == 0 and r["kind"] in ("device", "pool"):
            at[r["ptr"]] = (r["size"], r.get("lib", ""))
        elif r["k"] == "free" and r["rc"] == 0 and r.get("api") != "context_end":
            at.pop(r["ptr"], None)
        elif r["k"] == "create" and r["rc"] == 0:
            at["h" + r["handle"]] = (r.get("size", 0), r.get("lib", ""))
        elif r["k"] == "release" and r["rc"] == 0:
            at.pop("h" + r["handle"], None)
    return sum(size for size, who in at.values() if who.startswith(lib))


def sources(records):
    return {s["name"]: s for r in of(records, "update") for s in r.get("sources", [])}


def main(bindir):
    settings = {
        "default": {},
        "expandable": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        "async": {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"},
    }
    for name, variables in settings.items():
        said, records, _, stderr = recorded("allocator", bindir, variables=variables)
        callbacks = sources(records).get("cupti_callbacks", {})
        check(f"{name}: callbacks", callbacks.get("status") == "active", source=callbacks, stderr=stderr[-500:])
        libs = collections.Counter(r.get("lib", "?") for r in of(records, "alloc") + of(records, "create"))
        say(f"{name}: who asked", libs=dict(libs))
        check(f"{name}: everyone is named", "?" not in libs)
        live = peak_live(records, "libc10_cuda")
        if name != "async":
            # Reserved at the moment that the program said, which is one of the last `live`.
            reserved = said.get("reserved")
            held = {replay(records, "libc10_cuda"), *live}
            check(f"{name}: reserved to the byte", reserved in held, reserved=reserved, live=live[-4:])
        failed = [r for r in of(records, "alloc") + of(records, "create") if r["rc"] != 0]
        check(f"{name}: failed ones", len(failed) >= said.get("ooms", 1), failed=len(failed), ooms=len(of(records, "oom")))
        last = (of(records, "live") or [{}])[-1]
        say(f"{name}: device", said=said.get("device_used"), context=last.get("context"),
            process_used=last.get("process_used"), live=of(records, "live")[-2:-1])
        cost = of(records, "overhead")[-1] if of(records, "overhead") else {}
        if cost.get("records"):
            say(f"{name}: cost", records=cost["records"], us_per_record=cost["native_ns"] / cost["records"] / 1000)
        check(f"{name}: footer", len(of(records, "footer")) == 1)
        seqs = sorted(r["seq"] for r in records)
        check(f"{name}: gapless", seqs == list(range(len(seqs))), records=len(seqs))

    said, records, _, _ = recorded("raw", bindir, options=["--backtrace=1"])
    creates = [(r["size"], r["rc"], r.get("lib")) for r in of(records, "create")]
    check("raw: cuMemCreate", [c[:2] for c in creates] == [(2 * MIB, 0), (64 * MIB, 0), (1 << 42, said.get("failed"))], creates=creates)
    check("raw: mapped memory lives", any(
        sum(b["bytes"] for b in r.get("by", []) if b["kind"] == "vmm") == 66 * MIB for r in of(records, "live")))
    check("raw: pool", [r["op"] for r in of(records, "pool")] == ["create"])
    say("raw: backtrace", bt=next((r.get("bt") for r in of(records, "create")), None))

    said, records, _, _ = recorded("nccl", bindir)
    held = collections.Counter()
    for r in of(records, "live"):
        for b in r.get("by", []):
            held[b.get("lib", "?")] = max(held[b.get("lib", "?")], b["bytes"])
    check("nccl: named", any(lib.startswith("libnccl") for lib in held), most=dict(held))

    said, records, _, _ = recorded("profiler", bindir)
    say("profiler under record", kernels=said.get("kernels"), source=sources(records).get("cupti_callbacks"))
    said, records, _, _ = recorded("profiler", bindir, options=["--poll"])
    check("profiler with --poll", (said.get("kernels") or 0) > 0, kernels=said.get("kernels"))
    samples = of(records, "sample")
    check("poll: samples", any(s.get("device_used") for s in samples), samples=len(samples), last=samples[-1:])

    said, _, journals, _ = recorded("forks", bindir)
    check("forks: one journal", len(journals) == 1, journals=len(journals), codes=said.get("codes"))

    for program, key in (("pairs", "us"), ("steps", "ms")):
        without = recorded(program, bindir, record=False)[0].get(key)
        with_ = recorded(program, bindir)[0].get(key)
        if not without or not with_:
            check(f"{program}: measured", False)
            continue
        slowdown = 100 * (with_ - without) / without
        say(program, without=without, recorded=with_, unit=key, slowdown_percent=slowdown)
        if program == "steps":
            check("steps: slowdown below 1 %", slowdown < 1, slowdown_percent=slowdown)
    say("done", failed=FAILED)
    return len(FAILED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        globals()[sys.argv[2]]()
    elif len(sys.argv) == 2:
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__)
