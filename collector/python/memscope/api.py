"""What programs call. Without a recording all of it does nothing, so that calls may stay in a script."""

import contextlib

from . import session as _session


def recording():
    """Whether this process is recorded."""
    return _session.current() is not None


def start(directory=None, **metadata):
    """Begins to record, unless `memscope run` has. `metadata` goes into the report."""
    import torch

    found = _session.begin(torch, directory=directory)
    if metadata:
        found.describe(**metadata)
    return found


def stop(reason="exit", error=""):
    """Ends the recording and makes the report; the folder with it, or None."""
    from . import exits

    found = _session.current()
    if found is None:
        return None
    folder = found.close(reason, error)
    if folder and found.settings.finalize:
        exits.finalize(folder)
    return folder


def step():
    """A step ends here and the next begins. From the first call on, steps are what these calls say."""
    found = _session.current()
    if found is not None:
        _safely(found, found.event, found.machine.next)


def mark(name):
    """Notes a point of the run by name."""
    found = _session.current()
    if found is not None and found.alive():
        found.recorder.mark(str(name))


@contextlib.contextmanager
def phase(name):
    """Calls what runs inside `name` in the report: a rollout, an evaluation, a checkpoint."""
    found = _session.current()
    if found is None:
        yield
        return
    name = str(name)
    found.user_phases.append(name)
    _safely(found, found.event, found.sample, "phase_start", name)
    try:
        yield
    finally:
        _safely(found, found.event, found.sample, "phase_end", name)
        if name in found.user_phases:
            found.user_phases.remove(name)
        if found.user_phases == [] and found.alive():
            # What follows is not the user's phase any more.
            found.machine.phase = "other" if found.machine.phase == name else found.machine.phase


class Tracing:
    """What `trace` gives: the same calls, bound to its recording."""

    step = staticmethod(step)
    phase = staticmethod(phase)
    mark = staticmethod(mark)

    def __init__(self, found):
        self._found = found

    @property
    def folder(self):
        """The rank's folder with the journal and, later, the reports; None before the first record."""
        return str(self._found.recorder.folder) if self._found.recorder is not None else None


@contextlib.contextmanager
def trace(model=None, optimizer=None, directory=None, **metadata):
    """Records what runs inside. `model` (or several) gives names from the start, `optimizer` (or several)
    tells which optimizers make a step. Where `memscope run` records already, it goes on afterwards."""
    outer = _session.current() is not None
    found = start(directory, **metadata)
    for root in _several(model):
        _safely(found, found.names.add, root)
    for one in _several(optimizer):
        found.optimizers.add(one)
        found.machine.has_optimizer = True
        found.machine.cycle.add(id(one))
    try:
        yield Tracing(found)
    except BaseException as error:
        if not outer:
            word = "keyboard_interrupt" if isinstance(error, KeyboardInterrupt) else "exception"
            stop(word, "%s: %s" % (type(error).__name__, error))
        raise
    if not outer:
        stop()


def _several(one):
    if one is None:
        return ()
    return one if isinstance(one, (list, tuple)) else (one,)


def _safely(found, call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        found.fail("a call of memscope", error)
