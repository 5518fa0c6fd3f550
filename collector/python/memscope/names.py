"""Dotted paths of modules, as the user's own code has them: without what wrappers put in between."""

import weakref

# Wrappers that hold the user's module as `module`, by class name: they are not imported for this.
_HOLDERS = {
    "DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "DeepSpeedEngine",
    "PipelineEngine", "Float16Module", "_LightningModuleWrapperBase", "_ForwardRedirection",
}
_BETWEEN = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}


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
    return ".".join(p for p in name.split(".") if p not in _BETWEEN)


class Names:
    """Names of the modules of all roots seen so far."""

    def __init__(self):
        self._names = weakref.WeakKeyDictionary()
        self.roots = []  # weak references to the users' modules, first seen first

    def add(self, root):
        """Names the modules of a root; does nothing for one that has a name."""
        if root in self._names:
            return
        inner = unwrap(root)
        known = inner in self._names
        title = type(inner).__name__
        # Modules of the first root keep their paths; those of further roots say whose they are.
        prefix = title + "." if self.roots and not known else ""
        for name, module in inner.named_modules():
            if module not in self._names:
                self._names[module] = prefix + plain(name) if name else title
        self._names[root] = self._names[inner]
        if not known:
            self.roots.append(weakref.ref(inner))

    def of(self, module):
        """The name; the class where the module belongs to no root."""
        name = self._names.get(module)
        return name if name is not None else type(module).__name__

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
