"""The operations of a step, traced or eager, as `attribution` wants them: those in the bodies of functions included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tb_layerflow.log import records

from . import calls, fates, flops, loops
from .attribution import Made, Ties, attribute, forward_flops
from .calls import Node
from .eager_operations import number_of
from .frames import Stacks
from .layer_table import own_weights
from .lineage import Lineage
from .recording import Recording, identity_of
from .running import NOTHING, Running


def describe(
    recording: Recording, graph: records.Graph, layers: list[Any], results: Iterable[Any] = (), *, source: bool = False
) -> None:
    """Put the operations that were made while `recording` was active into `graph`, whose calls are known.

    Of what was made before, only the graph's arguments count. Builds no operations. `source` also keeps the
    text of the users' lines.
    """
    lineage = recording.lineage
    if lineage is None:
        return
    stacks = Stacks()
    names = _variable_names(graph, layers)
    if recording.graph is None:
        made = _ran(lineage, stacks, graph, layers)
        key_of: Callable[[Any], Any] = lineage.eager.maker_of
    else:
        made = _with_first_readers(list(_made(lineage, recording.graph, stacks, names)))
        key_of = _operation_of
    _name_gradients(made, lineage, names, key_of)
    ties = Ties(
        forward=lineage.ties,
        stands_for=_stand_ins(recording.roots, key_of),
        variables=names,
        targets=[key_of(tensor) for tensor in lineage.targets],
    )
    graph.ops = attribute(made, ties)
    for call, total in zip(graph.calls, forward_flops(made, [call.parent for call in graph.calls]), strict=True):
        call.flops = total
    graph.stacks = stacks.all
    if recording.graph is None:
        fates.all_eager(graph)
    else:
        _add_fates(recording, graph, results)
    if source:
        from .frames import source_lines

        graph.source = source_lines(graph.stacks, stacks.paths)


def _made(lineage: Lineage, root: Any, stacks: Stacks, names: dict[int, str]) -> Iterator[Made]:
    waiting: list[tuple[Any, str, Running, int]] = [(root, "", NOTHING, 1)]
    seen = {root}
    while waiting:
        graph, body, around, turns = waiting.pop(0)
        variables = _captured_variables(graph, names)
        for place, operation in _span(lineage, graph, root):
            running = lineage.state_at(graph, place, around)
            is_early = not body and place < lineage.first
            is_argument = is_early and operation not in variables
            origin = stacks.of(operation.traceback)
            if "/replica_" in f"/{operation.name}" and not body:
                continue
            yield Made(
                key=operation,
                name=operation.name,
                type=operation.type,
                running=running,
                origin=replace(origin, own=True) if is_early and not is_argument else origin,
                inputs=[tensor.op for tensor in operation.inputs],
                body=body,
                variable=_variable_of(operation, variables),
                is_argument=is_argument,
                flops=_flops(operation) * turns,
            )
            for name in _function_names(operation):
                inner = _body(graph, name)
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    waiting.append((inner, name, running, turns * _turns(operation, graph)))


def _add_fates(recording: Recording, graph: records.Graph, results: Iterable[Any]) -> None:
    """What is known about operations does not hang on TensorFlow's optimiser taking the graph."""
    try:
        fates.of(recording.graph, results, graph.ops)
    except Exception as error:
        for op in graph.ops:
            op.fate = f"unknown: the optimiser refused the graph ({type(error).__name__})"


def _turns(operation: Any, graph: Any) -> int:
    """How often a body of the operation runs whenever that runs."""
    if operation.type not in ("While", "StatelessWhile"):
        return 1
    condition, body = (_body(graph, operation.get_attr(name).name) for name in ("cond", "body"))
    return 1 if condition is None or body is None else loops.turns(operation, condition, body)


def _flops(operation: Any) -> float:
    """Of floating-point numbers: those that count indices and steps are not meant."""
    dtype = operation.outputs[0].dtype if operation.outputs else tf.resource
    if not (dtype.is_floating or dtype.is_complex):
        return 0.0
    inputs, outputs = ([_shape(tensor) for tensor in tensors] for tensors in (operation.inputs, operation.outputs))
    return flops.of(operation.type, inputs, outputs, operation.get_attr)


def _shape(tensor: Any) -> flops.Shape:
    return None if tensor.shape.rank is None else tensor.shape.as_list()


def _with_first_readers(made: list[Made]) -> list[Made]:
    """A graph gets one placeholder for a variable, when the variable is first read. Where it was LayerFlow that read it first,
    the placeholder belongs to the first of the model's own readers.
    """
    ours = {one.key: one for one in made if one.type == "Placeholder" and one.origin.own and not one.is_argument}
    for one in made:
        for key in one.inputs if not one.origin.own else ():
            placeholder = ours.pop(key, None)
            if placeholder is not None:
                placeholder.running, placeholder.origin = one.running, one.origin
    return made


