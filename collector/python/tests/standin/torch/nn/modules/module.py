"""A module's call, with hooks of all modules."""

_pre = []
_post = []


def register_module_forward_pre_hook(hook):
    _pre.append(hook)


def register_module_forward_hook(hook, with_kwargs=False, always_call=False):
    _post.append((hook, always_call))


class Module:
    def __init__(self):
        self._modules = {}
        self._parameters = {}

    def __setattr__(self, name, value):
        from .. import Parameter

        if isinstance(value, Module):
            self._modules[name] = value
        elif isinstance(value, Parameter):
            self._parameters[name] = value
        object.__setattr__(self, name, value)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(prefix + "." + name if prefix else name)

    def modules(self):
        return (m for _, m in self.named_modules())

    def named_parameters(self):
        for prefix, module in self.named_modules():
            for name, tensor in module._parameters.items():
                yield (prefix + "." + name if prefix else name), tensor

    def named_buffers(self):
        return iter(())

    def parameters(self):
        return (p for _, p in self.named_parameters())

    def __call__(self, *arguments):
        called = set()
        result = None
        try:
            for hook in _pre:
                hook(self, arguments)
            result = self.forward(*arguments)
            for hook, _ in _post:
                called.add(hook)
                hook(self, arguments, result)
            return result
        except Exception:
            for hook, always in _post:
                if always and hook not in called:
                    hook(self, arguments, result)
            raise
