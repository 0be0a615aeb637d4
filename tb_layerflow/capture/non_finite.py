"""Where a number that is not finite first appears: one training step run eagerly, every operation's results looked at.

The step is the model's own `train_step`; afterwards every variable is what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.log import records
from tb_layerflow.log.kept_files import KeptStep

from . import families, hooks, kept_step, nests
from .eager_operations import Ran
from .outcome import conclude
from .recording import Recording


@dataclass(frozen=True)
class Numbers:
    """What a tensor held. `min`, `max` and `mean` are of its finite elements, NaN where it has none."""

    shape: tuple[int, ...]
    dtype: str
    min: float
    max: float
    mean: float
    zero: int
    nan: int
    pos_inf: int
    neg_inf: int

    @property
    def finite(self) -> bool:
        """Whether every element is finite."""
        return not (self.nan or self.pos_inf or self.neg_inf)


@dataclass(frozen=True)
class NonFinite:
    """The operation at which a number that is not finite first appeared.

    `type` and `name` are the operation's (`Input` where the data itself is not finite); `path` is the call that made it,
    empty where it belongs to a `bucket`; `direction` is `forward`, or `backward` with the `forward_op` whose gradient it is;
    `variable` the weight that it reads or whose gradient it makes. `inputs` and `outputs` say what its tensors held. `frames`
    lead to it, `user_frame` is the innermost of the user's own lines.
    """

    name: str
    type: str
    path: str
    bucket: str
    direction: str
    forward_op: str
    variable: str
    inputs: list[Numbers]
    outputs: list[Numbers]
    frames: tuple[records.Frame, ...] = ()
    user_frame: records.Frame | None = None

    def __str__(self) -> str:
        where = self.path or self.bucket
        line = "" if self.user_frame is None else f", {self.user_frame.file}:{self.user_frame.line}"
        return f"{self.type} ({self.name}) of {where or 'the data'}, {self.direction}{line}"


class _Watch:
    """Looks at every operation's results until one is not finite though its inputs were."""

    def __init__(self) -> None:
        self.found: Ran | None = None
        self.inputs: list[Numbers] = []
        self.outputs: list[Numbers] = []

    def __call__(self, ran: Ran, inputs: Any, outputs: Any) -> None:
        if self.found is not None or not inputs or all(_is_finite(output) for output in outputs):
            return
        if all(_is_finite(tensor) for tensor in inputs):
            self.found = ran
            self.inputs = [numbers(tensor) for tensor in inputs if _is_numeric(tensor)]
            self.outputs = [numbers(tensor) for tensor in outputs if _is_numeric(tensor)]


def locate(model: Any, x: Any, y: Any) -> NonFinite | None:
    """Run one step of `model` on this batch, and find the operation; None where all stays finite. `x` may be a kept step."""
    families.of(model)
    kept = x if isinstance(x, KeptStep) else None
    parts = kept_step.batch_of(kept) if kept is not None else (x, y) if y is not None else (x,)
    batch = tf.nest.map_structure(tf.convert_to_tensor, parts)
    for key, tensor in nests.flatten(batch):
        if not _is_finite(tensor):
            shown = numbers(tensor)
            return NonFinite(key or "x", "Input", "", "input", "forward", "", "", [], [shown])
    _build(model, batch)
    watch = _Watch()
    recording = Recording(errors=False, lineage=True)
    assert recording.lineage is not None
    recording.lineage.eager.watch = watch
    with _eagerly(), _unchanged(model), hooks.installed():
        if kept is not None:
            kept_step.restore(kept, model, _variables(model))
        try:
            with recording:
                _step(model, batch)
        except Exception:
            if watch.found is None:
                raise
    if watch.found is None:
        return None
    return _told(recording, model, watch)


def _step(model: Any, batch: Any) -> None:
    if len(batch) > 1 and getattr(model, "optimizer", None) is not None and getattr(model, "compiled", True):
        model.train_step(batch)
    else:
        model(batch[0], training=True) if _takes_training(model) else model(batch[0])


def _takes_training(model: Any) -> bool:
    return bool(getattr(model, "_call_has_training_arg", getattr(model, "_expects_training_arg", True)))


def _told(recording: Recording, model: Any, watch: _Watch) -> NonFinite:
    assert recording.lineage is not None and watch.found is not None
    name = recording.lineage.eager.names()[watch.found.place]
    while recording.stack:
        recording.failed(recording.stack[-1])
    graph = conclude(recording, [], model=model, selected=lambda call, layer: True).graph
    op = next((one for one in graph.ops if one.name == name), None)
    if op is None:
        return NonFinite(name, watch.found.type, "", "other", "forward", "", "", watch.inputs, watch.outputs)
    stack = records.Stack(()) if op.stack is None else graph.stacks[op.stack]
    return NonFinite(
        name=op.name,
        type=op.type,
        path="" if op.call is None else graph.calls[op.call].path,
        bucket=op.bucket,
        direction="backward" if op.backward else "forward",
        forward_op="" if op.forward_op is None else graph.ops[op.forward_op].name,
        variable=op.variable,
        inputs=watch.inputs,
        outputs=watch.outputs,
        frames=stack.frames,
        user_frame=stack.frames[stack.user_frame] if stack.user_frame >= 0 else None,
    )


def numbers(tensor: Any) -> Numbers:
    """What an eager tensor holds."""
    array = np.asarray(tf.cast(tensor, tf.float64))
    finite = array[np.isfinite(array)]
    some = finite if finite.size else np.array([np.nan])
    return Numbers(
        shape=tuple(array.shape),
        dtype=tensor.dtype.name,
        min=float(some.min()),
        max=float(some.max()),
        mean=float(some.mean()),
        zero=int((array == 0).sum()),
        nan=int(np.isnan(array).sum()),
        pos_inf=int(np.isposinf(array).sum()),
        neg_inf=int(np.isneginf(array).sum()),
    )


def _is_numeric(tensor: Any) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool


def _is_finite(tensor: Any) -> bool:
    return not tensor.dtype.is_floating or bool(tf.reduce_all(tf.math.is_finite(tensor)))


@contextmanager
def _eagerly() -> Iterator[None]:
    """Let the bodies of functions run operation by operation as well."""
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


@contextmanager
def _unchanged(model: Any) -> Iterator[None]:
    """Put every variable of the model, its optimizer and its metrics back to what it is now.

    Metrics that the step makes start anew.
    """
    before = [(variable, tf.identity(tf.convert_to_tensor(variable))) for variable in _variables(model)]
    known = {id(variable) for variable, _ in before}
    try:
        yield
    finally:
        for variable, value in before:
            variable.assign(value)
        for metric in getattr(model, "metrics", None) or []:
            if any(id(variable) not in known for variable in metric.variables):
                metric.reset_state()


def _build(model: Any, batch: Any) -> None:
    """Make what the first step would make, so that there is something to put back: weights, and the optimizer's variables."""
    if not getattr(model, "built", True):
        model(batch[0])
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and hasattr(optimizer, "build") and not getattr(optimizer, "built", False):
        optimizer.build(model.trainable_variables)


def _variables(model: Any) -> list[Any]:
    held = [*model.variables, *getattr(model, "metrics_variables", [])]
    for owner in [getattr(model, "optimizer", None), *(getattr(model, "metrics", None) or [])]:
        variables = getattr(owner, "variables", ()) if owner is not None else ()
        held += variables() if callable(variables) else variables
    return list({id(variable): variable for variable in held}.values())
