"""A callback for Lightning. `memscope run` adds it by itself.

    trainer = Trainer(..., callbacks=[MemScopeCallback()])

Lightning runs forward and backward inside of the optimizer's step, and a batch may be one of several that
are accumulated: a step goes from the first batch after an update to the end of the batch with the next.
"""

from .lightning_steps import Steps

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback


class MemScopeCallback(Steps, Callback):
    """Steps are the trainer's global steps."""
