"""Calls of functions that many tensors of one shape share, so that a traced step has one operation for each call.

TensorFlow builds, optimises and instantiates every operation of a step's graph, but a function only once, however often it is
called, as long as it is not put back into the graph where it is called. On a CPU the thread that comes to such a call runs it to
its end: in TensorFlow's pool it would wait behind the model's own operations, and hold the memory of what it was given meanwhile.
For the same reason the taps' identities of a tensor can be made to wait for such a call (`comes_first`): else the model's own
operations may run ahead of all measuring, and every error of the backward pass is in memory at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

from . import graphs


def call(body: Callable[..., Any], *tensors: Any, **settings: Any) -> Any:
    """`body(*tensors, **settings)`, as one operation where a graph is being built.

    Args:
        body: pure: what it returns depends on its arguments alone, and nothing is differentiated through it.
        tensors: tensors or None.
        settings: plain values, on which the function depends.
    """
    if tf.executing_eagerly():
        return body(*tensors, **settings)
    signature = tuple(None if tensor is None else _signature(tensor) for tensor in tensors)
    with context.function_executor_type(_executor()):
        return _function(body, signature, tuple(settings.items()))(*tensors)


def comes_first(called: Any, tensor: Any) -> None:
    """Let the identities of `tensor` that there are so far wait for the call that gave `called`, an output of it.

    Other operations go on: TensorFlow's optimiser fuses none that waits, and a step would no longer be the plain one to the last
    bit. Nothing where no graph is being built, nor for an identity that the call depends on by another of its arguments.
    """
    if tf.executing_eagerly() or tensor.graph is not called.graph:
        return
    own = called.op
    needed = graphs.upstream(other.op for other in own.inputs if other.op is not tensor.op)
    for reader in tensor.consumers():
        if reader.type == "Identity" and reader not in needed:
            reader._add_control_input(own)


@functools.cache
def _executor() -> str:
    """What runs a function: one thread where all is on the CPU, TensorFlow's default where there may be several devices."""
    return "" if tf.config.list_physical_devices("GPU") else "SINGLE_THREADED_EXECUTOR"


def _signature(tensor: Any) -> tuple[Any, ...]:
    shape = tensor.shape
    return tensor.dtype, None if shape.rank is None else tuple(shape.as_list())


@functools.lru_cache(maxsize=1024)
def _function(body: Callable[..., Any], signature: tuple[Any, ...], settings: tuple[tuple[str, Any], ...]) -> Any:
    """One for each signature, so that what is no longer used can go."""
    return tf.function(functools.partial(body, **dict(settings)), autograph=False, experimental_attributes={"_noinline": True})
