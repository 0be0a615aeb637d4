"""From a finished recording to a graph, and to the list of tensors to measure. Builds no operations and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from tb_layerflow.log import records

from . import calls, derivation, flops, graph_operations, graphs, layer_table, used_inside
from .calls import Leaf, Node
from .recording import Recording

Selected = Callable[[records.Call, Any], bool]
"""Whether `layers` chose a call: asked with the call and its layer object."""


@dataclass
class Plan:
    """Which tensors to measure, and which rows of which table each measurement fills.

    `rows[kind]` holds (call, port, slot); several rows share a slot where the tensor is the same. `ranks` are the slots' ranks,
    None where unknown; `everything` says that the part is the whole tensor. `measured` has what instruments measured of slots
    already, with what else they want of them.
    """

    tensors: list[Any] = field(default_factory=list)
    is_error: list[bool] = field(default_factory=list)
    rows: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    ranks: list[int | None] = field(default_factory=list)
    everything: bool = False
    measured: dict[int, Any] = field(default_factory=dict)
    _slots: dict[int, int] = field(default_factory=dict)

    def add(self, kind: str, call: int, port: int, tensor: Any, *, is_error: bool = False) -> None:
        """Measure `tensor` for one row."""
        slot = self._slots.get(id(tensor))
        if slot is None or self.is_error[slot] != is_error:
            slot = self._slots[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
            self.ranks.append(tensor.shape.rank)
            self.is_error.append(is_error)
        self.rows.setdefault(kind, []).append((call, port, slot))

    def once(self) -> NDArray[np.int64]:
        """The slots of weights, their gradients and updates: replicas and chunks do not add up to them."""
        slots = {slot for kind in records.WEIGHT_KINDS for _, _, slot in self.rows.get(kind, ())}
        return np.array(sorted(slots), np.int64)

    def forget_tensors(self) -> None:
        """Let go of the trace's tensors; only the rows are needed from then on."""
        self.tensors = []
        self.measured = {}
        self._slots = {}


@dataclass
class Outcome:
    """What one recording found. `nodes` are the calls in the order of `graph.calls`; `layers` the objects of `graph.layers`.

    `noted` holds what instruments learn at trace time and need on the host, by their names.
    """

    graph: records.Graph
    plan: Plan
    nodes: list[Node]
    layers: list[Any]
    dropped: int
    noted: dict[str, Any] = field(default_factory=dict)


def conclude(
    recording: Recording,
    results: Iterable[Any],
    *,
    model: Any,
    selected: Selected,
    kinds: Iterable[str] = ("outputs", "errors"),
    everything: bool = False,
) -> Outcome:
    """Turn a recording into a graph and a plan.

    Args:
        recording: one whose calls have all ended.
        results: the tensors that the step returns; calls that nothing depends on are dropped.
        model: the model that was recorded, or None; its layers that were never called are listed too.
        selected: which calls' numbers are wanted.
        kinds: of `what`: "outputs" (with inputs), "errors"; and "source": with the text of the users' lines.
        everything: whether all figures come from all elements.
    """
    results = list(results)
    needed = set() if recording.graph is None else graphs.needed_operations(recording.graph, results)
    dropped = _drop_phantoms(recording, needed)
    calls.assign_paths(recording.roots)
    if recording.graph is None:
        calls.thin(recording.roots)
    nodes = calls.number(recording.roots)
    if recording.errors:
        _drop_logits_nobody_read(nodes)
    derivation.derive(recording, nodes)
    table = layer_table.LayerTable(model)
    graph = records.Graph(model=_model_name(model, recording.roots), calls=[], layers=[])
    for node in nodes:
        call = _call(node, None if node.kind in ("input", "tap", "function") else table.index_of(node))
        graph.calls.append(call)
        _select(call, node, selected)
    graph.layers, layers = table.finish()
    passes = _error_kinds(recording, nodes, graph)
    plan = Plan(everything=everything)
    for node, call in zip(nodes, graph.calls, strict=True):
        _plan_call(plan, node, call, passes, set(kinds))
    graph.ledger = _ledger(graph, dropped, set(kinds), recording, _inside_functions(nodes, layers))
    if "errors" in kinds:
        graph.ledger += used_inside.notes(recording, graph, needed)
    _add_lineage(recording, graph, layers, results, source="source" in kinds)
    return Outcome(graph, plan, nodes, layers, dropped)


def _add_lineage(recording: Recording, graph: records.Graph, layers: list[Any], results: list[Any], *, source: bool) -> None:
    try:
        graph_operations.describe(recording, graph, layers, results, source=source)
    except Exception as error:  # the numbers are worth more than their lineage
        graph.ops, graph.stacks = [], []
        why = f"{type(error).__name__}: {error}"
        graph.ledger.append(records.LedgerEntry("", "op", -1, "skipped", f"the operations could not be told: {why}"))


