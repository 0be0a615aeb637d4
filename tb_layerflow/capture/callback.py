"""What the Keras callback does: decides at each batch what to record, and hands what was captured to the streams.

It is no subclass of `keras.callbacks.Callback`, so that one class serves Keras 3 and `tf_keras`, and importing it imports
neither.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tb_layerflow.log import records
from tb_layerflow.log.records import TIMING

from . import attachment, execution, families, fits, refusals, timing, train_record, unpack, wanted
from .flight import FlightRecorder
from .probing import Probing
from .samples import Samples
from .schedule import Schedule
from .selection import Selection
from .sink import Sink
from .value_settings import Values
from .variants import Captured, Needs
from .warn import Voice, brief

EPOCH_LENGTH_UNKNOWN = "this epoch's last step was not recorded: nobody knew the epoch's length before it ended"


class Training:
    """Records a model's `fit`: its training steps, a probe, or both.

    Args:
        callback: the object that Keras knows, which hands Keras's calls on to this one.
        sinks: the streams by role, "train" and "probe".
        probe: the probe's samples, or None.
        schedule: when to record.
        kinds: of `what`: "outputs", "errors".
        selection: which calls.
        everything: whether all figures come from all elements.
        voice: where warnings go.
        values: which exact values to keep; None: none.
        keep_last: how many steps to keep on the device until something goes wrong; 0: none.
    """

    def __init__(
        self,
        *,
        callback: Any,
        sinks: dict[str, Sink],
        probe: Samples | None,
        schedule: Schedule,
        kinds: tuple[str, ...],
        selection: Selection,
        everything: bool,
        voice: Voice,
        values: Values | None = None,
        keep_last: int = 0,
    ) -> None:
        self.callback = callback
        self._flight = FlightRecorder(keep_last) if keep_last and "train" in sinks else None
        self._due = False
        self._fitting = False
        self.observer: Any = None
        self.variants: list[Any] = []
        self.needs = Needs(selection, kinds, everything, values)
        self.model: Any = None
        self.params: dict[str, Any] = {}
        self._sinks = sinks
        for sink in sinks.values():
            sink.in_use = lambda: fits.is_fitting(callback)
        self._probing: Probing | None = None
        if probe is not None:
            is_alone = "train" not in sinks
            self._probing = Probing(probe, sinks["probe"], self.needs, voice, is_alone=is_alone)
        self._schedule = schedule
        self._selection = selection
        self._voice = voice
        self._train_has_values = False
        self._next = 0
        self._window = 1
        self._epoch = 0
        self._epoch_length: int | None = None
        self._breaks_off = False
        self._batch = 0
        self._armed = False
        self._recorded_epoch_end = False
        self._off = False
        self._is_within = False
        self._plain_seconds: list[float] = []
        self._began = 0.0
        self._checked_names = False

    # ----------------------------------------------------------------------------------------------- what Keras calls

    def set_params(self, params: dict[str, Any]) -> None:
        """Keras says how long the fit is."""
        self.params = params or {}

    def set_model(self, model: Any) -> None:
        """Keras says which model is fitted. Raises NotKeras (a TypeError) for anything else."""
        families.of(model)
        if fits.depth(self.callback) > 1:  # a fit within a fit that is being recorded
            return
        if self.model is not None and self.model is not model:
            if self._probing is not None:
                self._probing.forget()
            self._checked_names = False
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """A fit begins."""
        self._is_within = fits.depth(self.callback) > 1
        if self._is_within:
            self._voice.warn("a fit began within a fit, with the same callback: the inner one is not recorded.")
            return
        self._off = False
        if self._probing is not None:
            self._probing.begin_fit()
        if self.observer is not None:
            self.observer.stop = False
        refusal = refusals.why_not(self.model)
        if fits.times_listed(self.callback) > 1:
            refusal = "the callback is listed more than once among the callbacks of this fit."
        if refusal:
            self._off = True
            self._voice.warn(f"{refusal} Nothing is recorded; training goes on.")
            return
        for sink in self._sinks.values():
            sink.open()
        if self._fitting:
            self._write_kept("the fit before was interrupted")
        self._fitting = True
        self._attachment.join(self)
        self._next = max(train_record.iterations(self.model), self._next)
        self._window = execution.steps_per_execution(self.model)
        self._epoch_length = self.params.get("steps")
        self._breaks_off = execution.breaks_off(self.model)
        self._note_what_is_cut()
        epochs = self.params.get("epochs") or 1
        self._schedule.begin_fit(self._next, None if self._epoch_length is None else self._epoch_length * epochs)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """An epoch begins."""
        if self._in_inner_fit():
            return
        self._epoch = epoch
        self._batch = 0
        self._recorded_epoch_end = False

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A batch is about to run: run the probe and arm the recording variant, if they are due."""
        self._voice.check()
        if self._in_inner_fit():
            return
        self._armed = self._due = False
        if self._off:
            return
        length = self._recordable_length
        last_of_epoch = length is not None and self._batch + self._window >= length
        may_end = self._breaks_off and (length is None or self._batch + self._window > length)
        try:
            is_due = self._schedule.is_due(self._next, self._window, is_epoch_end=last_of_epoch)
        except Exception as error:  # `every` is a function of the user's
            self._guarded("`every`", error)
            return
        if is_due:
            self._recorded_epoch_end = last_of_epoch
            if self._probing is not None and not self._schedule.by_epoch:
                self._record_probe(self._next)
            if "train" in self._sinks and not self._sinks["train"].is_broken and not may_end:
                self._attachment.arm(self, self._due_instruments(), TIMING in self.needs.kinds)
                self._armed = self._due = True
            self._schedule.recorded()
        if self._flight is not None and not self._flight.is_over and not may_end:
            self._flight.before(self.model)
            if not self._armed:
                self._train_has_values = False
                self._attachment.arm(self, [name for name in wanted.ALWAYS if name in self.needs.instruments])
                self._armed = True
        self._began = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A batch has run."""
        if self.observer is not None and self.observer.stop:
            self.model.stop_training = True
        if self._off or self._in_inner_fit():
            return
        if not self._armed:
            self._plain_seconds = [*self._plain_seconds[-30:], time.perf_counter() - self._began]
        if self._due and (last := self._sinks["train"].last_step) is not None and last < self._next:
            text = "due, but not recorded: another fit of the model began within this step"
            self._sinks["train"].note(records.LedgerEntry("", "", -1, "skipped", text, self._next))
        ran = min(self._window, self._epoch_length - self._batch) if self._epoch_length is not None else self._window
        ran = self._attachment.last_step_count or max(ran, 1) if self._armed else max(ran, 1)
        self._next += ran
        self._batch += ran

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """An epoch has ended: what is due by epoch is recorded on the probe now."""
        if self._off or self._in_inner_fit():
            return
        if self._epoch_length is None and self._batch:
            self._epoch_length = self._batch
        broken_off = (self._epoch_length or 0) - self._batch
        if self._breaks_off and 0 < broken_off < self._window:
            self._next += broken_off
        if not self._schedule.by_epoch:
            return
        if self._probing is not None and self._next > 0:
            self._record_probe(self._next - 1)
        if not self._recorded_epoch_end and "train" in self._sinks:
            entry = records.LedgerEntry("", "", -1, "skipped", f"epoch {epoch}: {EPOCH_LENGTH_UNKNOWN}", self._next - 1)
            self._sinks["train"].note(entry)

    def on_train_end(self, logs: Any = None) -> None:
        """A fit has ended: everything recorded is on disk when this returns."""
        if self._in_inner_fit():
            return
        if self.model is not None and not self._off:
            self._attachment.leave(self)
        self._fitting = False
        if self._flight is not None:
            self._write_kept()
            self._flight.clear()
        for sink in self._sinks.values():
            sink.drain()
            sink.idle = True
            failed = self._off or (self._probing is not None and self._probing.has_failed and sink is self._sinks["probe"])
            if not failed and not sink.records and not sink.is_broken:
                self._voice.warn(f"0 records were written to stream {sink.stream!r}: no step of this fit was due by `every`.")
        self._voice.check()

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Part of Keras's protocol; `on_train_batch_begin` does the work."""

    on_batch_end = on_batch_begin
    on_test_batch_begin = on_test_batch_end = on_predict_batch_begin = on_predict_batch_end = on_batch_begin

    def on_test_begin(self, logs: Any = None) -> None:
        """Part of Keras's protocol; validation is not recorded."""

    on_test_end = on_predict_begin = on_predict_end = on_test_begin

    _supports_tf_logs = True

    def _implements_train_batch_hooks(self) -> bool:
        return True

    def _implements_test_batch_hooks(self) -> bool:
        return False

    def _implements_predict_batch_hooks(self) -> bool:
        return False

    # -------------------------------------------------------------------------------------------------- what is recorded

    @property
    def _attachment(self) -> attachment.Attachment:
        return attachment.of(self.model)

    @property
    def _recordable_length(self) -> int | None:
        """How many steps of an epoch are in executions that run to their end; None: nobody knows yet.

        `tf_keras` makes the last execution as short as it must be.
        """
        if self._epoch_length is None or not self._breaks_off or families.of(self.model).name != "keras":
            return self._epoch_length
        return self._epoch_length - self._epoch_length % self._window

    def _note_what_is_cut(self) -> None:
        """Where Keras breaks off the execution in which the data ends: which steps are therefore not recorded."""
        if not self._breaks_off or "train" not in self._sinks or self._recordable_length == self._epoch_length is not None:
            return
        which = (
            "the first epoch is"
            if self._epoch_length is None
            else (f"the last {self._epoch_length % self._window} of an epoch's {self._epoch_length} steps are")
        )
        reason = f"{which} not recorded: this Keras breaks off an execution of {self._window} steps in which the data ends"
        self._sinks["train"].note(records.LedgerEntry("", "", -1, "skipped", reason, self._next))

    def _due_instruments(self) -> list[str]:
        """The names of what is measured in the record that is due now."""
        self._train_has_values = self._sinks["train"].are_values_due
        due = (*wanted.ALWAYS, "values") if self._train_has_values else wanted.ALWAYS
        return [name for name in due if name in self.needs.instruments]

    def _in_inner_fit(self) -> bool:
        """Whether a fit runs within the fit that is recorded; it may have ended in an exception."""
        self._is_within = self._is_within and fits.depth(self.callback) > 1
        return self._is_within

    def _guarded(self, what: str, error: Exception) -> None:
        self._off = True
        self._voice.warn(f"{what} failed ({brief(error)}). Recording is off; training goes on.", cause=error)

    def _record_probe(self, step: int) -> None:
        assert self._probing is not None
        graph = self._probing.record(self.model, step, self._epoch, self._plain_step_seconds())
        if graph is not None:
            self._check_names(graph)
        elif self._probing.has_failed and "train" not in self._sinks:
            self._off = True

    def deliver(self, captured: Captured, seconds: float) -> None:
        """Take what a recorded step gave; called by the attachment."""
        sink = self._sinks["train"]
        step = self._next + captured.steps - 1
        batch, captured.batch = captured.batch, None
        if sink.last_step is not None and step <= sink.last_step:
            return
        self._check_names(captured.outcome.graph)
        if captured.retraced:
            sink.note(records.LedgerEntry("", records.TRACE, -1, "note", captured.retraced, step))
        plain = self._plain_step_seconds()
        record = records.Record(step, 0, epoch=float(self._epoch), phase="training", step_seconds=plain)
        record.seconds = max(0.0, seconds - captured.trace_seconds - plain * captured.steps)
        replicas, logs, has_values = captured.replicas, captured.logs, self._train_has_values

        def finish() -> tuple[records.Record, unpack.Figures]:
            finished = train_record.finished(record, captured, replicas, logs)
            if not has_values:
                record.exact = None  # another callback of the model had asked for it
            if TIMING in self.needs.kinds:
                timing.fill(record, captured.profile, captured.outcome.graph)
            return finished

        def submit() -> None:
            if sink.last_step is None or step > sink.last_step:
                sink.last_step = step
                sink.submit(captured.outcome, finish)

        if self._due:
            submit()
        if self._flight is not None and not self._flight.is_over:
            losses = [replica["loss"] for replica in replicas if "loss" in replica]
            self._flight.keep(step, losses, batch, None if self._due else submit)
            if self._flight.has_bad():
                self._write_kept()

    def interrupted(self, error: BaseException, broken: Captured | None) -> None:
        """The step itself raised, and had done so much; called by the attachment."""
        self._write_kept(f"the step after it raised {type(error).__name__}")
        sink = self._sinks["train"]
        if broken is None or not self._due or sink.is_broken:
            return
        record = records.Record(self._next + broken.steps - 1, 0, epoch=float(self._epoch), phase="training")
        sink.submit(broken.outcome, lambda: train_record.finished(record, broken, broken.replicas, None))
        sink.close()  # the next fit repeats this step: in a session of its own

    def _write_kept(self, why: str = "") -> None:
        if self._flight is not None:
            self._flight.rescue(self._sinks["train"], self._voice, why)

    def refuse(self, error: BaseException) -> None:
        """Recording failed; called by the attachment. The step itself runs, or ran, all the same."""
        self._off = True
        self._armed = False
        self._voice.warn(f"recording the step failed ({brief(error)}). Recording is off; training goes on.", cause=error)

    def _plain_step_seconds(self) -> float:
        return float(np.median(self._plain_seconds)) if self._plain_seconds else 0.0

    def _check_names(self, graph: records.Graph) -> None:
        if self._checked_names:
            return
        self._checked_names = True
        for sentence in self._selection.unmatched(graph):
            self._voice.warn(sentence)
