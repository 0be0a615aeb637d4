"""A second oracle of whose the operations of a step are: what types of operations a layer makes that is traced by itself.

Compared are the calls in the model itself, with all that runs inside them, whose inputs are all that they need: no mask, no cast.
Loops count as one operation, as what is in their bodies belongs to another graph.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import tensorflow as tf

from tb_layerflow.reader import Call, Stream

_OF_THE_GRAPH = {"Placeholder", "NoOp"}
"""An argument of the graph belongs to whoever reads it first; what orders side effects is made once for a whole graph."""


class Compared(NamedTuple):
    """Operations that calls lack or have beyond those of their layers traced alone, of so many operations of so many calls."""

    differing: int
    operations: int
    calls: int


def compared(model: Any, stream: Stream) -> Compared:
    """All calls of a recorded model that can be compared."""
    layers = {layer.name: layer for layer in model._flatten_layers()}
    dtypes = {(call.number, port): leaf.dtype for call in stream.graph.calls for port, leaf in enumerate(call.outputs)}
    differing = operations = calls = 0
    for call in stream.graph.calls:
        is_cast = any(port.source is not None and dtypes[port.source] != port.dtype for port in call.inputs)
        alone = _alone(layers[call.name], call) if call.parent == "." and call.name in layers and not is_cast else None
        if alone is None:
            continue
        recorded = [op.type for op in stream.ops(call.path) if op.direction == "forward" and not op.body]
        own = Counter(type_ for type_ in recorded if type_ not in _OF_THE_GRAPH)
        calls, operations = calls + 1, operations + alone.total()
        differing += (alone - own).total() + (own - alone).total()
    return Compared(differing, operations, calls)


def _alone(layer: Any, call: Call) -> Counter[str] | None:
    """The types of the operations that the layer makes of such inputs; None where it cannot be run on them by itself."""
    if not call.inputs or any(port.shape is None or port.kind or port.key.strip("0123456789") for port in call.inputs):
        return None  # the keys of a list's tensors are numbers, a single tensor has none
    shapes = [[None if size < 0 else size for size in port.shape or ()] for port in call.inputs]
    specs = [tf.TensorSpec(shape, port.dtype) for port, shape in zip(call.inputs, shapes, strict=True)]
    training = {"training": True} if layer._call_has_training_arg else {}

    def alone(*tensors: Any) -> Any:
        return layer(tensors[0] if len(tensors) == 1 else list(tensors), **training)

    graph = tf.function(alone, autograph=False).get_concrete_function(*specs).graph
    made = Counter(operation.type for operation in graph.get_operations() if operation.type not in _OF_THE_GRAPH)
    made["Identity"] -= len(graph.outputs)  # of what a function returns
    return +made
