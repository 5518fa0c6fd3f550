"""Runs programs as `memscope run` does, and reads what they left.

    MEMSCOPE_NATIVE     the built native half (lib_native.so)
    MEMSCOPE_TEST_TORCH `real`: PyTorch of this Python; else the stand-in
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(HERE), "memscope")
REAL = os.environ.get("MEMSCOPE_TEST_TORCH") == "real"
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")


def keys_of_page():
    """All that docs/journal.md names."""
    with open(os.path.join(HERE, "../../../docs/journal.md"), encoding="utf-8") as file:
        return set(file.read().split("`")[1::2])


class Case(unittest.TestCase):
    """A temporary folder with the package in it, laid out as pip would."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="memscope-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.site = os.path.join(self.folder, "site")
        package = os.path.join(self.site, "memscope")
        os.makedirs(package)
        for name in os.listdir(PACKAGE):
            if not name.startswith(("__pycache__", "_native")):
                os.symlink(os.path.join(PACKAGE, name), os.path.join(package, name))
        os.symlink(os.environ["MEMSCOPE_NATIVE"], os.path.join(package, "_native.abi3.so"))
        self.out = os.path.join(self.folder, "out")

    def environment(self, bootstrap=True, **more):
        variables = {k: os.environ[k] for k in _KEPT if k in os.environ}
        path = [os.path.join(self.site, "memscope/_bootstrap")] if bootstrap else []
        path += [self.site, HERE]
        if not REAL:
            path.append(os.path.join(HERE, "standin"))
        variables.update(
            PYTHONPATH=os.pathsep.join(path), MEMSCOPE_DIR=self.out, PYTHONDONTWRITEBYTECODE="1",
            MEMSCOPE_FINALIZE="off",
        )
        variables.update(more)
        return variables

    def run_python(self, arguments, code=0, bootstrap=True, **more):
        """Runs Python; the standard error is for assertions on it."""
        done = subprocess.run(
            [sys.executable] + arguments, env=self.environment(bootstrap, **more), cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300,
        )
        self.assertEqual(done.returncode, code, done.stderr)
        self.stdout, self.stderr = done.stdout, done.stderr
        return done

    def scenario(self, name, code=0, **more):
        """Runs a scenario recorded; its records."""
        self.run_python([os.path.join(HERE, "scenarios.py"), name], code, **more)
        if code == 0:
            self.assertNotIn("memscope:", self.stderr)
        return self.records()

    def program(self, text, code=0, bootstrap=True, **more):
        """Runs a program recorded; its records."""
        path = os.path.join(self.folder, "program.py")
        with open(path, "w") as file:
            file.write(text)
        self.run_python([path], code, bootstrap, **more)
        return self.records()

    def journals(self):
        return sorted(glob.glob(os.path.join(self.out, "rank*/journal/*.core.jsonl")))

    def records(self):
        """All records of the one journal, in order; each is checked against the page."""
        journals = self.journals()
        self.assertEqual(len(journals), 1, journals)
        stem = journals[0][: -len("core.jsonl")]
        records = []
        for path in glob.glob(stem + "*"):
            with open(path) as file:
                for line in file:
                    self.assertTrue(line.endswith("\n"), line)
                    self.assertTrue(line.startswith('{"k":'), line)
                    records.append(json.loads(line))
        records.sort(key=lambda r: r["seq"])
        self.check(records)
        return records

    def check(self, records):
        """Numbers without gaps, times that rise, and no key that the page does not name."""
        self.assertEqual([r["seq"] for r in records], list(range(len(records))))
        times = [r["t"] for r in records]
        self.assertEqual(times, sorted(times))
        known = keys_of_page()
        for record in records:
            for key, value in record.items():
                self.assertIn(key, known, record)
                self.assertIsNotNone(value, record)
            self.assertIn(record["k"], known)
            if record["k"] in ("sample", "module"):
                self.assertIn(record["edge"], known, record)

    @staticmethod
    def edges(records):
        """`edge step micro phase` of the samples."""
        return [
            " ".join(str(r.get(k, "-")) for k in ("edge", "step", "micro", "phase"))
            for r in records if r["k"] == "sample"
        ]


def of_kind(records, kind):
    return [r for r in records if r["k"] == kind]
