"""Recomputation inside backward."""

import contextlib


def checkpoint(function, argument, use_reentrant):
    result = function(argument)

    def again():
        function(argument)

    result.again = again
    return result


@contextlib.contextmanager
def set_checkpoint_early_stop(_):
    yield
