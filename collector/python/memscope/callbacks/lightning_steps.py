"""What the callback for Lightning does, without Lightning: it is imported while Lightning itself is.

A step goes from the first batch after an update to the end of the batch with the next.
"""

import functools
import sys

from .. import api, session


class Steps:
    """Steps are the trainer's global steps."""

    def __init__(self, directory=None):
        super().__init__()
        self.directory = directory
        self.own = False
        self.before = None

    def on_fit_start(self, trainer, pl_module):
        self.own = not api.recording()
        found = api.start(self.directory)
        found.names.add(pl_module)
        found.describe(framework="lightning", dtype=getattr(trainer, "precision", ""))

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        found = session.current()
        if found is not None and self.before is None:
            self.before = int(trainer.global_step)
            api._safely(found, found.event, found.machine.begin)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        found = session.current()
        if found is not None and self.before is not None and int(trainer.global_step) > self.before:
            self.before = None
            api._safely(found, found.event, found.machine.end)

    def on_fit_end(self, trainer, pl_module):
        self._stop("exit", "")

    def on_exception(self, trainer, pl_module, exception):
        word = "keyboard_interrupt" if isinstance(exception, KeyboardInterrupt) else "exception"
        self._stop(word, "%s: %s" % (type(exception).__name__, exception))

    def _stop(self, reason, error):
        found = session.current()
        if found is not None:
            # What trains after this finds its steps by itself again.
            found.machine.explicit = False
        if self.own:
            self.own = False
            api.stop(reason, error)


def attach_to(trainer_class):
    """Adds the callback to every trainer of a class when it begins to fit."""
    original = trainer_class.fit
    library = trainer_class.__module__.rsplit(".trainer.", 1)[0]

    @functools.wraps(original)
    def fit(self, *arguments, **keywords):
        found = session.current()
        try:
            if found is not None and not any(isinstance(c, Steps) for c in self.callbacks):
                base = sys.modules[library].Callback
                self.callbacks.append(type("MemScopeCallback", (Steps, base), {})())
        except Exception as error:
            found.fail("the callback for Lightning", error)
        return original(self, *arguments, **keywords)

    trainer_class.fit = fit
