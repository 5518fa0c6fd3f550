"""Writes down which hooks torch calls, and when, for each scenario: `python calls.py > calls.json`.

With PyTorch this makes the fixture `calls.json`; the stand-in must give the same.
"""

import json
import sys

import torch
import torch.optim.optimizer  # noqa: F401  (torch.optim takes the name away from its module)

import scenarios

# Those that are the same to hooks as others, or end the process.
LEFT_OUT = ("explicit", "uncaught", "uncaught_interrupt")

_log = []


def _pre(module, arguments):
    _log.append(["pre", type(module).__name__, torch.is_grad_enabled(), torch._C._current_graph_task_id() != -1])


def _post(module, arguments, result):
    failed = sys.exc_info()[1] is not None and result is None
    _log.append(["post", type(module).__name__, failed])
    if isinstance(result, torch.Tensor) and result.requires_grad and result.grad_fn is not None:
        name = type(module).__name__

        def gradient(_):
            _log.append(["grad", name])
            if name not in ("Linear", "ReLU"):
                torch.autograd.Variable._execution_engine.queue_callback(lambda: _log.append(["done"]))

        result.register_hook(gradient)


def main():
    module = torch.nn.modules.module
    module.register_module_forward_pre_hook(_pre)
    module.register_module_forward_hook(_post, always_call=True)
    optimizer = sys.modules["torch.optim.optimizer"]
    optimizer.register_optimizer_step_pre_hook(lambda o, a, k: _log.append(["step", len(a) > 1]))
    optimizer.register_optimizer_step_post_hook(lambda o, a, k: _log.append(["stepped"]))
    found = {"torch": torch.__version__.split("+")[0], "calls": {}}
    for name in scenarios.NAMES:
        if name not in LEFT_OUT:
            del _log[:]
            getattr(scenarios, name)()
            found["calls"][name] = list(_log)
    lines = ["{", ' "torch": %s,' % json.dumps(found["torch"]), ' "calls": {']
    lines.append(",\n".join("  %s: %s" % (json.dumps(n), json.dumps(c)) for n, c in found["calls"].items()))
    print("\n".join(lines + [" }", "}"]))


if __name__ == "__main__":
    main()
