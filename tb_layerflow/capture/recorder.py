"""Recording custom loops: counts steps, decides which to record, and gathers what all functions of a step gave into one
record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from tb_layerflow.log import records

from . import families, functions, hooks, instrument, raised, timing, unpack, values
from .combine import combine
from .functions import RecordedFunction
from .instrument import Step, measured_before
from .outcome import Outcome
from .recording import Recording, active
from .schedule import Schedule
from .selection import Selection
from .sink import Sink, numpy_figures
from .variants import Captured, Needs
from .warn import Voice, brief
from .watched import ROLES, Loop, Watched


class LoopRecorder:
    """Records the steps of a custom loop into one stream.

    A step is what runs inside `step()`; outside of it, a function that is called again begins the next one.
    """

    def __init__(
        self,
        sink: Sink,
        schedule: Schedule,
        needs: Needs,
        selection: Selection,
        voice: Voice,
        models: list[Any],
        phase: str = "training",
    ) -> None:
        self.needs = needs
        self.models = models
        self._sink = sink
        self._schedule = schedule
        self._selection = selection
        self._voice = voice
        self._phase = phase
        self._watched: list[Watched] = []
        self._beside: dict[str, LoopRecorder] = {}
        self._step = 0
        self._started = False
        self._ran: set[int] = set()
        self._due: bool | None = None
        self._pending: list[Captured] = []
        self._seconds = 0.0
        self._in_step = False
        self._off = False
        self._combined: dict[tuple[int, ...], tuple[list[Outcome], Outcome]] = {}
        self._checked = False

    # ---------------------------------------------------------------------------------------------- what functions ask

    def wrap(self, function: Callable[..., Any], options: dict[str, Any]) -> RecordedFunction:
        """The function with its recording twin."""
        return RecordedFunction(function, self, options)

    def is_due(self, function: RecordedFunction) -> bool:
        """Whether this call belongs to a step that is recorded."""
        self._voice.check()
        if not self._in_step:
            if id(function) in self._ran:
                self._next_step()
            self._ran.add(id(function))
        self._start(function.function)
        return self._is_step_due()

    def due_instruments(self) -> tuple[str, ...]:
        """The names of what is measured in the step under way: exact values in the first record and then every n-th."""
        return tuple(name for name in self.needs.instruments if name != "values" or self._sink.are_values_due)

    def take(self, captured: Captured, seconds: float) -> None:
        """Keep what a call gave until its step ends."""
        self._pending.append(captured)
        if captured.retraced:
            self.note(captured.retraced)
        self._seconds += max(0.0, seconds - captured.trace_seconds)

    def warn(self, sentence: str) -> None:
        """One warning for one matter."""
        self._voice.warn(sentence)

    def note(self, sentence: str) -> None:
        """Why a function was traced anew, for the ledger."""
        self._sink.note(records.LedgerEntry("", records.TRACE, -1, "note", sentence, self._step))

    def failed(self, error: BaseException) -> None:
        """Recording failed: it is off from here on; the step itself ran."""
        self._off = True
        self._due = False
        self._voice.warn(f"recording the step failed ({brief(error)}). Recording is off; training goes on.", cause=error)

    def broke(self, kept: Captured | None) -> None:
        """A function raised; what it had done is written at once, for its step may be the last one."""
        if kept is not None:
            self._pending.append(kept)
            if not self._in_step:
                self._next_step()

    # ------------------------------------------------------------------------------------------- what watched models ask

    def watch(self, model: Any) -> None:
        """Record the model's `train_on_batch` in this stream, `evaluate` and `predict` in streams of those names."""
        loops: dict[str, Loop] = {"train_on_batch": self}
        for name in ("evaluate", "predict"):
            if name not in self._beside:
                sink = Sink(self._sink.log_dir, name, self._voice, self._selection)
                schedule = Schedule(self._schedule.every)
                self._beside[name] = LoopRecorder(sink, schedule, self.needs, self._selection, self._voice, [], "inference")
            loops[name] = self._beside[name]
        assert loops.keys() == ROLES.keys()
        self._watched.append(Watched(model, loops))

    def begin(self, model: Any) -> bool:
        """A watched model is about to run a batch, which is a step; whether it is recorded."""
        self._voice.check()
        if self._phase == "training" and not any(model is known for known in self.models):
            self.models.append(model)
        self._start(None)
        return self._is_step_due()

    def ended(self) -> None:
        """A watched model has run a batch."""
        self._next_step()

    # ------------------------------------------------------------------------------------------------------------ steps

    @contextmanager
    def step(self) -> Iterator[None]:
        """One step of a loop, run eagerly or made of recorded functions."""
        self._voice.check()
        if self._ran or self._pending:
            self._next_step()
        self._start(None)
        self._in_step = True
        try:
            if self._is_step_due():
                with self._eagerly():
                    yield
            else:
                yield
        finally:
            self._in_step = False
            self._next_step()

    @contextmanager
    def _eagerly(self) -> Iterator[None]:
        recording = Recording(errors="errors" in self.needs.kinds, lineage="lineage" in self.needs.kinds)
        instruments = [self.needs.instruments[name]() for name in self.due_instruments()]
        step = Step(self.models, recording)
        measured_before(instruments, step)
        recording.replicas = replicas = functions.replicas_of(self.needs, self.due_instruments(), self.models)
        try:
            with hooks.installed(), recording:
                yield
        except Exception as error:
            kept = raised.while_recorded(recording, error, self.needs, None, _eagerly_executed)
            if kept is not None:
                self._pending.insert(0, Captured(kept[0], [kept[1]], 0))
            raise
        if not recording.roots and not replicas.shares:
            return
        try:
            failure = recording.failure or replicas.failure
            if failure is not None:
                raise failure
            outcome, captured = functions.finish(recording, None, self.needs, step, instruments)
        except Exception as error:  # whatever goes wrong in recording must not stop training
            self.failed(error)
            return
        outcome.graph.execution = _eagerly_executed()
        trace = functions.Trace(outcome, instruments, shares=replicas.shares)
        arrays = captured | {f"share:{number}": share.arrays for number, share in enumerate(replicas.shares)}
        found = functions.captured_by(trace, arrays, 0.0)
        if records.TIMING in self.needs.kinds:
            found[0].profile = timing.Profile(timing.EAGER)
        self._pending[:0] = found

    def _start(self, function: Callable[..., Any] | None) -> None:
        """Before the first step: open the log; go on where the optimizers stand (read once)."""
        if self._started:
            return
        self._started = True
        self._sink.open()
        optimizers = [model.optimizer for model in self.models if getattr(model, "optimizer", None) is not None]
        optimizers += functions.optimizers_seen_by(function) if function is not None else []
        counts = [int(tf.convert_to_tensor(families.iterations_of(optimizer)).numpy()) for optimizer in optimizers]
        self._step = max([self._step, *counts])
        self._schedule.begin_fit(self._step, None)

    def _is_step_due(self) -> bool:
        if self._due is None:
            try:
                self._due = not self._off and not self._sink.is_broken and self._schedule.is_due(self._step, 1)
            except Exception as error:  # `every` is a function of the user's
                self.failed(error)
        return bool(self._due)

    def _next_step(self) -> None:
        self._write()
        self._ran.clear()
        self._due = None
        self._step += 1

    def _write(self) -> None:
        pending, self._pending = self._pending, []
        seconds, self._seconds = self._seconds, 0.0
        if not pending:
            return
        outcome = self._outcome_of(pending)
        self._schedule.recorded()
        if not self._checked:
            self._checked = True
            for sentence in self._selection.unmatched(outcome.graph):
                self._voice.warn(sentence)
        record = records.Record(self._step, 0, phase=self._phase, seconds=seconds)
        self._sink.submit(outcome, lambda: _finished(record, pending))

    def _outcome_of(self, pending: list[Captured]) -> Outcome:
        outcomes = [captured.outcome for captured in pending if captured.outcome is not None]
        key = tuple(id(outcome) for outcome in outcomes)
        if key not in self._combined or any(outcome.graph.execution.mode == "eager" for outcome in outcomes):
            if len(self._combined) > 64:
                self._combined.clear()
            self._combined[key] = (outcomes, combine(outcomes))
        return self._combined[key][1]

    def end(self) -> None:
        """Write the step under way; everything recorded is on disk when this returns."""
        if self._pending:
            self._next_step()
        for loop in [self, *self._beside.values()]:
            loop._sink.drain()
        self._voice.check()

    def close(self) -> None:
        """End, and let go of the log."""
        if self._pending:
            self._next_step()
        for watched in self._watched:
            watched.release()
        for loop in [self, *self._beside.values()]:
            loop._sink.close()
        self._voice.check()


