"""Ends of processes, children, and who is recorded at all."""

import os
import signal
import subprocess
import sys
import unittest

from harness import HERE, REAL, Case, of_kind


class Ends(Case):
    def footer(self, records):
        self.assertEqual(records[-1]["k"], "footer")
        return records[-1]["reason"], records[-1].get("error", "")

    def test_exit(self):
        records = self.scenario("plain")
        self.assertEqual(self.footer(records), ("exit", ""))
        overhead = of_kind(records, "overhead")[-1]
        self.assertEqual(overhead["steps"], 3)
        self.assertGreater(overhead["hook_ns"], overhead["native_ns"])
        self.assertGreater(overhead["step_ns"], 0)
        # Its own record and the footer come after it counted.
        self.assertGreaterEqual(overhead["records"], 40)

    def test_exception(self):
        reason, error = self.footer(self.scenario("uncaught", 1))
        self.assertEqual((reason, error), ("exception", "RuntimeError: the program failed"))
        self.assertIn("RuntimeError: the program failed", self.stderr)

    def test_keyboard_interrupt(self):
        reason, _ = self.footer(self.scenario("uncaught_interrupt", -signal.SIGINT))
        self.assertEqual(reason, "keyboard_interrupt")

    def test_exit_code_of_the_program(self):
        records = self.program("import sys, scenarios\nscenarios.plain()\nsys.exit(7)\n", 7)
        self.assertEqual(self.footer(records), ("exit", ""))

    def test_killed(self):
        records = self.program(
            "import os, scenarios\nscenarios.plain()\nos.kill(os.getpid(), 9)\n", -signal.SIGKILL
        )
        self.assertEqual(records[-1]["k"], "sample")
        self.assertEqual(self.edges(records)[-1], "optimizer_step_end 2 0 optimizer")


class Children(Case):
    def test_a_forked_child_writes_nothing(self):
        records = self.program(
            "import os, scenarios\n"
            "scenarios.plain()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    scenarios.plain()\n"
            "    raise SystemExit(0)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "scenarios.plain()\n"
        )
        self.assertEqual(len([e for e in self.edges(records) if e.startswith("step_start")]), 6)
        self.assertEqual(len(of_kind(records, "footer")), 1)
        self.assertEqual(len(os.listdir(os.path.join(self.out, "rank00000/journal"))), 2)

    def test_a_worker_of_a_data_loader_leaves_no_file(self):
        for start in ("fork", "spawn"):
            with self.subTest(start):
                self.setUp()
                records = self.program(
                    "import multiprocessing, torch\n"
                    "import torch.utils.data\n"
                    "import scenarios\n"
                    "def work(queue):\n"
                    "    import sys\n"
                    "    data = sys.modules['torch.utils.data']\n"
                    "    data.get_worker_info = lambda: object()\n"
                    "    scenarios.plain()\n"
                    "    queue.put(1)\n"
                    "if __name__ == '__main__':\n"
                    "    context = multiprocessing.get_context('%s')\n"
                    "    queue = context.SimpleQueue()\n"
                    "    child = context.Process(target=work, args=(queue,))\n"
                    "    child.start(); assert queue.get() == 1; child.join()\n"
                    "    assert child.exitcode == 0\n"
                    "    scenarios.plain()\n" % start
                )
                self.assertEqual(len(self.journals()), 1)
                self.assertEqual(len([e for e in self.edges(records) if e.startswith("step_end")]), 3)

    @unittest.skipUnless(REAL, "needs the DataLoader of PyTorch")
    def test_data_loaders_of_pytorch(self):
        for start in ("fork", "spawn"):
            with self.subTest(start):
                self.setUp()
                self.program(
                    "import torch, scenarios\n"
                    "from torch.utils.data import DataLoader, Dataset\n"
                    "class Data(Dataset):\n"
                    "    net = torch.nn.Linear(4, 4)\n"
                    "    def __len__(self): return 8\n"
                    "    def __getitem__(self, i): return self.net(torch.ones(4)).detach()\n"
                    "if __name__ == '__main__':\n"
                    "    net, optimizer = scenarios._parts()\n"
                    "    for x in DataLoader(Data(), 4, num_workers=2, multiprocessing_context='%s'):\n"
                    "        net(x).sum().backward(); optimizer.step()\n" % start
                )
                self.assertEqual(len(self.journals()), 1)

    def test_nothing_worth_recording_leaves_nothing(self):
        self.run_python(["-c", "import torch; torch.nn.ReLU()(torch.randn(2, 2))"])
        self.assertFalse(os.path.exists(self.out))

    def test_switched_off(self):
        self.run_python([os.path.join(HERE, "scenarios.py"), "plain"], MEMSCOPE_OFF="1")
        self.assertFalse(os.path.exists(self.out))

    def test_another_sitecustomize_runs_too(self):
        other = os.path.join(self.folder, "other")
        os.makedirs(other)
        with open(os.path.join(other, "sitecustomize.py"), "w") as file:
            file.write("import builtins\nbuiltins.was_here = 'the other'\n")
        path = self.environment()["PYTHONPATH"] + os.pathsep + other
        self.run_python(["-c", "print(was_here)"], PYTHONPATH=path)
        self.assertEqual(self.stdout, "the other\n")


class Failures(Case):
    def test_a_folder_that_cannot_be_made(self):
        blocked = os.path.join(self.folder, "file")
        with open(blocked, "w"):
            pass
        self.run_python([os.path.join(HERE, "scenarios.py"), "plain"], MEMSCOPE_DIR=blocked)
        self.assertEqual(self.stderr.count("memscope:"), 1)
        self.assertIn("cannot make the folder", self.stderr)

    def test_settings_that_are_not_understood(self):
        self.run_python([os.path.join(HERE, "scenarios.py"), "plain"], MEMSCOPE_HISTORY="some",
                        MEMSCOPE_MODULES="all of them", MEMSCOPE_DEPTH="deep")
        self.assertIn("MEMSCOPE_HISTORY=some is not understood", self.stderr)
        self.assertIn("MEMSCOPE_MODULES=all of them is not understood", self.stderr)
        self.assertIn("MEMSCOPE_DEPTH=deep is not understood", self.stderr)
        self.assertEqual(len(self.journals()), 1)

    def test_a_hook_that_fails_is_said_and_the_program_runs(self):
        self.run_python(["-c", (
            "import torch, scenarios\n"
            "from memscope import session\n"
            "def broken(*a): raise ValueError('broken')\n"
            "session.current().machine.emit = broken\n"
            "scenarios.plain()\n"
            "print('done')\n"
        )])
        self.assertEqual(self.stdout, "done\n")
        self.assertEqual(self.stderr.count("ValueError: broken"), 3)


class Kills(Case):
    def test_every_complete_record_survives(self):
        program = os.path.join(self.folder, "program.py")
        with open(program, "w") as file:
            file.write(
                "import sys, scenarios\n"
                "from memscope import session\n"
                "while True:\n"
                "    scenarios.plain()\n"
                "    sys.stdout.write('%d\\n' % session.current().machine.step); sys.stdout.flush()\n"
            )
        child = subprocess.Popen([sys.executable, program], env=self.environment(), cwd=self.folder,
                                 stdout=subprocess.PIPE)
        said = [int(child.stdout.readline()) for _ in range(20)]
        child.kill()
        said += [int(n) for n in child.stdout.read().split()]
        child.stdout.close()
        child.wait()
        records = self.records()
        steps = [r["step"] for r in of_kind(records, "sample")]
        self.assertGreaterEqual(max(steps), said[-1])


if __name__ == "__main__":
    unittest.main()
