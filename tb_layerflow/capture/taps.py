"""Taps: an identity whose forward side gives a tensor's value and whose backward side gives its error. Knows no layers.

`record.record_operation` is what TensorFlow's own custom gradients are made of; used directly it adds nothing to the global
registry of gradients, which would grow by one entry per tap and trace.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

REAPPLIED = frozenset({"Softmax", "Sigmoid"})
"""Keras's losses look for these op types at a model's output and then read the logits before them."""


def identity(tensor: Any, received: Callable[[Any], None]) -> Any:
    """The same tensor, passed on; `received` is called with each gradient that comes back through it."""
    with record.stop_recording():
        passed_on = tf.identity(tensor)
    _record_identity(passed_on, tensor, received)
    return passed_on


def _record_identity(passed_on: Any, tensor: Any, received: Callable[[Any], None]) -> None:
    def backward(gradient: Any) -> list[Any]:
        received(gradient)
        # What goes on is an identity too, which can be made to wait until the error is measured (see `shared`); not where another
        # tape follows this one: TensorFlow fuses more there, and a gradient's gradient would differ in its last bits.
        can_wait = isinstance(gradient, tf.Tensor) and not tf.executing_eagerly() and not record.could_possibly_record()
        return [tf.identity(gradient) if can_wait else gradient]

    record.record_operation("LayerFlowTap", [passed_on], [tensor], backward)


def tap(
    tensor: Any, received: Callable[[Any], None], received_at_logits: Callable[[Any], None], watch: Callable[[Any], None]
) -> tuple[Any, Any]:
    """Pass `tensor` on through a tap, carrying over all that Keras reads off it.

    Returns the tensor to go on with, and its logits where it has any (else None), which are tapped as well. `watch` is called
    with each tensor that is tapped: a loss that reads the logits leads back to nothing else where no layer before is trained.
    """
    watch(tensor)
    operation = None if isinstance(tensor, tf.__internal__.EagerTensor) else tensor.op
    keras_logits = getattr(tensor, "_keras_logits", None)
    if operation is not None and operation.type in REAPPLIED and keras_logits is None:
        watch(operation.inputs[0])
        logits = identity(operation.inputs[0], received_at_logits)
        passed_on = _applied_again(operation.type, logits, tensor, received)
        carry(tensor, passed_on)
        return passed_on, operation.inputs[0]
    passed_on = identity(tensor, received)
    carry(tensor, passed_on)
    if keras_logits is not None:
        watch(keras_logits)
        passed_on._keras_logits = identity(keras_logits, received_at_logits)
    return passed_on, keras_logits


def _applied_again(kind: str, logits: Any, tensor: Any, received: Callable[[Any], None]) -> Any:
    """Softmax or Sigmoid of `logits`, which equals `tensor`; for tapes it is an identity of `tensor`.

    So whoever looks at its operation finds the logits, and what comes back from those who read the output itself goes through
    the user's own operation.
    """
    with record.stop_recording():
        passed_on = tf.raw_ops.Softmax(logits=logits) if kind == "Softmax" else tf.raw_ops.Sigmoid(x=logits)
    passed_on.set_shape(tensor.shape)
    _record_identity(passed_on, tensor, received)
    return passed_on


def carry(old: Any, new: Any) -> None:
    """Give the tensor that is passed on what Keras (`_keras_mask`) and users have set on the one that it stands for."""
    for name, value in vars(old).items():
        if name not in vars(new):
            setattr(new, name, value)


class Tapes(threading.local):
    """The gradient tapes that are recording in this thread, and the number of the backward pass that is running."""

    def __init__(self) -> None:
        self.active: list[Any] = []
        self.passes = 0
        self.running: list[int] = []

    def watch(self, tensor: Any) -> None:
        """Let every recording tape follow `tensor`, so that errors reach it where nothing before it is trained."""
        for tape in self.active:
            if getattr(tape, "_recording", False):
                tape.watch(tensor)

    @contextmanager
    def backward_pass(self) -> Iterator[int]:
        """One run of a tape; gives its number, counted from 0 in this recording."""
        number = self.passes
        self.passes += 1
        self.running.append(number)
        try:
            yield number
        finally:
            self.running.pop()
