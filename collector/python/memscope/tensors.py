"""What is said of tensors: found in arguments and results, described as JSON."""

import json

_LIMIT = 32  # tensors of one call
_described = {}


def find(value, tensor_type, found=None, name="", depth=0):
    """(name, tensor) in tuples, lists and dictionaries (a model's output is one), not deeper than 3."""
    if found is None:
        found = []
    if len(found) >= _LIMIT:
        return found
    if isinstance(value, tensor_type):
        found.append((name, value))
    elif depth < 3:
        if isinstance(value, (tuple, list)):
            for item in value[:_LIMIT]:
                find(item, tensor_type, found, name, depth + 1)
        elif isinstance(value, dict):
            for key, item in list(value.items())[:_LIMIT]:
                find(item, tensor_type, found, str(key), depth + 1)
        elif hasattr(value, "__dataclass_fields__"):
            for key in list(value.__dataclass_fields__)[:_LIMIT]:
                find(getattr(value, key, None), tensor_type, found, key, depth + 1)
    return found


def dtype_name(dtype):
    """`bfloat16`, not `torch.bfloat16`."""
    return str(dtype).rsplit(".", 1)[-1]


def describe(pairs):
    """A JSON list of (name, tensor) as the journal has it. Shapes repeat: each is put in words once."""
    parts = []
    for name, tensor in pairs:
        key = (name, tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad)
        text = _described.get(key)
        if text is None:
            if len(_described) > 10000:
                _described.clear()
            text = _described[key] = json.dumps(
                {
                    "name": name,
                    "shape": [int(n) for n in tensor.shape],
                    "dtype": dtype_name(tensor.dtype),
                    "device": str(tensor.device),
                    "requires_grad": bool(tensor.requires_grad),
                    "bytes": int(tensor.numel()) * int(tensor.element_size()),
                }
            )
        parts.append(text)
    return "[" + ",".join(parts) + "]"
