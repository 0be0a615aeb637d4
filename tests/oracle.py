"""What recordings are held against: a pass written by hand over Keras's functional graphs, a tape, numpy's statistics.

Nothing here uses the code under test. Every call's output goes through an identity of its own, so that the gradients at a
group's output and at the output inside it are two numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf

PART = 32_768


@dataclass
class Pass:
    """A forward pass (and the gradients of its loss): per call path the output, as numpy arrays, in the order of the calls."""

    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    errors: dict[str, np.ndarray] = field(default_factory=dict)
    loss: float = math.nan
    tensors: dict[str, Any] = field(default_factory=dict)


def run(model: keras.Model, x: Any, y: Any = None, *, loss: Any = None, training: bool = False) -> Pass:
    """The pass of a functional or sequential model with one output; its variables are put back afterwards."""
    kept = [variable.numpy() for variable in model.variables]
    found = Pass()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        inputs = [tf.constant(leaf) for leaf in (x if isinstance(x, list) else [x])]
        for leaf in inputs:
            tape.watch(leaf)
        output = _call(model, inputs, ".", found.tensors, training)
        total = None if y is None else tf.reduce_mean((loss or keras.losses.mean_squared_error)(tf.constant(y), output))
    if total is not None:
        names = [name for name, tensor in found.tensors.items() if tensor.dtype.is_floating]
        gradients = tape.gradient(total, [found.tensors[name] for name in names])
        found.errors = {name: error.numpy() for name, error in zip(names, gradients, strict=True) if error is not None}
        found.loss = float(total)
    for variable, value in zip(model.variables, kept, strict=True):
        variable.assign(value)
    found.outputs = {name: tensor.numpy() for name, tensor in found.tensors.items()}
    return found


def _call(operation: Any, inputs: list[Any], path: str, tensors: dict[str, Any], training: bool) -> Any:
    place = len(tensors)
    if hasattr(operation, "_functional"):
        operation = operation._functional
    if hasattr(operation, "_nodes_by_depth"):
        output = _run_graph(operation, inputs, path, tensors, training)
    else:
        keywords = {"training": training} if getattr(operation, "_call_has_training_arg", False) else {}
        output = operation(inputs if len(inputs) > 1 else inputs[0], **keywords)
    output = tf.identity(output)
    later = [(name, tensors.pop(name)) for name in list(tensors)[place:]]
    tensors[path] = output
    tensors.update(later)
    return output


def _run_graph(model: Any, inputs: list[Any], path: str, tensors: dict[str, Any], training: bool) -> Any:
    values = {id(symbol): value for symbol, value in zip(model.inputs, inputs, strict=True)}
    calls: Counter[str] = Counter()
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            operation = node.operation
            if isinstance(operation, keras.layers.InputLayer):
                continue
            name, number = operation.name, calls[operation.name]
            calls[name] += 1
            level = name.replace("%", "%25").replace("/", "%2F").replace("#", "%23") + (f"#{number}" if number else "")
            below = level if path == "." else f"{path}/{level}"
            if isinstance(operation, keras.layers.Layer):
                value = _call(operation, [values[id(symbol)] for symbol in node.input_tensors], below, tensors, training)
            else:
                args, kwargs = tf.nest.map_structure(
                    lambda leaf: values.get(id(leaf), leaf), (node.arguments.args, node.arguments.kwargs)
                )  # fmt: skip
                value = tensors[below] = tf.identity(operation(*args, **kwargs))
            values[id(node.outputs[0])] = value
    return values[id(model.outputs[0])]


def part_of(array: np.ndarray) -> np.ndarray:
    """The stated part: as many whole samples as fit into 32,768 numbers, else every k-th position of the first."""
    if array.ndim == 0:
        return array.ravel()
    sample = math.prod(array.shape[1:])
    if sample <= PART:
        return array[: PART // max(sample, 1)].ravel()
    channels = array.shape[-1] if array.ndim > 2 else 1
    return array[0].reshape(-1, channels)[:: math.ceil(sample / PART)].ravel()


def statistics(array: np.ndarray, part: np.ndarray | None = None) -> dict[str, float]:
    """All columns of a tensor, in float64; `part`: what std and the counts are taken from (default: the stated part)."""
    numbers = np.asarray(array, np.float64).ravel()
    part = part_of(array) if part is None else part
    chosen = np.asarray(part, np.float64).ravel()
    return {
        "count": numbers.size, "mean": numbers.mean(), "l2": math.sqrt(np.square(numbers).sum()), "min": numbers.min(),
        "max": numbers.max(), "finite": float(np.isfinite(numbers).all()), "std": chosen.std(), "zero": (chosen == 0).sum(),
        "nan": np.isnan(chosen).sum(), "pos_inf": np.isposinf(chosen).sum(), "neg_inf": np.isneginf(chosen).sum(),
    }  # fmt: skip


def half_octaves(part: np.ndarray) -> dict[tuple[int, int], int]:
    """How many finite numbers other than 0 lie in each half octave: {(sign, floor(exponent) · 2 + upper half): count}.

    Those beyond 2^-64 or 2^64 count in the outermost half octave of their side.
    """
    numbers = np.asarray(part, np.float64).ravel()
    numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
    mantissa, exponent = np.frexp(np.abs(numbers))
    bins = np.clip(2 * (exponent - 1) + (mantissa >= 0.75), -128, 127)
    return dict(Counter(zip(np.sign(numbers).astype(int).tolist(), bins.tolist(), strict=True)))


def _near_an_edge(part: np.ndarray, rounding: float) -> int:
    """How many numbers may be in the next half octave when they are rounded otherwise."""
    numbers = np.asarray(part, np.float64).ravel()
    return sum(half_octaves(number - rounding) != half_octaves(number + rounding) for number in numbers[numbers != 0])


def half_octaves_of(histogram: Any) -> dict[tuple[int, int], int]:
    """A read histogram in the same form, by its own edges."""
    found: dict[tuple[int, int], int] = {}
    for low, high, count in zip(histogram.edges[:-1], histogram.edges[1:], histogram.counts.tolist(), strict=True):
        if count:
            inner = min(abs(low), abs(high))
            mantissa, exponent = np.frexp(max(inner, 2.0**-64))
            found[(1 if high > 0 else -1, int(2 * (exponent - 1) + (mantissa >= 0.75)))] = count
    return found


def check(stream: Any, kind: str, expected: dict[str, np.ndarray], *, step: int | None = None, part: Any = part_of) -> None:
    """Every tensor in `expected` has a row, and each of its figures is numpy's to 1e-5 · max(|expected|, rms)."""
    table = stream.statistics(kind)
    place = -1 if step is None else list(stream.steps).index(step)
    for path, array in expected.items():
        row = dict(zip(table.columns, table.values[place, table.index(path)], strict=True))
        chosen = part(array)
        rms = math.sqrt(np.mean(np.square(array, dtype=np.float64)))
        for column, number in statistics(array, chosen).items():
            tolerance = 1e-5 * max(abs(number), rms)
            assert abs(row[column] - number) <= tolerance, f"{kind} {path} {column}: {row[column]!r}, expected {number!r}"
        histogram = stream.histogram(path, kind, step=step)
        moved = Counter(half_octaves_of(histogram))
        moved.subtract(half_octaves(chosen))
        near = _near_an_edge(chosen, 2e-6 * rms) if any(moved.values()) else 0
        assert sum(abs(count) for count in moved.values()) <= 2 * near, (
            f"{kind} {path}: {near} numbers lie at an edge, moved: {moved}"
        )
        assert tuple(histogram.sampled_from[:2]) == (chosen.size, array.size), f"{kind} {path}"
