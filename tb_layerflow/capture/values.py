"""Exact values as an instrument: copies of the first samples of every tensor, and figures per channel. Knows no files.

Samples are copied out where a tensor is measured: whatever else held it until later would hold the whole batch's, and with it all
of the step's memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tb_layerflow.log import records, value_files
from tb_layerflow.log.records import WEIGHT_KINDS, Exact, ExactArray

from . import nests, shared, statistics, value_cuts
from . import part as parts
from .instrument import Step
from .known_weights import KnownWeights, is_numeric
from .layer_table import own_weights
from .outcome import Outcome
from .output_losses import NoLoss, labels_of
from .recording import identity_of
from .selection import Selection
from .value_cuts import Row
from .value_settings import Values

KEPT_KINDS = ("output", "input", "weight", "weight_gradient")
"""Beside all kinds of errors; an update is the difference of two weights, and not kept."""
MOST_LABELS = 4096
"""Per sample and output: those of more are a picture's, and are not kept."""
FIGURES = 5
"""Per channel: mean, mean squared deviation, min, max, number of zeros."""


@dataclass
class _Tensor:
    """One tensor to keep. `bytes` is what it will have at most, None where the trace does not tell."""

    rows: list[Row]
    tensor: Any
    slot: int | None
    is_error: bool
    bytes: int | None
    dtype: str = ""


@dataclass
class _Traced:
    """What a trace keeps, in the order in which its tensors leave the step: the host needs no more than this."""

    tensors: list[_Tensor] = field(default_factory=list)
    figures: list[tuple[list[Row], int | None, int]] = field(default_factory=list)
    cut: list[tuple[Row, int]] = field(default_factory=list)


