"""Calls of functions that many tensors of one shape share, so that a traced step has one operation for each call.

TensorFlow builds, optimises and instantiates every operation of a step's graph, but a function only once, however often it is
called, as long as it is not put back into the graph where it is called. On a CPU the thread that comes to such a call runs it to
its end: in TensorFlow's pool it would wait behind the model's own operations, and hold the memory of what it was given meanwhile.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context


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
