"""From which calls' outputs plain TensorFlow operations computed an input: found by walking the graph back from the input."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import graphs
from .calls import Leaf, Node
from .recording import Recording

LONGEST_WALK = 2_000
"""Operations between calls that are looked at for one input; behind more of them nothing is said to be derived."""

Place = tuple[str, int]
"""A tensor of a graph: its operation's name, and the number of the output."""


def derive(recording: Recording, nodes: list[Node]) -> None:
    """Fill `derived` of all inputs that are no call's output themselves. Only in graphs: eager tensors do not tell."""
    if recording.graph is None:
        return
    known = {
        _place(part): (node, port)
        for tensor, node, port in recording.producers()
        for part in tf.nest.flatten(tensor, expand_composites=True)
        if graphs.belongs(part, recording.graph)
    }
    living = {id(node) for node in nodes}
    for node in nodes:
        for leaf in node.inputs:
            if leaf.source is None and leaf.tensor is not None:
                found = _origins(leaf, known)
                leaf.derived = [(source, port) for source, port in found if id(source) in living and source is not node]


def _origins(leaf: Leaf, known: dict[Place, tuple[Node, int]]) -> list[tuple[Node, int]]:
    """The outputs that lead to an input, in the order of their calls; the walk ends at each."""
    found: dict[tuple[int, int], tuple[Node, int]] = {}
    waiting = [leaf.tensor]
    seen: set[Place] = set()
    while waiting and len(seen) < LONGEST_WALK:
        tensor = waiting.pop()
        place = _place(tensor)
        if place in known:
            node, port = known[place]
            found[node.index, port] = (node, port)
            continue
        if tensor.op.name not in seen:
            seen.add(tensor.op.name)
            waiting += tensor.op.inputs
    return [] if waiting else [found[key] for key in sorted(found)]


def _place(tensor: Any) -> Place:
    return tensor.op.name, tensor.value_index
