"""An oracle of whose the operations of a step are: it watches layers run by itself, and asks LayerFlow for nothing.

Forward operations are those that a graph gained while a layer's `__call__` ran. Backward ones are told by the name scope that
TensorFlow gives a gradient: `gradient_tape/` and the scope in which the forward operation was made.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from tb_layerflow.reader import Op, Stream

_BACKWARD = "gradient_tape/"


@dataclass
class Watched:
    """The calls that ran: the layer's name, and the operations that each made and no call inside it."""

    layers: list[str] = field(default_factory=list)
    made: list[list[Any]] = field(default_factory=list)
    _stack: list[int] = field(default_factory=list)
    _running: list[Any] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def switch(self) -> None:
        """Before another call begins or ends: what the graph gained belongs to the innermost one."""
        graph = tf.compat.v1.get_default_graph()
        operations = graph.get_operations()
        gained = operations[self._places.get(graph, len(operations)) :]
        if self._stack:  # a variable's argument is made where anything first reads it, and serves all
            self.made[self._stack[-1]] += [operation for operation in gained if operation.type != "Placeholder"]
        self._places[graph] = len(operations)

    def watching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`__call__` of layers and of Keras's operations, watched where it runs in a graph."""

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if tf.executing_eagerly() or _is_symbolic((args, kwargs)) or (self._running and self._running[-1] is layer):
                return original(layer, *args, **kwargs)
            self.switch()
            self._stack.append(len(self.layers))
            self._running.append(layer)
            self.layers.append(layer.name)
            self.made.append([])
            try:
                return original(layer, *args, **kwargs)
            finally:
                self.switch()
                self._stack.pop()
                self._running.pop()

        return call


def _is_symbolic(arguments: Any) -> bool:
    return any(isinstance(leaf, keras.KerasTensor) for leaf in tf.nest.flatten(arguments))


@contextmanager
def watched() -> Iterator[Watched]:
    """While this is open, calls of Keras layers and operations are noted; those of a wrapper that skips `__call__` too."""
    notes = Watched()
    places = [(keras.layers.Layer, "__call__"), (keras.Operation, "__call__"), (keras.layers.Dense, "call")]
    before = [vars(owner)[name] for owner, name in places]
    for (owner, name), original in zip(places, before, strict=True):
        setattr(owner, name, functools.wraps(original)(notes.watching(original)))
    try:
        yield notes
    finally:
        for (owner, name), original in zip(places, before, strict=True):
            setattr(owner, name, original)


class Shares(NamedTuple):
    """Of the operations that calls made, those attributed to their call; the same of backward ones; those wrongly in a bucket."""

    forward: float
    backward: float
    in_buckets: float
    calls: int
    operations: int
    gradients: int


def shares(notes: Watched, stream: Stream) -> Shares:
    """Compare what was watched with what LayerFlow recorded of the same step."""
    recorded = {op.name: op for op in stream.ops()}
    names = {call.path: call.name for call in stream.graph.calls}
    expected: dict[str, int] = {}
    for number, made in enumerate(notes.made):
        if _is_needed(made):
            expected |= {operation.name: number for operation in made if operation.name in recorded}
    meant = _meant(expected, recorded, notes, names)
    right = sum(recorded[name].call == meant.get(number) is not None for name, number in expected.items())
    in_buckets = sum(not recorded[name].call for name in expected)
    gradients = list(_gradients(expected, recorded))
    right_gradients = sum(op.call == meant.get(number) is not None for op, number in gradients)
    total, backward = max(len(expected), 1), max(len(gradients), 1)
    return Shares(right / total, right_gradients / backward, in_buckets / total, len(meant), len(expected), len(gradients))


def _is_needed(made: list[Any]) -> bool:
    """Whether any result of the graph depends on a call; recurrent layers run one only to learn a shape."""
    for graph in {operation.graph for operation in made}:
        ends = [tensor.op for tensor in graph.outputs]
        ends += [operation for operation in graph.get_operations() if operation.type.startswith("Assign")]
        if _leading_to(ends) & set(made):
            return True
    return False


def _leading_to(waiting: list[Any]) -> set[Any]:
    found: set[Any] = set()
    while waiting:
        operation = waiting.pop()
        if operation not in found:
            found.add(operation)
            waiting += [tensor.op for tensor in operation.inputs]
    return found


def _meant(expected: dict[str, int], recorded: dict[str, Op], notes: Watched, names: dict[str, str]) -> dict[int, str]:
    """The recorded call that each watched one is: the one of its layer that has most of its operations, each for one alone."""
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    for name, number in expected.items():
        path = recorded[name].call
        if path is not None and names[path] == notes.layers[number]:
            votes[number][path] += 1
    found: dict[int, str] = {}
    for number in sorted(votes, key=lambda one: -max(votes[one].values())):
        free = [path for path, _ in votes[number].most_common() if path not in found.values()]
        if free:
            found[number] = free[0]
    return found


def _gradients(expected: dict[str, int], recorded: dict[str, Op]) -> Iterator[tuple[Op, int]]:
    """Backward operations, each with the watched call whose scope it names; scopes of several calls say nothing."""
    scopes: dict[str, set[int]] = defaultdict(set)
    for name, number in expected.items():
        scopes[name.rpartition("/")[0]].add(number)
    for op in recorded.values():
        scope = op.name.rpartition("/")[0]
        if op.direction == "backward" and not op.body and scope.startswith(_BACKWARD):
            calls = scopes.get(scope.removeprefix(_BACKWARD), set())
            if len(calls) == 1:
                yield op, next(iter(calls))
