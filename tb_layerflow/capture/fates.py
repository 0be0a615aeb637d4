"""What TensorFlow's graph optimiser makes of a step's operations: kept, folded, fused, removed, added.

The optimiser is asked what it makes of a copy of the recording's graph, before anything is measured in it: of what the step
returns and changes, so that it is the plain step which is optimised; our identities drop out. Nothing runs, and it costs no step.
What XLA compiles is one cluster, whose inside cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.grappler import tf_optimizer
from tensorflow.python.training.saver import export_meta_graph

from tb_layerflow.log import records

from . import buckets, graphs

KEPT, FOLDED, REMOVED, ADDED = "kept", "folded", "removed", "added"
ONE_CLUSTER = "compiled: the function is one XLA cluster"
EAGER = "ran eagerly: nothing was optimised"
IN_FUNCTION = "unknown: it stands in a function of its own"

MOST = 30_000
"""Larger graphs are not optimised for their fates: it would take as long as tracing them."""

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def of(graph: Any, results: Iterable[Any], ops: list[records.Op]) -> None:
    """Give each operation of a traced graph its fate, and append those that the optimiser adds.

    Args:
        graph: a graph, finished or still being built.
        results: the tensors that its function returns; beside them its side effects count as needed.
        ops: the graph's operations, as they are recorded.
    """
    if len(ops) > MOST:
        _all(ops, f"unknown: the graph has more than {MOST:,} operations")
        return
    before = {node.name: node for node in graph.as_graph_def().node}
    after = {node.name: node for node in _optimised(graph, results).node}
    known = compare(before, after)
    for op in ops:
        op.fate = IN_FUNCTION if op.body else known.get(op.name, REMOVED)
    added = [node for name, node in after.items() if name not in before]
    ops += [records.Op(node.name, node.op, bucket=buckets.OTHER, fate=ADDED) for node in added]


def mark_compiled(graph: records.Graph) -> None:
    """What XLA compiles, by the graph's execution report, is one cluster."""
    if graph.execution.jit_compile:
        graph.ops = [op for op in graph.ops if op.fate != ADDED]
        _all(graph.ops, ONE_CLUSTER)


def all_eager(graph: records.Graph) -> None:
    """Nothing was optimised."""
    _all(graph.ops, EAGER)


def _all(ops: list[records.Op], fate: str) -> None:
    for op in ops:
        op.fate = fate


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """The fate of every node of `before` (NodeDefs by name)."""
    takers: dict[str, list[str]] = {}
    for name, node in before.items():
        for source in node.input:
            takers.setdefault(_name(source), []).append(name)
    fates: dict[str, str] = {}
    constant = _constants(before)
    for name, node in before.items():
        now = after.get(name)
        if now is not None and now.op == node.op:
            fates[name] = KEPT
        elif (now is not None and now.op == "Const") or (now is None and name in constant and node.op != "Const"):
            fates[name] = FOLDED
        elif now is not None:
            fates[name] = f"fused into {name} ({now.op})" if now.op.startswith("_") else f"replaced by {now.op}"
        else:
            fates[name] = _where_it_went(name, takers, before, after, constant)
    return fates


def _where_it_went(
    name: str, takers: Mapping[str, list[str]], before: Mapping[str, Any], after: Mapping[str, Any], constant: set[str]
) -> str:
    """A node that is gone was fused where those that take from it, themselves gone, end in a fused one."""
    waiting, seen = [name], set()
    while waiting:
        for taker in takers.get(waiting.pop(), ()):
            now = after.get(taker)
            if now is not None and now.op != before[taker].op and now.op.startswith("_"):
                return f"fused into {taker} ({now.op})"
            if now is None and taker not in seen:
                seen.add(taker)
                waiting.append(taker)
            if name in constant and (now is None or now.op == "Const") and taker in constant:
                return FOLDED
    return REMOVED


def _constants(nodes: Mapping[str, Any]) -> set[str]:
    """The nodes that depend on constants alone."""
    found: set[str] = set()
    for name, node in nodes.items():
        sources = [_name(source) for source in node.input]
        if node.op == "Const" or (sources and all(source in found for source in sources)):
            found.add(name)
    return found


def _name(source: str) -> str:
    return source.lstrip("^").partition(":")[0]


def _optimised(graph: Any, results: Iterable[Any]) -> Any:
    """The graph after TensorFlow's optimiser: what its results and its side effects need."""
    wanted = [getattr(result, "op", result) for result in results if getattr(result, "graph", None) is graph]
    wanted += [operation for operation in graph.get_operations() if graphs.has_side_effect(operation)]
    definition = graph.as_graph_def()
    for node in definition.node:
        node.device = node.device or _DEVICE
    meta = export_meta_graph(graph_def=definition, graph=graph)
    arguments = [operation.name for operation in graph.get_operations() if operation.type == "Placeholder"]
    names = dict.fromkeys([operation.name for operation in wanted] + arguments)
    meta.collection_def["train_op"].node_list.value.extend(names)
    configuration = config_pb2.ConfigProto()
    options = configuration.graph_options.rewrite_options
    options.meta_optimizer_iterations = 2
    options.min_graph_nodes = -1
    return tf_optimizer.OptimizeGraph(configuration, meta)
