"""Several recordings of one step (a GAN's two functions, say) as one: their roots side by side in one graph."""

from __future__ import annotations

from dataclasses import replace

from tb_layerflow.log import paths, records

from . import calls
from .outcome import Outcome, Plan

Row = tuple[int, int, int]


def combine(outcomes: list[Outcome]) -> Outcome:
    """One outcome whose calls are those of all, in order; the slots of the plans follow one another."""
    if len(outcomes) == 1:
        return outcomes[0]
    roots = [node for outcome in outcomes for node in outcome.nodes if node.parent is None]
    calls.assign_paths(roots)
    graph = records.Graph(
        outcomes[0].graph.model, [], [], execution=outcomes[-1].graph.execution, class_names=outcomes[0].graph.class_names
    )
    combined = Outcome(graph, Plan(everything=outcomes[0].plan.everything), [], [], sum(one.dropped for one in outcomes))
    layer_numbers: dict[int, int] = {}
    passes = 0
    for outcome in outcomes:
        _add_graph(combined, outcome, layer_numbers)
        passes = _add_plan(combined, outcome, passes, layer_numbers)
    if passes > 1:
        graph.error_pass = graph.error_pass or f"error#{passes - 1}"
    elif passes == 1 and "error#0" in combined.plan.rows:
        combined.plan.rows["error"] = combined.plan.rows.pop("error#0")
    return combined


def _add_graph(combined: Outcome, outcome: Outcome, layer_numbers: dict[int, int]) -> None:
    graph = combined.graph
    shift = len(graph.calls)
    own = [_add_layer(combined, outcome, number, layer_numbers) for number in range(len(outcome.layers))]
    renamed = {old.path: node.path for old, node in zip(outcome.graph.calls, outcome.nodes, strict=True)}
    for call, node in zip(outcome.graph.calls, outcome.nodes, strict=True):
        graph.calls.append(
            replace(
                call,
                path=node.path,
                layer=None if call.layer is None else own[call.layer],
                parent=None if call.parent is None else call.parent + shift,
                inputs=[_shifted(port, shift) for port in call.inputs],
                outputs=[_shifted(port, shift) for port in call.outputs],
            )
        )
        node.index = len(graph.calls) - 1
    for call in graph.calls[shift:]:
        if call.layer is not None and not graph.layers[call.layer].called:
            graph.layers[call.layer] = replace(graph.layers[call.layer], path=paths.layer_path(call.path), called=True)
    combined.nodes += outcome.nodes
    _add_lineage(graph, outcome.graph, shift)
    graph.ledger += [replace(entry, path=renamed.get(entry.path, entry.path)) for entry in outcome.graph.ledger]


def _add_lineage(graph: records.Graph, added: records.Graph, shift: int) -> None:
    ops, stacks = len(graph.ops), len(graph.stacks)
    graph.ops += [
        replace(
            op,
            call=None if op.call is None else op.call + shift,
            forward_op=None if op.forward_op is None else op.forward_op + ops,
            stack=None if op.stack is None else op.stack + stacks,
            inputs=[number + ops for number in op.inputs],
        )
        for op in added.ops
    ]
    graph.stacks += added.stacks
    graph.source |= added.source


def _add_layer(combined: Outcome, outcome: Outcome, number: int, layer_numbers: dict[int, int]) -> int:
    layer, described = outcome.layers[number], outcome.graph.layers[number]
    if id(layer) not in layer_numbers:
        layer_numbers[id(layer)] = len(combined.layers)
        combined.layers.append(layer)
        combined.graph.layers.append(replace(described, called=False) if described.called else described)
    return layer_numbers[id(layer)]


def _shifted(port: records.Port, shift: int) -> records.Port:
    source = None if port.source is None else (port.source[0] + shift, port.source[1])
    return replace(port, source=source, derived=[(call + shift, number) for call, number in port.derived])


def _add_plan(combined: Outcome, outcome: Outcome, passes: int, layer_numbers: dict[int, int]) -> int:
    """Append an outcome's rows; its backward passes are counted on. Returns how many passes there are now."""
    plan, added = combined.plan, outcome.plan
    slots = len(plan.is_error)
    shift = len(combined.graph.calls) - len(outcome.graph.calls)
    differentiated = {
        (layer_numbers[id(outcome.layers[layer])], port) for layer, port, _ in added.rows.get("weight_gradient", [])
    }
    own_passes = len(outcome.graph.backward_names)
    for kind, rows in added.rows.items():
        name = _renumbered(kind, passes)
        moved = [
            (layer_numbers[id(outcome.layers[call])] if kind in records.WEIGHT_KINDS else call + shift, port, slot + slots)
            for call, port, slot in rows
        ]
        plan.rows[name] = _united(plan.rows.get(name, []), moved, differentiated if kind == "update" else set())
    plan.is_error += added.is_error
    plan.ranks += added.ranks
    combined.graph.backward_names += outcome.graph.backward_names
    if outcome.graph.error_pass:
        combined.graph.error_pass = _renumbered(outcome.graph.error_pass, passes)
    elif own_passes:
        combined.graph.error_pass = f"error#{passes}" if passes else combined.graph.error_pass
    return passes + own_passes


def _united(rows: list[Row], more: list[Row], better: set[tuple[int, int]]) -> list[Row]:
    """Both functions' rows; of two for one tensor the first is kept, unless the later is one of the `better`.

    A weight is as the step found it; its update is that of the function that differentiated by it.
    """
    united = {row[:2]: row for row in rows}
    for row in more:
        if row[:2] not in united or row[:2] in better:
            united[row[:2]] = row
    return list(united.values())


def _renumbered(kind: str, passes: int) -> str:
    if kind == "error":
        return f"error#{passes}"
    name, mark, number = kind.partition("#")
    return f"{name}#{int(number) + passes}" if mark and name == "error" else kind
