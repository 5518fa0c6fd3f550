"""What recording costs: GPT-2 (12 layers, batch 8, sequence 1024, bf16), not recorded, recorded as by
default, recorded with hooks on every module of every step; one after the other, several times, so that
what the machine does by itself is seen.

    PYTHONPATH=OUT python3 gpt2_overhead.py [ROUNDS] [STEPS]
"""

import json
import os
import statistics
import sys

import common

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 120
WARM = 20
SCRIPT = [os.path.join(common.HERE, "gpt2.py"), str(STEPS)]


def measure(mode):
    """Median and mean of the steps behind the warm-up; the record of the cost."""
    cost = None
    if mode == "off":
        said = common.plain(SCRIPT)
    else:
        code, folder, said, error = common.recorded(
            SCRIPT, MEMSCOPE_MODULES="every" if mode == "every" else "sampled")
        if code:
            raise RuntimeError(error)
        found, _ = common.records(common.journals(folder)[0])
        cost = common.of_kind(found, "overhead")[-1]
    times = json.loads(said.splitlines()[-1])[WARM:]
    return statistics.median(times), statistics.mean(times), cost


def main():
    common.machine()
    medians = {"off": [], "default": [], "every": []}
    records = []
    for number in range(ROUNDS):
        for mode in ("off", "default", "every"):
            median, mean, cost = measure(mode)
            medians[mode].append(median)
            line = {"round": number, "mode": mode, "median_ms": round(median, 3), "mean_ms": round(mean, 3)}
            if cost:
                record = cost["native_ns"] / cost["records"] / 1000
                records.append(record)
                line.update(records=cost["records"], us_per_record=round(record, 3),
                            hook_percent=round(100 * cost["hook_ns"] / cost["step_ns"], 3))
            common.say(**line)
    median, _, _ = measure("off")
    medians["off"].append(median)
    base = statistics.median(medians["off"])
    noise = 100 * (max(medians["off"]) - min(medians["off"])) / base
    for mode, most in (("default", 1.0), ("every", 5.0)):
        percent = 100 * (statistics.median(medians[mode]) / base - 1)
        common.check("overhead of %s below %g %%" % (mode, most), percent < most,
                     percent=round(percent, 3), noise_percent=round(noise, 3))
    common.check("a record under 3 us", statistics.median(records) < 3,
                 us=round(statistics.median(records), 3))
    common.finish()


main()
