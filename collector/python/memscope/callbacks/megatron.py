"""Calls for Megatron-LM and FlagScale, named as those of the public MemScope, so that an integration moves
over by changing an import (`memscope.integrations.megatron.runtime` leads here as well).

    runtime = MemScopeMegatronRuntime.from_megatron_args(args)
    runtime.attach_model(model)
    runtime.start()
    ...                      # on_train_step_start, on_forward_backward_end, ...
    runtime.finalize()
"""

from .. import api, session

# Arguments of the launcher that the report shows, as the public MemScope has them.
_SHOWN = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size",
    "use_distributed_optimizer", "optimizer",
)


class MemScopeMegatronRuntime:
    """The recording of one rank, driven by the training loop."""

    def __init__(self, args=None, outdir=None):
        self.args = args
        self.outdir = outdir or getattr(args, "memscope_outdir", None)
        self.enabled = bool(getattr(args, "memscope", True))
        self.sync = bool(getattr(args, "memscope_sync_on_step_boundaries", False))
        self.models = ()
        self.found = None

    @classmethod
    def from_megatron_args(cls, args):
        """The recording that command line arguments ask for."""
        return cls(args, getattr(args, "memscope_outdir", "memscope_outputs"))

    def attach_model(self, model):
        """The model, or a list of its pieces."""
        self.models = tuple(model) if isinstance(model, (list, tuple)) else (model,)

    def start(self):
        """Before the loop."""
        if not self.enabled:
            return
        texts = {name: getattr(self.args, name) for name in _SHOWN if hasattr(self.args, name)}
        if self.args is not None:
            texts["dtype"] = "bf16" if getattr(self.args, "bf16", False) else (
                "fp16" if getattr(self.args, "fp16", False) else "fp32")
        self.found = api.start(self.outdir, mode="runtime", **texts)
        # Steps and their edges are the loop's from now on.
        self.found.machine.explicit = self.found.machine.quiet = True
        for model in self.models:
            api._safely(self.found, self.found.names.add, model)

    def on_train_step_start(self, step=None, batch=None, notes=""):
        """A step begins."""
        self._say("step_start", step, notes)

    def on_forward_backward_end(self, outputs=None, notes=""):
        """All micro-batches went forward and backward."""
        self._say("forward_backward_end", None, notes)

    def on_optimizer_step_start(self, notes=""):
        """The optimizer is about to step."""
        self._say("optimizer_step_start", None, notes)

    def on_optimizer_step_end(self, notes=""):
        """The optimizer has stepped."""
        self._say("optimizer_step_end", None, notes)

    def on_train_step_end(self, outputs=None, notes=""):
        """The step ends."""
        self._say("step_end", None, notes)

    def finalize(self):
        """After the loop: the last records, and the report."""
        if self.found is not None:
            api.stop()
            self.found = None

    def _say(self, edge, step, notes):
        found = self.found
        if found is None or found is not session.current():
            return
        if self.sync and found.stats.ready():
            found.torch.cuda.synchronize()
        api._safely(found, found.event, found.machine.told, edge, step, notes)


def _default():
    global _runtime
    if _runtime is None:
        _runtime = MemScopeMegatronRuntime()
        _runtime.start()
    return _runtime


_runtime = None


def on_train_step_start(step=None, batch=None, notes=""):
    """As the method, of a recording that begins with the first call."""
    _default().on_train_step_start(step, batch, notes)


def on_forward_backward_end(outputs=None, notes=""):
    """As the method."""
    _default().on_forward_backward_end(outputs, notes)


def on_optimizer_step_start(notes=""):
    """As the method."""
    _default().on_optimizer_step_start(notes)


def on_optimizer_step_end(notes=""):
    """As the method."""
    _default().on_optimizer_step_end(notes)


def on_train_step_end(outputs=None, notes=""):
    """As the method."""
    _default().on_train_step_end(outputs, notes)


def finalize():
    """As the method."""
    global _runtime
    if _runtime is not None:
        _runtime.finalize()
        _runtime = None