class ExactValues:
    """The instrument. It takes the rows of the plan, and so must come after all that add some."""

    name = "values"

    def __init__(self, settings: Values, *, everything: bool = False) -> None:
        self._settings = settings
        self._selection = Selection(settings.layers)
        self._everything = everything

    def before(self, step: Step) -> dict[int, Any]:
        """The weights that the forward pass will use, unless an instrument of their own notes them."""
        if "weights" in step.noted:
            return {}
        return KnownWeights(step.models, step.recording).values

    def after(self, step: Step, outcome: Outcome) -> dict[str, Any]:
        """Copies of all that fits into a record as far as the trace can tell, and the figures of their channels."""
        traced = _Traced()
        outcome.noted[self.name] = traced
        calls = zip(outcome.nodes, outcome.graph.calls, strict=True)
        wanted = {node.index for node, call in calls if self._selection(call, node.layer)}
        found = [*self._planned(outcome, wanted), *self._inputs(outcome, wanted), *self._weights(step, outcome, wanted)]
        found += self._labels(step, outcome)
        sizes = [(value_cuts.importance(outcome.graph, one.rows), one.bytes or 0) for one in found]
        gone = value_cuts.cut(sizes, self._settings.record_bytes)
        leaving: dict[str, Any] = {}
        channels: list[statistics.One] = []
        for place, one in enumerate(found):
            measured = self._measured(one, step, outcome, is_kept=place not in gone)
            if measured is not None and measured.channels is not None:
                traced.figures.append((list(one.rows), one.slot, int(one.tensor.shape[-1])))
                channels.append(measured)
            if place in gone:
                traced.cut += [(row, one.bytes or 0) for row in one.rows]
                continue
            copied = self._copied(one, measured, step)
            one.dtype = copied.dtype.name
            leaving[str(len(traced.tensors))] = copied
            traced.tensors.append(one)
        for one in found:
            one.tensor = None
        if channels:
            leaving["figures"] = tf.concat([measured.channels for measured in channels], 0)
            leaving["figures_of"] = tf.stack([measured.elements for measured in channels])
        return leaving

    def keep(self, arrays: dict[str, Any], done: int) -> dict[str, Any]:
        """What stays of a chunk that `done` samples came before: figures always, tensors until there are enough samples."""
        if self._settings.samples is None or done < self._settings.samples:
            return arrays
        return {name: array for name, array in arrays.items() if name.startswith("figures")}

    def finish(self, outcome: Outcome, replicas: list[dict[str, NDArray[Any]]], record: records.Record) -> None:
        """Put the arrays into `record.exact`."""
        traced: _Traced = outcome.noted[self.name]
        exact = record.exact = record.exact or Exact()
        exact.cut += traced.cut
        for number, one in enumerate(traced.tensors):
            parts = [replica[str(number)] for replica in replicas if str(number) in replica]
            array = self._joined(parts, one)
            exact.arrays.append(ExactArray(list(one.rows), _as_stored(array), one.dtype, one.slot))
            if array.ndim and one.rows[0][0] not in WEIGHT_KINDS:
                exact.samples = max(exact.samples, len(array))
        exact.figures += _merged(traced.figures, replicas)

    # ---------------------------------------------------------------------------------------------- which tensors there are

    def _planned(self, outcome: Outcome, wanted: set[int]) -> Iterator[_Tensor]:
        """The tensors that are measured anyway, each once, as all that it is."""
        plan, graph = outcome.plan, outcome.graph
        layers = {graph.calls[number].layer for number in wanted}
        passed_in = {source for number in wanted for port in graph.calls[number].inputs if (source := port.source) is not None}
        by_slot: dict[int, list[Row]] = {}
        for kind, rows in plan.rows.items():
            if kind not in KEPT_KINDS and not kind.startswith("error"):
                continue
            for number, port, slot in rows:
                if number in (layers if kind in WEIGHT_KINDS else wanted):
                    by_slot.setdefault(slot, []).append((kind, number, port))
                elif kind == "output" and (number, port) in passed_in:
                    by_slot.setdefault(slot, []).append(("output", number, port))
        for slot, rows_of_slot in by_slot.items():
            yield self._tensor(rows_of_slot, plan.tensors[slot], slot, plan.is_error[slot])

    def _inputs(self, outcome: Outcome, wanted: set[int]) -> Iterator[_Tensor]:
        """Inputs that are the outputs of calls which `layers` did not choose: nothing else of the record holds them."""
        outputs = {(number, port) for number, port, _ in outcome.plan.rows.get("output", ())}
        own = {(number, port) for number, port, _ in outcome.plan.rows.get("input", ())}
        for number in sorted(wanted):
            ports = zip(outcome.nodes[number].inputs, outcome.graph.calls[number].inputs, strict=True)
            for place, (leaf, port) in enumerate(ports):
                held = (number, place) in own or (port.source is not None and port.source in outputs)
                if leaf.tensor is not None and port.selected and not held:
                    yield self._tensor([("input", number, place)], leaf.tensor, None, False)

    def _weights(self, step: Step, outcome: Outcome, wanted: set[int]) -> Iterator[_Tensor]:
        """The weights of called layers, where no instrument of their own put them into the plan."""
        if "weights" in step.noted:
            return
        before = step.noted[self.name]
        called = {outcome.graph.calls[number].layer for number in wanted}
        for number, layer in enumerate(outcome.layers):
            for port, weight in enumerate(own_weights(layer) if number in called else ()):
                if identity_of(weight) in before:
                    yield self._tensor([("weight", number, port)], before[identity_of(weight)], None, False)

    def _labels(self, step: Step, outcome: Outcome) -> Iterator[_Tensor]:
        """What is right for each output of the model, where that is little: a class or some targets, not a picture."""
        root = next((node for node in outcome.nodes if node.layer is step.model), None)
        if root is None or step.y is None:
            return
        outputs = [leaf.key for leaf in root.outputs if leaf.kind != records.LOGITS]
        labels = [leaf for _, leaf in nests.flatten(step.y)]
        try:
            places = labels_of(step.model, outputs, step.y)
        except NoLoss:
            return
        for port, place in enumerate(places):
            label = None if place is None else labels[place]
            if isinstance(label, tf.Tensor) and is_numeric(label) and _is_small(label.shape):
                yield self._tensor([(records.LABEL, root.index, port)], label[: self._settings.samples], None, False)

    def _tensor(self, rows: list[Row], tensor: Any, slot: int | None, is_error: bool) -> _Tensor:
        rows = sorted(rows, key=lambda row: -row[1])  # the innermost call first
        return _Tensor(rows, tensor, slot, is_error, self._bytes(tensor, is_error, rows[0][0] in WEIGHT_KINDS))

    def _bytes(self, tensor: Any, is_error: bool, is_weight: bool) -> int | None:
        """How much a tensor's kept samples have; a batch whose size is not known counts as large enough."""
        if tensor.shape.rank is None or not tensor.shape[1:].is_fully_defined():
            return None
        sizes = list(tensor.shape)
        samples = None if is_weight else self._settings.samples
        if sizes and sizes[0] is None and samples is None:
            return None
        if sizes and samples is not None:
            sizes[0] = samples if sizes[0] is None else min(samples, sizes[0])
        itemsize = 4 if is_error or tensor.dtype.name not in value_files.DTYPES else tensor.dtype.size
        return itemsize * int(np.prod(sizes, dtype=np.int64))

    # -------------------------------------------------------------------------------------------------- what leaves the step

    def _measured(self, one: _Tensor, step: Step, outcome: Outcome, *, is_kept: bool) -> statistics.One | None:
        """Its first samples, and figures per channel from the part that its statistics are from; None where it has neither."""
        if one.rows[0][0] in WEIGHT_KINDS or one.rows[0][0] == records.LABEL:
            return None
        shape = one.tensor.shape
        channels = int(shape[-1] or 0) if (shape.rank or 0) >= 2 and _has_channels(shape, self._everything) else 0
        samples = self._settings.samples or 0
        is_small = not shape.rank or (shape[0] is not None and shape[0] <= samples)
        samples = samples if is_kept and not is_small else 0
        if not channels and not samples:
            return None
        factor = step.gradient_factor if one.is_error else None
        skip = None if self._everything else step.skip
        measured = statistics.measure_one(
            one.tensor, factor, everything=self._everything, skip=skip, channels=channels, samples=samples
        )
        # Beside the samples there is little room: no more than one tensor waits. It costs a twentieth of such a step.
        shared.comes_first(measured.exact, one.tensor)
        if one.slot is not None:
            outcome.plan.measured[one.slot] = measured
        return measured

    def _copied(self, one: _Tensor, measured: statistics.One | None, step: Step) -> Any:
        kept = tf.identity(one.tensor) if measured is None or measured.samples is None else measured.samples
        if one.is_error:
            kept = tf.cast(kept, tf.float32)
            return kept if step.gradient_factor is None else kept * step.gradient_factor
        return kept if kept.dtype.name in value_files.DTYPES else tf.cast(kept, tf.float32)

    def _joined(self, parts: list[NDArray[Any]], one: _Tensor) -> NDArray[Any]:
        """The first samples of all replicas or chunks together."""
        if one.rows[0][0] in WEIGHT_KINDS or not parts[0].ndim:
            return parts[0]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts))[: self._settings.samples]


