"""A recorded stream held against a pass written by hand: the calls, their outputs, their errors, the ledger."""

from __future__ import annotations

from typing import Any

import numpy as np

from .row import Hand, Row


def check(row: Row, stream: Any, hand: Hand) -> None:
    """Everything that a row promises about its stream."""
    graph = stream.graph_at(row.step).record
    parents = {call.parent for call in graph.calls}
    leaves = {
        call.path: call
        for number, call in enumerate(graph.calls)
        if number not in parents and call.kind != "input" and call.outputs and all(port.selected for port in call.outputs)
    }
    noted = {path for path, _ in hand.outputs}
    known = {call.path for call in graph.calls} | {layer.path for layer in graph.layers}
    assert set(leaves) <= noted | set(row.structural), f"phantom calls: {sorted(set(leaves) - noted - set(row.structural))}"
    assert noted | set(row.structural) <= known, f"calls that are missing: {sorted((noted | set(row.structural)) - known)}"
    assert len({call.path for call in graph.calls}) == len(graph.calls), "no path is ambiguous"
    assert tuple(stream.steps[stream.records.skipped].tolist()) == row.skipped, "the steps that the loss scaler skipped"
    check_ports(row, leaves, hand)
    for (path, port), tensor in hand.outputs.items():
        same(row, stream, path, "output", port, np.asarray(tensor))
    for kind, errors in hand.errors.items():
        for (path, port), error in errors.items():
            same(row, stream, path, kind, port, error)
    check_ledger(row, graph)


def check_ports(row: Row, leaves: dict[str, Any], hand: Hand) -> None:
    """Every floating port of a leaf call has its output and its error by hand, or is allowed to have none."""
    for path, call in leaves.items():
        if row.structural.get(path, "") and path not in {noted for noted, _ in hand.outputs}:
            assert call.status, f"{path} is structural, and says why"
            continue
        for number, port in enumerate(call.outputs):
            if port.dtype not in ("float16", "bfloat16", "float32", "float64"):
                continue
            assert (path, number) in hand.outputs, f"output {number} of {path} is not noted by hand"
            by_hand = any((path, number) in errors for errors in hand.errors.values())
            assert bool(port.error) != by_hand, f"the error of output {number} of {path}: {port.error!r}, by hand {by_hand}"


def check_ledger(row: Row, graph: Any) -> None:
    """The ledger says what the row says, no more and no less."""
    found = sorted((entry.path, entry.kind, entry.port, entry.reason) for entry in graph.ledger)
    assert found == sorted(row.ledger), f"the ledger is {found}"


def same(row: Row, stream: Any, path: str, kind: str, port: int, expected: np.ndarray) -> None:
    """A tensor's recorded figures, and its exact values where there are any, are those by hand."""
    table = stream.statistics(kind)
    place = list(stream.steps).index(row.step)
    figures = dict(zip(table.columns, table.values[place, table.index(path, port)], strict=True))
    assert figures["count"] == expected.size, f"{kind} {port} of {path} has {figures['count']} elements, not {expected.size}"
    if expected.dtype.kind in "OSUc" or not expected.size:
        return
    numbers = np.asarray(expected, np.float64)
    finite = numbers[np.isfinite(numbers)]
    size = float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0
    where = f"{kind} {port} of {path}"
    if finite.size == numbers.size:
        wanted = {"mean": numbers.mean(), "l2": np.sqrt(np.square(numbers).sum()), "min": numbers.min(), "max": numbers.max()}
        for name, number in wanted.items():
            allowed = row.tolerance * max(abs(number), size)
            assert abs(figures[name] - number) <= allowed, f"{name} of {where}: {figures[name]!r}, by hand {number!r}"
    steps = stream.values.steps
    if row.step in list(steps):
        found = np.asarray(stream.value(path, kind, port, row.step), np.float64)
        assert found.shape == numbers.shape, f"{where}: shape {found.shape}, by hand {numbers.shape}"
        allowed = row.tolerance * np.maximum(np.abs(numbers), size)
        wrong = np.abs(found - numbers) > allowed
        assert not wrong.any(), f"{where}: {found[wrong][:3]}, by hand {numbers[wrong][:3]}"
