"""Steps and phases of scenarios, as a person would tell them."""

import unittest

from harness import Case, of_kind

FORWARD = ["forward_start {s} {m} forward", "forward_end {s} {m} forward"]
BACKWARD = ["backward_start {s} {m} forward", "backward_end {s} {m} backward"]
UPDATE = [
    "forward_backward_end {s} {m} backward", "optimizer_step_start {s} {m} optimizer",
    "optimizer_step_end {s} {m} optimizer",
]
BEGIN = ["step_start {s} 0 other"]
END = ["step_end {s} {m} other"]
STEP = BEGIN + FORWARD + BACKWARD + UPDATE + END


def said(parts, step, micro=0):
    return [p.format(s=step, m=micro) for p in parts]


class Scenarios(Case):
    def expect(self, name, *parts):
        expected = [line for part in parts for line in part]
        self.assertEqual(self.edges(self.scenario(name)), expected)

    def test_plain(self):
        self.expect("plain", *(said(STEP, s) for s in range(3)))

    def test_gradient_accumulation(self):
        for_step = lambda s: [  # noqa: E731
            said(BEGIN, s),
            *(said(FORWARD + BACKWARD, s, m) for m in range(3)),
            said(UPDATE + END, s, 2),
        ]
        self.expect("accumulation", *for_step(0), *for_step(1))

    def test_forward_inside_of_the_optimizers_step(self):
        # The pre-hook of the optimizer comes first; the update begins where backward ended.
        self.expect("closure", *(said(STEP, s) for s in range(3)))

    def test_steps_that_a_scaler_leaves_out(self):
        skip = ["optimizer_skipped {s} {m} optimizer"]
        self.expect(
            "skipped", said(STEP, 0), said(BEGIN + FORWARD + BACKWARD + skip + END, 1), said(STEP, 2)
        )

    def test_recomputation_is_part_of_backward(self):
        records = self.scenario("recompute")
        self.assertEqual(self.edges(records), said(STEP, 0) + said(STEP, 1))
        again = [(r["name"], r["edge"]) for r in of_kind(records, "module") if r["phase"] == "recompute"]
        self.assertEqual(again, [("first", "pre"), ("first", "post")] * 2)

    def test_inference(self):
        once = ["step_start {s} 0 other", "forward_start {s} 0 eval", "forward_end {s} 0 eval", END[0]]
        self.expect("inference", *(said(once, s) for s in range(3)))

    def test_inference_with_gradients_left_on(self):
        self.expect("forgot_no_grad", *(said(BEGIN + FORWARD + END, s) for s in range(3)))

    def test_evaluation_is_no_step(self):
        evaluation = ["forward_end {s} 0 eval"] * 2
        self.expect("evaluation", *(said(STEP[:-1] + evaluation + END, s) for s in range(2)))

    def test_two_optimizers_make_one_step(self):
        for_step = lambda s: [  # noqa: E731
            said(BEGIN + FORWARD + BACKWARD + UPDATE, s), said(FORWARD + BACKWARD + UPDATE + END, s, 1)
        ]
        self.expect("two_optimizers", *for_step(0), *for_step(1), *for_step(2))

    def test_an_optimizer_that_never_steps_holds_nothing_up_for_long(self):
        edges = self.edges(self.scenario("unused_optimizer"))
        # The first step holds two updates, as nothing told before the second that the other has no part.
        self.assertEqual(sum(e.startswith("step_start") for e in edges), 3)
        self.assertEqual(sum(e.startswith("optimizer_step_end") for e in edges), 4)
        self.assertEqual(edges[-len(STEP):], said(STEP, 2))

    def test_a_loss_is_no_forward_of_its_own(self):
        self.expect("loss_module", said(STEP, 0), said(STEP, 1))

    def test_exceptions_in_forward(self):
        both = (("raises_in_forward", True), ("interrupted", False))
        for name, noted, steps in [(*one, steps) for one in both for steps in ("0-3", "0", "off")]:
            with self.subTest(name, steps=steps):
                self.setUp()
                records = self.scenario(name, MEMSCOPE_MODULES="every", MEMSCOPE_MODULE_STEPS=steps)
                # The step that failed and the one after it are one: nothing was updated in between.
                again = FORWARD + BACKWARD + UPDATE + END if noted else FORWARD + BACKWARD + UPDATE + END
                first = FORWARD if noted else []
                expected = said(STEP, 0) + said(BEGIN + first, 1)
                edges = self.edges(records)
                self.assertEqual(edges[: len(expected)], expected)
                self.assertEqual(edges[-6:], said(again, 1)[-6:])
                aborted = [r["name"] for r in of_kind(records, "module") if r["edge"] == "abort"]
                self.assertEqual(aborted, ["Failing" if noted else "Stopping"])
                notes = [r["note"] for r in of_kind(records, "sample") if "note" in r]
                self.assertEqual(notes, ["aborted"] if noted else [])

    def test_what_the_program_says_itself(self):
        records = self.scenario("explicit")
        edges = self.edges(records)
        self.assertEqual([e for e in edges if e.startswith("step_")], [
            "step_start 0 0 other", "step_end 0 1 other", "step_start 1 0 other", "step_end 1 1 other",
            "step_start 2 0 other", "step_end 2 1 other",
        ])
        phases = [e for e in edges if e.endswith("rollout")]
        self.assertEqual([e.split()[0] for e in phases if e.startswith("phase_")],
                         ["phase_start", "phase_end"] * 3)
        self.assertTrue(any(e.startswith("forward_end") for e in phases))
        self.assertEqual([r["name"] for r in of_kind(records, "mark")], ["done"] * 3)


