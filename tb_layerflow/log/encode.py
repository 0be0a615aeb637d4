"""Records as bytes: the dataclasses of `records` to the messages of `layerflow.proto`. Knows no files; `decode` is its mirror."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import layerflow_pb2 as pb
from . import stamp as stamps
from .records import (
    COUNT_COLUMNS,
    FLOAT_COLUMNS,
    Call,
    Graph,
    HistogramTable,
    Layer,
    LedgerEntry,
    Manifest,
    Op,
    Port,
    Record,
    Table,
)
from .stamp import Stamp

BLOB_BYTES = 4 << 20
"""How large a blob of a graph may be. One element that is larger by itself has a blob of its own."""

_DEFLATE_LEVEL = 1


def graph(graph: Graph, stamp: Stamp, blob_bytes: int = BLOB_BYTES) -> list[bytes]:
    """The graph as blobs that parse as one Graph when joined; the first `structure_blobs` hold all but ops and what they need."""
    head = pb.Graph(
        stamp=stamps.to_proto(stamp), model=_text(graph.model), error_pass=_text(graph.error_pass), execution=_execution(graph)
    )
    structure = _pack(_structure(graph), head, blob_bytes)
    lineage = _pack(_lineage(graph), pb.Graph(), blob_bytes)
    structure[0].structure_blobs = len(structure)
    return [blob.SerializeToString() for blob in structure + [blob for blob in lineage if blob.ByteSize()]]


def statistics(record: Record, stamp: Stamp) -> bytes:
    """The record without its histograms."""
    message = pb.Statistics(
        stamp=stamps.to_proto(stamp),
        step=record.step,
        iterations=record.iterations,
        epoch=record.epoch,
        phase=_text(record.phase),
        batch_size=record.batch_size,
        loss_scale=record.loss_scale,
        skipped=record.skipped,
        seconds=record.seconds,
        step_seconds=record.step_seconds,
        losses=[pb.Loss(name=_text(name), value=value) for name, value in record.losses.items()],
        tables=[_table(kind, table) for kind, table in record.tables.items()],
        ledger=[_ledger(entry) for entry in record.ledger],
        timings=[
            pb.Timing(call=call, forward=forward, backward=backward) for call, (forward, backward) in record.timings.items()
        ],
    )
    for loss in record.layer_losses:
        message.layer_losses.add(
            call=loss.call,
            port=loss.port,
            form=_text(loss.form),
            loss=loss.loss,
            accuracy=loss.accuracy,
            task=_text(loss.task),
            output=_text(loss.output),
            seed=loss.seed,
            ridge=loss.ridge,
            dimensions=loss.dimensions,
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
        file=_text(manifest.file),
        cut=[_ledger(entry) for entry in manifest.cut],
        samples=manifest.samples,
        bytes=manifest.bytes,
    )
    for value in manifest.values:
        message.values.add(
            kind=_text(value.kind),
            call=value.call,
            port=value.port,
            member=_text(value.member),
            shape=value.shape,
            dtype=_text(value.dtype),
            bytes=value.bytes,
        )
    return bytes(message.SerializeToString())


def _text(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _numbers(array: NDArray[Any], rows: int, name: str) -> list[Any]:
    flat = np.asarray(array)
    if flat.shape != (rows,):
        raise ValueError(f"{name} must have shape ({rows},), one number per row. Received shape: {flat.shape}.")
    return list(flat.tolist())


# -------------------------------------------------------------------------------------------------------------- tables


def _table(kind: str, table: Table) -> pb.Table:
    rows = len(table.calls)
    message = pb.Table(
        kind=_text(kind),
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
        kind=_text(kind),
        call=_numbers(table.calls, rows, "calls"),
        port=_numbers(table.ports, rows, "ports"),
        bins=np.bincount(row, minlength=rows).tolist(),
        bin=steps.tolist(),
        counts=table.counts[row, bins].tolist(),
        part=_numbers(table.part, rows, "part"),
        total=_numbers(table.total, rows, "total"),
    )


# --------------------------------------------------------------------------------------------------------------- graph


def _pack(elements: Iterator[tuple[str, Any]], first: pb.Graph, blob_bytes: int) -> list[pb.Graph]:
    """The (field, element) pairs, in order, as partial graphs of at most `blob_bytes` each."""
    blobs = [first]
    room = blob_bytes - first.ByteSize() - 8
    for field, element in elements:
        size = (len(element.encode()) if isinstance(element, str) else element.ByteSize()) + 8
        if size > room and blobs[-1].ByteSize():
            blobs.append(pb.Graph())
            room = blob_bytes
        getattr(blobs[-1], field).append(element)
        room -= size
    return blobs


def _structure(graph: Graph) -> Iterator[tuple[str, Any]]:
    yield from (("layers", _layer(layer)) for layer in graph.layers)
    yield from (("calls", _call(call)) for call in graph.calls)
    yield from (("ledger", _ledger(entry)) for entry in graph.ledger)
    yield from (("class_names", _text(name)) for name in graph.class_names)
    yield from (("backward_names", _text(name)) for name in graph.backward_names)


def _lineage(graph: Graph) -> Iterator[tuple[str, Any]]:
    """Ops, stacks, frames and source lines; strings and frames that repeat are stored once, before what refers to them."""
    strings: dict[str, int] = {}
    frames: dict[tuple[int, int, int, str], int] = {}

    def number(text: str) -> int:
        return strings.setdefault(_text(text), len(strings))

    stacks = []
    for stack in graph.stacks:
        keys = [(number(frame.file), frame.line, number(frame.function), _text(frame.origin)) for frame in stack.frames]
        stacks.append(pb.Stack(frames=[frames.setdefault(key, len(frames)) for key in keys], user_frame=stack.user_frame))
    ops = [_op(op, number(op.name), number(op.type)) for op in graph.ops]
    source = [
        pb.SourceLine(file=number(file), line=line, text=_text(text)) for (file, line), text in graph.source.items()
    ]
    yield from (("strings", text) for text in strings)
    yield from (
        ("frames", pb.Frame(file=file, line=line, function=function, origin=origin)) for file, line, function, origin in frames
    )
    yield from (("stacks", stack) for stack in stacks)
    yield from (("ops", op) for op in ops)
    yield from (("source", line) for line in source)


def _layer(layer: Layer) -> pb.Layer:
    return pb.Layer(
        path=_text(layer.path),
        name=_text(layer.name),
        type=_text(layer.type),
        weights=[
            pb.Weight(name=_text(weight.name), shape=_shape(weight.shape), dtype=_text(weight.dtype), trainable=weight.trainable)
            for weight in layer.weights
        ],
        called=layer.called,
        trainable=layer.trainable,
        access=_text(layer.access),
        config=_text(layer.config),
        module=_text(layer.module),
        dtype_policy=_text(layer.dtype_policy),
    )


def _call(call: Call) -> pb.Call:
    return pb.Call(
        path=_text(call.path),
        name=_text(call.name),
        type=_text(call.type),
        kind=call.kind.upper(),
        layer=_plus_one(call.layer),
        parent=_plus_one(call.parent),
        inputs=[_port(port) for port in call.inputs],
        outputs=[_port(port) for port in call.outputs],
        status=_text(call.status),
        repeats=call.repeats,
        failed=call.failed,
        training=call.training,
        flops=call.flops,
        output_bytes=call.output_bytes,
        traced_inside=call.traced_inside,
    )


def _port(port: Port) -> pb.Port:
    message = pb.Port(
        key=_text(port.key),
        shape=_shape(port.shape),
        dtype=_text(port.dtype),
        kind=_text(port.kind),
        status=_text(port.status),
        error=_text(port.error),
        op=_text(port.op),
        selected=port.selected,
    )
    if port.source is not None:
        message.source.call, message.source.port = port.source
        message.source.SetInParent()
    return message


def _shape(shape: Sequence[int] | None) -> pb.Shape:
    return pb.Shape(unknown_rank=True) if shape is None else pb.Shape(dims=shape)


def _ledger(entry: LedgerEntry) -> pb.LedgerEntry:
    return pb.LedgerEntry(
        path=_text(entry.path),
        kind=_text(entry.kind),
        port=entry.port,
        status=_text(entry.status),
        reason=_text(entry.reason),
        step=entry.step,
    )


def _execution(graph: Graph) -> pb.Execution:
    message = pb.Execution()
    for name, value in vars(graph.execution).items():
        if isinstance(value, list):
            getattr(message, name).extend(_text(text) for text in value)
        else:
            setattr(message, name, _text(value) if isinstance(value, str) else value)
    return message


def _op(op: Op, name: int, type_: int) -> pb.Op:
    return pb.Op(
        name=name,
        type=type_,
        call=_plus_one(op.call),
        bucket=_text(op.bucket),
        backward=op.backward,
        forward_op=_plus_one(op.forward_op),
        variable=_text(op.variable),
        stack=_plus_one(op.stack),
        fate=_text(op.fate),
        inputs=[index + 1 for index in op.inputs],
        body=_text(op.body),
    )


def _plus_one(index: int | None) -> int:
    return 0 if index is None else index + 1
