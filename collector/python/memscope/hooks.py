"""Hooks into torch: global, so that a script needs no change.

Each begins with what makes it nothing inside a compiled region, where it is traced into the graph. None
of them raises, and none changes what it is given. The hooks of modules run at every call of every module:
what is not recorded leaves them after a few look-ups, and is not kept on the stack of open calls.
"""

import functools
import gc
import importlib
import sys
import threading
import time
import weakref

from .settings import BRIEF, FULL
from .tensors import describe, find

_now = time.perf_counter_ns
_session = None
_installed = False


class _Calls(threading.local):
    """Calls that are open in this thread, outermost first: of roots, and of modules that are recorded."""

    def __init__(self):
        self.modules = []
        self.calls = []  # number of the record, or None where none was written
        self.recompute = False
        self.phase = "forward"  # of the records of modules


_calls = _Calls()


def install(session):
    """Hooks torch once; from then on they serve the session at hand."""
    global _session, _installed
    _session = session
    if _installed:
        return
    _installed = True
    torch = session.torch
    is_compiling = getattr(torch.compiler, "is_compiling", None) or (lambda: False)
    # This one is cheaper, and all that the tracer needs to see.
    is_tracing = getattr(torch.compiler, "is_dynamo_compiling", None) or is_compiling
    graph_task = getattr(torch._C, "_current_graph_task_id", None) or (lambda: -1)
    module = torch.nn.modules.module

    def pre(called, arguments):
        if is_tracing():
            return
        modules = _calls.modules
        if not modules or called is modules[0]:
            if not is_compiling():
                _before(called, arguments, graph_task)
            return
        session = _session
        detail = session.detail
        if detail == BRIEF:
            known = session.names.outline.get(id(called))
            if known is None:
                return
            recorder = session.recorder
            if recorder is not None and not session.dead:
                began = _now()
                stats = session.stats
                call = recorder.module_pre(
                    stats.raw, stats.device, known[0], known[1], len(modules), _calls.phase, began
                )
                modules.append(called)
                _calls.calls.append(call)
        elif detail == FULL:
            _before(called, arguments, graph_task)

    def post(called, arguments, result):
        if is_tracing():
            return
        modules = _calls.modules
        if not modules:
            return
        session = _session
        if called is not modules[-1]:
            if session.detail == FULL or called is modules[0] or id(called) in session.names.outline:
                _after(called, result)
            return
        recorder = session.recorder
        if session.detail == BRIEF and len(modules) > 1 and recorder is not None and not session.dead:
            began = _now()
            modules.pop()
            stats = session.stats
            recorder.module_post(
                stats.raw, stats.device, _calls.calls.pop(),
                result is None and sys.exc_info()[1] is not None, began,
            )
        else:
            _after(called, result)

    module.register_module_forward_pre_hook(pre)
    try:
        module.register_module_forward_hook(post, always_call=True)
    except TypeError:
        # Before torch 2.1: a forward that raises is noticed at the next one.
        module.register_module_forward_hook(post)
    _hide(module)
    # torch.optim takes the name away from its module.
    optimizer = importlib.import_module("torch.optim.optimizer")

    def step_pre(stepping, arguments, keywords):
        if not is_compiling():
            _step_pre(graph_task, stepping, arguments, keywords)

    def step_post(stepping, arguments, keywords):
        if not is_compiling():
            _step_post(graph_task, stepping)

    optimizer.register_optimizer_step_pre_hook(step_pre)
    optimizer.register_optimizer_step_post_hook(step_post)
    _watch_scaler(torch)


def _hide(module):
    """torch.compile warns of hooks of all modules, since they fire once more for the compiled root. That
    is known here, and a warning may be an error in the program: only others' hooks are told."""
    if not hasattr(module, "_has_any_global_hook"):
        return
    kinds = [
        getattr(module, name) for name in (
            "_global_backward_pre_hooks", "_global_backward_hooks", "_global_forward_hooks",
            "_global_forward_pre_hooks", "_global_forward_hooks_always_called",
            "_global_forward_hooks_with_kwargs",
        ) if hasattr(module, name)
    ]
    ours = [len(kind) for kind in kinds]

    def has_any():
        return any(len(kind) > known for kind, known in zip(kinds, ours))

    module._has_any_global_hook = has_any


def _alive():
    return _session is not None and not _session.dead


# -- modules -------------------------------------------------------------------------------------


