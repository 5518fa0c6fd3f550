"""Modules that scenarios use."""

from .. import _tensor
from . import modules
from .modules.module import Module


class Parameter(_tensor.Tensor):
    pass


def parameter(*shape):
    return Parameter(shape, requires_grad=True)


class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = parameter(outputs, inputs)
        self.bias = parameter(outputs)

    def forward(self, x):
        return _tensor.Tensor(x.shape[:-1] + self.weight.shape[:1], parents=[x, self.weight, self.bias])


class ReLU(Module):
    def forward(self, x):
        return _tensor.Tensor(x.shape, parents=[x])


class CrossEntropyLoss(Module):
    def forward(self, x, target):
        return _tensor.Tensor((), parents=[x])


__all__ = ["modules", "Module", "Parameter", "Linear", "ReLU", "CrossEntropyLoss"]
