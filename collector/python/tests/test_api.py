"""What programs call themselves, without `memscope run`."""

import unittest

from harness import Case, of_kind


class Trace(Case):
    def test_as_a_context(self):
        records = self.program(
            "import memscope, scenarios\n"
            "net, optimizer = scenarios._parts()\n"
            "with memscope.trace(net, optimizer, title='small') as t:\n"
            "    for _ in range(2):\n"
            "        net(scenarios._batch()).sum().backward(); optimizer.step()\n"
            "    assert memscope.recording() and t.folder.endswith('rank00000')\n"
            "assert not memscope.recording()\n"
            "net(scenarios._batch())\n"
            "memscope.step(); memscope.mark('x')\n"
            "with memscope.phase('y'): pass\n",
            bootstrap=False,
        )
        edges = self.edges(records)
        self.assertEqual(edges[-1], "step_end 1 0 other")
        self.assertEqual(of_kind(records, "update")[0]["metadata"], {"title": "small"})
        self.assertEqual(records[-1]["k"], "footer")

    def test_an_exception_inside(self):
        records = self.program(
            "import memscope, scenarios\n"
            "net, optimizer = scenarios._parts()\n"
            "try:\n"
            "    with memscope.trace(net, optimizer):\n"
            "        net(scenarios._batch())\n"
            "        raise KeyError('k')\n"
            "except KeyError: print('raised')\n",
            bootstrap=False,
        )
        self.assertEqual(self.stdout, "raised\n")
        self.assertEqual((records[-1]["reason"], records[-1]["error"]), ("exception", "KeyError: 'k'"))

    def test_importing_imports_no_torch(self):
        self.run_python(["-c", "import memscope, sys; print('torch' in sys.modules)"], bootstrap=False)
        self.assertEqual(self.stdout, "False\n")

    def test_two_recordings_after_another(self):
        self.run_python(["-c", (
            "import memscope, scenarios\n"
            "net, optimizer = scenarios._parts()\n"
            "for _ in range(2):\n"
            "    with memscope.trace(net, optimizer):\n"
            "        net(scenarios._batch()).sum().backward(); optimizer.step()\n"
        )], bootstrap=False)
        self.assertEqual(len(self.journals()), 2)


class Megatron(Case):
    def test_an_integration_of_the_public_memscope(self):
        records = self.program(
            "import types, scenarios\n"
            "from memscope.integrations.megatron.runtime import MemScopeMegatronRuntime\n"
            "args = types.SimpleNamespace(memscope=True, memscope_outdir=None, bf16=True,\n"
            "                             tensor_model_parallel_size=2, rank=0)\n"
            "net, optimizer = scenarios._parts()\n"
            "runtime = MemScopeMegatronRuntime.from_megatron_args(args)\n"
            "runtime.attach_model([net]); runtime.start()\n"
            "for i in (5, 6):\n"
            "    runtime.on_train_step_start(step=i, batch=None, notes='start')\n"
            "    for _ in range(2): net(scenarios._batch()).sum().backward()\n"
            "    runtime.on_forward_backward_end(outputs=None)\n"
            "    runtime.on_optimizer_step_start(notes='about')\n"
            "    optimizer.step()\n"
            "    runtime.on_optimizer_step_end()\n"
            "    runtime.on_train_step_end(outputs=None)\n"
            "runtime.finalize()\n",
            bootstrap=False,
        )
        told = [e for e in self.edges(records) if not e.startswith(("forward_start", "forward_end",
                                                                    "backward_"))]
        self.assertEqual(told, [
            "%s %d %s" % (edge, step, rest) for step in (5, 6) for edge, rest in (
                ("step_start", "0 other"), ("forward_backward_end", "1 backward"),
                ("optimizer_step_start", "1 optimizer"), ("optimizer_step_end", "1 optimizer"),
                ("step_end", "1 other"))
        ])
        notes = [r["note"] for r in of_kind(records, "sample") if "note" in r]
        self.assertEqual(notes[:2], ["start", "about"])
        metadata = of_kind(records, "update")[0]["metadata"]
        self.assertEqual(metadata, {"mode": "runtime", "tensor_model_parallel_size": "2", "dtype": "bf16"})


if __name__ == "__main__":
    unittest.main()