def _span(lineage: Lineage, graph: Any, root: Any) -> Iterable[tuple[int, Any]]:
    """The operations of a graph by number: of the root those of the recording, and the arguments that they take."""
    operations = graph.get_operations()
    if graph is not root:
        return enumerate(operations)
    arguments = [
        (place, operation) for place, operation in enumerate(operations[: lineage.first]) if operation.type == "Placeholder"
    ]
    return [*arguments, *enumerate(operations[lineage.first : lineage.last], lineage.first)]


_function_attributes: dict[str, list[tuple[str, bool]]] = {}


def _function_names(operation: Any) -> Iterator[str]:
    """The functions that an operation runs."""
    known = _function_attributes.get(operation.type)
    if known is None:
        definition = operation.op_def
        found = [] if definition is None else [(one.name, one.type) for one in definition.attr]
        known = [(name, type_ == "list(func)") for name, type_ in found if type_ in ("func", "list(func)")]
        _function_attributes[operation.type] = known
    for name, is_list in known:
        value = operation.get_attr(name)
        for function in value if is_list else [value]:
            if getattr(function, "name", ""):
                yield str(function.name)


def _body(graph: Any, name: str) -> Any:
    while graph is not None:
        function = getattr(graph, "_get_function", lambda name: None)(name)
        inner = getattr(function, "graph", None)
        if inner is not None:
            return inner
        graph = getattr(graph, "outer_graph", None)
    return None


# ---------------------------------------------------------------------------------------------------------------- variables


def _variable_names(graph: records.Graph, layers: list[Any]) -> dict[int, str]:
    """Variables by identity: a layer's by `<layer path>/<weight>`."""
    names: dict[int, str] = {}
    for layer, described in zip(layers, graph.layers, strict=True):
        for variable, name in zip(own_weights(layer), _weight_names(described), strict=False):
            names.setdefault(identity_of(variable), name)
    return names


def _weight_names(layer: records.Layer) -> list[str]:
    prefix = "" if layer.path == "." else f"{layer.path}/"
    return [prefix + weight.name for weight in layer.weights]


def _captured_variables(graph: Any, names: dict[int, str]) -> dict[Any, str]:
    """Names by the operations of the tensors that stand for variables in this graph."""
    handles: dict[Any, str] = {}
    around = graph
    chain = []
    while around is not None and hasattr(around, "captures"):
        chain.append(around)
        around = around.outer_graph
    for one in reversed(chain):
        for variable in getattr(one, "_watched_variables", None) or one.variables:
            name = names.get(id(variable)) or str(variable.name).partition(":")[0]
            handles.setdefault(_standing_for(variable.handle), name)
        for outside, inside in one.captures:
            if (key := _standing_for(outside)) in handles:
                handles[inside.op] = handles[key]
    return handles


def _standing_for(handle: Any) -> Any:
    """What identifies a variable's handle: the operation of a graph's, the object itself of an eager one."""
    return id(handle) if isinstance(handle, tf.__internal__.EagerTensor) else handle.op


def _variable_of(operation: Any, variables: dict[Any, str]) -> str:
    """The variable that an operation reads or writes."""
    if operation in variables:
        return variables[operation]
    if any(True for _ in _function_names(operation)):
        return ""
    return next((variables[tensor.op] for tensor in operation.inputs if tensor.op in variables), "")


def _name_gradients(made: list[Made], lineage: Lineage, names: dict[int, str], key_of: Callable[[Any], Any]) -> None:
    """The operation that made a variable's gradient names the variable."""
    named = {}
    for gradient, variable in lineage.gradients:
        tensor = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        if variable in names:
            named[key_of(tensor)] = names[variable]
    for one in made:
        if one.key in named and not one.variable:
            one.variable = named[one.key]


def _stand_ins(roots: list[Node], key_of: Callable[[Any], Any]) -> dict[Any, Any]:
    """The operations of taps, each with the operation whose output it passes on."""
    return {
        key_of(leaf.passed_on): key_of(leaf.tensor)
        for node in calls.walk(roots)
        for leaf in node.outputs
        if leaf.passed_on is not None and leaf.tensor is not None
    }


def _operation_of(tensor: Any) -> Any:
    return None if isinstance(tensor, tf.__internal__.EagerTensor) else getattr(tensor, "op", None)


# -------------------------------------------------------------------------------------------------------------------- eager


def _ran(lineage: Lineage, stacks: Stacks, graph: records.Graph, layers: list[Any]) -> list[Made]:
    eager = lineage.eager
    variables: dict[int, str] = {}
    for layer, described in zip(layers, graph.layers, strict=True):
        for variable, name in zip(own_weights(layer), _weight_names(described), strict=False):
            variables[number_of(getattr(variable, "_value", variable).handle)] = name
    return [
        Made(
            key=ran,
            name=name,
            type=ran.type,
            running=ran.running,
            origin=stacks.of(ran.traceback),
            inputs=[eager.maker[number] for number in ran.inputs if number in eager.maker],
            variable=next((variables[number] for number in ran.inputs if number in variables), ""),
            flops=ran.flops,
        )
        for ran, name in zip(eager.all, eager.names(), strict=True)
    ]
