"""Does something when a module has been imported, without importing it."""

import importlib.util
import sys

_wanted = {}


class _Finder:
    """Lets the other finders find, and has their loader call back when it is done."""

    def __init__(self):
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in _wanted or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self.busy.discard(name)
        loader = getattr(spec, "loader", None)
        if loader is None or not hasattr(loader, "exec_module"):
            return None
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            _done(name, module)

        try:
            # On the loader at hand only: its kind stays what it is for those who look.
            loader.exec_module = exec_module
        except AttributeError:
            return None
        return spec


def _done(name, module):
    for call in _wanted.pop(name, ()):
        try:
            call(module)
        except Exception as error:
            from .settings import say

            say("%s cannot be recorded: %s: %s" % (name, type(error).__name__, error))


_finder = _Finder()


def when_imported(name, call):
    """Calls `call(module)` after the module `name` was imported; now, if it was."""
    module = sys.modules.get(name)
    if module is not None:
        call(module)
        return
    _wanted.setdefault(name, []).append(call)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
