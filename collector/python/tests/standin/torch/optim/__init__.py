"""Optimizers. As in PyTorch, the name of the module with the hooks is taken away at the end."""

from . import optimizer
from .optimizer import Optimizer
from ..nn import Parameter


class SGD(Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters)

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for parameter in self.param_groups[0]["params"]:
            self.state.setdefault(parameter, {"momentum_buffer": Parameter(parameter.shape)})
        return loss


del optimizer
