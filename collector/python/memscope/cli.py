"""The command `memscope`: `python -m memscope.cli ARGS`, or the script that pip installs."""

import os
import sys


def main(arguments=None):
    """Runs the command; gives its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        from . import _native
    except ImportError as error:
        sys.stderr.write("memscope: the native part of the package is missing: %s\n" % error)
        return 1
    # `memscope run` runs the Python that this is.
    os.environ.setdefault("MEMSCOPE_PYTHON", sys.executable)
    return _native.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
