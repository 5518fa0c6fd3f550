"""The engine: gradients from the end to the beginning, then what was queued meanwhile."""

from . import _C
from ._tensor import Tensor


class _Engine:
    def __init__(self):
        self.queued = []

    def queue_callback(self, call):
        if _C._task == -1:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        self.queued.append(call)


class Variable:
    _execution_engine = _Engine()


_tasks = 0


def _order(root):
    order, seen = [], set()

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        # The input first: gradients of parameters come before that of the input, read from the end.
        for parent in node.parents:
            visit(parent)
        order.append(node)

    visit(root)
    return reversed(order)


def run(root):
    global _tasks
    engine = Variable._execution_engine
    _C._task = _tasks
    _tasks += 1
    try:
        for node in _order(root):
            gradient = Tensor(node.shape, finite=root.finite)
            gradient.requires_grad = False
            for hook in list(node.hooks):
                hook(gradient)
            if node.again is not None:
                node.again()
                node.again = None
            if node.is_leaf:
                node.grad = gradient
                for hook in list(node.accumulated):
                    hook(node)
        queued, engine.queued = engine.queued, []
        for call in queued:
            call()
    finally:
        engine.queued = []
        _C._task = -1
