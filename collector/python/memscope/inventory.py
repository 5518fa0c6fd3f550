"""What is in memory by name: parameters, gradients, optimizer state and buffers.

Storages are what memory is made of: views of one storage carry the same address, so that a reader can
count it once. Shards (DTensor) are given by what this process holds of them.
"""

import json

from .tensors import dtype_name

# A model of a million tensors would make a record of hundreds of megabytes.
MOST = 20000


def _held(tensor, depth=0):
    """The tensors whose memory this process holds for a tensor: itself, a shard, or parts."""
    local = getattr(tensor, "_local_tensor", None)
    if local is not None and depth < 3:
        return _held(local, depth + 1)
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None and depth < 3:
        names = flatten()[0]
        parts = [getattr(tensor, n, None) for n in names]
        return [h for p in parts if p is not None for h in _held(p, depth + 1)]
    return [tensor]


def item(kind, name, tensor, state=None):
    """Items for one tensor; none where it has no memory (meta, sparse)."""
    items = []
    try:
        for held in _held(tensor):
            storage = held.untyped_storage()
            address = storage.data_ptr()
            one = {
                "kind": kind,
                "name": name,
                "dtype": dtype_name(held.dtype),
                "shape": [int(n) for n in held.shape],
                "device": str(held.device),
                "bytes": int(held.numel()) * int(held.element_size()),
                "requires_grad": bool(tensor.requires_grad),
            }
            if address:
                one["storage"] = hex(address)
                one["storage_bytes"] = int(storage.nbytes())
            if state is not None:
                one["state"] = state
            items.append(one)
    except Exception:
        # Kinds of tensors without storage are many, and none of them holds memory of its own.
        return []
    return items


def collect(names, optimizers, tensor_type):
    """All items that are known by now."""
    items = []
    parameter_names = {}
    for kind, name, tensor in names.parameters():
        parameter_names[id(tensor)] = name
        items += item(kind, name, tensor)
        gradient = getattr(tensor, "grad", None) if kind == "parameter" else None
        if gradient is not None:
            items += item("gradient", name, gradient)
        if len(items) > MOST:
            return items[:MOST]
    for number, optimizer in enumerate(optimizers):
        unnamed = 0
        for parameter, states in list(optimizer.state.items()):
            name = parameter_names.get(id(parameter))
            if name is None:
                # The optimizer's own copies (master weights) are no module's parameters.
                name = "optimizer%d.%d" % (number, unnamed)
                unnamed += 1
                if isinstance(parameter, tensor_type):
                    items += item("optimizer_state", name, parameter, "parameter")
            if isinstance(states, dict):
                for state, value in states.items():
                    if isinstance(value, tensor_type):
                        items += item("optimizer_state", name, value, str(state))
            if len(items) > MOST:
                return items[:MOST]
    return items


def as_json(items):
    """For the journal."""
    return json.dumps(items, allow_nan=False)
