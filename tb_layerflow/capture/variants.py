"""The recording variants of a model's training step: the same `train_step`, run while calls are recorded.

What is captured leaves the step beside Keras's logs, never in them. A variant is traced when it is first called.
"""

from __future__ import annotations

import functools
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from . import execution, families, fates, graphs, hooks, nests, raised, timing, wanted
from .autograph import convert
from .instrument import Step, measured_after, measured_before
from .outcome import Outcome, Selected, conclude
from .recording import Recording
from .signatures import Signatures
from .value_settings import Values
from .warn import say_traced

_MADE_UP_NAME = re.compile(r"(input|input_layer|keras_tensor)(_[0-9]+)?|.*_input")
"""Names that Keras gives to inputs by counting; they differ from process to process, and say nothing."""

_TRACE = "trace:"


class DataEnded(Exception):
    """There was no batch, and nothing ran.

    What Keras's own function does then (it raises, and may count a step) is its matter.
    """


@dataclass
class Captured:
    """What one recorded step gave. `replicas` holds the arrays of each replica, still as tensors; `instruments` made some.
    `batch` is what the step ran on; `retraced` says why the step was traced anew, if it was; `profile` timed it, if wanted.

    Where recording failed, the step ran all the same: then there are only `logs` and `failure`.
    """

    found: Outcome | None
    replicas: list[dict[str, Any]]
    trace: int
    logs: Any = None
    steps: int = 1
    trace_seconds: float = 0.0
    instruments: list[Any] = field(default_factory=list)
    failure: Exception | None = None
    batch: Any = None
    retraced: str = ""
    profile: timing.Profile | None = None

    @property
    def outcome(self) -> Outcome:
        """What the recording found; asked for only where there is no failure."""
        assert self.found is not None
        return self.found


@dataclass
class Needs:
    """What the callbacks of a model want of a recording, together."""

    selected: Selected
    kinds: tuple[str, ...]
    everything: bool
    values: Values | None = None

    @functools.cached_property
    def instruments(self) -> dict[str, Callable[[], Any]]:
        """What makes the instruments of training steps, by name: each variant has new ones, those that a record asks for."""
        return wanted.for_training(self.kinds, self.values, everything=self.everything)


@dataclass
class _Trace:
    """One trace of the recording step; `outcome` belongs to its first replica."""

    number: int
    outcome: Outcome
    skipped: bool = False


