"""Figures of the allocator and of the device, each with one call."""


class Stats:
    """Reads figures of the device that this process uses."""

    def __init__(self, torch):
        self.torch = torch
        self.raw = getattr(torch._C, "_cuda_memoryStats", None)
        self.device = None  # its ordinal, once CUDA is initialised

    def ready(self):
        """Whether there are figures yet. Never initialises CUDA."""
        if self.device is not None:
            return True
        if self.raw is None or not self.torch.cuda.is_initialized():
            return False
        self.device = self.torch.cuda.current_device()
        return True

    def read(self):
        """The allocator's nested dictionary; None without CUDA."""
        if self.device is None and not self.ready():
            return None
        return self.raw(self.device)

    def follow(self):
        """The program may use another device by now; asked at a step's start."""
        if self.ready():
            self.device = self.torch.cuda.current_device()

    def used(self):
        """(used, total) bytes of the whole device; (None, None) where it cannot be asked: a graph that
        is being captured would be spoilt by it."""
        if self.device is None:
            return None, None
        cuda = self.torch.cuda
        if cuda.is_current_stream_capturing():
            return None, None
        free, total = cuda.mem_get_info(self.device)
        return total - free, total

    def is_async(self):
        """Whether the allocator is the driver's, which leaves zeros where it does not count."""
        try:
            return self.torch.cuda.get_allocator_backend() == "cudaMallocAsync"
        except Exception:
            return False
