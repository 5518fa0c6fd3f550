"""What recording costs: GPT-2 (12 layers, batch 8, sequence 1024, bf16), not recorded, recorded as by
default, with the outline of modules on every step, with all of all modules on every step; one after the
other, twice and in both orders, so that what the machine does by itself is seen. Two minutes on an H200.

    PYTHONPATH=OUT python3 gpt2_overhead.py [ROUNDS] [STEPS]
"""

import json
import os
import statistics
import sys
import time

import common

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
WARM = 20
SCRIPT = [os.path.join(common.HERE, "gpt2.py"), str(STEPS)]
MODES = {"off": None, "default": "sampled", "every": "every", "full": "full"}


def reading():
    """What one reading of the allocator takes, us: the call, and that its result is dropped."""
    import torch

    kept = [torch.empty(1 << 20, device="cuda") for _ in range(8)]
    read, device = torch._C._cuda_memoryStats, torch.cuda.current_device()
    rounds = []
    for _ in range(20):
        began = time.perf_counter_ns()
        for _ in range(500):
            read(device)
        rounds.append((time.perf_counter_ns() - began) / 500 / 1000)
    del kept
    torch.cuda.empty_cache()
    return statistics.median(rounds)


def measure(mode):
    """Median and mean of the steps behind the warm-up; the cost record; records in one step."""
    if mode == "off":
        times, cost, step = common.plain(SCRIPT), None, None
    else:
        code, folder, times, error = common.recorded(SCRIPT, MEMSCOPE_MODULES=MODES[mode])
        if code:
            raise RuntimeError(error)
        found, _ = common.records(common.journals(folder)[0])
        cost = common.of_kind(found, "overhead")[-1]
        # One that is not sampled.
        step = {k: sum(r["k"] == k and r.get("step") == STEPS // 2 for r in found)
                for k in ("sample", "module", "grad")}
    times = json.loads(times.splitlines()[-1])[WARM:]
    return statistics.median(times), statistics.mean(times), cost, step


def main():
    common.machine()
    read = reading()
    common.say(memory_stats_us=round(read, 3))
    medians = {mode: [] for mode in MODES}
    written = []
    for number in range(ROUNDS):
        for mode in list(MODES)[:: -1 if number % 2 else 1]:
            median, mean, cost, step = measure(mode)
            medians[mode].append(median)
            line = {"round": number, "mode": mode, "median_ms": round(median, 3), "mean_ms": round(mean, 3)}
            if cost:
                # Inventories and descriptions of the process are long by nature, and apart.
                kinds = {k: (cost[k + "_records"], cost[k + "_ns"]) for k in ("sample", "module")}
                for kind, (count, spent) in kinds.items():
                    line["us_per_%s" % kind] = round(spent / count / 1000, 3)
                counts, times = zip(*kinds.values())
                written.append(sum(times) / sum(counts) / 1000)
                line.update(
                    records=cost["records"], records_of_a_step=step,
                    us_per_record_of_any_kind=round(cost["native_ns"] / cost["records"] / 1000, 3),
                    hook_percent=round(100 * cost["hook_ns"] / cost["step_ns"], 3),
                    hook_us_per_step=round(cost["hook_ns"] / cost["steps"] / 1000, 1),
                )
            common.say(**line)
    base = statistics.median(medians["off"])
    noise = 100 * (max(medians["off"]) - min(medians["off"])) / base
    percents = {m: round(100 * (statistics.median(medians[m]) / base - 1), 3) for m in MODES}
    for mode, most in (("default", 1.0), ("every", 5.0)):
        common.check("overhead of %s below %g %%" % (mode, most), percents[mode] < most,
                     percent=percents[mode], noise_percent=round(noise, 3))
    # All of all modules costs what it costs: said, not held against a goal.
    common.say(mode="full", percent=percents["full"], noise_percent=round(noise, 3))
    common.check("a record of a sample or module under 3 us", statistics.median(written) < 3,
                 us=round(statistics.median(written), 3))
    common.finish()


main()
