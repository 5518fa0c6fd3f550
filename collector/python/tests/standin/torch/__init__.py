"""A stand-in for PyTorch: what MemScope touches of it, and nothing of its arithmetic.

Tensors are shapes with a graph behind them. Hooks are called in the order in which PyTorch calls them,
which tests hold against `calls.json`, recorded with PyTorch. Figures of memory are those that a real run
had, one after the other (`MEMSCOPE_STANDIN_FIGURES`: a JSON list of [allocated, reserved, highest
allocated, highest reserved]); without the variable there is no CUDA.
"""

import types

__version__ = "2.11.0+standin"
version = types.SimpleNamespace(cuda="13.0")


class dtype(str):
    def __str__(self):
        return "torch." + str.__str__(self)


float32 = dtype("float32")
int64 = dtype("int64")

from . import _C  # noqa: E402
from ._tensor import (  # noqa: E402
    Tensor, is_grad_enabled, no_grad, manual_seed, randn, tensor,
)
from . import autograd, compiler, nn, optim, utils, amp, cuda  # noqa: E402

__all__ = ["Tensor", "is_grad_enabled", "no_grad", "manual_seed", "randn", "tensor", "autograd",
           "compiler", "nn", "optim", "utils", "amp", "cuda", "_C"]