def _eagerly_executed() -> records.Execution:
    return records.Execution(mode="eager", run_eagerly=True)


def _finished(record: records.Record, pending: list[Captured]) -> tuple[records.Record, unpack.Figures]:
    """In the background: wait for the arrays of all that ran in the step, and fill the record's own columns."""
    parts = []
    first_call = 0
    for captured in pending:
        assert captured.outcome is not None, "what failed is not taken"
        arrays = [{name: np.asarray(value) for name, value in replica.items()} for replica in captured.replicas]
        first = arrays[0]
        parts.append(unpack.merge([numpy_figures(replica, captured.outcome.plan) for replica in arrays]))
        _finish_instruments(record, pending, captured, arrays)
        timing.fill(record, captured.profile, captured.outcome.graph, first_call)
        first_call += len(captured.outcome.graph.calls)
        record.batch_size = max(record.batch_size, int(sum(replica["batch_size"] for replica in arrays)))
        if "iterations" in first:
            record.iterations = int(first["iterations"])
        if "loss_scale" in first:
            record.loss_scale = float(first["loss_scale"])
        if "scaled_iterations" in first:
            record.skipped |= bool(first["scaled_iterations_after"] == first["scaled_iterations"])
        if "loss" in first:
            record.losses["loss"] = float(sum(float(np.sum(replica["loss"])) for replica in arrays))
        for name in first:
            if name.startswith("loss:"):
                record.losses[name.removeprefix("loss:")] = float(first[name])
    return record, unpack.joined(parts)


