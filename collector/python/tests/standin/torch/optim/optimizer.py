"""The base of optimizers, with hooks around steps."""

import functools

_pre = []
_post = []


def register_optimizer_step_pre_hook(hook):
    _pre.append(hook)


def register_optimizer_step_post_hook(hook):
    _post.append(hook)


def _hooked(function):
    @functools.wraps(function)
    def step(self, *arguments, **keywords):
        for hook in _pre:
            hook(self, (self,) + arguments, keywords)
        result = function(self, *arguments, **keywords)
        for hook in _post:
            hook(self, (self,) + arguments, keywords)
        return result

    step.hooked = True
    return step


class Optimizer:
    def __init__(self, parameters):
        self.param_groups = [{"params": list(parameters)}]
        self.state = {}
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = _hooked(kind.step)

    def zero_grad(self):
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None
