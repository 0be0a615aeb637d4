"""Layer losses as an instrument of probes: what each layer added to the loss, the loss on outputs shaped like predictions, and how
well the labels can be read from every other output.

In the step only pooling and the model's own losses run; the readouts are fitted on the host, by `analysis.readout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tb_layerflow.analysis import layer_losses, readout
from tb_layerflow.log import records

from . import graphs, nests
from .instrument import Step
from .layer_table import own_weights
from .outcome import Outcome
from .output_losses import NoLoss, OutputLoss, outputs_of
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
        left = {f"added:{call}": loss for call, loss in _added(outcome, step.recording.graph)}
        left["size"] = _size(step.x)
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
            f"output:{output.place}": output.value(*_labels_and(predictions[output.place], output, step))
            for output in traced.outputs
        }

    def _features(self, step: Step, outcome: Outcome, traced: _Traced) -> dict[str, Any]:
        left: dict[str, Any] = {}
        predictions = [leaf for _, leaf in nests.flatten(step.y_pred)]
        count = _static_size(step.x)
        for call, port, slot in outcome.plan.rows.get("output", []):
            key = outcome.graph.calls[call].outputs[port].key
            tensor = outcome.plan.tensors[slot]
            if key == "logits" or slot in traced.dimensions or any((slot, output.place) in traced.direct for output in traced.outputs):
                continue
            refusal = _why_not(tensor, count)
            if refusal:
                _note(outcome, outcome.graph.calls[call].path, refusal)
                continue
            for output in traced.outputs:
                if _same_shape(tensor, predictions[output.place]):
                    traced.direct.add((slot, output.place))
                    left[f"direct:{slot}:{output.place}"] = output.value(*_labels_and(tensor, output, step))
                    left[f"accuracy:{slot}:{output.place}"] = _accuracy(tensor, output, step)
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
        readouts = _Readouts(traced, replicas, self._wanted(traced), self.samples, record)
        for call, port, slot in outcome.plan.rows.get("output", []):
            if outcome.graph.calls[call].outputs[port].key != "logits":
                found += self._rows(traced, means, readouts, call, port, slot)
        record.layer_losses += sorted(found, key=lambda row: (row.call, row.port, row.form))

    def _rows(
        self, traced: _Traced, means: dict[str, float], readouts: _Readouts, call: int, port: int, slot: int
    ) -> Iterator[records.LayerLoss]:
        for output in traced.outputs:
            task = traced.tasks[output.place]
            if (slot, output.place) in traced.direct:
                loss, accuracy = (means[f"{name}:{slot}:{output.place}"] for name in ("direct", "accuracy"))
                name = task if isinstance(task, str) else task.name
                name = "" if isinstance(task, str) else name
                yield records.LayerLoss(call, port, "direct", loss, accuracy, name, output.key)
            elif slot in traced.dimensions and not isinstance(task, str):
                scored = readouts.score(slot, output, task)
                if scored is not None:
                    yield records.LayerLoss(
                        call, port, "readout", scored[0], scored[1], task.name, output.key, readout.SEED, scored[2],
                        traced.dimensions[slot],
                    )  # fmt: skip


class _Readouts:
    """The readouts of one record, each fitted once per slot and output."""

    def __init__(
        self, traced: _Traced, chunks: list[dict[str, Any]], wanted: NDArray[np.int64], samples: Samples, record: records.Record
    ) -> None:
        self._chunks = chunks
        self._wanted = wanted
        self._samples = samples
        self._record = record
        self._scored: dict[tuple[int, int], tuple[float, float, float] | None] = {}
        self._fit, self._score = readout.halves(len(wanted))
        if len(wanted) < samples.count and traced.dimensions:
            text = f"readouts use {len(wanted):,} of the probe's {samples.count:,} samples, drawn by a fixed seed"
            record.ledger.append(records.LedgerEntry("", "losses", -1, "sampled", text, record.step))

    def score(self, slot: int, output: OutputLoss, task: layer_losses.Task) -> tuple[float, float, float] | None:
        """(loss, accuracy, ridge); None where there is none, and the ledger says why."""
        key = (slot, output.place)
        if key not in self._scored:
            try:
                self._scored[key] = self._measure(slot, output, task)
            except Exception as error:  # a loss that cannot be called outside its step must not cost the record
                self._scored[key] = None
                text = f"no readout: {error}" if isinstance(error, NoLoss) else f"no readout ({type(error).__name__}: {error})"
                self._record.ledger.append(records.LedgerEntry("", "losses", slot, "skipped", text, self._record.step))
        return self._scored[key]

    def _measure(self, slot: int, output: OutputLoss, task: layer_losses.Task) -> tuple[float, float, float]:
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
        prediction = layer_losses.prediction(scored, scores, from_logits=output.from_logits)
        weight = _weight_of(self._samples.sample_weight, output)
        loss = output.value(labels, prediction, None if weight is None else np.asarray(weight)[rows])
        return float(loss), layer_losses.accuracy(scored, scores), fitted.ridge


def pooled(tensor: Any) -> Any:
    """[samples, dimensions] float32: the average over all axes between the first and the last, projected where there are many."""
    floats = tf.cast(tensor, tf.float32)
    if floats.shape.rank == 1:
        floats = tf.expand_dims(floats, -1)
    if floats.shape.rank > 2:
        floats = tf.reduce_mean(floats, axis=list(range(1, floats.shape.rank - 1)))
    dimensions = int(floats.shape[1])
    if dimensions <= readout.DIMENSIONS:
        return floats
    buckets, signs = readout.sketch(dimensions)
    return tf.transpose(tf.math.unsorted_segment_sum(tf.transpose(floats * signs), buckets, readout.DIMENSIONS))


def _added(outcome: Outcome, graph: Any) -> Iterator[tuple[int, Any]]:
    """(first call, loss) of each layer that added losses: by `add_loss`, activity or weight regularisers."""
    first = {call.layer: number for number, call in reversed(list(enumerate(outcome.graph.calls))) if call.layer is not None}
    for number, layer in enumerate(outcome.layers):
        if number not in first:
            continue
        losses = [*getattr(layer, "_losses", []), *getattr(layer, "_eager_losses", [])]
        losses += [regulariser() for regulariser in getattr(layer, "_callable_losses", [])]
        if not hasattr(layer, "_callable_losses"):
            losses += [
                variable.regularizer(variable)
                for variable in own_weights(layer)
                if variable.trainable and getattr(variable, "regularizer", None) is not None
            ]
        losses = [tf.reduce_sum(tf.cast(loss, tf.float32)) for loss in losses if loss is not None and graphs.belongs(loss, graph)]
        if losses:
            yield first[number], tf.add_n(losses)


def _labels_and(tensor: Any, output: OutputLoss, step: Step) -> tuple[Any, Any, Any]:
    return nests.flatten(step.y)[output.labels][1], tensor, _weight_of(step.sample_weight, output)


def _weight_of(sample_weight: Any, output: OutputLoss) -> Any:
    leaves = [leaf for _, leaf in nests.flatten(sample_weight)]
    return leaves[0] if len(leaves) == 1 else leaves[output.labels]


def _accuracy(tensor: Any, output: OutputLoss, step: Step) -> Any:
    """As `analysis.layer_losses.accuracy`, over all axes but the last; NaN for regression."""
    labels = tf.convert_to_tensor(nests.flatten(step.y)[output.labels][1])
    width = tensor.shape[-1] if tensor.shape.rank > 1 else 1
    task = layer_losses.name_of(np.zeros([1] * max(labels.shape.rank or 1, 1), labels.dtype.as_numpy_dtype), width or 1, output.name)
    if task == "classification":
        classes = tf.argmax(tensor, -1)
        if labels.shape.rank == tensor.shape.rank and labels.shape[-1] != 1:
            labels = tf.argmax(labels, -1)
        labels = tf.reshape(tf.cast(labels, tf.int64), tf.shape(classes))
        return tf.reduce_mean(tf.cast(tf.equal(classes, labels), tf.float32))
    if task == "multi-label":
        said = tf.cast(tensor, tf.float32) > (0.0 if output.from_logits else 0.5)
        return tf.reduce_mean(tf.cast(tf.equal(said, tf.reshape(tf.cast(labels, tf.float32) > 0.5, tf.shape(said))), tf.float32))
    return tf.constant(float("nan"))


def _same_shape(tensor: Any, prediction: Any) -> bool:
    return (
        tensor.dtype.is_floating
        and tensor.shape.rank is not None
        and tensor.shape[1:].is_fully_defined()
        and tensor.shape[1:] == prediction.shape[1:]
    )


def _why_not(tensor: Any, count: int | None) -> str:
    if tensor.shape.rank is None:
        return "no layer loss: the output's rank is unknown"
    if tensor.shape.rank == 0 or (count is not None and tensor.shape[0] not in (None, count)):
        return "no layer loss: the output's first axis is not the samples'"
    if tensor.shape.rank > 1 and tensor.shape[-1] is None:
        return "no layer loss: the size of the output's last axis is unknown"
    return ""


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


def _size(x: Any) -> Any:
    for _, leaf in nests.flatten(x):
        if isinstance(leaf, tf.RaggedTensor):
            return tf.cast(leaf.nrows(), tf.int32)
        if leaf is not None:
            return tf.cast(tf.shape(leaf)[0], tf.int32)
    return tf.constant(0)


def _static_size(x: Any) -> int | None:
    sizes = [leaf.shape[0] for _, leaf in nests.flatten(x) if leaf is not None]
    return sizes[0] if sizes and isinstance(sizes[0], int) else None


def _note(outcome: Outcome, path: str, reason: str) -> None:
    entry = records.LedgerEntry(path, "losses", -1, "skipped", reason)
    if entry not in outcome.graph.ledger:
        outcome.graph.ledger.append(entry)