def _drop_phantoms(recording: Recording, needed: set[Any]) -> int:
    if recording.graph is None:
        return 0
    for node in calls.walk(recording.roots):
        tensors = [leaf.passed_on if leaf.passed_on is not None else leaf.tensor for leaf in node.outputs]
        tensors = [tensor for tensor in tensors if tensor is not None]
        node.dead = (
            bool(tensors)
            and node.kind != "input"
            and not any(tensor.op in needed or _logits_needed(node, needed) for tensor in tensors)
        )
        if node.dead and graphs.is_loop_body(tensors[0]):
            _keep_structure(node)
    recording.roots, dropped = calls.prune(recording.roots)
    return dropped


def _drop_logits_nobody_read(nodes: list[Node]) -> None:
    """Logits are an output of their own where a loss reads them: then their error comes back. Elsewhere, measured, they would
    keep TensorFlow from fusing an activation into its layer, and the step from being the plain one to the last bit.
    """
    for node in nodes:
        node.outputs = [leaf for leaf in node.outputs if leaf.kind != records.LOGITS or leaf.errors]


def _keep_structure(node: Node) -> None:
    """A call in the body that `tf.vectorized_map` converts: it ran, on one element, and its tensors are nobody's."""
    node.dead = False
    node.status = "inside a loop"
    for leaf in [*node.inputs, *node.outputs]:
        leaf.tensor, leaf.passed_on, leaf.status, leaf.error = None, None, leaf.status or node.status, node.status


def _logits_needed(node: Node, needed: set[Any]) -> bool:
    return any(leaf.kind == records.LOGITS and leaf.tensor is not None and leaf.tensor.op in needed for leaf in node.outputs)


def _model_name(model: Any, roots: list[Node]) -> str:
    name = getattr(model, "name", None)
    return str(name) if name else (roots[0].name if roots else "")


def _call(node: Node, layer: int | None) -> records.Call:
    return records.Call(
        path=node.path,
        name=node.name,
        type=node.type,
        kind=node.kind,
        layer=layer,
        parent=None if node.parent is None else node.parent.index,
        inputs=[_port(leaf) for leaf in node.inputs],
        outputs=[_port(leaf) for leaf in node.outputs],
        status=node.status,
        repeats=node.repeats,
        failed=node.failed,
        training=node.training,
        traced_inside=node.traced_inside,
        output_bytes=sum(_bytes(leaf) for leaf in node.outputs),
    )


def _bytes(leaf: Leaf) -> int:
    """What an output takes in memory; a dimension that is not known, mostly the batch, counts as one."""
    if leaf.shape is None or leaf.kind == records.LOGITS or not hasattr(tf.dtypes, leaf.dtype):
        return 0
    return flops.size(leaf.shape) * int(getattr(tf.dtypes, leaf.dtype).size)


def _port(leaf: Leaf) -> records.Port:
    source = leaf.source
    return records.Port(
        key=leaf.key,
        shape=leaf.shape,
        dtype=leaf.dtype,
        kind=leaf.kind,
        status=leaf.status,
        error=leaf.error,
        op=leaf.op,
        source=None if source is None or source[0].dead or source[0].index < 0 else (source[0].index, source[1]),
        derived=[(node.index, port) for node, port in leaf.derived],
    )


def _select(call: records.Call, node: Node, selected: Selected) -> None:
    if selected(call, node.layer):
        return
    for port in call.inputs + call.outputs:
        port.selected = False
        port.status = port.status or "not selected"
        port.error = port.error or "not selected"


def _error_kinds(recording: Recording, nodes: list[Node], graph: records.Graph) -> dict[int, str]:
    """The table's kind for each backward pass that reached an output: `error` where there is one, else `error#0`, …"""
    reached = sorted({error.backward for node in nodes for leaf in node.outputs for error in leaf.errors})
    if len(reached) <= 1:
        graph.backward_names = [recording.pass_names.get(number, "") for number in reached]
        return dict.fromkeys(reached, "error")
    graph.backward_names = [recording.pass_names.get(number, "") for number in reached]
    own = recording.applied_pass if recording.applied_pass in reached else reached[-1]
    graph.error_pass = f"error#{reached.index(own)}"
    return {number: f"error#{place}" for place, number in enumerate(reached)}