def _finish_instruments(
    record: records.Record, pending: list[Captured], captured: Captured, arrays: list[dict[str, Any]]
) -> None:
    """Let the instruments of one function fill the record; what they number, they number among its own calls."""
    exact, record.exact = record.exact, None
    instrument.finished(captured.instruments, captured.outcome, arrays, record)
    if exact is None or record.exact is None:
        record.exact = record.exact or exact
        return
    before = [one.outcome for one in pending[: pending.index(captured)]]
    layers: dict[int, int] = {}
    for outcome in [*before, captured.outcome]:
        for layer in outcome.layers:
            layers.setdefault(id(layer), len(layers))
    values.shifted(
        exact,
        record.exact,
        calls=sum(len(outcome.graph.calls) for outcome in before),
        slots=sum(len(outcome.plan.is_error) for outcome in before),
        layers=[layers[id(layer)] for layer in captured.outcome.layers],
    )
    record.exact = exact


@contextmanager
def named_backward(name: str) -> Iterator[None]:
    """Name the backward passes that run inside, in the recording under way (if any)."""
    recording = active()
    before = recording.tapes.passes if recording is not None else 0
    yield
    if recording is not None:
        for number in range(before, recording.tapes.passes):
            recording.pass_names[number] = name


def tap(name: str, tensor: Any) -> Any:
    """Make `tensor` the output of a call named `name`; the very same tensor where nothing is being recorded."""
    recording = active()
    if recording is None:
        return tensor
    return recording.tap(name, tensor)