def _counts(module):
    """Whether a root tells steps: a loss or a transform without parameters does not."""
    return next(module.parameters(), None) is not None


def _before(module, arguments, graph_task):
    session = _session
    if not _alive():
        return
    began = _now()
    try:
        modules, calls = _calls.modules, _calls.calls
        if modules and modules[0] is module:
            # The root again while it is still open: its last call was left by an exception that
            # passes hooks by.
            _unwind(session, 0)
        root = not modules
        if root:
            _calls.recompute = graph_task() != -1
            if not _calls.recompute:
                if not _counts(module):
                    modules.append(module)
                    calls.append(None)
                    return
                session.names.add(module)
                if not session.machine.has_optimizer:
                    session.machine.has_optimizer = _optimizers_exist(session.torch)
                session.event(session.machine.forward_begin, session.torch.is_grad_enabled())
                began = _now()
            phase = "eval" if session.machine.phase == "eval" else "forward"
            _calls.phase = "recompute" if _calls.recompute else phase
        call = None
        detail = session.detail
        wanted = detail == FULL or detail == BRIEF and id(module) in session.names.outline
        if wanted and session.alive():
            inputs = find(arguments, session.torch.Tensor) if detail == FULL else None
            stats = session.stats
            stats.ready()
            call = session.recorder.module_pre(
                stats.raw, stats.device, session.names.of(module), type(module).__name__,
                len(modules), _calls.phase, None, describe(inputs) if inputs else None,
            )
        modules.append(module)
        calls.append(call)
        if session.recorder is not None:
            session.recorder.spent(_now() - began)
    except Exception as error:
        session.fail("a module's hook", error)
        del _calls.modules[len(_calls.calls):]


def _unwind(session, depth):
    """Calls above `depth` were left without their hooks being called."""
    modules, calls = _calls.modules, _calls.calls
    while len(modules) > depth:
        modules.pop()
        call = calls.pop()
        if call is not None and session.recorder is not None:
            session.recorder.module_post(session.stats.raw, session.stats.device, call, True)


def _after(module, result):
    session = _session
    modules, calls = _calls.modules, _calls.calls
    if not modules:
        return
    if not _alive():
        del modules[:], calls[:]
        return
    began = _now()
    try:
        at = len(modules) - 1
        while at >= 0 and modules[at] is not module:
            at -= 1
        if at < 0:
            return
        _unwind(session, at + 1)
        modules.pop()
        call = calls.pop()
        # Called on the way of an exception, a hook gets no result.
        aborted = result is None and sys.exc_info()[1] is not None
        tensor_type = session.torch.Tensor
        outputs = None
        if call is not None:
            full = session.detail == FULL
            outputs = find(result, tensor_type) if full else None
            stats = session.stats
            session.recorder.module_post(
                stats.raw, stats.device, call, aborted, None, describe(outputs) if outputs else None
            )
            if full and session.settings.grads and not _calls.recompute and modules:
                _watch_outputs(session, module, outputs)
        if session.recorder is not None:
            session.recorder.spent(_now() - began)
        if not modules and not _calls.recompute:
            if outputs is None:
                outputs = find(result, tensor_type)
            if _counts(module):
                session.event(session.machine.forward_end, aborted)
            if session.torch.is_grad_enabled():
                _watch_backward(session, outputs)
                if session.detail == FULL and session.settings.grads:
                    _watch_outputs(session, module, outputs)
                    _watch_parameters(session, module)
    except Exception as error:
        session.fail("a module's hook", error)


# -- backward ------------------------------------------------------------------------------------


def _watch_backward(session, outputs):
    """The first gradient of a root's outputs begins backward; the engine says when it is done."""
    for _, tensor in outputs[:8]:
        # A leaf would keep the hook for ever.
        if tensor.requires_grad and tensor.grad_fn is not None:
            tensor.register_hook(_first_gradient)


def _first_gradient(gradient):
    session = _session
    if not _alive() or session.machine.in_backward:
        return None
    try:
        session.event(session.machine.backward_begin)
        session.torch.autograd.Variable._execution_engine.queue_callback(_backward_done)
    except Exception as error:
        session.fail("the hook of backward", error)
    return None


def _backward_done():
    session = _session
    if not _alive():
        return
    try:
        session.event(session.machine.backward_end)
    except Exception as error:
        session.fail("the hook of backward", error)


