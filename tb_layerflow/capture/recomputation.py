"""Which call of the forward pass a call belongs to that a backward pass runs again, to save memory (`tf.recompute_grad`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .calls import Leaf, Node


def among(nodes: Iterable[Node], again: Node, received: list[tuple[str, Any]]) -> Node | None:
    """The call of the same layer that `again` repeats.

    In a graph it is the one that received the same tensors; eagerly the first below a call that is repeated itself, else the
    last: backward passes go through a model from its end.
    """
    waiting = [node for node in nodes if node.layer is again.layer and node.kind == again.kind and not node.recomputed]
    tensors = [_origin(tensor) for _, tensor in received]
    for node in waiting:
        if tensors and [_origin(leaf.tensor) for leaf in node.inputs] == tensors and None not in tensors:
            return node
    if not waiting:
        return None
    return waiting[0] if again.parent is not None else waiting[-1]


def _origin(tensor: Any) -> int | None:
    """Which tensor of the graph this is, looked at through identities; None eagerly."""
    try:
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
    except (AttributeError, RuntimeError):
        return None
    return id(tensor.op)


def receivers(node: Node, port: int, output: Leaf, logits: Leaf) -> tuple[Leaf, Leaf]:
    """The ports that the errors of a call's output and of its logits belong to: those of the call that it repeats."""
    first = node.repeated
    if first is None or port >= len(first.outputs):
        return output, logits
    return first.outputs[port], output.logits_among(first.outputs) or logits
