"""Layer losses as an instrument of probes: what each layer added, the loss on outputs shaped like predictions, and how well the
labels can be read from every other output.

In the step only pooling and the model's own losses run; the readouts are fitted on the host, by `analysis.readout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis import layer_losses, readout
from tb_layerflow.log import records

from . import nests
from .instrument import Step
from .losses_in_step import accuracy_of, added, labels_and, pooled, same_shape, size_of, static_size, why_not
from .outcome import Outcome
from .output_losses import NoLoss, OutputLoss, outputs_of
from .readouts import Readouts
from .samples import Samples

FEWEST_SAMPLES = 64
"""A labelled probe of as many has layer losses by itself."""
MOST_SAMPLES = 2_048
"""Readouts are fitted and scored on at most as many of the probe's samples, half on each side."""
MOST_BYTES = 256 << 20
"""And on no more than whose pooled features, of all calls, fit into this."""
TOLERANCE = 1e-4


def enough(samples: Samples) -> bool:
    """Whether a probe has layer losses by itself."""
    return samples.has_labels and samples.count >= FEWEST_SAMPLES


@dataclass
class _Traced:
    """What is known of one trace: its outputs with labels, which slot's features have which size, where direct losses are."""

    outputs: list[OutputLoss]
    tasks: dict[int, layer_losses.Task | str]
    dimensions: dict[int, int] = field(default_factory=dict)
    direct: set[tuple[int, int]] = field(default_factory=set)


