"""Python runs this at its start when `memscope run` put its folder first on PYTHONPATH.

Another sitecustomize that this one hides is run as well. Whatever fails here is said, and the program runs.
"""

import os
import sys


def _others():
    import importlib.machinery
    import importlib.util

    here = os.path.realpath(os.path.dirname(__file__))
    rest = [p for p in sys.path if os.path.realpath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        # The other one finds itself under the name it was made for.
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    from memscope import startup as _startup

    _startup.install()
except Exception as _error:
    sys.stderr.write("memscope: nothing is recorded: %s: %s\n" % (type(_error).__name__, _error))

_others()
