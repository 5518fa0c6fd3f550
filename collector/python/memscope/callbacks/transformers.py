"""A callback for the Trainer of transformers. `memscope run` adds it by itself.

    trainer = Trainer(..., callbacks=[MemScopeCallback()])
"""

from transformers import TrainerCallback

from .. import api, session


class MemScopeCallback(TrainerCallback):
    """Steps are the trainer's: `on_step_begin` to `on_step_end`, which is after gradients were freed."""

    def __init__(self, directory=None):
        self.directory = directory
        self.own = False

    def on_train_begin(self, args, state, control, model=None, **keywords):
        self.own = not api.recording()
        found = api.start(self.directory)
        if model is not None:
            found.names.add(model)
        found.describe(framework="transformers", dtype=_dtype(args))

    def on_step_begin(self, args, state, control, **keywords):
        found = session.current()
        if found is not None:
            api._safely(found, found.event, found.machine.begin, int(state.global_step))

    def on_step_end(self, args, state, control, **keywords):
        found = session.current()
        if found is not None:
            api._safely(found, found.event, found.machine.end)

    def on_train_end(self, args, state, control, **keywords):
        found = session.current()
        if found is not None:
            # What trains after this finds its steps by itself again.
            found.machine.explicit = False
        if self.own:
            api.stop()


def _dtype(args):
    if getattr(args, "bf16", False):
        return "bf16"
    return "fp16" if getattr(args, "fp16", False) else "fp32"