@dataclass
class Losses:
    """The instrument. `loss`: a loss for the only output in place of the model's own."""

    samples: Samples
    loss: Any = None
    name: str = "losses"
    _traces: dict[int, _Traced] = field(default_factory=dict)
    _newest: _Traced | None = None

    def before(self, step: Step) -> None:
        """Nothing."""

    # ---------------------------------------------------------------------------------------------------- in the step

    def after(self, step: Step, outcome: Outcome) -> dict[str, Any]:
        """Pooled features of each output, losses on those shaped like a prediction, and added losses."""
        left = {f"added:{call}": loss for call, loss in added(outcome, step.recording.graph)}
        left["size"] = size_of(step.x)
        traced = _Traced([], {})
        self._traces[id(outcome)] = self._newest = traced
        if step.y is None:
            _note(outcome, "", "there are no labels to read")
            return left
        try:
            traced.outputs = outputs_of(step.model, step.y, step.y_pred, self.loss)
        except NoLoss as error:
            _note(outcome, "", str(error))
            return left
        traced.tasks = self._tasks(outcome, step, traced.outputs)
        left |= self._predictions(step, traced)
        left |= self._features(step, outcome, traced)
        return left

    def _tasks(self, outcome: Outcome, step: Step, outputs: list[OutputLoss]) -> dict[int, layer_losses.Task | str]:
        """Each output's task, or why there is none."""
        labels = [leaf for _, leaf in nests.flatten(self.samples.y)]
        predictions = [leaf for _, leaf in nests.flatten(step.y_pred)]
        tasks: dict[int, layer_losses.Task | str] = {}
        for output in outputs:
            width = predictions[output.place].shape[-1] if predictions[output.place].shape.rank > 1 else 1
            try:
                if width is None:
                    raise layer_losses.NoTask("the prediction's last axis has no known size")
                tasks[output.place] = layer_losses.task_of(np.asarray(labels[output.labels]), int(width), output.name)
            except layer_losses.NoTask as error:
                tasks[output.place] = str(error)
                _note(outcome, "", f"no readout for output {output.key!r}: {error}" if output.key else f"no readout: {error}")
        return tasks

    def _predictions(self, step: Step, traced: _Traced) -> dict[str, Any]:
        predictions = [leaf for _, leaf in nests.flatten(step.y_pred)]
        return {
            f"output:{output.place}": output.value(*labels_and(predictions[output.place], output, step))
            for output in traced.outputs
        }

    def _features(self, step: Step, outcome: Outcome, traced: _Traced) -> dict[str, Any]:
        left: dict[str, Any] = {}
        predictions = [leaf for _, leaf in nests.flatten(step.y_pred)]
        count = static_size(step.x)
        for call, port, slot in outcome.plan.rows.get("output", []):
            is_logits = outcome.graph.calls[call].outputs[port].kind == records.LOGITS
            tensor = outcome.plan.tensors[slot]
            is_known = slot in traced.dimensions or any((slot, output.place) in traced.direct for output in traced.outputs)
            if is_logits or is_known:
                continue
            refusal = why_not(tensor, count)
            if refusal:
                _note(outcome, outcome.graph.calls[call].path, refusal)
                continue
            for output in traced.outputs:
                if same_shape(tensor, predictions[output.place]):
                    traced.direct.add((slot, output.place))
                    left[f"direct:{slot}:{output.place}"] = output.value(*labels_and(tensor, output, step))
                    left[f"accuracy:{slot}:{output.place}"] = accuracy_of(tensor, output, step)
            if any((slot, place) not in traced.direct and not isinstance(task, str) for place, task in traced.tasks.items()):
                left[f"features:{slot}"] = features = pooled(tensor)
                traced.dimensions[slot] = int(features.shape[1])
        return left

    # ------------------------------------------------------------------------------------------------------ on the host

    def keep(self, arrays: dict[str, Any], done: int) -> dict[str, Any]:
        """One chunk's arrays as they stay until `finish`: of the features only the samples that readouts use."""
        wanted = self._wanted(self._newest)
        rows = wanted[(wanted >= done) & (wanted < done + int(arrays["size"]))] - done
        return {
            name: np.asarray(array)[rows] if name.startswith("features:") else np.asarray(array) for name, array in arrays.items()
        }

    def _wanted(self, traced: _Traced | None) -> NDArray[np.int64]:
        row = 4 * sum(traced.dimensions.values()) if traced is not None else 0
        return readout.chosen(self.samples.count, max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_BYTES // max(row, 1))))

    def finish(self, outcome: Outcome, replicas: list[dict[str, NDArray[Any]]], record: records.Record) -> None:
        """Fit and score the readouts, and put all layer losses into the record."""
        traced = self._traces.get(id(outcome)) or _Traced([], {})
        sizes = np.array([float(chunk["size"]) for chunk in replicas])
        means = {
            name: float(np.average([float(chunk[name]) for chunk in replicas], weights=sizes))
            for name in replicas[0]
            if name != "size" and not name.startswith("features:")
        }
        found = [
            records.LayerLoss(int(name.partition(":")[2]), 0, "added", loss)
            for name, loss in means.items()
            if name.startswith("added:")
        ]
        _check_sum(traced, means, record)
        readouts = Readouts(replicas, self._wanted(traced), self.samples, record)
        for call, port, slot in outcome.plan.rows.get("output", []):
            if outcome.graph.calls[call].outputs[port].kind != records.LOGITS:
                path = outcome.graph.calls[call].path
                found += self._rows(traced, means, readouts, path, (call, port, slot))
        record.layer_losses += sorted(found, key=lambda row: (row.call, row.port, row.form))

    def _rows(
        self, traced: _Traced, means: dict[str, float], readouts: Readouts, path: str, row: tuple[int, int, int]
    ) -> Iterator[records.LayerLoss]:
        call, port, slot = row
        for output in traced.outputs:
            task = traced.tasks[output.place]
            if (slot, output.place) in traced.direct:
                loss, accuracy = (means[f"{name}:{slot}:{output.place}"] for name in ("direct", "accuracy"))
                name = "" if isinstance(task, str) else task.name
                yield records.LayerLoss(call, port, "direct", loss, accuracy, name, output.key)
            elif slot in traced.dimensions and not isinstance(task, str):
                scored = readouts.score(path, slot, output, task)
                if scored is not None:
                    yield records.LayerLoss(
                        call, port, "readout", scored[0], scored[1], task.name, output.key, readout.SEED, scored[2],
                        traced.dimensions[slot], scored[3],
                    )  # fmt: skip


def _check_sum(traced: _Traced, means: dict[str, float], record: records.Record) -> None:
    """Note where the outputs' losses and the added ones do not make up the model's loss: its `compute_loss` does more."""
    total = record.losses.get("loss")
    if total is None or not traced.outputs:
        return
    parts = sum(output.weight * means[f"output:{output.place}"] for output in traced.outputs)
    parts += sum(loss for name, loss in means.items() if name.startswith("added:"))
    if abs(parts - total) > TOLERANCE * max(1.0, abs(total)):
        text = f"the model's loss {total:.6g} is not the sum of its outputs' losses and the added ones, {parts:.6g}"
        record.ledger.append(records.LedgerEntry("", "losses", -1, "note", text, record.step))


def _note(outcome: Outcome, path: str, reason: str) -> None:
    entry = records.LedgerEntry(path, "losses", -1, "skipped", reason)
    if entry not in outcome.graph.ledger:
        outcome.graph.ledger.append(entry)
