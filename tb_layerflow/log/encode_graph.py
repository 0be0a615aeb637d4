"""A Graph of `records` as partial Graph messages, each small enough for one blob. Knows no bytes; `encode` calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import layerflow_pb2 as pb
from .records import Call, Graph, Layer, LedgerEntry, Op, Port


def to_messages(graph: Graph, stamp: pb.Stamp, blob_bytes: int) -> list[pb.Graph]:
    """The partial graphs, in order: first the structure, then ops, stacks, frames, strings and source lines."""
    head = pb.Graph(stamp=stamp, model=text(graph.model), error_pass=text(graph.error_pass), execution=_execution(graph))
    structure = _pack(_structure(graph), head, blob_bytes)
    lineage = _pack(_lineage(graph), pb.Graph(), blob_bytes)
    structure[0].structure_blobs = len(structure)
    return structure + [message for message in lineage if message.ByteSize()]


def text(text: str) -> str:
    """Text that UTF-8 can hold: a lone surrogate becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def ledger_entry(entry: LedgerEntry) -> pb.LedgerEntry:
    """One line of the ledger."""
    return pb.LedgerEntry(
        path=text(entry.path),
        kind=text(entry.kind),
        port=entry.port,
        status=text(entry.status),
        reason=text(entry.reason),
        step=entry.step,
    )


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
    yield from (("ledger", ledger_entry(entry)) for entry in graph.ledger)
    yield from (("class_names", text(name)) for name in graph.class_names)
    yield from (("backward_names", text(name)) for name in graph.backward_names)


def _lineage(graph: Graph) -> Iterator[tuple[str, Any]]:
    """Ops, stacks, frames and source lines; strings and frames that repeat are stored once, before what refers to them."""
    strings: dict[str, int] = {}
    frames: dict[tuple[int, int, int, str], int] = {}

    def number(name: str) -> int:
        return strings.setdefault(text(name), len(strings))

    stacks = []
    for stack in graph.stacks:
        keys = [(number(frame.file), frame.line, number(frame.function), text(frame.origin)) for frame in stack.frames]
        stacks.append(pb.Stack(frames=[frames.setdefault(key, len(frames)) for key in keys], user_frame=stack.user_frame))
    ops = [_op(op, number(op.name), number(op.type)) for op in graph.ops]
    source = [pb.SourceLine(file=number(file), line=line, text=text(code)) for (file, line), code in graph.source.items()]
    yield from (("strings", string) for string in strings)
    yield from (
        ("frames", pb.Frame(file=file, line=line, function=function, origin=origin)) for file, line, function, origin in frames
    )
    yield from (("stacks", stack) for stack in stacks)
    yield from (("ops", op) for op in ops)
    yield from (("source", line) for line in source)


def _layer(layer: Layer) -> pb.Layer:
    return pb.Layer(
        path=text(layer.path),
        name=text(layer.name),
        type=text(layer.type),
        weights=[
            pb.Weight(name=text(weight.name), shape=_shape(weight.shape), dtype=text(weight.dtype), trainable=weight.trainable)
            for weight in layer.weights
        ],
        called=layer.called,
        trainable=layer.trainable,
        access=text(layer.access),
        config=text(layer.config),
        module=text(layer.module),
        dtype_policy=text(layer.dtype_policy),
    )


def _call(call: Call) -> pb.Call:
    return pb.Call(
        path=text(call.path),
        name=text(call.name),
        type=text(call.type),
        kind=call.kind.upper(),
        layer=_plus_one(call.layer),
        parent=_plus_one(call.parent),
        inputs=[_port(port) for port in call.inputs],
        outputs=[_port(port) for port in call.outputs],
        status=text(call.status),
        repeats=call.repeats,
        failed=call.failed,
        training=call.training,
        flops=call.flops,
        output_bytes=call.output_bytes,
        traced_inside=call.traced_inside,
    )


def _port(port: Port) -> pb.Port:
    message = pb.Port(
        key=text(port.key),
        shape=_shape(port.shape),
        dtype=text(port.dtype),
        kind=text(port.kind),
        status=text(port.status),
        error=text(port.error),
        op=text(port.op),
        selected=port.selected,
    )
    if port.source is not None:
        message.source.call, message.source.port = port.source
        message.source.SetInParent()
    message.derived.extend(pb.Source(call=call, port=number) for call, number in port.derived)
    return message


def _shape(shape: Sequence[int] | None) -> pb.Shape:
    return pb.Shape(unknown_rank=True) if shape is None else pb.Shape(dims=shape)


def _execution(graph: Graph) -> pb.Execution:
    message = pb.Execution()
    for name, value in vars(graph.execution).items():
        if isinstance(value, list):
            getattr(message, name).extend(text(item) for item in value)
        else:
            setattr(message, name, text(value) if isinstance(value, str) else value)
    return message


def _op(op: Op, name: int, type_: int) -> pb.Op:
    return pb.Op(
        name=name,
        type=type_,
        call=_plus_one(op.call),
        bucket=text(op.bucket),
        backward=op.backward,
        forward_op=_plus_one(op.forward_op),
        variable=text(op.variable),
        stack=_plus_one(op.stack),
        fate=text(op.fate),
        inputs=[index + 1 for index in op.inputs],
        body=text(op.body),
    )


def _plus_one(index: int | None) -> int:
    return 0 if index is None else index + 1
