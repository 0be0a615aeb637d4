"""Statistics and histogram codes of tensors, as arithmetic that XLA compiles. Knows nothing of layers, records or files.

Exact over all elements: mean, l2, min, max. From a part (see `part`): the mean, the mean squared deviation from it (two passes:
from float32 sums of squares it is wrong), and how many numbers have each code, the first ten bits of a float32 (`log.histogram`
makes bins of codes). Raw operations over shared constants: a model of a hundred calls has hundreds of tensors, and tracing is
paid per operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tb_layerflow.log.histogram import CODE_SHIFT, CODES

from . import part as parts

raw = tf.raw_ops


class Measured(NamedTuple):
    """What leaves the step, for n tensors: `exact` float32 [n, 4] (mean, half the sum of squares, min, max), `part` float32 [n,
    2] (mean and mean squared deviation), `codes` int32 [n, CODES], and `shapes`, int32, their shapes one behind another."""

    exact: Any
    part: Any
    codes: Any
    shapes: Any


def measure(tensors: Sequence[Any], factors: Sequence[Any], *, everything: bool = False, skip: Any = None) -> Measured:
    """Reduce tensors of any real dtype and shape.

    Args:
        tensors: dense tensors; the first axis is the batch.
        factors: per tensor None, or a float32 scalar that it is multiplied by (the loss scale, divided out).
        everything: take the part's figures from all elements.
        skip: int32 scalar, samples measured before these (an earlier chunk of a probe), which count towards the part; None: 0.
    """
    if not tensors:
        empty = tf.zeros([0], tf.int32)
        return Measured(tf.zeros([0, 4]), tf.zeros([0, 2]), tf.zeros([0, CODES], tf.int32), empty)
    reducer = _Reducer(everything, skip)
    for tensor, factor in zip(tensors, factors, strict=True):
        reducer.add(tensor, factor)
    return reducer.measured()


def part_chooser(*, everything: bool = False, skip: Any = None) -> Callable[[Any], Any]:
    """A function from a float32 tensor, the batch axis first, to its part (or all of it) as a flat tensor."""
    reducer = _Reducer(everything, skip)
    return reducer.chosen


def shapes_of(flat: np.ndarray[Any, Any], ranks: Sequence[int | None]) -> list[tuple[int, ...]]:
    """The shapes behind `Measured.shapes`: a tensor of unknown rank has its rank before its shape."""
    shapes = []
    place = 0
    for rank in ranks:
        if rank is None:
            rank = int(flat[place])
            place += 1
        shapes.append(tuple(int(size) for size in flat[place : place + rank]))
        place += rank
    return shapes


class _Reducer:
    """Collects the scalars of each tensor, to be stacked once."""

    def __init__(self, everything: bool, skip: Any) -> None:
        self._everything = everything
        self._skip = skip
        self._first_axis = tf.constant([0])
        self._flat = tf.constant([-1])
        self._shift = tf.constant(CODE_SHIFT, tf.uint32)
        self._code_count = tf.constant(CODES)
        self._no_weights = tf.zeros([0], tf.int32)
        self._exact: list[Any] = []
        self._part: list[Any] = []
        self._codes: list[Any] = []
        self._shapes: list[Any] = []

    def add(self, tensor: Any, factor: Any) -> None:
        """Reduce one tensor."""
        floats = tensor if tensor.dtype == tf.float32 else tf.cast(tensor, tf.float32)
        if factor is not None:
            floats = raw.Mul(x=floats, y=factor)
        flat = raw.Reshape(tensor=floats, shape=self._flat)
        self._exact += [
            self._mean(flat),
            raw.L2Loss(t=flat),
            raw.Min(input=flat, axis=self._first_axis),
            raw.Max(input=flat, axis=self._first_axis),
        ]
        chosen = flat if self._everything else self._chosen(floats, flat)
        mean = self._mean(chosen)
        self._part += [mean, self._mean(raw.SquaredDifference(x=chosen, y=mean))]
        bits = raw.RightShift(x=raw.Bitcast(input=chosen, type=tf.uint32), y=self._shift)
        codes = raw.Cast(x=bits, DstT=tf.int32)
        self._codes.append(raw.DenseBincount(input=codes, size=self._code_count, weights=self._no_weights, binary_output=False))
        self._add_shape(floats)

    def chosen(self, floats: Any) -> Any:
        """The part of one tensor, flat."""
        flat = raw.Reshape(tensor=floats, shape=self._flat)
        return flat if self._everything else self._chosen(floats, flat)

    def measured(self) -> Measured:
        """All that was added."""
        exact = tf.reshape(raw.Pack(values=self._exact, axis=0), [-1, 4])
        part = tf.reshape(raw.Pack(values=self._part, axis=0), [-1, 2])
        return Measured(exact, part, raw.Pack(values=self._codes, axis=0), tf.concat(self._shapes, 0))

    def _mean(self, flat: Any) -> Any:
        return raw.Mean(input=flat, axis=self._first_axis)

    def _add_shape(self, floats: Any) -> None:
        if floats.shape.is_fully_defined():
            self._shapes.append(np.array(floats.shape, np.int32))
            return
        shape = tf.shape(floats)
        self._shapes += [shape] if floats.shape.rank is not None else [tf.reshape(tf.size(shape), [1]), shape]

    def _chosen(self, floats: Any, flat: Any) -> Any:
        shape = floats.shape
        if shape.rank == 0:
            return flat
        if shape.rank is None or not shape[1:].is_fully_defined():
            return _chosen_by_dynamic_shape(floats, self._skip)
        part = parts.of_sample(shape[1:])
        if part.stride > 1:
            first = floats[:1] if self._skip is None else floats[: tf.cast(self._skip < 1, tf.int32)]
            positions = tf.reshape(first, [-1, part.channels])[:: part.stride]
            return tf.reshape(positions, self._flat)
        if self._skip is None and shape[0] is not None and shape[0] <= part.samples:
            return flat
        elements = part.samples * shape[1:].num_elements()
        if self._skip is not None:
            elements = tf.maximum(elements - self._skip * shape[1:].num_elements(), 0)
        return flat[:elements]


def _chosen_by_dynamic_shape(floats: Any, skip: Any) -> Any:
    """The part where the shape of a sample is known only when the step runs. No control flow: the step may be compiled."""
    shape = tf.shape(floats)
    sample = tf.reduce_prod(shape[1:])
    safe = tf.maximum(sample, 1)
    last = tf.reduce_prod(shape[-1:])
    channels = tf.maximum(tf.where(tf.size(shape) > 2, last, 1), 1)
    taken = tf.constant(0) if skip is None else skip
    is_whole = safe <= parts.PART
    samples = tf.where(is_whole, tf.maximum(parts.PART // safe - taken, 0), tf.cast(tf.equal(taken, 0), tf.int32))
    stride = tf.where(channels <= parts.PART, -(-safe // parts.PART), safe // channels)
    stride = tf.where(is_whole, 1, stride)
    positions = tf.reshape(floats, tf.stack([-1, channels]))[
        : tf.minimum(samples, tf.reduce_prod(shape[:1])) * (sample // channels)
    ]
    return tf.reshape(positions[::stride], [-1])
