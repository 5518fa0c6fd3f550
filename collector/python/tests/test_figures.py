"""Figures in the journal are those that the allocator gave, and peaks are where they rose.

The stand-in gives figures of a real run one after the other; the tests compute what follows from them.
"""

import json
import os
import unittest

import harness
from harness import Case, of_kind

REPORT = os.path.join(
    harness.HERE, "../../../tests/fixtures/original_memscope/rank00000/runtime_report.json"
)


def recorded():
    """[allocated, reserved, highest allocated, highest reserved] of a recorded run, each different from
    the one before."""
    with open(REPORT) as file:
        trace = json.load(file)["runtime_trace"]
    keys = ("mem_allocated_after", "mem_reserved_after", "max_mem_allocated", "max_mem_reserved")
    figures = [[event[k] for k in keys] for event in trace]
    return [f for n, f in enumerate(figures) if n == 0 or f != figures[n - 1]]


@unittest.skipIf(harness.REAL, "PyTorch has no figures without a GPU; gpu-tests/boundaries.py has them")
class Figures(Case):
    def figures(self, figures, name="plain", **more):
        path = os.path.join(self.folder, "figures.json")
        with open(path, "w") as file:
            json.dump(figures, file)
        return self.scenario(name, MEMSCOPE_STANDIN_FIGURES=path, **more)

    def test_as_given_in_order(self):
        given = recorded()
        records = self.figures(given, MEMSCOPE_MODULES="full", MEMSCOPE_INVENTORY="off")
        keys = ("allocated", "reserved", "max_allocated", "max_reserved")
        at = -1
        seen = 0
        for record in records:
            if record["k"] not in ("sample", "module", "grad"):
                continue
            read = [record[k] for k in keys]
            # Boundaries of one moment share a reading.
            if at < 0 or read != given[at] or record["k"] != "sample":
                at += 1
            self.assertEqual(read, given[at], record)
            seen += 1
        self.assertGreater(seen, 60)
        bounds = [r for r in of_kind(records, "sample") if r["edge"] in ("step_start", "step_end")]
        for record in bounds:
            self.assertEqual(record["device_used"], record["reserved"])
            self.assertEqual(record["device_total"], 150754820096)

    def test_differences_of_modules(self):
        records = self.figures(recorded(), MEMSCOPE_MODULES="full")
        before = {}
        posts = 0
        for record in of_kind(records, "module"):
            if record["edge"] == "pre":
                before[record["call"]] = record
                continue
            first = before[record["call"]]
            self.assertEqual(record["delta_allocated"], record["allocated"] - first["allocated"])
            self.assertEqual(record["delta_reserved"], record["reserved"] - first["reserved"])
            self.assertEqual(record["peak_rose"], record["max_allocated"] > first["max_allocated"])
            posts += 1
        self.assertEqual(posts, 12)

    def test_peaks(self):
        records = self.figures(recorded(), MEMSCOPE_MODULES="full")
        expected = []
        highest = {"allocated": None, "reserved": None}
        edge = None
        stack = []
        for record in records:
            if record["k"] not in ("sample", "module", "grad"):
                continue
            name = record["edge"] if record["k"] == "sample" else record["k"]
            if record["k"] == "module":
                name = "module_" + ("pre" if record["edge"] == "pre" else "post")
            for what, mark in highest.items():
                now = record["max_" + what]
                if mark is None or now > mark + max(1 << 20, mark // 1000):
                    highest[what] = now
                    expected.append((what, now, edge, name, stack[-1] if stack else None))
            edge = name
            if name == "module_pre":
                stack.append(record["name"])
            elif name == "module_post":
                stack.pop()
        peaks = [(r["what"], r["bytes"], r.get("after"), r["before"], r.get("module"))
                 for r in of_kind(records, "peak")]
        self.assertEqual(peaks, expected)
        self.assertGreater(len(peaks), 5)
        self.assertEqual(of_kind(records, "peak")[0]["phase"], "init")

    def test_a_reset_mark_is_noticed_and_no_new_peak(self):
        mib = 1 << 20
        high = [[8 * mib, 64 * mib, 500 * mib, 600 * mib]] * 6
        low = [[8 * mib, 64 * mib, 9 * mib, 64 * mib]] * 4
        back = [[8 * mib, 64 * mib, 400 * mib, 500 * mib]] * 99
        records = self.figures(high + low + back, MEMSCOPE_MODULES="off")
        self.assertEqual([(r["what"], r["bytes"]) for r in of_kind(records, "peak")],
                         [("allocated", 500 * mib), ("reserved", 600 * mib)])
        notes = [r["note"] for r in of_kind(records, "sample") if "note" in r]
        self.assertEqual(notes, ["high-water mark was reset"])

    def test_the_history_is_on_in_chosen_steps_only(self):
        program = (
            "import torch, scenarios\n"
            "scenarios.plain()\n"
            "print(len(torch.cuda.memory.log), torch.cuda.memory.log[0][1], torch.cuda.memory.on)\n"
        )
        figures = os.path.join(self.folder, "figures.json")
        with open(figures, "w") as file:
            json.dump(recorded(), file)
        records = self.program(program, MEMSCOPE_STANDIN_FIGURES=figures, MEMSCOPE_HISTORY="0,1")
        self.assertIn("2 {'context': 'alloc', 'stacks': 'python', 'max_entries': 100000} False", self.stdout)
        (snapshot,) = of_kind(records, "snapshot")
        self.assertEqual((snapshot["file"], snapshot["reason"]), ("memory_snapshot.pickle", "peak"))
        self.assertTrue(os.path.isfile(os.path.join(self.out, "rank00000/memory_snapshot.pickle")))
        update = of_kind(records, "update")[0]
        self.assertEqual(update["devices"][0]["name"], "NVIDIA H200")
        self.assertEqual(update["settings"]["history"], "0,1")

    def test_out_of_memory_is_written_before_the_snapshot(self):
        program = (
            "import torch, scenarios\n"
            "net, optimizer = scenarios._parts()\n"
            "net(scenarios._batch()).sum().backward(); optimizer.step()\n"
            "torch._C._observers[0](0, 12345, 150754820096, 777)\n"
        )
        figures = os.path.join(self.folder, "figures.json")
        with open(figures, "w") as file:
            json.dump(recorded(), file)
        records = self.program(program, MEMSCOPE_STANDIN_FIGURES=figures, MEMSCOPE_HISTORY="off")
        kinds = [r["k"] for r in records]
        (oom,) = of_kind(records, "oom")
        self.assertEqual((oom["requested"], oom["device_free"], oom["device_total"], oom["source"]),
                         (12345, 777, 150754820096, "torch"))
        self.assertIn("program.py:4 <module>", oom["stack"][0])
        self.assertLess(kinds.index("oom"), kinds.index("snapshot"))
        self.assertEqual(of_kind(records, "snapshot")[0]["reason"], "oom")
        self.assertEqual(of_kind(records, "inventory")[-1]["at"], "oom")


if __name__ == "__main__":
    unittest.main()