@dataclass
class StepVariant:
    """The recording twin of `model.train_function` (or `test_function`, `predict_function`).

    Call it as Keras calls that function; it returns a `Captured`. Of `steps_per_execution` steps the last is recorded.
    `role` is "train", "test" or "predict"; `signatures` is shared by the variants of one step.
    """

    model: Any
    needs: Needs
    signatures: Signatures
    instruments: list[Any] = field(default_factory=list)
    traces: list[_Trace] = field(default_factory=list)
    _recorded: Any = None
    _plain: Any = None
    _times_traced: int = 0
    _number: int = 0
    _failure: Exception | None = None
    _nothing_ran: bool = False
    _recording: Recording | None = None
    role: str = "train"
    broken: Captured | None = None
    """What the last step had done when it raised, if it did."""

    def __call__(self, iterator: Any, timed: bool = False) -> Captured:
        steps = 0
        self.broken = None
        for batch, is_last in _batches(iterator, execution.steps_per_execution(self.model)):
            steps += 1
            if not is_last:
                self._run_plain(batch)
                continue
            try:
                captured = self._run_recorded(iterator, batch, timed)
            finally:
                self._recording = None
                if self.broken is not None:
                    self.broken.steps = steps
            captured.steps = steps
            captured.batch = batch
            return captured
        raise AssertionError("an execution has at least one batch")

    def _run_plain(self, batch: Any) -> Any:
        if self._plain is None:
            self._plain = self._function(_step_of(self.model, self.role))
        return self._plain(batch)

    def _run_recorded(self, iterator: Any, batch: Any, timed: bool) -> Captured:
        if self._recorded is None:
            self._recorded = self._function(self._recorded_step)
        known = len(self.traces)
        started = time.perf_counter()
        self._failure, self._nothing_ran = None, True
        failure: Exception | None = None
        profile = self._profile() if timed else None
        try:
            with hooks.installed(), profile or nullcontext():
                self._nothing_ran = False
                logs, captured = self._call(iterator, batch)
        except Exception as error:
            self.broken = self._kept(error, known)
            is_refused = bool(self.model.jit_compile) and not self._eager and execution.is_refused_by_xla(error)
            if not (self._nothing_ran or is_refused):
                raise
            failure = error
        if failure is not None:
            self._recorded = None
            # Where the user's own step is what failed, the plain one says so as it would without us.
            logs = self._run_plain(batch)
            self.broken = None
            return Captured(None, [], -1, logs, failure=failure)
        if self._failure is not None:
            self._recorded = None
            return Captured(None, [], -1, logs, failure=self._failure)
        seconds = time.perf_counter() - started
        if len(self.traces) > known:
            self._times_traced += 1
            self._report(seconds)
        traced = len(self.traces) > known and not self._eager
        trace = self.traces[_trace_that_ran(captured)]
        if self._eager:
            self.traces.clear()
        found = Captured(trace.outcome, captured, trace.number, logs, instruments=self.instruments)
        found.profile = profile
        if traced:
            if profile is not None:
                profile.reason = profile.reason or timing.TRACED
            found.trace_seconds = seconds
            specification = getattr(iterator, "element_spec", None)
            found.retraced = self.signatures.traced(nests.batch_parts(batch if specification is None else specification))
            trace.outcome.graph.execution.traces = self.signatures.count
        return found

    def _kept(self, error: Exception, known: int) -> Captured | None:
        """What is kept of a step that raised; `known` traces were there before it."""
        if self._nothing_ran or self._eager:
            report = functools.partial(execution.report, self.model, function=f"{self.role}_step")
            kept = raised.while_recorded(self._recording, error, self.needs, self.model, report)
        else:
            is_certain = len(self.traces) > known or self._times_traced == 1  # of several nobody can say which one ran
            kept = raised.while_running(self.traces[-1].outcome, error) if is_certain else None
        return None if kept is None else Captured(kept[0], [kept[1]], -1)

    def _profile(self) -> timing.Profile:
        """What times the step. The run for which it is traced is not representative."""
        reason = timing.why_not(execution.report(self.model, function=""))
        return timing.Profile(reason or ("" if self.traces else timing.TRACED))

    @property
    def _eager(self) -> bool:
        return execution.is_eager(self.model)

    def _call(self, iterator: Any, batch: Any) -> Any:
        if self._eager or not _is_default_strategy(self.model.distribute_strategy):
            return self._recorded(batch)
        specification = getattr(iterator, "element_spec", None)
        if specification is None:
            return self._recorded(batch)
        return self._recorded.get_concrete_function(specification)(batch)

    def _report(self, seconds: float) -> None:
        trace = self.traces[-1]
        report = execution.report(self.model, function=f"{self.role}_step", trace_seconds=seconds)
        trace.outcome.graph.execution = report
        fates.mark_compiled(trace.outcome.graph)
        if not self._eager:
            names = {instrument.name for instrument in self.instruments}
            say_traced(f"the step of {self.model.name!r}", names, seconds, trace.outcome.graph.leaf_count)

    def _function(self, step: Callable[[Any], Any]) -> Any:
        """`step` over one batch as Keras makes it: in the strategy's replicas, with its logs reduced, traced unless eager."""
        strategy = self.model.distribute_strategy
        reduce_per_replica = sys.modules[_trainer_module(self.model)].reduce_per_replica
        without_optionals = getattr(self.model, "_autoconvert_optionals", None)
        reduction = getattr(self.model, "distribute_reduction_method", None) or "auto"
        if self.role == "predict":
            reduction = "concat"

        @tf.autograph.experimental.do_not_convert
        def one_step(batch: Any) -> Any:
            is_recorded = step == self._recorded_step
            self._nothing_ran = is_recorded
            self._number = len(self.traces)  # of this trace, in all replicas
            outputs = strategy.run(without_optionals(step) if without_optionals else step, args=(batch,))
            logs, captured = outputs if is_recorded else (outputs, None)
            logs = reduce_per_replica(logs, strategy, reduction=reduction)
            if captured is None:
                return logs
            captured = strategy.experimental_local_results(captured)
            self._nothing_ran = False
            return logs, captured

        if self._eager:
            return one_step
        return tf.function(one_step, reduce_retracing=True, jit_compile=bool(self.model.jit_compile))

    def _recorded_step(self, batch: Any) -> Any:
        optimizer = getattr(self.model, "optimizer", None)
        captured: dict[str, Any] = {}
        iterations = families.iterations_of(optimizer)
        if iterations is not None:
            captured["iterations"] = tf.identity(tf.convert_to_tensor(iterations))
        scale = _loss_scale(optimizer)
        kinds = self.needs.kinds
        errors = "errors" in kinds and self.role == "train"
        recording = Recording(errors=errors, input_names=input_names(self.model), lineage="lineage" in kinds)
        step = self._step(recording, batch, None if scale is None else 1.0 / scale)
        measured_before(self.instruments, step)
        self._recording = recording if _is_default_strategy(self.model.distribute_strategy) else None
        self._nothing_ran = not self._eager
        with recording, _own_loss(self.model, captured):
            logs = _step_of(self.model, self.role)(batch)
        try:
            if recording.failure is not None:
                raise recording.failure
            return logs, self._measured(recording, step, batch, logs, captured, scale)
        except Exception as error:  # the step itself went well, and must count
            self._failure = error
            return logs, {}

    def _measured(
        self, recording: Recording, step: Step, batch: Any, logs: Any, captured: dict[str, Any], scale: Any
    ) -> dict[str, Any]:
        """What was captured, with the figures of all that the step's recording found."""
        optimizer = getattr(self.model, "optimizer", None)
        results = [leaf for _, leaf in nests.flatten([logs, list(captured.values())]) if isinstance(leaf, tf.Tensor)]
        outcome = conclude(
            recording,
            results,
            model=self.model,
            selected=self.needs.selected,
            kinds=tuple(kind for kind in self.needs.kinds if kind != "errors" or self.role == "train"),
            everything=self.needs.everything,
        )
        captured |= measured_after(self.instruments, step, outcome)
        captured["batch_size"] = _batch_size(batch)
        if scale is not None and optimizer is not None:
            captured["loss_scale"] = scale
            captured["iterations_after"] = tf.identity(tf.convert_to_tensor(families.iterations_of(optimizer)))
        captured[f"{_TRACE}{self._number}"] = captured["batch_size"]
        if len(self.traces) == self._number:  # the first replica
            self.traces.append(_Trace(self._number, outcome))
        return captured

    def _step(self, recording: Recording, batch: Any, gradient_factor: Any) -> Step:
        parts = nests.batch_parts(batch)
        x, y, sample_weight = (parts.get(name) for name in nests.BATCH_PARTS)
        return Step(self.model, recording, x, y, sample_weight, gradient_factor=gradient_factor)


