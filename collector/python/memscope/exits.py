"""The end of the process: the footer, and the report."""

import atexit
import os
import sys
import traceback

from . import session
from .settings import say

_reason = ("exit", "")
_installed = False


def install():
    """Notices uncaught exceptions and the interpreter's end. Signals keep their handlers."""
    global _installed
    if _installed:
        return
    _installed = True
    before = sys.excepthook

    def hook(kind, value, trace):
        global _reason
        try:
            word = "keyboard_interrupt" if issubclass(kind, KeyboardInterrupt) else "exception"
            _reason = (word, "".join(traceback.format_exception_only(kind, value)).strip()[:4000])
        except Exception:
            pass
        before(kind, value, trace)

    sys.excepthook = hook
    atexit.register(_end)


def _end():
    found = session.current()
    if found is None or found.pid != os.getpid():
        return
    try:
        folder = found.close(*_reason)
        if folder and found.settings.finalize:
            finalize(folder)
    except Exception as error:
        say("%s: %s" % (type(error).__name__, error))


def finalize(folder):
    """Makes the report of a rank's folder. What the command says goes to stderr: stdout is the
    program's own. Gives whether it was made; the program's exit does not depend on it."""
    try:
        from . import _native
    except ImportError:
        return False
    if not _native.has_command():
        return False
    try:
        sys.stdout.flush()
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
            code = _native.main(["finalize", folder])
        finally:
            os.dup2(kept, 1)
            os.close(kept)
    except Exception as error:
        say("no report was made of %s: %s" % (folder, error))
        return False
    return code == 0
