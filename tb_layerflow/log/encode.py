"""Records as bytes: the dataclasses of `records` to the messages of `layerflow.proto`. Knows no files; `decode` is its mirror."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import encode_graph
from . import layerflow_pb2 as pb
from . import stamp as stamps
from .encode_graph import ledger_entry, text
from .records import COUNT_COLUMNS, FLOAT_COLUMNS, Graph, HistogramTable, Manifest, Record, Table
from .stamp import Stamp

BLOB_BYTES = 4 << 20
"""How large a blob of a graph may be. One element that is larger by itself has a blob of its own."""

_DEFLATE_LEVEL = 1


def graph(graph: Graph, stamp: Stamp, blob_bytes: int = BLOB_BYTES) -> list[bytes]:
    """The graph as blobs that parse as one Graph when joined; the first `structure_blobs` hold all but ops and what they need."""
    return [blob.SerializeToString() for blob in encode_graph.to_messages(graph, stamps.to_proto(stamp), blob_bytes)]


def statistics(record: Record, stamp: Stamp) -> bytes:
    """The record without its histograms."""
    message = pb.Statistics(
        stamp=stamps.to_proto(stamp),
        step=record.step,
        iterations=record.iterations,
        epoch=record.epoch,
        phase=text(record.phase),
        batch_size=record.batch_size,
        loss_scale=record.loss_scale,
        skipped=record.skipped,
        seconds=record.seconds,
        step_seconds=record.step_seconds,
        losses=[pb.Loss(name=text(name), value=value) for name, value in record.losses.items()],
        tables=[_table(kind, table) for kind, table in record.tables.items()],
        ledger=[ledger_entry(entry) for entry in record.ledger],
        timings=[
            pb.Timing(call=call, forward=forward, backward=backward) for call, (forward, backward) in record.timings.items()
        ],
    )
    for loss in record.layer_losses:
        message.layer_losses.add(
            call=loss.call,
            port=loss.port,
            form=text(loss.form),
            loss=loss.loss,
            accuracy=loss.accuracy,
            task=text(loss.task),
            output=text(loss.output),
            seed=loss.seed,
            ridge=loss.ridge,
            dimensions=loss.dimensions,
            baseline=loss.baseline,
        )
    return bytes(message.SerializeToString())


def histograms(record: Record, stamp: Stamp) -> bytes:
    """The record's histograms: only the bins that are not empty, deflated."""
    tables = pb.HistogramTables(tables=[_histogram_table(kind, table) for kind, table in record.histograms.items()])
    deflated = zlib.compress(tables.SerializeToString(), _DEFLATE_LEVEL)
    return bytes(pb.Histograms(stamp=stamps.to_proto(stamp), step=record.step, deflated=deflated).SerializeToString())


def manifest(manifest: Manifest, stamp: Stamp) -> bytes:
    """What a record's value file holds."""
    message = pb.Values(
        stamp=stamps.to_proto(stamp),
        step=manifest.step,
        file=text(manifest.file),
        cut=[ledger_entry(entry) for entry in manifest.cut],
        samples=manifest.samples,
        bytes=manifest.bytes,
    )
    for value in manifest.values:
        message.values.add(
            kind=text(value.kind),
            call=value.call,
            port=value.port,
            member=text(value.member),
            shape=value.shape,
            dtype=text(value.dtype),
            bytes=value.bytes,
        )
    return bytes(message.SerializeToString())


def _numbers(array: NDArray[Any], rows: int, name: str) -> list[Any]:
    flat = np.asarray(array)
    if flat.shape != (rows,):
        raise ValueError(f"{name} must have shape ({rows},), one number per row. Received shape: {flat.shape}.")
    return list(flat.tolist())


def _table(kind: str, table: Table) -> pb.Table:
    rows = len(table.calls)
    message = pb.Table(
        kind=text(kind),
        call=_numbers(table.calls, rows, "calls"),
        port=_numbers(table.ports, rows, "ports"),
        part=_numbers(table.part, rows, "part"),
        stride=_numbers(table.stride, rows, "stride"),
    )
    for name in COUNT_COLUMNS:
        getattr(message, name).extend(_numbers(table.columns[name], rows, name))
    for name in (*FLOAT_COLUMNS, "finite"):
        column = np.asarray(table.columns[name])
        if column.shape != (rows,):
            raise ValueError(f"{name} must have shape ({rows},), one number per row. Received shape: {column.shape}.")
        setattr(message, name, column.astype("u1" if name == "finite" else "<f4").tobytes())
    return message


def _histogram_table(kind: str, table: HistogramTable) -> pb.HistogramTable:
    rows = len(table.calls)
    row, bins = np.nonzero(table.counts)
    steps = np.diff(bins, prepend=0)
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    steps[begins] = bins[begins]
    return pb.HistogramTable(
        kind=text(kind),
        call=_numbers(table.calls, rows, "calls"),
        port=_numbers(table.ports, rows, "ports"),
        bins=np.bincount(row, minlength=rows).tolist(),
        bin=steps.tolist(),
        counts=table.counts[row, bins].tolist(),
        part=_numbers(table.part, rows, "part"),
        total=_numbers(table.total, rows, "total"),
    )