def _trace_that_ran(captured: Sequence[dict[str, Any]]) -> int:
    """Which of a function's traces gave this: what they return differs in a name, so that no number has to leave the device."""
    name = next(name for name in captured[0] if name.startswith(_TRACE))
    for replica in captured:
        replica.pop(name)
    return int(name.removeprefix(_TRACE))


def _step_of(model: Any, role: str) -> Callable[[Any], Any]:
    """The model's step as its family runs it: `tf_keras` lets AutoGraph convert it, and counts the step once it succeeded."""
    own = getattr(model, f"{role}_step")
    if families.of(model).name == "keras":
        return own
    step = own if model.run_eagerly else convert(own)

    def counted(batch: Any) -> Any:
        logs = step(batch)
        getattr(model, f"_{role}_counter").assign_add(1)
        return logs

    return counted


def input_names(model: Any) -> list[str] | None:
    """What the user called the inputs of a functional or sequential model; empty where Keras made the name up. None: unknown."""
    try:
        named = model if getattr(model, "input_names", None) else getattr(model, "_functional", None)
        names = getattr(named, "input_names", None) or [tensor.name for tensor in model.inputs or []]
    except (AttributeError, TypeError, ValueError):
        return None
    plain = [str(name).partition(":")[0] for name in names]
    return ["" if _MADE_UP_NAME.fullmatch(name) else name for name in plain] or None


