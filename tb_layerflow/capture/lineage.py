"""Whose the operations are that are created while a recording is active. Only takes notes; `attribution` draws the conclusions.

What runs is a stack of states: a call, a backward pass, the gradient of one operation. Where the state changes, the number of
operations that the current graph then has is noted: a graph numbers its operations in the order of their creation, so that the
notes tell the state in which each was made, at no cost per operation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from . import graphs
from .calls import Node
from .eager_operations import EagerOperations
from .running import NOTHING, Running


class Lineage:
    """The notes of one recording.

    `ties` are backward operations that were made outside any one gradient, by the forward operation whose gradient they lead to;
    `targets` the tensors that tapes differentiated; `gradients` the tensors that are a variable's gradient, with the variable.
    """

    def __init__(self) -> None:
        self.running: list[Running] = [NOTHING]
        self.ties: dict[Any, Any] = {}
        self.targets: list[Any] = []
        self.gradients: list[tuple[Any, Any]] = []
        self.eager = EagerOperations(lambda: self.running[-1])
        self.first = 0
        self.last = 0
        self._turns: dict[Any, tuple[list[int], list[Running]]] = {}
        self._by_attributes: dict[int, tuple[Any, Any]] = {}

    # ------------------------------------------------------------------------------------------------------- what runs

    def begin(self, graph: Any) -> None:
        """The recording begins in this graph (None: eagerly)."""
        if graph is None:
            self.eager.begin()
        else:
            self.first = graph.version

    def end(self, graph: Any) -> None:
        """The recording ends; what is made from now on is LayerFlow's own."""
        if graph is None:
            self.eager.end()
        else:
            self.last = graph.version

    def enter(self, **changes: Any) -> None:
        """Something begins to run: a `call`, a pass `backward`, the gradient of `forward`, the update of a `variable`; or a layer
        is `entered`, and its call is about to begin.
        """
        around, call = self.running[-1], changes.get("call")
        if call is not None and around.entered is not None and around.entered is call.layer:
            around.call = call
        self.running.append(replace(around, **{"entered": None, **changes}))
        self._turn()

    def leave(self) -> None:
        """What began last has ended."""
        self.running.pop()
        self._turn()

    def leave_call(self, call: Node) -> None:
        """A call has ended, and with it all that began inside it (something may have raised)."""
        while any(_is_of(state, call) for state in self.running):
            ended = self.running.pop()
            if _is_of(ended, call) and not _is_of(self.running[-1], call):
                break
        self._turn()

    def made(self, outputs: Any) -> Any:
        """The operation that made the first of these tensors."""
        first = next(iter(outputs or ()), None)
        return _operation_of(first) or self.eager.maker_of(first)

    @contextmanager
    def during(self, **changes: Any) -> Iterator[None]:
        """`enter` and `leave`."""
        depth = len(self.running)
        self.enter(**changes)
        try:
            yield
        finally:
            del self.running[depth:]
            self._turn()

    def _turn(self) -> None:
        graph = graphs.current()
        if graph is None:
            return
        places, states = self._turns.setdefault(graph, ([], []))
        places.append(graph.version)
        states.append(self.running[-1])

    def state_at(self, graph: Any, place: int, otherwise: Running) -> Running:
        """What ran when the graph's operation number `place` was made; `otherwise` where the graph has no note before it."""
        places, states = self._turns.get(graph, ((), ()))
        turn = bisect_right(places, place) - 1
        return states[turn] if turn >= 0 else otherwise

    # -------------------------------------------------------------------------------------------------------- gradients

    def taped(self, attributes: Any, outputs: Any) -> None:
        """A tape noted an operation. It hands the same attributes, one tuple per operation, to the operation's gradient."""
        if attributes and outputs:
            operation = _operation_of(outputs[0])
            if operation is not None:
                self._by_attributes[id(attributes)] = (attributes, operation)

    def forward_of(self, type_: str, attributes: Any, inputs: Any, outputs: Any, out_gradients: Any = ()) -> Any:
        """The operation whose gradient a tape asks for; None where it cannot be told."""
        if graphs.current() is None:
            return self.eager.forward_of(type_, inputs, outputs, out_gradients)
        known = self._by_attributes.get(id(attributes))
        if known is not None:
            return known[1]
        for output in outputs or ():
            if (operation := _operation_of(output)) is not None:
                return operation
        for tensor in inputs or ():
            if _operation_of(tensor) is not None:
                takers = [taker for taker in tensor.consumers() if taker.type == type_]
                if len(takers) == 1:
                    return takers[0]
        return None

    def lead_to(self, forward: Any, out_gradients: Any) -> None:
        """These tensors are the gradients at the outputs of `forward`."""
        for gradient in out_gradients or ():
            operation = _operation_of(getattr(gradient, "values", gradient)) or self.eager.maker_of(gradient)
            if operation is not None:
                self.ties.setdefault(operation, forward)


def _is_of(state: Running, call: Node) -> bool:
    return state.call is call and state.entered is None


def _operation_of(tensor: Any) -> Any:
    """The operation that made a graph's tensor; None for all else."""
    return tensor.op if getattr(tensor, "graph", None) is not None and hasattr(tensor, "op") else None
