"""The recording of this process: one at a time. Ties hooks, the state machine and the journal together.

The journal begins with the first thing worth recording (a root module's forward, an optimizer's step, a
call of the API), so that launchers, data-loader workers and tools that merely import torch leave no files.
"""

import json
import os
import sys
import threading
import time
import weakref

from . import about, inventory
from .history import History
from .names import Names
from .oom import Oom
from .settings import Settings, say
from .stats import Stats
from .steps import Machine

_now = time.perf_counter_ns
_BOUNDS = ("step_start", "step_end")


class Session:
    """What one recording knows."""

    def __init__(self, torch, settings=None, directory=None):
        self.torch = torch
        self.settings = settings or Settings()
        self.directory = directory or self.settings.directory
        self.pid = os.getpid()
        self.dead = False
        self.recorder = None
        self.stats = Stats(torch)
        self.machine = Machine(self.emit)
        self.names = Names(self.settings.depth)
        self.optimizers = weakref.WeakSet()
        self.history = History(self)
        self.oom = Oom(self)
        self.metadata = {}
        self.detail = self.settings.detail(None)  # what is recorded of modules now
        self.user_phases = []
        self.lock = threading.RLock()
        self._read = None  # figures that the boundaries of one event share
        self._event = 0
        self._known = False  # devices were written into the header
        self._inventories = set()
        self._failures = 0

    # -- life ------------------------------------------------------------------------------------

    def alive(self):
        """Whether records are written here; begins the journal when asked for the first time."""
        if self.dead:
            return False
        if self.recorder is None:
            return self._begin()
        return True

    def _begin(self):
        if os.getpid() != self.pid or _is_worker(self.torch):
            self.dead = True
            return False
        try:
            from ._native import Recorder

            self.recorder = Recorder(self.directory)
        except Exception as error:
            self.dead = True
            say("%s. Nothing is recorded; the program goes on" % error)
            return False
        self._introduce()
        return True

    def _introduce(self):
        """What the header does not know yet; again when CUDA is there."""
        self._known = self.stats.ready()
        self.recorder.partial(self.stats.is_async() if self._known else False)
        try:
            self.recorder.update(about.about(self.torch, self.stats, self.settings, self.metadata))
        except Exception as error:
            self.fail("the description of the process", error)
        if self._known:
            self.oom.attach()

    def fail(self, what, error):
        """A failure of MemScope's own: said a few times, never raised."""
        self._failures += 1
        if self._failures <= 3:
            say("%s failed: %s: %s" % (what, type(error).__name__, error))
        if self._failures > 100:
            self.dead = True

    def close(self, reason="exit", error=""):
        """The last records. The report is made of them by `finalize`."""
        if self.dead or self.recorder is None or os.getpid() != self.pid:
            self.dead = True
            return None
        with self.lock:
            try:
                self.machine.finish()
                self.history.stop()
            except Exception as failure:
                self.fail("the end of the recording", failure)
            self.recorder.overhead()
            self.recorder.footer(reason, error)
            self.dead = True
        return str(self.recorder.folder)

    # -- records ---------------------------------------------------------------------------------

    def emit(self, edge, step, micro, phase, next_phase, note):
        """A boundary, as the state machine says it."""
        if not self.alive():
            return
        recorder = self.recorder
        used = total = None
        if edge == "step_start":
            self.stats.follow()
            if self.settings.reset_peaks and self.stats.ready():
                self.torch.cuda.reset_peak_memory_stats(self.stats.device)
                self._read = None
        if self._read is None:
            self._read = (self.stats.read(), None)
        if not self._known and self.stats.ready():
            self._introduce()
        if edge in _BOUNDS:
            if self._read[1] is None:
                self._read = (self._read[0], self.stats.used())
            used, total = self._read[1]
        if self.user_phases and edge not in _BOUNDS:
            phase = next_phase = self.user_phases[-1]
        recorder.sample(
            self._read[0], edge, step, micro, phase, next_phase, self.stats.device, used, total, note
        )
        if edge == "step_start":
            self.detail = self.settings.detail(step)
            self.history.begin(step)
        elif edge == "step_end":
            self.history.end(step)
            self.detail = self.settings.detail(None)
        elif edge == "optimizer_step_end":
            self._inventory_of(step)

    def event(self, tell, *arguments):
        """Tells the state machine something; the boundaries that follow from it share one reading."""
        began = _now()
        with self.lock:
            outer = self._event
            self._event += 1
            if not outer:
                self._read = None
            try:
                tell(*arguments)
            finally:
                self._event = outer
                if not outer:
                    self._read = None
        if self.recorder is not None:
            self.recorder.spent(_now() - began)

    def _inventory_of(self, step):
        """After the first update, when all kinds exist; and where a snapshot will want it."""
        if not self.settings.inventory or step in self._inventories:
            return
        if not self._inventories or self.history.on:
            self._inventories.add(step)
            self.take_inventory("optimizer_step_end")

    def take_inventory(self, at):
        """Parameters, gradients, optimizer state and buffers by name."""
        items = inventory.collect(self.names, list(self.optimizers), self.torch.Tensor)
        if items:
            self.recorder.inventory(at, self.machine.step, inventory.as_json(items))

    def sample(self, edge, phase=None, note=""):
        """A boundary that somebody names."""
        machine = self.machine
        phase = phase or (self.user_phases[-1] if self.user_phases else machine.phase)
        self.emit(edge, machine.step, machine.micro if machine.open else None, phase, phase, note)

    def describe(self, **texts):
        """Adds to what becomes `metadata` of the report."""
        self.metadata.update({k: str(v) for k, v in texts.items()})
        if self.recorder is not None:
            self.recorder.update(json.dumps({"metadata": self.metadata}))


def _is_worker(torch):
    data = sys.modules.get("torch.utils.data")
    worker = getattr(data, "get_worker_info", None)
    return worker is not None and worker() is not None


_current = None


def current():
    """The session, or None where nothing is recorded."""
    return _current if _current is not None and not _current.dead else None


def begin(torch, settings=None, directory=None):
    """Begins a session unless one runs."""
    global _current
    if current() is None:
        from . import exits, hooks

        _current = Session(torch, settings, directory)
        hooks.install(_current)
        exits.install()
    return _current


def _forked():
    # What the parent records is not the child's; the child writes nothing.
    global _current
    if _current is not None:
        _current.dead = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
