"""The operations that run eagerly while a recording is active, noted one by one as TensorFlow reports them.

Tensors are known by the number that TensorFlow gives each of them, so that none is kept alive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_callbacks
from tensorflow.python.util import tf_stack

from . import flops
from .running import Running


@dataclass(eq=False)
class Ran:
    """One operation that ran. `inputs` and `outputs` are the tensors' numbers, `shapes` those of the outputs."""

    place: int
    type: str
    running: Running
    traceback: Any
    inputs: list[int]
    outputs: list[int]
    shapes: list[Any]
    flops: float = 0.0


class EagerOperations:
    """Notes operations between `begin` and `end`; `running` says what runs just then.

    `watch`, where it is set, is shown each operation with its tensors, and keeps none of them.
    """

    def __init__(self, running: Callable[[], Running]) -> None:
        self.watch: Callable[[Ran, Any, Any], None] | None = None
        self.all: list[Ran] = []
        self.maker: dict[int, Ran] = {}
        self._running = running
        self._by_type: dict[str, list[Ran]] = {}
        self._taken: set[Ran] = set()

    def begin(self) -> None:
        """Let TensorFlow report the operations of this thread."""
        op_callbacks.add_op_callback(self._note)

    def end(self) -> None:
        """No more."""
        op_callbacks.remove_op_callback(self._note)

    def _note(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None:
            return
        results = [output for output in outputs or () if isinstance(output, tf.__internal__.EagerTensor)]
        ran = Ran(
            place=len(self.all),
            type=op_type.decode() if isinstance(op_type, bytes) else str(op_type),
            running=self._running(),
            traceback=tf_stack.extract_stack(),
            inputs=[number_of(tensor) for tensor in inputs or ()],
            outputs=[number_of(output) for output in results],
            shapes=[output.shape for output in results],
        )
        if results and (results[0].dtype.is_floating or results[0].dtype.is_complex):
            ran.flops = flops.of(ran.type, [tensor.shape for tensor in inputs or ()], ran.shapes, _attribute_of(attrs))
        self.all.append(ran)
        self._by_type.setdefault(ran.type, []).append(ran)
        for number in ran.outputs:
            self.maker[number] = ran
        if self.watch is not None:
            self.watch(ran, list(inputs or ()), results)

    def new_pass(self) -> None:
        """A tape begins to run backward: each operation has one gradient in it."""
        self._taken.clear()

    def forward_of(self, type_: str, inputs: Any, outputs: Any, out_gradients: Any) -> Ran | None:
        """The operation whose gradient a tape asks for: the newest that fits what the tape still knows of it.

        A tape lets go of tensors that the gradient does not need, and goes back from the newest operation to the oldest.
        """
        given = [number_of(tensor) for tensor in inputs or ()]
        made = [number_of(tensor) for tensor in outputs or ()]
        for ran in reversed(self._by_type.get(type_, ())):
            if ran in self._taken or not (_fits(given, ran.inputs) and _fits(made, ran.outputs)):
                continue
            if not any(given) and not any(made) and not _same_shapes(ran, out_gradients):
                continue
            self._taken.add(ran)
            return ran
        return None

    def maker_of(self, tensor: Any) -> Ran | None:
        """The operation that made a tensor."""
        return self.maker.get(number_of(tensor))

    def names(self) -> list[str]:
        """`MatMul`, `MatMul_1`, …: eager operations have no names of their own."""
        counts: Counter[str] = Counter()
        found = []
        for ran in self.all:
            found.append(ran.type if not counts[ran.type] else f"{ran.type}_{counts[ran.type]}")
            counts[ran.type] += 1
        return found


def _attribute_of(attributes: Any) -> Callable[[str], Any]:
    pairs = list(attributes or ())
    return lambda name: pairs[pairs.index(name) + 1] if name in pairs else ()


def number_of(tensor: Any) -> int:
    """The number of an eager tensor; 0 for all else."""
    values = tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor
    return int(values._id) if isinstance(values, tf.__internal__.EagerTensor) else 0


def _fits(known: list[int], actual: list[int]) -> bool:
    return all(one in (0, other) for one, other in zip(known, actual, strict=False))


def _same_shapes(ran: Ran, gradients: Any) -> bool:
    pairs = zip(gradients or (), ran.shapes, strict=False)
    return all(gradient is None or getattr(gradient, "shape", shape) == shape for gradient, shape in pairs)
