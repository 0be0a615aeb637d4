"""A Graph message as the Graph of `records`, every index checked. Knows neither bytes nor files; `decode` calls it."""

from __future__ import annotations

from typing import Any

from . import counts
from . import layerflow_pb2 as pb
from .decode_ops import Ops, index_of
from .errors import LogError
from .records import Call, Execution, Graph, Layer, LedgerEntry, Port, Weight

_KINDS = {number: name.lower() for name, number in pb.Call.Kind.items()}


def to_graph(message: pb.Graph) -> Graph:
    """The graph; LogError where an index points nowhere."""
    counts.check_ports(message)
    calls, layers = len(message.calls), len(message.layers)
    graph = Graph(
        model=message.model,
        calls=[_call(call, calls, layers) for call in message.calls],
        layers=[_layer(layer) for layer in message.layers],
        ledger=[ledger_entry(entry) for entry in message.ledger],
        execution=_execution(message.execution),
        class_names=list(message.class_names),
        backward_names=list(message.backward_names),
        error_pass=message.error_pass,
    )
    _check_tree(graph)
    ops = Ops(message, calls)
    graph.ops, graph.stacks, graph.source = [ops.op(number) for number in range(len(ops))], ops.stacks, ops.source
    return graph


def ledger_entry(entry: pb.LedgerEntry) -> LedgerEntry:
    """One line of the ledger."""
    return LedgerEntry(entry.path, entry.kind, entry.port, entry.status, entry.reason, entry.step)


def _call(call: pb.Call, calls: int, layers: int) -> Call:
    return Call(
        path=call.path,
        name=call.name,
        type=call.type,
        kind=_KINDS.get(call.kind, "layer"),
        layer=index_of(call.layer, layers, "layer"),
        parent=index_of(call.parent, calls, "call"),
        inputs=[_port(port, calls) for port in call.inputs],
        outputs=[_port(port, calls) for port in call.outputs],
        status=call.status,
        repeats=call.repeats,
        failed=call.failed,
        training=call.training,
        flops=call.flops,
        output_bytes=call.output_bytes,
        traced_inside=call.traced_inside,
    )


def _port(port: pb.Port, calls: int) -> Port:
    return Port(
        key=port.key,
        shape=None if port.shape.unknown_rank else counts.dimensions(port.shape.dims),
        dtype=port.dtype,
        kind=port.kind,
        source=_source(port.source, calls) if port.HasField("source") else None,
        status=port.status,
        error=port.error,
        op=port.op,
        selected=port.selected,
        derived=[_source(one, calls) for one in port.derived],
    )


def _source(source: pb.Source, calls: int) -> tuple[int, int]:
    if not 0 <= source.call < calls or source.port < 0:
        raise LogError(f"A graph refers to port {source.port} of call {source.call}, but has {calls} calls: it is damaged.")
    return source.call, source.port


def _layer(layer: pb.Layer) -> Layer:
    weights = [
        Weight(weight.name, counts.dimensions(weight.shape.dims), weight.dtype, weight.trainable) for weight in layer.weights
    ]
    return Layer(
        path=layer.path,
        name=layer.name,
        type=layer.type,
        weights=weights,
        called=layer.called,
        trainable=layer.trainable,
        access=layer.access,
        config=layer.config,
        module=layer.module,
        dtype_policy=layer.dtype_policy,
    )


def _execution(message: pb.Execution) -> Execution:
    names = vars(Execution())
    return Execution(**{name: _plain(getattr(message, name), isinstance(default, list)) for name, default in names.items()})


def _plain(value: Any, is_list: bool) -> Any:
    return list(value) if is_list else value


def _check_tree(graph: Graph) -> None:
    """A call's parent began before it, so that whoever walks up arrives; a source is a port that there is."""
    for index, call in enumerate(graph.calls):
        if call.parent is not None and call.parent >= index:
            raise LogError(f"A graph has call {index} inside call {call.parent}, which began later: it is damaged.")
        for port in (*call.inputs, *call.outputs):
            for source, number in (*([port.source] if port.source is not None else []), *port.derived):
                if number >= len(graph.calls[source].outputs):
                    raise LogError(f"A graph refers to an output {number} that call {source} lacks: it is damaged.")
