"""Finds steps and phases from what happens: forwards, backwards, optimizer steps.

Pure: knows nothing of torch. Hooks tell it what happens; it says which boundary that is by calling
`emit(edge, step, micro, phase, next_phase, note)`. Phases follow from nesting, not from order, since an
optimizer with a closure runs forward and backward inside its step.

Who says where steps begin, in order of trust: `memscope.step()` and the frameworks' callbacks
(`begin`, `end`), then optimizer steps and forwards of root modules.
"""

# A model that is called piece by piece would give a boundary at each piece; after these, only the
# beginning of backward tells where forward ended.
FORWARD_ENDS = 8

# The edges that a training loop tells by itself where it tells any, and the phases around them.
_TOLD = {
    "step_start": ("other", "forward"),
    "forward_backward_end": ("backward", "other"),
    "optimizer_step_start": ("optimizer", "optimizer"),
    "optimizer_step_end": ("optimizer", "other"),
    "step_end": ("other", "other"),
}


class Machine:
    """The state machine of one process."""

    def __init__(self, emit):
        self.emit = emit
        self.step = None  # number of the step at hand or the last one
        self.open = False  # whether a step is open
        self.explicit = False  # whether somebody else says where steps begin
        self.micro = 0
        self.phase = "init"
        self.forward_seen = False  # in this micro-batch
        self.forward_ends = 0
        self.backwards = 0  # that ended in this step
        self.in_backward = False
        self.eval_depth = 0
        self.in_optimizer = 0  # depth of nested optimizer steps
        self.closure = False  # a forward began inside of the optimizer's step
        self.stepped = set()  # optimizers that stepped in this step
        self.cycle = set()  # optimizers that step in each step, as far as known
        self.updated = False  # parameters were updated in this step
        self.stepped_count = 0  # steps of optimizers that were called
        self.has_optimizer = False
        self.takes_closure = False  # the optimizer's step at hand was given one
        self.fresh = False  # a forward was seen since the last update
        self.waiting = False  # `next` was called: the step begins with the next forward
        self.before_eval = "other"
        self.quiet = False  # the loop says all edges of a step by itself

    # -- steps -----------------------------------------------------------------------------------

    def _begin(self, number=None):
        if self.open:
            self._end()
        if number is not None:
            self.step = number
        else:
            self.step = 0 if self.step is None else self.step + 1
        self.open = True
        self.micro = 0
        self.backwards = 0
        self.forward_seen = False
        self.forward_ends = 0
        self.stepped = set()
        self.updated = False
        self.waiting = False
        self._say("step_start", "other", "other")

    def _end(self, note=""):
        if not self.open:
            return
        self._say("step_end", "other", "other", note)
        self.open = False
        self.phase = "other"

    def _say(self, edge, phase, next_phase, note="", told=False):
        self.phase = next_phase
        if self.quiet and edge in _TOLD and not told:
            return
        self.emit(edge, self.step, self.micro if self.open else None, phase, next_phase, note)

    def begin(self, number=None):
        """Somebody who knows says that a step begins."""
        self.explicit = True
        self._begin(number)

    def end(self, note=""):
        """Somebody who knows says that the step ends."""
        self.explicit = True
        self._end(note)

    def next(self):
        """`memscope.step()`: a step ends here; the next begins with the next forward or optimizer step,
        so that the last call of a loop leaves no empty step."""
        self.explicit = True
        if self.waiting:
            # Nothing was seen in it, yet it was a step.
            self._begin()
        self._end()
        self.waiting = True

    def told(self, edge, number=None, note=""):
        """The training loop says an edge of a step."""
        self.explicit = self.quiet = True
        if edge == "step_start":
            self._begin(number)
        phase, next_phase = _TOLD[edge]
        if edge == "optimizer_step_end":
            self.has_optimizer = self.updated = True
        self._say(edge, phase, next_phase, note, True)
        if edge == "step_end":
            self.open = False

    def finish(self):
        """The program ends."""
        self.quiet = False
        if self.open:
            complete = self.updated or not self.has_optimizer
            self._end("" if complete else "the program ended within this step")

    # -- forward ---------------------------------------------------------------------------------

    def _due(self):
        """Whether a forward that begins now belongs to a new step."""
        if self.explicit:
            return self.waiting
        if not self.open:
            return True
        if not self.has_optimizer:
            # Inference, or updates by hand: every forward that was followed by all it can be.
            return self.forward_seen or self.backwards > 0
        if not self.updated:
            return False
        return not self.stepped or self.cycle <= self.stepped

    def forward_begin(self, training):
        """A root module is called. `training`: gradients are enabled."""
        # A backward or a step of the optimizer that is still open was left by an exception.
        self.in_backward = False
        if self.in_optimizer and not self.takes_closure:
            self.in_optimizer = 0
        if not training and (self.has_optimizer or self.backwards):
            if not self.eval_depth:
                self.before_eval = self.phase
            self.eval_depth = 1
            self.phase = "eval"
            return
        self.closure = self.in_optimizer > 0
        if self._due():
            self._begin()
        if self.forward_seen and self.backwards > self.micro:
            self.micro += 1
            self.forward_ends = 0
        self.forward_seen = True
        self.fresh = True
        self.eval_depth = 0 if training else 1
        self.before_eval = "other"
        self.phase = "forward" if training else "eval"
        if self.forward_ends == 0:
            self._say("forward_start", self.phase, self.phase)

    def forward_end(self, aborted=False):
        """The call of a root module ends."""
        note = "aborted" if aborted else ""
        if self.eval_depth:
            self.eval_depth = 0
            self._say("forward_end", "eval", self.before_eval, note)
            return
        self.forward_ends += 1
        if aborted or self.forward_ends <= FORWARD_ENDS:
            self._say("forward_end", "forward", "forward", note)

    # -- backward --------------------------------------------------------------------------------

    def backward_begin(self):
        """The first gradient of a root's outputs."""
        if not self.in_backward:
            self.in_backward = True
            self._say("backward_start", "forward", "backward")

    def backward_end(self):
        """The engine has done all of it."""
        if not self.in_backward:
            return
        self.in_backward = False
        self.backwards += 1
        self._say("backward_end", "backward", "other")
        if self.in_optimizer and self.closure:
            self._say("forward_backward_end", "backward", "optimizer", "closure")
            self._say("optimizer_step_start", "optimizer", "optimizer", "closure")

    # -- optimizer -------------------------------------------------------------------------------

    def optimizer_begin(self, key, in_backward, closure, expected=()):
        """An optimizer's step is called. `expected`: all optimizers that exist."""
        self.has_optimizer = True
        self.stepped_count += 1
        self.in_optimizer += 1
        if in_backward:
            # Per-parameter optimizers inside backward: part of it.
            self.updated = True
            return
        if self.in_optimizer > 1:
            return
        self.in_backward = False
        self.closure = False
        self.takes_closure = closure
        if not self.cycle:
            self.cycle = set(expected)
        self.cycle.add(key)
        if key in self.stepped:
            # It steps again before the others did: they have no part in every step.
            self.cycle = set(self.stepped)
        if closure:
            # Its forward begins the step, and the end of its backward is where the update starts.
            return
        # Forwards may be out of sight (compiled in place): then optimizers alone tell steps.
        unseen = self.updated and not self.fresh and key in self.stepped
        if self.waiting or not self.explicit and (not self.open or unseen):
            self._begin()
        if self.backwards:
            self._say("forward_backward_end", "backward", "optimizer")
        self._say("optimizer_step_start", "optimizer", "optimizer")

    def forget(self, key):
        """An optimizer is gone."""
        self.cycle.discard(key)
        self.stepped.discard(key)

    def optimizer_end(self, key, in_backward):
        """An optimizer's step returns."""
        if self.in_optimizer == 0:
            return
        self.in_optimizer -= 1
        if in_backward or self.in_optimizer:
            return
        self.closure = False
        self.stepped.add(key)
        self.updated = True
        self.fresh = False
        self._say("optimizer_step_end", "optimizer", "other")

    def optimizer_skipped(self, key, note):
        """A gradient scaler left the optimizer's step out."""
        self.has_optimizer = True
        self.in_backward = False
        if not self.cycle:
            self.cycle = {key}
        self.stepped.add(key)
        self.updated = True
        self.fresh = False
        self._say("optimizer_skipped", "optimizer", "other", note)
