"""A user's function with a recording twin: `Recorder.function`.

The plain one is a `tf.function` as the user would have made it.
"""

from __future__ import annotations

import functools
import inspect
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import tensorflow as tf

from tb_layerflow.log.records import TIMING, Execution

from . import execution, families, fates, graphs, hooks, nests, raised, timing
from .autograph import convert
from .instrument import Step, measured_after, measured_before
from .outcome import Outcome, conclude
from .recording import Recording, suspended
from .replicas import Replicas, Share
from .signatures import Signatures, bound
from .variants import Captured, Needs
from .warn import say_traced


class Owner(Protocol):
    """What a recorded function asks of its recorder."""

    needs: Needs
    models: list[Any]

    def due_instruments(self) -> tuple[str, ...]:
        """The names of what is measured in the step under way."""

    def is_due(self, function: RecordedFunction) -> bool:
        """Whether this call of the function is to be recorded."""

    def take(self, captured: Captured, seconds: float) -> None:
        """Take what a call gave."""

    def warn(self, sentence: str) -> None:
        """One warning."""

    def note(self, sentence: str) -> None:
        """Why the function was traced anew, for the log."""

    def failed(self, error: BaseException) -> None:
        """Recording failed, and the plain function runs."""

    def broke(self, kept: Captured | None) -> None:
        """The function itself raised; what is kept of its call."""


