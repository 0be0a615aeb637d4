"""The readouts of one record: fitted and scored on the host, from a probe's pooled features. Knows no tensors of the step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis import layer_losses, readout
from tb_layerflow.log import records

from . import nests
from .output_losses import NoLoss, OutputLoss, weight_of
from .samples import Samples


class Readouts:
    """The readouts of one record, each fitted once per slot and output."""

    def __init__(self, chunks: list[dict[str, Any]], wanted: NDArray[np.int64], samples: Samples, record: records.Record) -> None:
        self._chunks = chunks
        self._wanted = wanted
        self._samples = samples
        self._record = record
        self._scored: dict[tuple[int, int], tuple[float, float, float, float] | None] = {}
        self._baselines: dict[int, float] = {}
        self._fit, self._score = readout.halves(len(wanted))
        if len(wanted) < samples.count and any(name.startswith("features:") for name in chunks[0]):
            text = f"readouts use {len(wanted):,} of the probe's {samples.count:,} samples, drawn by a fixed seed"
            record.ledger.append(records.LedgerEntry("", "losses", -1, "sampled", text, record.step))

    def score(
        self, path: str, slot: int, output: OutputLoss, task: layer_losses.Task
    ) -> tuple[float, float, float, float] | None:
        """(loss, accuracy, ridge, the fitted labels' mean's loss); None where there is none, and the ledger says why."""
        key = (slot, output.place)
        if key not in self._scored:
            try:
                self._scored[key] = self._measure(slot, output, task)
            except Exception as error:  # a loss that cannot be called outside its step must not cost the record
                self._scored[key] = None
                text = f"no readout: {error}" if isinstance(error, NoLoss) else f"no readout ({type(error).__name__}: {error})"
                self._record.ledger.append(records.LedgerEntry(path, "losses", -1, "skipped", text, self._record.step))
        return self._scored[key]

    def _measure(self, slot: int, output: OutputLoss, task: layer_losses.Task) -> tuple[float, float, float, float]:
        features = np.concatenate([chunk[f"features:{slot}"] for chunk in self._chunks])
        if len(features) != len(self._wanted):
            raise NoLoss("the output's first axis is not the samples'")
        if not np.isfinite(features).all():
            raise NoLoss("the output is not all finite")
        targets = task.targets[self._wanted]
        fitted = readout.fit(features[self._fit], targets[self._fit])
        scores = fitted.scores(features[self._score])
        scored = layer_losses.Task(task.name, targets[self._score])
        rows = self._wanted[self._score]
        labels = np.asarray(nests.flatten(self._samples.y)[output.labels][1])[rows]
        weight = weight_of(self._samples.sample_weight, output)

        def loss_of(said: NDArray[np.float64]) -> float:
            prediction = layer_losses.prediction(scored, said, from_logits=output.from_logits)
            return float(output.value(labels, prediction, None if weight is None else np.asarray(weight)[rows]))

        if output.place not in self._baselines:
            self._baselines[output.place] = loss_of(np.broadcast_to(fitted.intercept, scores.shape))
        return loss_of(scores), layer_losses.accuracy(scored, scores), fitted.ridge, self._baselines[output.place]
