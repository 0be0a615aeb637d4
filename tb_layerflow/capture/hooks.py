"""The hooks that tell a recording of calls, gradient tapes and optimizers, put on for one trace and taken off in `finally`.

Nothing is hooked between recordings: the classes and layers are then exactly as they were.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import config as autograph_config
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.framework import op_def_registry, ops

from . import families, lineage_hooks, nests, replicas
from .autograph import convert_as_around, not_converted_again
from .recording import Recording, active

_lock = threading.RLock()
_OWN_RULES = (autograph_config.DoNotConvert("tb_layerflow"),)
"""AutoGraph passes through our wrappers and goes on converting what they call."""
_MISSING = object()


class _Patches:
    """Attributes set on objects and classes, and what was there before."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []
        self._seen: set[int] = set()

    def on_class(self, owner: type, name: str, make: Callable[[Any], Any]) -> None:
        original = owner.__dict__.get(name, _MISSING)
        self._undo.append((owner, name, original))
        setattr(owner, name, make(getattr(owner, name)))

    def on_object(self, owner: Any, name: str, wrapper: Any) -> None:
        """Past Keras's attribute tracking, straight into the object."""
        self._undo.append((owner, name, owner.__dict__.get(name, _MISSING)))
        owner.__dict__[name] = wrapper

    def on_module(self, module: Any, name: str, value: Any) -> None:
        """A module's global."""
        self._undo.append((module, name, module.__dict__[name]))
        setattr(module, name, value)

    def first_sight(self, layer: Any) -> bool:
        if id(layer) in self._seen:
            return False
        self._seen.add(id(layer))
        return True

    def undo(self) -> None:
        for owner, name, original in reversed(self._undo):
            if isinstance(owner, type):
                if original is _MISSING:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)
            elif original is _MISSING:
                owner.__dict__.pop(name, None)
            else:
                owner.__dict__[name] = original
        self._undo.clear()
        self._seen.clear()


_depth = 0


@contextmanager
def installed() -> Iterator[None]:
    """All hooks, while a recording variant is traced or an eager step runs. One thread traces at a time.

    Inside itself (a recorded function called in an eager step) it does nothing more.
    """
    global _depth
    with _lock:
        if _depth:
            yield
            return
        _depth += 1
        patches = _Patches()
        try:
            for family in families.loaded():
                _hook_family(patches, family)
            _hook_tapes(patches)
            patches.on_class(type(ops.gradient_registry), "lookup", _finds_gradient)
            patches.on_class(distribute_lib.StrategyBase, "run", replicas.runs)
            patches.on_module(autograph_config, "CONVERSION_RULES", _OWN_RULES + autograph_config.CONVERSION_RULES)
            with lineage_hooks.installed(patches.on_object):
                yield
        finally:
            patches.undo()
            _depth -= 1


def _hook_family(patches: _Patches, family: families.Family) -> None:
    patches.on_class(family.layer, "__call__", lambda original: _layer_entry(patches, original))
    if family.operation is not None:
        patches.on_class(family.operation, "__call__", lambda original: _operation_entry(family, original))
    optimizers = family.module.optimizers
    for owner in _optimizer_bases(optimizers):
        patches.on_class(owner, "apply_gradients", _applies_pairs)
        if hasattr(owner, "apply"):
            patches.on_class(owner, "apply", _applies_gradients)
        for updating in _with_own(owner, "update_step"):
            patches.on_class(updating, "update_step", lineage_hooks.updates)
        if hasattr(owner, "scale_loss"):
            for scaling in _with_own(owner, "scale_loss"):
                patches.on_class(scaling, "scale_loss", _scales_loss)


def _optimizer_bases(optimizers: Any) -> list[type]:
    bases = [optimizers.Optimizer]
    legacy = getattr(getattr(optimizers, "legacy", None), "Optimizer", None)
    if isinstance(legacy, type) and hasattr(legacy, "apply_gradients"):
        bases.append(legacy)
    return bases


def _layer_entry(patches: _Patches, original: Any) -> Any:
    @functools.wraps(original)
    def entry(self: Any, *args: Any, **kwargs: Any) -> Any:
        recording = active()
        if recording is None or recording.passes_by(args, kwargs, families.symbolic_types()):
            return original(self, *args, **kwargs)
        _see(patches, self)
        recording.entering(self, args, kwargs)
        with nullcontext() if recording.lineage is None else recording.lineage.during(entered=self):
            return original(self, *args, **kwargs)

    return entry


def _see(patches: _Patches, layer: Any) -> None:
    """Wrap the `call` of a layer, and of all it tracks, the first time that it is seen."""
    if not patches.first_sight(layer):
        return
    for name in ("call", "quantized_call"):
        if hasattr(layer, name):
            patches.on_object(layer, name, _call_wrapper(layer, getattr(layer, name)))
    for below in layer._flatten_layers(include_self=False, recursive=False):
        _see(patches, below)


def _call_wrapper(layer: Any, original: Any) -> Any:
    converts = families.of(layer).name == "tf_keras"

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        recording = active()
        if (
            recording is None
            or _runs_for_parent(recording, layer)
            or recording.passes_by(args, kwargs, families.symbolic_types())
        ):
            return original(*args, **kwargs)
        run = convert_as_around(original) if converts else original
        return _recorded(recording, layer, original, "layer", args, kwargs, run)

    return not_converted_again(call)


