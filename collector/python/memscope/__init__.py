"""MemScope: what a training or inference run does with GPU memory.

`memscope run train.py` records a script without a change to it. In code:

    import memscope

    with memscope.trace(model, optimizer):
        for batch in data:
            ...
            memscope.step()          # only where steps are not found by themselves

Importing this records nothing and imports no torch.
"""

from .api import mark, phase, recording, start, step, stop, trace

__version__ = "0.1.0"
__all__ = ["mark", "phase", "recording", "start", "step", "stop", "trace", "__version__"]
