"""The command `memscope run`, as it comes with the package."""

import os
import signal
import subprocess
import sys
import time
import unittest

from harness import HERE, Case


class Run(Case):
    def setUp(self):
        super().setUp()
        code = "import memscope._native as n, sys; sys.exit(0 if n.has_command() else 9)"
        done = subprocess.run([sys.executable, "-c", code], env=self.environment(False))
        if done.returncode == 9:
            self.skipTest("this build of the native half has no command")

    def command(self, *arguments, code=0, **more):
        self.run_python(["-m", "memscope", "run"] + list(arguments), code, False, MEMSCOPE_DIR="", **more)

    def scenario_script(self):
        return os.path.join(HERE, "scenarios.py")

    def test_a_script(self):
        self.command("-o", self.out, "--history", "off", "--modules", "off", "--no-report",
                     self.scenario_script(), "plain")
        self.assertIn("memscope: recorded in %s/rank00000" % self.out, self.stderr)
        records = self.records()
        self.assertEqual({r["k"] for r in records} & {"module"}, set())
        self.assertEqual(len([e for e in self.edges(records) if e.startswith("step_end")]), 3)

    def test_a_module_and_a_relative_folder(self):
        self.command("-o", "out", "--no-report", "-m", "scenarios", "plain")
        self.assertEqual(len(self.journals()), 1)

    def test_a_launcher_with_two_ranks(self):
        launcher = os.path.join(self.folder, "launch.sh")
        with open(launcher, "w") as file:
            file.write('#!/bin/sh\nfor r in 0 1; do RANK=$r WORLD_SIZE=2 "$@" || exit 1; done\n')
        os.chmod(launcher, 0o755)
        self.command("-o", self.out, "--no-report", launcher, sys.executable, self.scenario_script(), "plain")
        self.assertIn("rank00000 and 1 more", self.stderr)
        self.assertEqual(sorted(os.listdir(self.out))[:2], ["rank00000", "rank00001"])

    def test_exit_codes(self):
        self.command("-c", "raise SystemExit(5)", code=5)
        self.assertIn("nothing was recorded", self.stderr)
        self.command("-c", "import os; os.kill(os.getpid(), 9)", code=128 + 9)
        self.command("none.py", code=2)
        self.assertIn("no such script", self.stderr)

    def test_streams_are_the_programs(self):
        self.command("-c", "print(1 + 1)")
        self.assertEqual(self.stdout, "2\n")

    def test_without_the_package(self):
        bare = os.path.join(self.folder, "bare")
        with open(bare, "w") as file:
            file.write('#!/bin/sh\nexec %s -I "$@"\n' % sys.executable)
        os.chmod(bare, 0o755)
        self.command("-m", "scenarios", code=1, MEMSCOPE_PYTHON=bare)
        self.assertIn("cannot import the Python package memscope", self.stderr)
        self.assertIn("pip install memscope", self.stderr)

    def test_signals_are_passed_on(self):
        program = os.path.join(self.folder, "program.py")
        with open(program, "w") as file:
            file.write(
                "import os, signal, time\n"
                "def end(*_):\n"
                "    os.write(1, b'told\\n'); os._exit(3)\n"
                "signal.signal(signal.SIGTERM, end)\n"
                "os.write(1, b'ready\\n')\n"
                "time.sleep(60)\n"
            )
        child = subprocess.Popen(
            [sys.executable, "-m", "memscope", "run", "-o", self.out, program], cwd=self.folder,
            env=self.environment(False), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.assertEqual(child.stdout.readline(), b"ready\n")
        began = time.monotonic()
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.stdout.read(), b"told\n")
        child.stdout.close()
        self.assertEqual(child.wait(), 3)
        self.assertLess(time.monotonic() - began, 50)

    def test_the_driver_needs_its_library(self):
        self.command("--driver", "-c", "pass", code=2, MEMSCOPE_LIBRARY="/nowhere/lib.so")
        self.assertIn("/nowhere/lib.so is no file", self.stderr)
        self.command("--driver", "-c", "pass", code=2, CUDA_INJECTION64_PATH="/other.so")
        self.assertIn("CUDA_INJECTION64_PATH is /other.so already", self.stderr)


if __name__ == "__main__":
    unittest.main()
