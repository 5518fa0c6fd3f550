"""Tensors with a graph behind them."""

from . import _C, float32, int64

_grad = True
_address = [0x7F0000000000]


def is_grad_enabled():
    return _grad


class _Mode:
    def __init__(self, on):
        self.on = on

    def __enter__(self):
        global _grad
        self.before, _grad = _grad, self.on

    def __exit__(self, *_):
        global _grad
        _grad = self.before


def no_grad():
    return _Mode(False)


def enable_grad():
    return _Mode(True)


def manual_seed(_):
    pass


class _Storage:
    def __init__(self, size):
        self.size = size
        self.address = _address[0]
        _address[0] += (size + 511) // 512 * 512

    def data_ptr(self):
        return self.address

    def nbytes(self):
        return self.size


class Tensor:
    """`parents` are what it was computed of; `again` computes it once more inside backward."""

    def __init__(self, shape, requires_grad=False, parents=(), kind=float32, again=None, finite=True):
        self.shape = tuple(shape)
        self.dtype = kind
        self.device = "cpu"
        self.parents = [p for p in parents if p.requires_grad] if _grad else []
        self.requires_grad = requires_grad or bool(self.parents)
        self.grad_fn = object() if self.parents else None
        self.grad = None
        self.again = again
        self.finite = finite and all(p.finite for p in parents)
        self.hooks = []
        self.accumulated = []
        self.storage = None

    @property
    def is_leaf(self):
        return self.grad_fn is None

    def numel(self):
        count = 1
        for n in self.shape:
            count *= n
        return count

    def element_size(self):
        return 8 if self.dtype == int64 else 4

    def untyped_storage(self):
        if self.storage is None:
            self.storage = _Storage(self.numel() * self.element_size())
        return self.storage

    def register_hook(self, hook):
        self.hooks.append(hook)
        return _Handle(self.hooks, hook)

    def register_post_accumulate_grad_hook(self, hook):
        self.accumulated.append(hook)
        return _Handle(self.accumulated, hook)

    def sum(self):
        return Tensor((), parents=[self])

    def __mul__(self, factor):
        return Tensor(self.shape, parents=[self], finite=factor != float("inf"))

    def backward(self):
        from .autograd import run

        run(self)

    def __hash__(self):
        return id(self)


class _Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def randn(*shape):
    return Tensor(shape)


def tensor(values):
    return Tensor((len(values),), kind=int64)