class Modules(Case):
    def test_calls_are_paired_and_named(self):
        records = self.scenario("plain")
        modules = of_kind(records, "module")
        first = [r for r in modules if r["step"] == 0]
        self.assertEqual(
            [(r["edge"], r["name"], r["class"], r["depth"]) for r in first],
            [("pre", "Net", "Net", 0), ("pre", "first", "Linear", 1), ("post", "first", "Linear", 1),
             ("pre", "act", "ReLU", 1), ("post", "act", "ReLU", 1), ("pre", "last", "Linear", 1),
             ("post", "last", "Linear", 1), ("post", "Net", "Net", 0)],
        )
        calls = [r["call"] for r in modules]
        self.assertEqual(sorted(calls), sorted(2 * list(set(calls))))
        self.assertEqual(first[0]["inputs"], [{
            "name": "", "shape": [3, 4], "dtype": "float32", "device": "cpu", "requires_grad": False,
            "bytes": 3 * 4 * 4,
        }])
        self.assertEqual(first[-1]["outputs"][0]["shape"], [3, 2])
        grads = [r["name"] for r in of_kind(records, "grad") if r["step"] == 1]
        self.assertEqual(grads[0], "last.output[0]")
        self.assertEqual(
            sorted(g for g in grads if g.startswith("param::")),
            ["param::first.bias", "param::first.weight", "param::last.bias", "param::last.weight"],
        )

    def test_which_steps(self):
        for setting, steps in (("off", []), ("sampled", [1, 2]), ("every", [0, 1, 2]),
                               ("full", [0, 1, 2])):
            with self.subTest(setting):
                self.setUp()
                records = self.scenario("plain", MEMSCOPE_MODULES=setting, MEMSCOPE_MODULE_STEPS="1,%2,0-0"
                                        if setting == "every" else "1-2")
                modules = of_kind(records, "module")
                self.assertEqual(sorted({r["step"] for r in modules}), steps)
                self.assertEqual(len(modules), 8 * len(steps))
                # Boundaries do not depend on it.
                self.assertEqual(self.edges(records), [e for s in range(3) for e in said(STEP, s)])

    def test_records_of_steps_that_are_not_sampled_are_brief(self):
        for depth, names in (("blocks", ["Net", "first", "act", "last"]), ("0", ["Net"])):
            with self.subTest(depth):
                self.setUp()
                records = self.scenario("plain", MEMSCOPE_MODULES="every", MEMSCOPE_MODULE_STEPS="1",
                                        MEMSCOPE_DEPTH=depth)
                for step in (0, 2):
                    brief = [r for r in of_kind(records, "module") if r["step"] == step]
                    self.assertEqual([r["name"] for r in brief if r["edge"] == "pre"], names)
                    self.assertEqual(sorted(r["name"] for r in brief if r["edge"] == "post"), sorted(names))
                    self.assertFalse([r for r in brief if "inputs" in r or "outputs" in r])
                self.assertEqual({r["step"] for r in of_kind(records, "grad")}, {1})
                full = [r for r in of_kind(records, "module") if r["step"] == 1]
                self.assertEqual(len(full), 8)
                self.assertTrue(all("inputs" in r or "outputs" in r for r in full))
                depths = {(r["name"], r["depth"]) for r in of_kind(records, "module")}
                self.assertEqual(depths, {("Net", 0), ("first", 1), ("act", 1), ("last", 1)})

    def test_the_cost_by_kind(self):
        for setting in ("every", "full"):
            with self.subTest(setting):
                self.setUp()
                records = self.scenario("plain", MEMSCOPE_MODULES=setting, MEMSCOPE_MODULE_STEPS="1")
                last = of_kind(records, "overhead")[-1]
                self.assertEqual(last["sample_records"], len(of_kind(records, "sample")))
                self.assertEqual(last["module_records"], len(of_kind(records, "module")))
                self.assertLess(last["sample_ns"] + last["module_ns"], last["native_ns"])
                self.assertLess(last["module_ns"], last["hook_ns"])

    def test_inventory(self):
        records = self.scenario("plain")
        (found,) = of_kind(records, "inventory")
        self.assertEqual((found["at"], found["step"]), ("optimizer_step_end", 0))
        items = {(i["kind"], i["name"]): i for i in found["items"]}
        for name, size in (("first.weight", 16), ("first.bias", 4), ("last.weight", 8), ("last.bias", 2)):
            for kind in ("parameter", "gradient"):
                self.assertEqual(items[kind, name]["bytes"], 4 * size)
        addresses = [i["storage"] for i in found["items"]]
        self.assertEqual(len(set(addresses)), len(addresses))


if __name__ == "__main__":
    unittest.main()
