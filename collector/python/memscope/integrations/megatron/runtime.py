"""The public MemScope's name for `memscope.callbacks.megatron`."""

from ...callbacks.megatron import MemScopeMegatronRuntime

__all__ = ["MemScopeMegatronRuntime"]
