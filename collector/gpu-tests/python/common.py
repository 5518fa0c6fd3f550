"""What the checks share: running a program recorded, reading its journal, one JSON line a measurement.

`memscope` must be importable: PYTHONPATH=OUT of `collector/python/stage.sh OUT`.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
_failed = []


def say(**values):
    """One measurement."""
    print(json.dumps(values), flush=True)


def check(what, good, **values):
    """A check that is said, and that decides the exit code."""
    say(check=what, ok=bool(good), **values)
    if not good:
        _failed.append(what)


def finish():
    """Exits: 1 when a check failed."""
    say(failed=_failed)
    sys.exit(1 if _failed else 0)


def machine():
    """Card, driver and versions, for whoever quotes the figures."""
    import torch

    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        stdout=subprocess.PIPE, universal_newlines=True,
    ).stdout.split("\n")[0]
    say(machine=torch.cuda.get_device_name(), driver=driver, torch=torch.__version__,
        cuda=torch.version.cuda, python=sys.version.split()[0], gpus=torch.cuda.device_count())


def recorded(arguments, folder=None, timeout=600, command=None, **variables):
    """Runs a program as `memscope run` does; (exit code, folder, stdout, stderr)."""
    import memscope

    folder = folder or tempfile.mkdtemp(prefix="memscope-gpu-")
    package = os.path.dirname(os.path.abspath(memscope.__file__))
    environment = dict(os.environ, MEMSCOPE_DIR=folder, MEMSCOPE_FINALIZE="off")
    environment["PYTHONPATH"] = os.pathsep.join(
        [os.path.join(package, "_bootstrap"), os.path.dirname(package), HERE,
         os.environ.get("PYTHONPATH", "")])
    environment.update({k: str(v) for k, v in variables.items()})
    done = subprocess.run((command or [sys.executable]) + arguments, env=environment, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, folder, done.stdout, done.stderr


def plain(arguments, timeout=600):
    """Runs a program without recording; its stdout."""
    environment = dict(os.environ, MEMSCOPE_OFF="1")
    done = subprocess.run([sys.executable] + arguments, env=environment, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def journals(folder):
    """The cores of the Python journals in a folder."""
    return sorted(glob.glob(os.path.join(folder, "rank*/journal/*.python.core.jsonl")))


def records(core):
    """All records of a journal in order, and how many lines were torn."""
    found, torn = [], 0
    for path in glob.glob(core[: -len("core.jsonl")] + "*"):
        with open(path, "rb") as file:
            for line in file.read().splitlines(True):
                try:
                    if not line.endswith(b"\n"):
                        raise ValueError
                    found.append(json.loads(line))
                except ValueError:
                    torn += 1
    return sorted(found, key=lambda r: r["seq"]), torn


def of_kind(found, kind):
    """Records of a kind."""
    return [r for r in found if r["k"] == kind]


def count(found):
    """How often each edge is there."""
    edges = {}
    for record in of_kind(found, "sample"):
        edges[record["edge"]] = edges.get(record["edge"], 0) + 1
    return edges
