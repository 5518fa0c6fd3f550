"""Which modules are worth a record on every step: the blocks of a model and what they are made of.

Containers are not called, so they are no level of their own; neither are the wrappers that checkpointing,
FSDP and torch.compile put around a module.
"""

# What holds a module that is wrapped, by the name that it has there.
BETWEEN = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
# Outside of blocks, deeper modules are in only where they lead to blocks.
_DEPTH = 2


def outline(root, depth=None):
    """Modules of `root`, itself among them. With `depth`: all down to that many levels below the root
    (0 is the root alone). Without: blocks, their parts that have parts themselves (attention, not a
    norm), what leads to blocks, and else all down to two levels. Blocks are what a list or sequence has
    several of: of one class, with parts."""
    picked = []
    _walk(root, 0, depth, picked, set())
    return picked


def _walk(module, level, depth, picked, seen):
    """Takes a module and what is below it in; whether blocks are below."""
    if id(module) in seen:
        return False
    seen.add(id(module))
    mark = len(picked)
    inner = _take(module, picked)
    if depth is not None:
        if level < depth:
            for part, _ in _parts(inner):
                _walk(part, level + 1, depth, picked, seen)
        return True
    leads = False
    for part, block in _parts(inner):
        if block:
            leads = True
            within = _take(part, picked)
            for piece, _ in _parts(within):
                if _has_parts(piece):
                    _take(piece, picked)
        elif _walk(part, level + 1, depth, picked, seen):
            leads = True
    if level > _DEPTH and not leads:
        del picked[mark:]
    return leads


def _take(module, picked):
    """Takes a module in, with those it only wraps; the innermost."""
    while True:
        picked.append(module)
        inner = next((c for n, c in module._modules.items() if n in BETWEEN and c is not None), None)
        if inner is None:
            return module
        module = inner


def _has_parts(module):
    return any(child is not None for child in module._modules.values())


def _parts(module):
    """(module, whether it is a block) below a module, through containers."""
    children = [(n, c) for n, c in module._modules.items() if c is not None]
    several = {}
    for name, child in children:
        if name.isdigit() and _has_parts(child):
            several[type(child)] = several.get(type(child), 0) + 1
    found = []
    for name, child in children:
        if _is_container(child):
            found.extend(_parts(child))
        else:
            found.append((child, name.isdigit() and several.get(type(child), 0) > 1))
    return found


def _is_container(module):
    """Whether it has no forward of its own: ModuleList, ModuleDict."""
    forward = getattr(type(module), "forward", None)
    return forward is None or getattr(forward, "__name__", "") == "_forward_unimplemented"
