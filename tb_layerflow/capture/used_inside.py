"""Outputs that their own call reads too, a penalty added to the loss, say: what comes back through that passes the tap by."""

from __future__ import annotations

from typing import Any

from . import calls, graphs
from .calls import Node
from .recording import Recording

WHY = "this output is also used inside the call: its error is what came back from outside"


def outputs(recording: Recording) -> list[tuple[str, int]]:
    """Path and port of each. Only in graphs: eager tensors do not tell who read them.

    A group that returns what a call below it returned reads nothing by that.
    """
    if recording.graph is None:
        return []
    places = {operation: place for place, operation in enumerate(recording.graph.get_operations())}
    return [
        (node.path, port)
        for node in calls.walk(recording.roots)
        for port, leaf in enumerate(node.outputs)
        if leaf.passed_on is not None and leaf.key != "logits"
        if any(_reads_inside(operation, places, node) for operation in leaf.tensor.consumers())
    ]


def _reads_inside(operation: Any, places: dict[Any, int], node: Node) -> bool:
    start, end = node.operations
    return start <= places[operation] < end and operation.type not in graphs.ONLY_SHAPES and operation.type != "StopGradient"
