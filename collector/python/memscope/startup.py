"""What `memscope run` has each Python process do when it starts: wait for torch."""

import os

from . import lazy


def install():
    """Records as soon as torch is there; adds callbacks to the frameworks that have them."""
    if os.environ.get("MEMSCOPE_OFF", "") not in ("", "0"):
        return
    lazy.when_imported("torch", _torch)
    lazy.when_imported("transformers.trainer", _transformers)
    for name in ("lightning.pytorch", "pytorch_lightning"):
        lazy.when_imported(name + ".trainer.trainer", _lightning)


def _torch(torch):
    from . import session

    session.begin(torch)


def _transformers(module):
    from .callbacks.transformers import MemScopeCallback

    defaults = getattr(module, "DEFAULT_CALLBACKS", None)
    if isinstance(defaults, list):
        defaults.append(MemScopeCallback)


def _lightning(module):
    from .callbacks import lightning_steps

    lightning_steps.attach_to(module.Trainer)
