"""From the notes of a lineage to operations that know their call or bucket, their forward operation and their variable.

Works on operations as `Made` describes them, whether a graph held them or they ran eagerly. Knows no TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tb_layerflow.log.records import Op

from . import buckets
from .calls import Node
from .frames import Made as Origin
from .running import Running


@dataclass(eq=False)
class Made:
    """One operation that was made. `key` stands for it in `inputs`, in ties and in `Running.forward`."""

    key: Any
    name: str
    type: str
    running: Running
    origin: Origin
    inputs: list[Any] = field(default_factory=list)
    body: str = ""
    variable: str = ""
    is_argument: bool = False
    flops: float = 0.0


@dataclass
class Ties:
    """What else is known, by key: the forward operation of backward ones, the operation that LayerFlow's own ones stand for, the
    names of variables by identity, and what the tapes differentiated.
    """

    forward: dict[Any, Any]
    stands_for: dict[Any, Any]
    variables: dict[int, str]
    targets: list[Any]


def attribute(made: list[Made], ties: Ties) -> list[Op]:
    """The operations, without LayerFlow's own and without those of calls that were not kept."""
    kept = [one for one in made if not one.origin.own and not _was_thinned(one.running.call)]
    numbers = {one.key: number for number, one in enumerate(kept)}
    find = _Finder(numbers, ties.stands_for, {one.key: one.inputs for one in made if one.origin.own})
    ops = [_op(one, find, ties) for one in kept]
    for number, (one, op) in enumerate(zip(kept, ops, strict=True)):
        if op.backward and op.forward_op is None:
            op.forward_op = _forward(one, number, find, ties, ops)
    loss = _leading_to([find(target) for target in ties.targets], ops)
    for number, (one, op) in enumerate(zip(kept, ops, strict=True)):
        _place(number, one, op, ops, loss)
    return ops


def forward_flops(made: list[Made], parents: list[int | None]) -> list[float]:
    """The floating-point operations of each call's forward pass, those of the calls inside it included.

    `parents` has the index of the call around each call. What stands in a loop counts as often as the loop's known limit says,
    else once.
    """
    totals = [0.0] * len(parents)
    for one in made:
        call = one.running.call
        if call is None or call.dead or one.running.backward or one.origin.own:
            continue  # a call that nothing depends on (a shape probe) never runs
        call = _living(call)
        if call is not None and call.index < len(totals):
            totals[call.index] += one.flops
    for index in range(len(parents) - 1, -1, -1):
        parent = parents[index]
        if parent is not None:
            totals[parent] += totals[index]
    return totals


class _Finder:
    """The number of a key's operation; of one of LayerFlow's own, the number of what it passes on."""

    def __init__(self, numbers: dict[Any, int], stands_for: dict[Any, Any], passed_on: dict[Any, list[Any]]) -> None:
        self._numbers = numbers
        self._stands_for = stands_for
        self._passed_on = passed_on

    def __call__(self, key: Any) -> int | None:
        for _ in range(64):
            if key is None or key in self._numbers:
                break
            through = self._passed_on.get(key)
            key = self._stands_for[key] if key in self._stands_for else through[0] if through else None
        return None if key is None else self._numbers.get(key)


def _op(one: Made, find: _Finder, ties: Ties) -> Op:
    running = one.running
    call = _living(running.call)
    return Op(
        name=one.name,
        type=one.type,
        call=None if call is None else call.index,
        backward=running.backward,
        forward_op=find(running.forward) if running.backward else None,
        variable=one.variable or ties.variables.get(running.variable, ""),
        stack=one.origin.stack,
        inputs=[number for key in one.inputs if (number := find(key)) is not None],
        body=one.body,
    )


def _forward(one: Made, number: int, find: _Finder, ties: Ties, ops: list[Op]) -> int | None:
    """For what a tape makes between two gradients (sums, zeros): the forward operation that it leads to, or else comes from."""
    tied = find(ties.forward.get(one.key))
    if tied is not None and tied != number:
        return tied
    return next((ops[source].forward_op for source in ops[number].inputs if ops[source].forward_op is not None), None)


def _place(number: int, one: Made, op: Op, ops: list[Op], loss: set[int]) -> None:
    """Give an operation its call or its bucket; forward operations come before the backward ones that refer to them."""
    if op.backward and op.forward_op is not None and op.forward_op != number:
        forward, seen = op.forward_op, {number}
        while ops[forward].backward and ops[forward].forward_op is not None and forward not in seen:
            seen.add(forward)
            forward = ops[forward].forward_op  # type: ignore[assignment]
        op.call, op.bucket = ops[forward].call, ops[forward].bucket
        if op.call is not None or op.bucket:
            return
    if op.call is not None:
        return
    if one.is_argument:
        op.bucket = buckets.INPUT
    elif one.origin.bucket:
        op.bucket = one.origin.bucket
    elif op.backward or number in loss:
        op.bucket = buckets.LOSS
    elif op.inputs and all(ops[source].bucket == buckets.INPUT for source in op.inputs):
        op.bucket = buckets.INPUT
    else:
        op.bucket = buckets.OTHER


def _leading_to(targets: Iterable[int | None], ops: list[Op]) -> set[int]:
    """What the targets depend on outside the calls, as far as it depends on a call itself."""
    waiting = [target for target in targets if target is not None]
    found: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number in found or ops[number].call is not None or ops[number].backward:
            continue
        found.add(number)
        waiting += ops[number].inputs
    after_call: set[int] = set()
    for number, op in enumerate(ops):
        if op.call is not None or any(source in after_call for source in op.inputs):
            after_call.add(number)
    return found & after_call


def _living(call: Node | None) -> Node | None:
    while call is not None and (call.dead or call.index < 0):
        call = call.parent
    return call


def _was_thinned(call: Node | None) -> bool:
    """Whether a call, or one around it, is one of the many repeats of an eager loop that only their count speaks of."""
    while call is not None:
        if call.index < 0 and not call.dead:
            return True
        call = call.parent
    return False
