"""A user's function with a recording twin: `Recorder.function`.

The plain one is a `tf.function` as the user would have made it.
"""

from __future__ import annotations

import functools
import inspect
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import tensorflow as tf

from tb_layerflow.log.records import Execution

from . import execution, graphs, hooks, nests, statistics
from .autograph import convert
from .instrument import Step, measured_after, measured_before
from .outcome import Outcome, conclude
from .recording import Recording
from .variants import Captured, Needs
from .warn import say


class Owner(Protocol):
    """What a recorded function asks of its recorder."""

    needs: Needs

    def is_due(self, function: RecordedFunction) -> bool:
        """Whether this call of the function is to be recorded."""

    def take(self, captured: Captured, seconds: float) -> None:
        """Take what a call gave."""

    def warn(self, sentence: str) -> None:
        """One warning."""

    def failed(self, error: BaseException) -> None:
        """Recording failed, and the plain function runs."""


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
        self._recorded: Any = None
        self._outcomes: dict[Any, Outcome] = {}
        self._newest: Outcome | None = None
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
            return self._plain(*args, **kwargs)
        return self._run_recorded(args, kwargs)

    def _run_recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._recorded is None:
            self._recorded = tf.function(self._twin(), **self.options)
        self._newest = None
        started = time.perf_counter()
        with hooks.installed():
            outputs, captured = self._recorded(*args, **kwargs)
        seconds = time.perf_counter() - started
        key = tuple(sorted(captured)), int(captured["trace"])
        outcome = self._outcomes_by_trace[key[1]]
        traced = self._newest is not None
        if traced:
            report = self._report(seconds)
            outcome.graph.execution = report
            say(f"traced the recording twin of {self.__name__} in {seconds:.1f} s ({len(outcome.graph.calls)} calls)")
        result = Captured(outcome, [captured], key[1], trace_seconds=seconds if traced else 0.0)
        self._owner.take(result, seconds)
        return outputs

    @property
    def _outcomes_by_trace(self) -> dict[Any, Outcome]:
        return self._outcomes

    def _twin(self) -> Callable[..., Any]:
        converted = convert(self.function) if self.options.get("autograph", True) else self.function

        @tf.autograph.experimental.do_not_convert
        @functools.wraps(self.function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            outputs, captured, outcome = record_call(converted, args, kwargs, self._owner.needs)
            number = len(self._outcomes)
            captured["trace"] = tf.constant(number)
            self._outcomes[number] = outcome
            self._newest = outcome
            return outputs, captured

        return recorded

    def _report(self, seconds: float) -> Execution:
        jit = bool(self.options.get("jit_compile"))
        report = execution.report(None, function=self.__name__, trace_seconds=seconds, eager=False, jit=jit)
        report.traces = self._plain.experimental_get_tracing_count()
        return report


def record_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], needs: Needs, *, results: bool = True
) -> tuple[Any, dict[str, Any], Outcome]:
    """Run `function` while its calls are recorded, in the graph being built or eagerly: (its outputs, arrays to leave, what was
    found).
    """
    recording = Recording(errors="errors" in needs.kinds, lineage="lineage" in needs.kinds)
    instruments = [make() for make in needs.instruments.values()]
    step = Step(None, recording)
    measured_before(instruments, step)
    with recording:
        outputs = function(*args, **kwargs)
    outcome, captured = finish(recording, outputs, needs, step, instruments)
    return outputs, captured, outcome


def finish(
    recording: Recording, outputs: Any, needs: Needs, step: Step, instruments: list[Any]
) -> tuple[Outcome, dict[str, Any]]:
    """Conclude a recording, and measure what it found."""
    results = [leaf for _, leaf in nests.flatten(outputs) if isinstance(leaf, tf.Tensor)]
    outcome = conclude(recording, results, model=None, selected=needs.selected, kinds=needs.kinds, everything=needs.everything)
    captured = measured_after(instruments, step, outcome)
    scale = recording.loss_scale
    inverse = None if scale is None or not graphs.belongs(scale, recording.graph) else 1.0 / scale
    factors = [inverse if is_error else None for is_error in outcome.plan.is_error]
    captured |= statistics.measure(outcome.plan.tensors, factors, everything=needs.everything)._asdict()
    captured["batch_size"] = recording.batch_size()
    if inverse is not None:
        captured["loss_scale"] = scale
    if recording.iterations is not None:
        captured["iterations"] = recording.iterations
    outcome.plan.forget_tensors()
    return outcome, captured


def optimizers_seen_by(function: Callable[..., Any]) -> list[Any]:
    """Optimizers that a function's closure or globals name, directly or as a model's."""
    try:
        names = inspect.getclosurevars(inspect.unwrap(function))
    except (TypeError, ValueError):
        return []
    held = [*names.nonlocals.values(), *names.globals.values(), getattr(function, "__self__", None)]
    found = [getattr(value, "optimizer", None) or value for value in held if value is not None]
    return [value for value in found if hasattr(value, "iterations") and hasattr(value, "apply_gradients")]


def _options_of(function: Any) -> dict[str, Any]:
    options = {
        "jit_compile": getattr(function, "_jit_compile", None),
        "input_signature": getattr(function, "input_signature", None),
    }
    return {name: value for name, value in options.items() if value is not None}
