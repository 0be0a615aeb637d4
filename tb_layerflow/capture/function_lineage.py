"""The operations of a concrete function that is traced already, as one call with that function's name.

Nobody watched while it was traced: calls of layers inside it cannot be told apart any more, and a backward operation is known by
its name scope, `gradient_tape/`, below which the name of the forward one stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tb_layerflow.log import records

from . import fates
from .frames import Stacks

_BACKWARD = "gradient_tape/"


@dataclass(frozen=True)
class FunctionLineage:
    """What is known of one function; the operations' `call` is yet to be set."""

    ops: list[records.Op]
    stacks: list[records.Stack]


def of(function: Any) -> FunctionLineage:
    """The operations of a concrete function.

    Raises:
        TypeError: it is no concrete function.
    """
    graph = getattr(function, "graph", None)
    if graph is None or not hasattr(graph, "get_operations") or not hasattr(function, "structured_outputs"):
        raise TypeError(
            "concrete_function must be what get_concrete_function(…) of a tf.function returns. "
            f"Received: {function!r} (of type {type(function).__name__})."
        )
    stacks = Stacks()
    operations = graph.get_operations()
    numbers = {operation.name: number for number, operation in enumerate(operations)}
    ops = [
        records.Op(
            name=operation.name,
            type=operation.type,
            backward=_BACKWARD in operation.name,
            forward_op=_forward(operation.name, numbers),
            stack=stacks.of(operation.traceback).stack,
            inputs=[numbers[tensor.op.name] for tensor in operation.inputs],
        )
        for operation in operations
    ]
    fates.of(graph, graph.outputs, ops)
    for op in ops:
        op.bucket = ""
    if _is_compiled(function):
        ops = ops[: len(operations)]
        for op in ops:
            op.fate = fates.ONE_CLUSTER
    return FunctionLineage(ops, stacks.all)


def _forward(name: str, numbers: dict[str, int]) -> int | None:
    """`gradient_tape/dense/MatMul/MatMul_1` is of `dense/MatMul`."""
    _, mark, scope = name.partition(_BACKWARD)
    while mark and "/" in scope:
        scope = scope.rpartition("/")[0]
        if scope in numbers:
            return numbers[scope]
    return None


def _is_compiled(function: Any) -> bool:
    definition = getattr(function, "function_def", None)
    return bool(definition is not None and "_XlaMustCompile" in definition.attr and definition.attr["_XlaMustCompile"].b)