def _recorded(
    recording: Recording,
    layer: Any,
    original: Any,
    kind: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    run: Any = None,
) -> Any:
    node = recording.begin(layer, original, kind, args, kwargs)
    try:
        outputs = (run or original)(*args, **kwargs)
    except BaseException:
        recording.failed(node)
        raise
    return recording.end(node, outputs)


def _runs_for_parent(recording: Recording, layer: Any) -> bool:
    """Whether the running call hands its own work to `layer`: `Sequential` to its functional twin, `call` to `quantized_call`.

    A layer that calls itself through `__call__` makes a call like any other.
    """
    if not recording.stack:
        return False
    parent = recording.stack[-1].layer
    if parent is layer and recording.stack[-1].kind == "layer":
        return not recording.has_entered(layer)
    return getattr(parent, "_functional", None) is layer


def _operation_entry(family: families.Family, original: Any) -> Any:
    @functools.wraps(original)
    def entry(self: Any, *args: Any, **kwargs: Any) -> Any:
        recording = active()
        if (
            recording is None
            or isinstance(self, family.layer)
            or not _inside_functional(recording)
            or recording.passes_by(args, kwargs, families.symbolic_types())
        ):
            return original(self, *args, **kwargs)
        return _recorded(recording, self, functools.partial(original, self), "operation", args, kwargs)

    return entry


def _inside_functional(recording: Recording) -> bool:
    """Operations are calls where a functional graph runs them, not where a layer's own `call` happens to use one."""
    return bool(recording.stack) and hasattr(recording.stack[-1].layer, "_run_through_graph")


def _applies_pairs(original: Any) -> Any:
    @functools.wraps(original)
    def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        recording = active()
        if recording is not None:
            grads_and_vars = list(grads_and_vars)
            recording.applied(self, [gradient for gradient, _ in grads_and_vars])
        return original(self, grads_and_vars, *args, **kwargs)

    return apply_gradients


def _applies_gradients(original: Any) -> Any:
    @functools.wraps(original)
    def apply(self: Any, grads: Any, *args: Any, **kwargs: Any) -> Any:
        recording = active()
        if recording is not None:
            grads = list(grads)
            recording.applied(self, grads)
        return original(self, grads, *args, **kwargs)

    return apply


def _with_own(base: type, name: str) -> list[type]:
    """`base` and the classes below it that define `name` themselves."""
    found, waiting = [], [base]
    while waiting:
        owner = waiting.pop()
        waiting += owner.__subclasses__()
        if name in vars(owner) and owner not in found:
            found.append(owner)
    return found


def _scales_loss(original: Any) -> Any:
    @functools.wraps(original)
    def scale_loss(self: Any, loss: Any) -> Any:
        scaled = original(self, loss)
        recording = active()
        if recording is not None and scaled is not loss and recording.loss_scale is None:
            recording.loss_scale = tf.cast(original(self, tf.constant(1.0)), tf.float32)
        return scaled

    return scale_loss


def _hook_tapes(patches: _Patches) -> None:
    patches.on_class(tf.GradientTape, "__enter__", _tape_enters)
    patches.on_class(tf.GradientTape, "__exit__", _tape_exits)
    for name in ("gradient", "jacobian", "batch_jacobian"):
        patches.on_class(tf.GradientTape, name, _tape_differentiates)


def _finds_gradient(original: Any) -> Any:
    """What TensorFlow asks for an operation's gradient. As errors go back to the first layer, they may come to operations that
    the plain step never differentiates: where such a one has no gradient, the errors end.
    """

    @functools.wraps(original)
    def lookup(self: Any, name: str) -> Any:
        recording = active()
        try:
            return original(self, name)
        except LookupError:
            if recording is None or not recording.errors or self is not ops.gradient_registry or not _has_inputs(name):
                raise
            recording.without_gradient.add(name)
            return _no_gradients

    return lookup


def _has_inputs(name: str) -> bool:
    """Whether there is anything that an operation of this type could have a gradient by."""
    definition = op_def_registry.get(name)
    return definition is not None and len(definition.input_arg) > 0


def _no_gradients(operation: Any, *gradients: Any) -> list[None]:
    return [None] * len(operation.inputs)


def _tape_enters(original: Any) -> Any:
    @functools.wraps(original)
    def enter(self: Any) -> Any:
        recording = active()
        if recording is not None:
            recording.tapes.active.append(self)
        return original(self)

    return enter


def _tape_exits(original: Any) -> Any:
    @functools.wraps(original)
    def leave(self: Any, *exception: Any) -> Any:
        recording = active()
        if recording is not None and self in recording.tapes.active:
            recording.tapes.active.remove(self)
        return original(self, *exception)

    return leave


def _noted_backward(recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[None]:
    if recording.lineage is None:
        return nullcontext()
    target = args[0] if args else kwargs.get("target")
    recording.lineage.targets += [leaf for _, leaf in nests.flatten(target)]
    recording.lineage.eager.new_pass()
    return recording.lineage.during(backward=True, forward=None)


def _tape_differentiates(original: Any) -> Any:
    @functools.wraps(original)
    def differentiate(self: Any, *args: Any, **kwargs: Any) -> Any:
        recording = active()
        if recording is None or recording.tapes.running:
            return original(self, *args, **kwargs)
        with recording.tapes.backward_pass() as number, _noted_backward(recording, args, kwargs):
            gradients = original(self, *args, **kwargs)
        recording.differentiated(number, gradients)
        if original.__name__ == "gradient":
            recording.differentiated_by(args[1] if len(args) > 1 else kwargs.get("sources"), gradients)
        return gradients

    return differentiate
