"""Some of a record for TensorBoard's own tabs: scalars and histograms under the tags that people know. Knows no TensorFlow.

`LayerLoss/<path>` and `LayerAccuracy/<path>` (the loss on the output itself where there is one, else the readout),
`LayerResidual/<path>` (the l2 of the error), `<path>/<weight name>` and `<path>/output` (histograms), and, in records that hold
exact values, `<path>/feature_maps` (a picture of the first sample's maps).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from tensorboard.compat.proto import summary_pb2
from tensorboard.plugins.histogram import metadata as histogram_tab
from tensorboard.plugins.image import metadata as image_tab
from tensorboard.plugins.scalar import metadata as scalar_tab
from tensorboard.util import tensor_util

from . import histogram, montage
from .records import Graph, HistogramTable, Record, Table
from .writer import StreamWriter

KINDS = ("scalars", "histograms", "images")


class Mirror:
    """Called with each record of a stream that has been written; writes the same numbers once more, as other tabs want them.

    Args:
      writer: Gives the stream's writer, None where it has none any more.
      kinds: Out of KINDS.
      by_epoch: Whether the step is the epoch, as Keras's own callback has it.
      losses_only: Leave errors and weights out, because another stream of the run mirrors them.
    """

    def __init__(
        self, writer: Callable[[], StreamWriter | None], kinds: Iterable[str], *, by_epoch: bool, losses_only: bool = False
    ) -> None:
        self._writer = writer
        self._kinds = frozenset(kinds)
        self._by_epoch = by_epoch
        self._losses_only = losses_only

    def __call__(self, stream: str, graph: Graph, record: Record) -> None:
        """Write one record. OSError where the file cannot be written."""
        writer = self._writer()
        values: list[Any] = []
        if "scalars" in self._kinds:
            values += [scalar(tag, number) for tag, number in scalars(graph, record, losses_only=self._losses_only)]
        if "histograms" in self._kinds and not self._losses_only:
            values += histograms(graph, record)
        if "images" in self._kinds:
            values += images(graph, record)
        if writer is not None and values:
            writer.write_summaries(values, int(record.epoch) if self._by_epoch and record.epoch >= 0 else record.step)


def scalars(graph: Graph, record: Record, *, losses_only: bool = False) -> Iterator[tuple[str, float]]:
    """(tag, number) of every layer loss, accuracy and error of a record."""
    outputs = {row.output for row in record.layer_losses if row.form != "added"}
    best = {}
    for row in record.layer_losses:
        key = (row.call, row.port, row.output)
        if row.form != "added" and (key not in best or row.form == "direct"):
            best[key] = row
    for (call, port, output), row in best.items():
        name = _named(graph, call, port) + (f"/{output}" if len(outputs) > 1 and output else "")
        yield f"LayerLoss/{name}", row.loss
        if not math.isnan(row.accuracy):
            yield f"LayerAccuracy/{name}", row.accuracy
    own = record.tables.get("error") or record.tables.get(graph.error_pass)
    if own is not None and not losses_only:
        for number, port, l2 in zip(own.calls.tolist(), own.ports.tolist(), own.columns["l2"].tolist(), strict=True):
            yield f"LayerResidual/{_named(graph, number, port)}", l2


def histograms(graph: Graph, record: Record) -> Iterator[Any]:
    """The histogram of every weight and of every output of a record."""
    for kind in ("weight", "output"):
        table, counted = record.tables.get(kind), record.histograms.get(kind)
        if table is None or counted is None:
            continue
        for row, (number, port) in enumerate(zip(counted.calls.tolist(), counted.ports.tolist(), strict=True)):
            if kind == "output":
                tag = f"{_named(graph, number, port)}/output"
            else:
                tag = f"{graph.layers[number].path}/{graph.layers[number].weights[port].name}"
            yield _histogram(tag, counted, table, row)


def images(graph: Graph, record: Record) -> Iterator[Any]:
    """A picture of the feature maps of every output of which the record holds exact values."""
    for one in record.exact.arrays if record.exact is not None else ():
        maps = one.array
        if maps.ndim != 4 or not maps.size or one.dtype == "bfloat16" or maps.dtype.kind not in "fiu":
            continue
        for kind, call, port in one.rows:
            if kind == "output":
                yield _image(f"{_named(graph, call, port)}/feature_maps", montage.montage(maps[0]))


def scalar(tag: str, number: float) -> Any:
    """One point of the Scalars tab."""
    tensor = tensor_util.make_tensor_proto(np.float32(number), np.float32)
    return summary_pb2.Summary.Value(
        tag=tag, tensor=tensor, metadata=scalar_tab.create_summary_metadata(display_name="", description="")
    )


def _histogram(tag: str, counted: HistogramTable, table: Table, row: int) -> Any:
    """One time of the Histograms tab: float64 [bins that are not empty, 3] of left edge, right edge and count, left to right."""
    low, high = float(table.columns["min"][row]), float(table.columns["max"][row])
    edges, counts = histogram.edges(), counted.counts[row]
    middle = histogram.SIDE
    bins = [(edges[place], edges[place + 1], counts[place]) for place in np.flatnonzero(counts[: 2 * middle])]
    if counts[histogram.ZERO]:
        bins.append((0.0, 0.0, counts[histogram.ZERO]))
    bins.sort()
    if math.isfinite(low) and math.isfinite(high):
        bins = [(min(max(left, low), high), max(min(right, high), low), count) for left, right, count in bins]
    tensor = tensor_util.make_tensor_proto(np.array(bins, np.float64).reshape(-1, 3), np.float64)
    return summary_pb2.Summary.Value(
        tag=tag, tensor=tensor, metadata=histogram_tab.create_summary_metadata(display_name="", description="")
    )


def _image(tag: str, picture: Any) -> Any:
    """One picture of the Images tab: its width, its height, and the PNG, as strings."""
    content = [str(picture.shape[1]).encode(), str(picture.shape[0]).encode(), montage.png(picture)]
    metadata = image_tab.create_summary_metadata(display_name="", description="")
    return summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(np.array(content, object)), metadata=metadata)


def _named(graph: Graph, call: int, port: int) -> str:
    found = graph.calls[call]
    path = found.path if found.path != "." else graph.model
    return path if len(found.outputs) < 2 or port == 0 else f"{path}/{found.outputs[port].key or port}"
