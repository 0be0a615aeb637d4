"""Outputs that their own call reads too, a penalty added to the loss, say: what comes back through that passes the tap by."""

from __future__ import annotations

from typing import Any

from tb_layerflow.log import records

from . import calls, graphs
from .calls import Leaf, Node
from .recording import Recording

WHY = "this output is also used inside the call: its error is what came back from outside"


def notes(recording: Recording, graph: records.Graph, needed: set[Any]) -> list[records.LedgerEntry]:
    """One of each. Only in graphs: eager tensors do not tell who read them.

    A group that returns what a call below it returned reads nothing by that; nor is a call named that hands its input back.
    `needed` are the operations that the step depends on.
    """
    if recording.graph is None:
        return []
    places = {operation: place for place, operation in enumerate(recording.graph.get_operations())}
    return [
        records.LedgerEntry(node.path, "error", port, "note", WHY)
        for node in calls.walk(recording.roots)
        for port, leaf in enumerate(node.outputs)
        if graph.calls[node.index].outputs[port].selected and _is_made_here(leaf, node)
        if any(consumer in needed and _reads_inside(consumer, places[consumer], node) for consumer in leaf.tensor.consumers())
    ]


def _is_made_here(leaf: Leaf, node: Node) -> bool:
    return (
        leaf.passed_on is not None
        and leaf.kind != records.LOGITS
        and all(leaf.tensor is not given.tensor for given in node.inputs)
    )


def _reads_inside(operation: Any, place: int, node: Node) -> bool:
    start, end = node.operations
    return start <= place < end and operation.type not in graphs.ONLY_SHAPES and operation.type != "StopGradient"
