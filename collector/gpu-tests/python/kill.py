"""100 times kill -9 at a random moment of a run: 100 readable journals, no complete record lost.

    PYTHONPATH=OUT python3 kill.py [TIMES] [AT ONCE]

Children are forked from a process that has torch imported and CUDA untouched: an import a run would take
longer than the runs.
"""

import os
import random
import select
import signal
import sys
import tempfile
import time

import common

TIMES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
AT_ONCE = int(sys.argv[2]) if len(sys.argv) > 2 else 4


def child(number, folder, pipe):
    """Trains until it is killed; says each step that ended."""
    os.environ.update(RANK=str(number), MEMSCOPE_MODULES="every")
    import torch

    import gpt2
    import memscope
    from memscope import session

    found = memscope.start(folder)
    emit = found.machine.emit

    def told(edge, step, *rest):
        emit(edge, step, *rest)
        if edge == "step_end":
            os.write(pipe, b"%d\n" % step)

    found.machine.emit = told
    assert session.current() is found and torch.cuda.is_available()
    gpt2.train(1 << 30, batch=1, length=64, layers=2)


def run(number, folder):
    """(pid, end of the pipe, when to kill after the first step)."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        try:
            child(number, folder, theirs)
        finally:
            os._exit(1)
    os.close(theirs)
    return pid, ours


def main():
    import torch  # noqa: F401

    folder = tempfile.mkdtemp(prefix="memscope-gpu-")
    choose = random.Random(1)
    todo, running, said = list(range(TIMES)), {}, {}
    while todo or running:
        while todo and len(running) < AT_ONCE:
            number = todo.pop()
            pid, pipe = run(number, folder)
            running[number] = [pid, pipe, None, b""]
        ready, _, _ = select.select([r[1] for r in running.values()], [], [], 0.005)
        for number, state in list(running.items()):
            pid, pipe, when, text = state
            if pipe in ready:
                state[3] = text = text + os.read(pipe, 65536)
            if when is None and text:
                state[2] = when = time.monotonic() + choose.uniform(0, 0.5)
            if when is not None and time.monotonic() >= when:
                os.kill(pid, signal.SIGKILL)
            elif when is not None or not (pipe in ready and not text):
                continue
            os.waitpid(pid, 0)
            while True:
                more = os.read(pipe, 65536)
                if not more:
                    break
                text += more
            os.close(pipe)
            said[number] = [int(n) for n in text.decode().split("\n")[:-1]]
            del running[number]
    readable, lost, torn, total = 0, [], 0, 0
    for core in common.journals(folder):
        found, broken = common.records(core)
        number = found[0]["rank"]
        numbers = [r["seq"] for r in found]
        ends = {r["step"] for r in common.of_kind(found, "sample") if r["edge"] == "step_end"}
        if numbers != list(range(len(numbers))) or not set(said[number]) <= ends:
            lost.append(number)
        readable += 1
        torn += broken
        total += len(found)
    common.check("journals", readable == TIMES, journals=readable, of=TIMES)
    common.check("no complete record lost", not lost and all(said.values()), lost=lost, records=total,
                 torn_lines=torn)
    common.finish()


main()