class RecordedFunction:
    """Called like the function; has the attributes of its `tf.function` (`get_concrete_function`, …)."""

    def __init__(self, function: Callable[..., Any], owner: Owner, options: dict[str, Any]) -> None:
        if hasattr(function, "python_function"):
            options = {**_options_of(function), **options}
            function = function.python_function
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options
        self._owner = owner
        self._plain = tf.function(function, **options)
        self._recorded: dict[tuple[str, ...], Any] = {}
        self._traces: list[Trace] = []
        self._newest: Trace | None = None
        self._ran: dict[tuple[str, ...], dict[int, Trace]] = {}
        self._nothing_ran = False
        self._recording: Recording | None = None
        self._signatures = Signatures(getattr(function, "__name__", type(function).__name__))
        self._plain_traces = 0
        self._bound: weakref.WeakKeyDictionary[Any, RecordedFunction] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type | None = None) -> RecordedFunction:
        if instance is None:
            return self
        if instance not in self._bound:
            self._bound[instance] = RecordedFunction(self.function.__get__(instance), self._owner, self.options)
        return self._bound[instance]

    def __getattr__(self, name: str) -> Any:
        if name == "_plain":
            raise AttributeError(name)
        return getattr(self._plain, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            self._owner.warn(
                f"{self.__name__} was called inside another tf.function, where it cannot be recorded: it ran as a plain "
                "function. Wrap the outer function with recorder.function instead."
            )
            return self._plain(*args, **kwargs)
        if not self._owner.is_due(self):
            return self._run_plain(args, kwargs)
        return self._run_recorded(args, kwargs)

    def _run_plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outputs = self._plain(*args, **kwargs)
        traces = self._plain.experimental_get_tracing_count()
        if traces != self._plain_traces:
            self._plain_traces = traces
            self._note_trace(args, kwargs)
        return outputs

    def _note_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        reason = self._signatures.traced(bound(self.function, args, kwargs))
        if reason:
            self._owner.note(reason)

    def _run_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = self._owner.due_instruments()
        if names not in self._recorded:
            self._recorded[names] = tf.function(self._twin(names), **self.options)
        self._newest, self._nothing_ran = None, True
        started = time.perf_counter()
        failure = None
        profile = self._profile(names) if TIMING in self._owner.needs.kinds else None
        try:
            with hooks.installed(), profile or nullcontext():
                self._nothing_ran = False
                outputs, captured = self._recorded[names](*args, **kwargs)
        except Exception as error:
            broken = self._kept(error, names)
            is_refused = bool(self.options.get("jit_compile")) and execution.is_refused_by_xla(error)
            if not (self._nothing_ran or is_refused):
                self._owner.broke(broken)
                raise
            failure = error
        finally:
            self._recording = None
        if failure is not None:
            # Where the user's own code is what failed, the plain function says so as it would without us.
            self._recorded.clear()
            try:
                with suspended():
                    outputs = self._plain(*args, **kwargs)
            except Exception:
                self._owner.broke(broken)
                raise
            self._owner.failed(failure)
            return outputs
        seconds = time.perf_counter() - started
        trace = self._traces[int(captured["trace"])]
        self._ran.setdefault(names, {})[int(captured["trace"])] = trace
        if trace.failure is not None:
            self._owner.failed(trace.failure)
            return outputs
        assert trace.outcome is not None
        if trace is self._newest:
            self._note_trace(args, kwargs)
            trace.outcome.graph.execution = self._report(seconds)
            fates.mark_compiled(trace.outcome.graph)
            calls = sum(each.outcome.graph.leaf_count for each in (trace, *trace.shares))
            say_traced(self.__name__, names, seconds, calls)
            if profile is not None:
                profile.reason = profile.reason or timing.TRACED
        traced = seconds if trace is self._newest else 0.0
        for part in captured_by(trace, captured, traced):
            part.profile = profile
            self._owner.take(part, seconds)
            seconds = 0.0
        return outputs

    def _kept(self, error: Exception, names: tuple[str, ...]) -> Captured | None:
        """What is kept of a call that raised. Of several traces nobody can say which one ran, if not the newest."""
        if self._nothing_ran:
            kept = raised.while_recorded(self._recording, error, self._owner.needs, None, lambda: self._report(0.0))
        else:
            traces = [self._newest] if self._newest is not None else list(self._ran.get(names, {}).values())
            outcome = traces[0].outcome if len(traces) == 1 else None
            kept = None if outcome is None else raised.while_running(outcome, error)
        return None if kept is None else Captured(kept[0], [kept[1]], 0)

    def _twin(self, names: tuple[str, ...]) -> Callable[..., Any]:
        converted = convert(self.function) if self.options.get("autograph", True) else self.function

        @tf.autograph.experimental.do_not_convert
        @functools.wraps(self.function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            self._nothing_ran = True
            number = len(self._traces)
            outputs, captured, trace = record_call(
                converted, args, kwargs, self._owner.needs, names, self._models(), begun=self._begun
            )
            self._traces.append(trace)
            self._newest = trace
            captured["trace"] = tf.constant(number)
            self._nothing_ran = False
            return outputs, captured

        return recorded

    def _begun(self, recording: Recording) -> None:
        self._recording = recording

    def _models(self) -> list[Any]:
        """The models whose weights are looked at: those that the recorder was given, else those that the function names."""
        return self._owner.models or [value for value in _named_by(self.function) if families.is_layer(value)]

    def _profile(self, names: tuple[str, ...]) -> timing.Profile:
        """What times the call. The one for which it is traced is not representative."""
        return timing.Profile(timing.why_not(self._report(0.0)) or ("" if self._ran.get(names) else timing.TRACED))

    def _report(self, seconds: float) -> Execution:
        jit = bool(self.options.get("jit_compile"))
        report = execution.report(None, function=self.__name__, trace_seconds=seconds, eager=False, jit=jit)
        report.traces = self._signatures.count
        return report


@dataclass
class Trace:
    """What one trace of a recording twin found, or why that failed."""

    outcome: Outcome | None
    instruments: list[Any]
    failure: Exception | None = None
    shares: list[Share] = field(default_factory=list)


def record_call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    needs: Needs,
    names: Iterable[str] = (),
    models: Sequence[Any] = (),
    begun: Callable[[Recording], None] = lambda recording: None,
) -> tuple[Any, dict[str, Any], Trace]:
    """Run `function` while its calls are recorded, in the graph being built or eagerly, with the instruments of these names.

    Returns its outputs, the arrays that are to leave, and what was found. What fails in recording is noted, not raised. `begun`
    is given the recording before anything runs.
    """
    recording = Recording(errors="errors" in needs.kinds, lineage="lineage" in needs.kinds)
    instruments = [make() for name, make in needs.instruments.items() if name in names]
    step = Step(list(models), recording)
    measured_before(instruments, step)
    recording.replicas = replicas_of(needs, names, models)
    begun(recording)
    with recording:
        outputs = function(*args, **kwargs)
    try:
        failure = recording.failure or recording.replicas.failure
        if failure is not None:
            raise failure
        outcome, captured = finish(recording, outputs, needs, step, instruments)
        shares = recording.replicas.shares
        captured |= {f"share:{number}": share.arrays for number, share in enumerate(shares)}
        return outputs, captured | _losses(outputs), Trace(outcome, instruments, shares=shares)
    except Exception as error:  # the function itself went well, and must count
        return outputs, {}, Trace(None, instruments, error)


def replicas_of(needs: Needs, names: Iterable[str], models: Sequence[Any]) -> Replicas:
    """What records the replicas of a `strategy.run`, each as a function of its own."""
    return Replicas(lambda function, args, kwargs: record_call(function, args, kwargs, needs, names, models))


def captured_by(trace: Trace, arrays: dict[str, Any], seconds: float) -> list[Captured]:
    """What a call gave, ready for its record: its own calls, then those of each `strategy.run`, merged over the replicas."""
    assert trace.outcome is not None
    own = {name: array for name, array in arrays.items() if not name.startswith("share:")}
    found = [Captured(trace.outcome, [own], 0, trace_seconds=seconds, instruments=trace.instruments)]
    for number, share in enumerate(trace.shares):
        given = list(arrays[f"share:{number}"])
        executed = trace.outcome.graph.execution
        share.outcome.graph.execution = replace(executed, strategy=share.strategy, replicas=share.count)
        found.append(Captured(share.outcome, given, 0, instruments=share.instruments))
    if trace.shares and not trace.outcome.graph.calls:
        losses = {name: array for name, array in own.items() if name.startswith("loss:")}
        found[1].replicas[0] = found[1].replicas[0] | losses
        del found[0]
    return found


def _losses(outputs: Any) -> dict[str, Any]:
    """The scalars that a step function returns, as the losses of the record: one by itself is "loss", in a nest by key path."""
    scalars = {}
    for key, leaf in nests.flatten(outputs):
        if isinstance(leaf, tf.Tensor) and leaf.shape.rank == 0 and leaf.dtype.is_floating:
            scalars[f"loss:{key or 'loss'}"] = tf.cast(leaf, tf.float32)
    return scalars


def finish(
    recording: Recording, outputs: Any, needs: Needs, step: Step, instruments: list[Any]
) -> tuple[Outcome, dict[str, Any]]:
    """Conclude a recording, and measure what it found."""
    results = [leaf for _, leaf in nests.flatten(outputs) if isinstance(leaf, tf.Tensor)]
    outcome = conclude(recording, results, model=None, selected=needs.selected, kinds=needs.kinds, everything=needs.everything)
    scale = recording.loss_scale
    inverse = None if scale is None or not graphs.belongs(scale, recording.graph) else 1.0 / scale
    step.gradient_factor = inverse
    captured = measured_after(instruments, step, outcome)
    captured["batch_size"] = recording.batch_size()
    if inverse is not None:
        captured["loss_scale"] = scale
    if recording.iterations is not None:
        captured["iterations"] = recording.iterations
    if recording.scaler is not None:
        captured["scaled_iterations"] = recording.scaled_iterations
        captured["scaled_iterations_after"] = tf.identity(tf.convert_to_tensor(families.iterations_of(recording.scaler)))
    return outcome, captured


def optimizers_seen_by(function: Callable[..., Any]) -> list[Any]:
    """Optimizers that a function's closure or globals name, directly or as a model's."""
    found = [getattr(value, "optimizer", None) or value for value in _named_by(function)]
    return [value for value in found if hasattr(value, "iterations") and hasattr(value, "apply_gradients")]


def _named_by(function: Callable[..., Any]) -> list[Any]:
    """The objects that a function's closure, globals and instance name, each once."""
    try:
        names = inspect.getclosurevars(inspect.unwrap(function))
    except (TypeError, ValueError):
        return []
    owner = getattr(function, "__self__", None)
    held = [*names.nonlocals.values(), *names.globals.values(), owner, *vars(owner).values()] if hasattr(owner, "__dict__") else [
        *names.nonlocals.values(), *names.globals.values(), owner,
    ]  # fmt: skip
    found: dict[int, Any] = {}
    for value in held:
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                found.setdefault(id(item), item)
    return list(found.values())


def _options_of(function: Any) -> dict[str, Any]:
    options = {
        "jit_compile": getattr(function, "_jit_compile", None),
        "input_signature": getattr(function, "input_signature", None),
    }
    return {name: value for name, value in options.items() if value is not None}
