"""Out of memory: the journal's line first, on the disk, then what takes longer."""

import traceback

# A program that catches out-of-memory and tries again may do so for hours.
SNAPSHOTS = 2
INVENTORIES = 4


class Oom:
    """Observes failed requests of PyTorch's allocator."""

    def __init__(self, session):
        self.session = session
        self.attached = False
        self.seen = 0
        self.busy = False

    def attach(self):
        """Once CUDA is initialised: before, it would crash."""
        if self.attached or not self.session.stats.ready():
            return
        self.attached = True
        attach = getattr(self.session.torch._C, "_cuda_attach_out_of_memory_observer", None)
        if attach is not None:
            attach(self.observe)

    def observe(self, device, requested, device_total, device_free):
        """Called by the allocator before it raises. Never raises, never allocates on the device."""
        session = self.session
        if self.busy or not session.alive():
            return
        self.busy = True
        try:
            self.seen += 1
            stats = session.stats.raw(device)
            session.recorder.oom(
                stats, requested, device_free, device_total,
                "%d bytes requested on device %d" % (requested, device), _stack(),
            )
            step = session.machine.step
            if session.settings.snapshot and self.seen <= SNAPSHOTS:
                session.history.dump("oom", step)
            if self.seen <= INVENTORIES:
                session.take_inventory("oom")
        except Exception as error:
            session.fail("the out-of-memory observer", error)
        finally:
            self.busy = False


def _stack():
    """Innermost first; this file is left out."""
    frames = traceback.extract_stack(limit=64)
    frames = [f for f in frames if f.filename != __file__]
    return ["%s:%s %s" % (f.filename, f.lineno, f.name) for f in reversed(frames)]
