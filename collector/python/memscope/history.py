"""PyTorch's memory history for chosen steps, and snapshots of it.

The history costs about two microseconds an allocation, so it is on for a few steps only. It keeps the
last entries; one snapshot at the end of a range of steps holds all of them.
"""

import os
import pickle

from .settings import say

FILE = "memory_snapshot.pickle"


class History:
    """Turns the history on and off, and writes snapshots."""

    def __init__(self, session):
        self.session = session
        self.on = False
        self.foreign = False  # the program records its own history: it is left alone
        self.peak_step = None  # a peak rose while the history was on, in this step
        self.failed = False

    def _memory(self):
        return self.session.torch.cuda.memory

    def begin(self, step):
        """A step begins."""
        if self.on or self.failed or step not in self.session.settings.history:
            return
        if not self.session.settings.snapshot or not self.session.stats.ready():
            return
        torch = self.session.torch
        enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
        if enabled is not None and enabled():
            self.foreign = True
            return
        try:
            self._memory()._record_memory_history(
                "all", context="alloc", stacks="python", max_entries=self.session.settings.entries
            )
            self.on = True
        except Exception as error:
            self.failed = True
            say("memory history is not available: %s" % error)

    def end(self, step):
        """A step ended."""
        if not self.on:
            return
        if self.session.recorder.take_peak():
            self.peak_step = step
        if (step + 1) not in self.session.settings.history:
            self.stop()

    def stop(self):
        """The last chosen step ended, or the program does."""
        if not self.on:
            return
        if self.peak_step is not None:
            self.dump("peak", self.peak_step)
            self.peak_step = None
        self.on = False
        try:
            self._memory()._record_memory_history(None)
        except Exception:
            pass

    def dump(self, reason, step):
        """Writes a snapshot into the rank's folder: whole, or not at all."""
        recorder = self.session.recorder
        path = os.path.join(str(recorder.folder), FILE)
        part = "%s.%d.part" % (path, os.getpid())
        try:
            snapshot = self._memory()._snapshot()
            with open(part, "wb") as file:
                pickle.dump(snapshot, file)
            os.replace(part, path)
        except Exception as error:
            say("the memory snapshot could not be written: %s" % error)
            try:
                os.unlink(part)
            except OSError:
                pass
            return False
        recorder.snapshot(FILE, reason, step)
        return True
