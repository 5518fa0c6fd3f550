"""The memory history: whether it is on is all that matters here."""

on = False
log = []


def _record_memory_history(enabled="all", **keywords):
    global on
    on = enabled is not None
    log.append((enabled, keywords))


def _snapshot():
    return {"segments": [], "device_traces": [[]]}
