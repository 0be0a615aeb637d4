"""Where a tensor lives: eager, the recorded graph, or a graph inside it; and which operations a step depends on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import control_flow_v2_func_graphs as control_flow

_SCRATCH = "scratch_graph"
"""How Keras names the graphs in which it only computes shapes."""


def current() -> Any:
    """The graph that is being built, or None when running eagerly."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def is_scratch(graph: Any) -> bool:
    """Whether a graph, or one around it, is one of Keras's own for computing shapes."""
    while graph is not None:
        if str(getattr(graph, "name", "")).startswith(_SCRATCH):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def is_inside(graph: Any, outer: Any) -> bool:
    """Whether `graph` is `outer` or was opened while `outer` was being built; eagerly (`outer` None) any graph is inside."""
    if outer is None:
        return True
    while graph is not None:
        if graph is outer:
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def why_inner(graph: Any, outer: Any) -> str:
    """Why tensors of an inner graph cannot leave it, in words; empty where the graph is the recorded one itself."""
    inner = graph
    reasons = []
    while inner is not None and inner is not outer:
        if isinstance(inner, (control_flow.WhileBodyFuncGraph, control_flow.WhileCondFuncGraph)):
            reasons.append("inside a loop")
        elif isinstance(inner, control_flow.CondBranchFuncGraph):
            reasons.append("inside a conditional")
        else:
            reasons.append("inside a tf.function")
        inner = getattr(inner, "outer_graph", None)
    return reasons[-1] if reasons else ""


def is_loop_body(tensor: Any) -> bool:
    """Whether a tensor of a graph was made in the body that `tf.vectorized_map` runs once, to convert it."""
    return "loop_body" in tensor.op.name.split("/")


def belongs(tensor: Any, graph: Any) -> bool:
    """Whether a tensor can be read in `graph` (None: eagerly)."""
    if graph is None:
        return isinstance(tensor, tf.__internal__.EagerTensor)
    return getattr(tensor, "graph", None) is graph


ONLY_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"})
"""Operations that read the shape of their input and none of its numbers: who is read by them alone is a shape probe."""


def needed_operations(graph: Any, results: Iterable[Any]) -> set[Any]:
    """The operations of `graph` that `results` (tensors or operations) or any side effect depends on."""
    last = [getattr(result, "op", result) for result in results if getattr(result, "graph", None) is graph]
    last += [operation for operation in graph.get_operations() if has_side_effect(operation)]
    return upstream(last, shapes=False)


def upstream(last: Iterable[Any], *, shapes: bool = True) -> set[Any]:
    """The operations that some depend on, and they themselves. Without `shapes`, what only gives its shape is not followed."""
    found: set[Any] = set()
    waiting = list(last)
    while waiting:
        operation = waiting.pop()
        if operation in found:
            continue
        found.add(operation)
        if shapes or operation.type not in ONLY_SHAPES:
            waiting += [tensor.op for tensor in operation.inputs]
        waiting += operation.control_inputs
    return found


def has_side_effect(operation: Any) -> bool:
    """Whether an operation acts on something outside the graph: assignments, printing, queues."""
    if operation.type in ("Placeholder", "VarHandleOp"):
        return False
    if not operation.outputs:
        return operation.type not in ("NoOp", "Assert")
    definition = operation.op_def
    return bool(definition is not None and definition.is_stateful and operation.type.startswith(("Assign", "Resource", "Print")))


def is_stateful_random(operation: Any) -> bool:
    """Whether an operation draws from a random stream that its kernel keeps (not from a seed that it is given)."""
    definition = operation.op_def
    named = operation.type.startswith(("Random", "ParameterizedTruncatedNormal", "TruncatedNormal", "Multinomial"))
    return bool(named and definition is not None and definition.is_stateful)


_CONTRACTIONS = frozenset({"Conv2D", "Conv3D", "DepthwiseConv2dNative", "MatMul", "BatchMatMulV2"})
_PASSED_THROUGH = frozenset({"Identity", "Reshape"})


_FUSED_AFTER_BIAS = frozenset({"AddV2", "Add", "Sigmoid", "Tanh", "Elu", "LeakyRelu"})


def is_fused_with_next(tensor: Any) -> bool:
    """Whether TensorFlow's optimizer may compute a contraction, its bias and the sum or activation after it at once (or fold the
    constant after it), so that `tensor`, which lies in between, exists in no plain step. Where it is asked for, they run apart,
    and round apart.
    """
    if not _adds_bias(tensor.op):
        return False
    waiting = [tensor]
    while waiting:
        for consumer in waiting.pop().consumers():
            if consumer.type in _FUSED_AFTER_BIAS or (consumer.type == "Sub" and consumer.inputs[1].op.type == "Const"):
                return True
            if consumer.type in _PASSED_THROUGH:
                waiting += consumer.outputs
    return False


def _adds_bias(operation: Any) -> bool:
    """Whether an operation adds a bias to a contraction; Keras 3.3 does so by a plain sum."""
    if operation.type not in ("BiasAdd", "AddV2") or operation.inputs[0].op.type not in _CONTRACTIONS:
        return False
    if operation.type == "BiasAdd":
        return True
    shape = operation.inputs[1].shape
    return bool(shape.is_fully_defined() and shape.rank and shape.num_elements() == shape[-1])