def _watch_outputs(session, module, outputs):
    name = session.names.of(module)
    for number, (_, tensor) in enumerate(outputs[:8]):
        if tensor.requires_grad and tensor.grad_fn is not None:
            tensor.register_hook(functools.partial(_gradient, "%s.output[%d]" % (name, number)))


def _gradient(name, gradient):
    session = _session
    if not _alive() or session.recorder is None or not isinstance(gradient, session.torch.Tensor):
        return None
    began = _now()
    try:
        stats = session.stats
        session.recorder.grad(stats.raw, stats.device, name, describe([("", gradient)]))
        session.recorder.spent(_now() - began)
    except Exception as error:
        session.fail("a gradient's hook", error)
    return None


def _watch_parameters(session, root):
    """Once a step: when each parameter has its gradient. Compiled modules are left alone."""
    machine = session.machine
    if getattr(session, "watched", None) == (machine.step, id(root)):
        return
    _release(session)
    session.watched = (machine.step, id(root))
    session.handles = handles = []
    if any(getattr(m, "_compiled_call_impl", None) is not None or type(m).__name__ == "OptimizedModule"
           for m in root.modules()):
        return
    for kind, name, parameter in session.names.parameters():
        hook = getattr(parameter, "register_post_accumulate_grad_hook", None)
        if kind == "parameter" and hook is not None and parameter.requires_grad and parameter.is_leaf:
            handles.append(hook(functools.partial(_accumulated, "param::" + name)))


def _accumulated(name, parameter):
    if parameter.grad is not None:
        _gradient(name, parameter.grad)


def _release(session):
    for handle in getattr(session, "handles", ()):
        handle.remove()
    session.handles = []


# -- optimizers ----------------------------------------------------------------------------------


def _optimizers_exist(torch):
    """Whether an optimizer was made in this process: torch marks the class when that happens."""
    todo = [torch.optim.Optimizer]
    while todo:
        kind = todo.pop()
        if getattr(kind.__dict__.get("step"), "hooked", False):
            return True
        todo.extend(kind.__subclasses__())
    return False


def _living(torch):
    """All optimizers that hold parameters. Walks the heap, so it is asked once."""
    kind = torch.optim.Optimizer
    found = []
    for thing in gc.get_objects():
        try:
            # Of the type alone: asking an instance may wake a proxy.
            if issubclass(type(thing), kind) and thing.param_groups:
                found.append(thing)
        except Exception:
            continue
    return found


def _forget_with(session, optimizers):
    """An optimizer that is gone has no part in steps, and its number may be given to another."""
    for optimizer in optimizers:
        weakref.finalize(optimizer, session.machine.forget, id(optimizer)).atexit = False


def _step_pre(graph_task, optimizer, arguments, keywords):
    session = _session
    if not _alive():
        return
    try:
        in_backward = graph_task() != -1
        if not in_backward and session.machine.in_optimizer == 0:
            # A forward that is still open here was left by an exception.
            _unwind(session, 0)
            _release(session)
        expected = ()
        if optimizer not in session.optimizers:
            if not session.optimizers and not in_backward:
                others = _living(session.torch)
                expected = [id(o) for o in others]
                _forget_with(session, others)
            _forget_with(session, [optimizer])
            session.optimizers.add(optimizer)
        closure = keywords.get("closure")
        if closure is None and len(arguments) > 1:
            closure = arguments[1]
        session.event(
            session.machine.optimizer_begin, id(optimizer), in_backward, closure is not None, expected
        )
    except Exception as error:
        session.fail("the optimizer's hook", error)


def _step_post(graph_task, optimizer):
    session = _session
    if not _alive():
        return
    try:
        session.event(session.machine.optimizer_end, id(optimizer), graph_task() != -1)
    except Exception as error:
        session.fail("the optimizer's hook", error)


def _watch_scaler(torch):
    """A gradient scaler leaves the optimizer's step out when gradients are not finite."""
    try:
        scaler = torch.amp.grad_scaler.GradScaler
    except AttributeError:
        return
    original = scaler.step

    @functools.wraps(original)
    def step(self, optimizer, *arguments, **keywords):
        session = _session
        before = session.machine.stepped_count if _alive() else None
        result = original(self, optimizer, *arguments, **keywords)
        if before is not None and _alive() and session.machine.stepped_count == before:
            try:
                session.event(
                    session.machine.optimizer_skipped, id(optimizer), "gradients are not finite"
                )
            except Exception as error:
                session.fail("the gradient scaler's hook", error)
        return result

    scaler.step = step