def _trainer_module(model: Any) -> str:
    for base in type(model).__mro__:
        if "make_train_function" in vars(base):
            return base.__module__
    raise TypeError(f"{type(model).__name__} has no make_train_function")


def _batches(iterator: Any, count: int) -> Iterator[tuple[Any, bool]]:
    """The next batches of one execution, at most `count`, each with whether it is the last."""
    if not hasattr(iterator, "get_next_as_optional"):
        for number, batch in enumerate(iterator):
            yield batch, number + 1 == count
            if number + 1 == count:
                return
        return
    try:
        batch = iterator.get_next()
    except tf.errors.OutOfRangeError as error:
        raise DataEnded from error
    if count == 1:
        yield batch, True
        return
    for number in range(1, count + 1):
        following = iterator.get_next_as_optional() if number < count else None
        more = following is not None and bool(following.has_value())
        yield batch, not more
        if following is None or not more:
            return
        batch = following.get_value()


def _is_default_strategy(strategy: Any) -> bool:
    return type(strategy).__name__ == "_DefaultDistributionStrategy"


def _loss_scale(optimizer: Any) -> Any:
    """What the optimizer multiplies the loss by, as a float32 scalar tensor; None where it does not."""
    if hasattr(optimizer, "get_scaled_loss"):
        return tf.cast(optimizer.loss_scale, tf.float32)
    if optimizer is None or not hasattr(optimizer, "scale_loss"):
        return None
    if getattr(optimizer, "loss_scale_factor", None) is None and not hasattr(optimizer, "initial_scale"):
        return None
    # Read, not asked for by `scale_loss(1.0)`: a subclass's may count or change something each time.
    scale = 1.0 if getattr(optimizer, "loss_scale_factor", None) is None else optimizer.loss_scale_factor
    if hasattr(optimizer, "initial_scale"):
        scale = optimizer.dynamic_scale if optimizer.built else optimizer.initial_scale
    return tf.cast(tf.convert_to_tensor(scale), tf.float32)


def _batch_size(batch: Any) -> Any:
    for _, leaf in nests.flatten(batch):
        if isinstance(leaf, tf.RaggedTensor):
            return tf.cast(leaf.nrows(), tf.int32)
        if isinstance(leaf, tf.Tensor) and leaf.shape.rank != 0:
            return tf.shape(leaf)[0]
    return tf.constant(0)


class _own_loss:  # noqa: N801 (a context manager, used like a function)
    """While the step runs, notes the first loss that the model computes, before it is scaled or averaged over the epoch.

    One that is computed within a function, loop or branch of the step's is a tensor of that graph, and nothing for this one.
    """

    def __init__(self, model: Any, captured: dict[str, Any]) -> None:
        self._model = model
        self._captured = captured

    def __enter__(self) -> None:
        original = self._model.compute_loss
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()

        def compute_loss(*args: Any, **kwargs: Any) -> Any:
            loss = original(*args, **kwargs)
            if isinstance(loss, tf.Tensor) and graphs.belongs(loss, graph) and "loss" not in self._captured:
                self._captured["loss"] = tf.cast(loss, tf.float32)
            return loss

        self._own = self._model.__dict__.get("compute_loss")
        self._model.__dict__["compute_loss"] = compute_loss

    def __exit__(self, *exception: object) -> None:
        if self._own is None:
            self._model.__dict__.pop("compute_loss", None)
        else:
            self._model.__dict__["compute_loss"] = self._own
