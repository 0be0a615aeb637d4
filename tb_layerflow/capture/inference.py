"""Running a model on given samples while its calls are recorded, with the errors of the loss, leaving no trace on the model.

Probes and `record` are made of it. The weights are only read; metrics, loss trackers and all other variables are put back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tb_layerflow.log.records import TIMING

from . import execution, families, fates, hooks, nests, timing, unpack
from .instrument import Step, kept, measured_after, measured_before
from .outcome import Outcome, conclude
from .output_losses import NoLoss, outputs_of, weight_of
from .recording import Recording
from .samples import Samples
from .sink import numpy_figures
from .variants import Needs, input_names

CHUNK = 64
"""Samples that run at once; more run in chunks whose statistics merge."""


@dataclass
class Inference:
    """Runs `model` on samples. `loss` is a callable (y, y_pred, sample_weight) → scalar, None: the model's own, or no loss.

    `profiles` timed the chunks of the last run, if that is wanted.
    """

    model: Any
    needs: Needs
    training: bool = False
    loss: Callable[[Any, Any, Any], Any] | None = None
    chunk: int = CHUNK
    instruments: list[Any] = field(default_factory=list)
    outcome: Outcome | None = None
    trace_seconds: float = 0.0
    profiles: list[timing.Profile] = field(default_factory=list)
    _function: Any = None
    _is_warm: bool = False
    _in_chunks: bool = False
    _traces: list[Outcome] = field(default_factory=list)

    def run(self, samples: Samples) -> tuple[Outcome, unpack.Figures, dict[str, float], list[dict[str, Any]]]:
        """Record the model on all samples; returns what was found, the figures, the losses, and what each chunk gave."""
        parts: list[unpack.Figures] = []
        chunks: list[dict[str, Any]] = []
        losses = 0.0
        self.profiles = []
        with_loss = samples.has_labels and self.has_loss
        self._in_chunks = samples.count > self.chunk
        is_uneven = self._in_chunks and samples.count % self.chunk > 0
        for chunk, share, done in samples.chunks(self.chunk):
            self._trace(chunk, with_loss, any_size=is_uneven)
            if TIMING in self.needs.kinds:
                self._warm_up(chunk, share, done, with_loss)
            with _untouched(self._variables()), _new_metrics_reset(self.model):
                captured = self._call(chunk, share, done, with_loss)
            assert self.outcome is not None
            parts.append(numpy_figures(captured, self.outcome.plan, done))
            chunks.append(kept(self.instruments, captured, done))
            losses += float(captured["loss"]) if with_loss else 0.0
        assert self.outcome is not None
        merged = unpack.merge(parts, self.outcome.plan.once())
        return self.outcome, merged, {"loss": losses} if with_loss else {}, chunks

    def _warm_up(self, chunk: Any, share: float, done: int, with_loss: bool) -> None:
        """Let the next call be timed; before the first one in a run for nothing, as TensorFlow's first takes far longer."""
        reason = timing.why_not(execution.report(self.model, function=""))
        if not reason and not self._is_warm:
            with _untouched(self._variables()), _new_metrics_reset(self.model):
                self._call(chunk, share, done, with_loss)
            self._is_warm = True
        self.profiles.append(timing.Profile(reason))

    @property
    def has_loss(self) -> bool:
        """Whether labels have a loss to go into."""
        # tf_keras has only the second.
        is_compiled = getattr(self.model, "compiled", None) or getattr(self.model, "_is_compiled", False)
        return self.loss is not None or bool(is_compiled and getattr(self.model, "loss", None) is not None)

    @property
    def _autograph(self) -> bool:
        return families.of(self.model).name != "keras"

    @property
    def _eager(self) -> bool:
        return execution.is_eager(self.model)

    def _trace(self, chunk: Any, with_loss: bool, *, any_size: bool) -> None:
        """Trace the step before it runs, so that the variables it makes have their first values when they are read.

        There is one trace for chunks of every size: what is captured has the same rows in each.
        """
        if self._function is not None:
            return
        if self._eager:
            self._function = self._step
            return
        jit = bool(execution.report(self.model, function="").jit_compile)
        function = tf.function(self._step, reduce_retracing=True, jit_compile=jit, autograph=self._autograph)
        described = nests.map_leaves(lambda _, leaf: _of_any_size(leaf), chunk) if any_size else chunk
        started = time.perf_counter()
        with hooks.installed():
            function.get_concrete_function(described, tf.constant(0.0), tf.constant(0), with_loss)
        self._concluded(time.perf_counter() - started, with_loss)
        self._function = function

    def _call(self, chunk: Any, share: float, done: int, with_loss: bool) -> Any:
        known = len(self._traces)
        started = time.perf_counter()
        with hooks.installed(), self.profiles[-1] if self.profiles else nullcontext():
            captured = self._function(chunk, tf.constant(share, tf.float32), tf.constant(done, tf.int32), with_loss)
        if len(self._traces) > known:
            self._concluded(time.perf_counter() - started, with_loss)
        return captured

    def _concluded(self, seconds: float, with_loss: bool) -> None:
        """The step was traced, or ran eagerly."""
        self.trace_seconds = seconds
        self.outcome = self._traces[-1]
        report = execution.report(self.model, function="call and loss" if with_loss else "call", trace_seconds=seconds)
        report.traces = 1
        self.outcome.graph.execution = report
        fates.mark_compiled(self.outcome.graph)
        del self._traces[:-1]

    def _step(self, chunk: Any, share: Any, done: Any, with_loss: bool) -> Any:
        x, y, sample_weight = chunk
        captured: dict[str, Any] = {}
        errors = with_loss and "errors" in self.needs.kinds
        lineage = "lineage" in self.needs.kinds
        recording = Recording(errors=errors, input_names=input_names(self.model), lineage=lineage)
        step = Step(self.model, recording, x, y, sample_weight, training=self.training, skip=done)
        measured_before(self.instruments, step)
        with recording:
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                y_pred = self._predict(x)
                if with_loss:
                    captured["loss"] = self._share_of_loss(share, x, y, y_pred, sample_weight)
            if errors and recording.watched:
                tape.gradient(captured["loss"], recording.watched[:1])
        if recording.failure is not None:
            raise recording.failure
        results = [leaf for _, leaf in nests.flatten([y_pred, list(captured.values())]) if isinstance(leaf, tf.Tensor)]
        outcome = conclude(
            recording,
            results,
            model=self.model,
            selected=self.needs.selected,
            kinds=self._kinds(errors),
            everything=self.needs.everything,
        )
        step.y_pred = y_pred
        captured |= measured_after(self.instruments, step, outcome)
        self._traces.append(outcome)
        return captured

    def _kinds(self, errors: bool) -> tuple[str, ...]:
        return self.needs.kinds if errors else tuple(kind for kind in self.needs.kinds if kind != "errors")

    def _predict(self, x: Any) -> Any:
        has_argument = getattr(self.model, "_call_has_training_arg", getattr(self.model, "_expects_training_arg", True))
        return self.model(x, training=self.training) if has_argument else self.model(x)

    def _share_of_loss(self, share: Any, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        """What a chunk that is this share of all samples adds to their loss, float32 scalar: of means a share, of sums all."""
        of_chunk = tf.cast(tf.reduce_sum(self._loss(x, y, y_pred, sample_weight)), tf.float32)
        if not self._in_chunks:
            return of_chunk
        loss = of_chunk * share
        try:
            sums = [output for output in outputs_of(self.model, y, y_pred, self.loss) if output.is_sum]
        except NoLoss:
            return loss
        predictions, labels = ([leaf for _, leaf in nests.flatten(nest)] for nest in (y_pred, y))
        for output in sums:
            weights = None if sample_weight is None else weight_of(sample_weight, output)
            loss += (1.0 - share) * output.weight * output.value(labels[output.labels], predictions[output.place], weights)
        return loss

    def _loss(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        if self.loss is not None:
            return self.loss(y, y_pred, sample_weight)
        compute = getattr(self.model, "_compute_loss", None)
        if compute is not None:
            return compute(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=self.training)
        return self.model.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)

    def _variables(self) -> list[Any]:
        """Every variable that running the model may change: all but the weights that only an optimizer changes."""
        trained = {id(variable) for variable in self.model.trainable_variables}
        found: dict[int, Any] = {}
        layers = [self.model] + (self.outcome.layers if self.outcome is not None else [])
        for layer in layers:
            for variable in [*layer.variables, *getattr(layer, "metrics_variables", [])]:
                found[id(variable)] = variable
        for metric in getattr(self.model, "metrics", None) or []:
            for variable in metric.variables:
                found[id(variable)] = variable
        return [variable for identity, variable in found.items() if identity not in trained]


@contextmanager
def _untouched(variables: list[Any]) -> Iterator[None]:
    """Put the variables back to what they are now."""
    before = [(variable, tf.convert_to_tensor(variable).numpy()) for variable in variables if _is_readable(variable)]
    try:
        yield
    finally:
        for variable, value in before:
            variable.assign(value)


@contextmanager
def _new_metrics_reset(model: Any) -> Iterator[None]:
    """Reset the metrics that Keras makes meanwhile: a loss of several outputs makes its trackers when it first runs."""
    known = {id(metric) for metric in getattr(model, "metrics", None) or []}
    try:
        yield
    finally:
        for metric in getattr(model, "metrics", None) or []:
            if id(metric) not in known:
                metric.reset_state()


def _of_any_size(leaf: Any) -> Any:
    """The type of a tensor of samples, for any number of them."""
    if leaf is None:
        return None
    shape = [None, *leaf.shape[1:]]
    if isinstance(leaf, tf.RaggedTensor):
        return tf.RaggedTensorSpec(shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits.dtype)
    if isinstance(leaf, tf.SparseTensor):
        return tf.SparseTensorSpec(shape, leaf.dtype)
    return tf.TensorSpec(shape, leaf.dtype)


def _is_readable(variable: Any) -> bool:
    dtype = variable.dtype if isinstance(variable.dtype, str) else variable.dtype.name
    return dtype not in ("string", "resource", "variant")
