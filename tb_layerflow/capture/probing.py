"""The probe of a fit: fixed samples on which the model is recorded between training steps, in a stream of their own."""

from __future__ import annotations

import time
from typing import Any

from tb_layerflow.log import records

from . import instrument, timing, train_record, unpack, wanted
from .inference import Inference
from .samples import Samples
from .sink import Sink
from .variants import Needs
from .warn import Voice, brief


class Probing:
    """Records a model on its probe's samples whenever it is asked to.

    Args:
        samples: the samples.
        sink: their stream.
        needs: what to record.
        voice: where warnings go.
        is_alone: whether nothing else of the fit is recorded.
    """

    def __init__(self, samples: Samples, sink: Sink, needs: Needs, voice: Voice, *, is_alone: bool) -> None:
        self.has_failed = False
        self._samples = samples
        self._sink = sink
        self._needs = needs
        self._voice = voice
        self._is_alone = is_alone
        self._inferences: dict[bool, Inference] = {}

    def begin_fit(self) -> None:
        """A fit begins: what failed in an earlier one is tried again."""
        self.has_failed = False

    def forget(self) -> None:
        """Another model is trained from here on."""
        self._inferences = {}

    def record(self, model: Any, step: int, epoch: int, step_seconds: float) -> records.Graph | None:
        """Record the model as it is at a step. Whatever goes wrong is a warning, and the end of probing in this fit.

        Args:
            model: the model.
            step: the training step.
            epoch: its epoch.
            step_seconds: what a step takes that is not recorded.

        Returns:
            The graph of what ran; None where nothing was recorded.
        """
        sink = self._sink
        if self.has_failed or sink.is_broken or (sink.last_step is not None and step <= sink.last_step):
            return None
        started = time.perf_counter()
        try:
            inference = self._inference_of(model, with_values=sink.are_values_due)
            outcome, figures, losses, chunks = inference.run(self._samples)
        except Exception as error:
            self.has_failed = True
            what = "Training goes on." if self._is_alone else "The probe is not recorded any more; training is."
            self._voice.warn(f"The probe failed ({brief(error)}). {what}", cause=error)
            return None
        sink.last_step = step
        record = records.Record(
            step,
            0,
            iterations=train_record.iterations(model),
            epoch=float(epoch),
            phase="inference",
            batch_size=self._samples.count,
            losses=losses,
            seconds=time.perf_counter() - started,
            step_seconds=step_seconds,
        )
        instruments, profiles = inference.instruments, inference.profiles

        def finish() -> tuple[records.Record, unpack.Figures]:
            instrument.finished(instruments, outcome, chunks, record)
            for profile in profiles:
                timing.fill(record, profile, outcome.graph)
            return record, figures

        sink.submit(outcome, finish)
        return outcome.graph

    def _inference_of(self, model: Any, *, with_values: bool) -> Inference:
        """What runs the model, with or without exact values; each is traced when first needed."""
        if with_values not in self._inferences:
            instruments = wanted.for_samples(
                self._needs.kinds,
                self._samples,
                weights=self._is_alone,
                values=self._needs.values if with_values else None,
                everything=self._needs.everything,
            )
            self._inferences[with_values] = Inference(model, self._needs, instruments=instruments)
        return self._inferences[with_values]
