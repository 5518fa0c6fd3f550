"""Dotted paths of modules, as the user's own code has them: without what wrappers put in between."""

import weakref

from .outline import BETWEEN, outline

# Wrappers that hold the user's module as `module`, by class name: they are not imported for this.
_HOLDERS = {
    "DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "DeepSpeedEngine",
    "PipelineEngine", "Float16Module", "_LightningModuleWrapperBase", "_ForwardRedirection",
}


def unwrap(module):
    """The user's module inside of wrappers."""
    for _ in range(16):
        children = module._modules
        inner = children.get("_orig_mod") or children.get("_fsdp_wrapped_module")
        if inner is None and type(module).__name__ in _HOLDERS:
            inner = children.get("module")
        if inner is None:
            return module
        module = inner
    return module


def plain(name):
    """A path without the parts that wrappers added."""
    if "_" not in name:
        return name
    return ".".join(p for p in name.split(".") if p not in BETWEEN)


class Names:
    """Names of the modules of all roots seen so far. By `id`, since a look-up happens in every hook; what
    dies is taken out, so that an id that is given anew has no old name."""

    def __init__(self, depth=None):
        self.depth = depth  # how far down the outline goes; None is down to the blocks
        self._names = {}  # id: (name, class)
        self._alive = {}  # id: weak reference
        self.outline = {}  # id: (name, class) of what has a record on every step
        self.roots = []  # weak references to the users' modules, first seen first

    def _keep(self, module, name):
        key = id(module)
        self._names[key] = (name, type(module).__name__)
        self._alive[key] = weakref.KeyedRef(module, self._gone, key)

    def _gone(self, reference):
        for kept in (self._names, self.outline, self._alive):
            kept.pop(reference.key, None)

    def add(self, root):
        """Names the modules of a root; does nothing for one that has a name."""
        if id(root) in self._names:
            return
        inner = unwrap(root)
        known = id(inner) in self._names
        title = type(inner).__name__
        # Modules of the first root keep their paths; those of further roots say whose they are.
        prefix = title + "." if self.roots and not known else ""
        for name, module in inner.named_modules():
            if id(module) not in self._names:
                self._keep(module, prefix + plain(name) if name else title)
        if root is not inner:
            self._keep(root, self.of(inner))
        if not known:
            self.roots.append(weakref.ref(inner))
        for module in [root] + outline(inner, self.depth):
            if id(module) in self._names:
                self.outline[id(module)] = self._names[id(module)]

    def of(self, module):
        """The name; the class where the module belongs to no root."""
        known = self._names.get(id(module))
        return known[0] if known is not None else type(module).__name__

    def parameters(self):
        """(name, parameter) and (name, buffer) of all roots, each tensor once."""
        seen = set()
        for number, reference in enumerate(self.roots):
            root = reference()
            if root is None:
                continue
            prefix = type(root).__name__ + "." if number else ""
            for kind, pairs in (
                ("parameter", root.named_parameters()),
                ("buffer", root.named_buffers()),
            ):
                for name, tensor in pairs:
                    if id(tensor) not in seen:
                        seen.add(id(tensor))
                        yield kind, prefix + plain(name), tensor