def _plan_call(plan: Plan, node: Node, call: records.Call, passes: dict[int, str], kinds: set[str]) -> None:
    for number, (leaf, port) in enumerate(zip(node.outputs, call.outputs, strict=True)):
        if leaf.tensor is not None and port.selected and "outputs" in kinds:
            plan.add("output", node.index, number, _first_of_same(leaf))
        if "errors" not in kinds or port.error:
            continue
        _plan_errors(plan, node, number, leaf, port, passes)
    if "outputs" in kinds:
        for number, (leaf, port) in enumerate(zip(node.inputs, call.inputs, strict=True)):
            if leaf.tensor is not None and port.selected and not leaf.same_as_source:
                plan.add("input", node.index, number, leaf.tensor)


def _first_of_same(leaf: Leaf) -> Any:
    """The tensor as it was first seen: what a group passes on is measured once, where it was made."""
    while leaf.same_as_source and leaf.source is not None and not leaf.source[0].dead:
        earlier = leaf.source[0].outputs[leaf.source[1]]
        if earlier.tensor is None or earlier is leaf:
            break
        leaf = earlier
    return leaf.tensor


def _plan_errors(plan: Plan, node: Node, number: int, leaf: Leaf, port: records.Port, passes: dict[int, str]) -> None:
    by_kind: dict[str, Any] = {}
    for error in leaf.errors:
        if error.tensor is not None:
            by_kind.setdefault(passes[error.backward], error.tensor)
    for kind, tensor in by_kind.items():
        plan.add(kind, node.index, number, tensor, is_error=True)
    if by_kind:
        return
    inner = next((error.status for error in leaf.errors if error.status), "")
    logits = leaf.logits_among(node.outputs)
    port.error = inner or ("at the logits" if logits is not None and logits.errors else "not connected")


def _inside_functions(nodes: list[Node], layers: list[Any]) -> set[int]:
    """The layers below calls that are a `tf.function`, which Keras traced when it built the model: they ran, unseen."""
    below = {
        id(layer)
        for node in nodes
        if node.traced_inside and hasattr(node.layer, "_flatten_layers")
        for layer in node.layer._flatten_layers(include_self=False)
    }
    return {number for number, layer in enumerate(layers) if id(layer) in below}


def _ledger(
    graph: records.Graph, dropped: int, kinds: set[str], recording: Recording, inside: set[int]
) -> list[records.LedgerEntry]:
    entries = []
    for call in graph.calls:
        if call.status:
            entries.append(records.LedgerEntry(call.path, "", -1, "skipped", call.status))
            continue
        for number, port in enumerate(call.outputs):
            if port.status:
                entries.append(records.LedgerEntry(call.path, "output", number, "skipped", port.status))
            if port.error and "errors" in kinds and call.kind != "input":
                entries.append(records.LedgerEntry(call.path, "error", number, "skipped", port.error))
    entries += [
        records.LedgerEntry(
            layer.path, "", -1, "skipped", "inside a tf.function" if number in inside else "never called in this step"
        )
        for number, layer in enumerate(graph.layers)
        if not layer.called
    ]
    if dropped:
        text = f"{dropped} calls that nothing in the step depends on (shape probes and the like) are not part of it"
        entries.append(records.LedgerEntry("", "", -1, "note", text))
    entries += [records.LedgerEntry(path, "", -1, "note", text) for path, text in _random_notes(recording)]
    entries += [records.LedgerEntry(path, "output", -1, "note", _FUSED) for path in _fused(recording)]
    if recording.without_gradient:
        text = f"errors end at operations without a gradient: {', '.join(sorted(recording.without_gradient))}"
        entries.append(records.LedgerEntry("", "error", -1, "note", text))
    return entries


def _random_notes(recording: Recording) -> list[tuple[str, str]]:
    """The calls that draw from TensorFlow's stateful random ops: there a model has one random stream per compiled variant."""
    if recording.graph is None:
        return []
    operations = recording.graph.get_operations()
    notes: dict[str, str] = {}
    for node in calls.walk(recording.roots):
        if node.children:
            continue
        for operation in operations[slice(*node.operations)]:
            if graphs.is_stateful_random(operation):
                notes[node.path] = (
                    f"draws from TensorFlow's stateful random op {operation.type}, which has a random stream of its own in each "
                    "compiled variant: training is the same in distribution, not bit by bit"
                )
    return list(notes.items())


_FUSED = (
    "TensorFlow may compute this output and the sum or activation after it at once in steps that are not recorded: recorded "
    "steps equal them to rounding, not bit by bit"
)


def _fused(recording: Recording) -> list[str]:
    """The calls whose outputs the plain step may never make, because they are fused with what follows."""
    if recording.graph is None:
        return []
    return [
        node.path
        for node in calls.walk(recording.roots)
        if not node.children
        if any(leaf.passed_on is not None and graphs.is_fused_with_next(leaf.tensor) for leaf in node.outputs)
    ]
