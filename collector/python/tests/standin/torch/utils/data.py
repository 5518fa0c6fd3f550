"""Whether this is a data loader's worker."""

_worker = None


def get_worker_info():
    return _worker