def shifted(exact: Exact, other: Exact, *, calls: int, slots: int, layers: list[int]) -> None:
    """Add what another function of the same step gave, whose calls, slots and layers are numbered on."""

    def moved(row: Row) -> Row:
        kind, number, port = row
        return (kind, layers[number] if kind in WEIGHT_KINDS else number + calls, port)

    for own, added in ((exact.arrays, other.arrays), (exact.figures, other.figures)):
        for one in added:
            one.rows = [moved(row) for row in one.rows]
            one.slot = None if one.slot is None else one.slot + slots
        own += added
    exact.cut += [(moved(row), size) for row, size in other.cut]
    exact.samples = max(exact.samples, other.samples)


def _is_small(shape: Any) -> bool:
    """Whether labels of this shape have no more than MOST_LABELS numbers per sample."""
    return bool(shape.rank) and shape[1:].is_fully_defined() and shape[1:].num_elements() <= MOST_LABELS


def _has_channels(shape: Any, everything: bool) -> bool:
    """Whether the part of a tensor is made of whole positions with all their channels."""
    if shape.rank is None or not shape[1:].is_fully_defined():
        return False
    return everything or shape.rank > 2 or shape[1:].num_elements() <= parts.PART


def _merged(traced: list[tuple[list[Row], int | None, int]], replicas: list[dict[str, NDArray[Any]]]) -> list[ExactArray]:
    """The figures of all replicas or chunks together: float32 [5, channels], mean, std, min, max, share of zeros."""
    merged, place = [], 0
    for number, (rows, slot, channels) in enumerate(traced):
        end = place + FIGURES * channels
        figures = [replica["figures"][place:end].reshape(FIGURES, channels).astype(np.float64) for replica in replicas]
        counts = [int(replica["figures_of"][number]) // channels for replica in replicas]
        parts = [part for part in zip(counts, figures, strict=True) if part[0]]
        place = end
        if parts:
            merged.append(ExactArray(list(rows), _together(parts), "float32", slot))
    return merged


def _together(parts: list[tuple[int, NDArray[np.float64]]]) -> NDArray[np.float32]:
    counts = np.array([count for count, _ in parts], np.float64)
    figures = np.stack([part for _, part in parts])
    share = (counts / counts.sum())[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        mean = (figures[:, 0] * share).sum(0)
        spread = ((figures[:, 1] + (figures[:, 0] - mean) ** 2) * share).sum(0)
        low, high = figures[:, 2].min(0), figures[:, 3].max(0)
        return np.stack([mean, np.sqrt(spread), low, high, figures[:, 4].sum(0) / counts.sum()]).astype(np.float32)


def _as_stored(array: NDArray[Any]) -> NDArray[Any]:
    """bfloat16 as its bits; all else as it is."""
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array
