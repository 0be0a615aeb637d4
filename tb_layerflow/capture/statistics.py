"""Statistics and histogram codes of tensors, as arithmetic that XLA compiles. Knows nothing of layers, records or files.

Exact over all elements: mean, l2, min, max. From a part: the sum of squared deviations from the part's own mean, and how many numbers
have each code, the first ten bits of a float32 (`log.histogram` makes bins of codes). The part is as many whole samples as fit into
PART elements, from the first on; where one sample is larger, every k-th position of the first, with all its channels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import tensorflow as tf

from tb_layerflow.log.histogram import CODE_SHIFT, CODES

PART = 32_768


class Measured(NamedTuple):
    """What leaves the step, for n tensors: `exact` float32 [n, 4] (mean, l2, min, max), `part` float32 [n, 2] (mean and mean squared
    deviation), `codes` int32 [n, CODES], and `sizes` int32 [n, 3] (elements, elements of the part, stride)."""

    exact: Any
    part: Any
    codes: Any
    sizes: Any


def measure(tensors: list[Any], factors: list[Any], *, everything: bool = False, skip: Any = None) -> Measured:
    """Reduce tensors of any real dtype and shape.

    Args:
        tensors: dense tensors, any shape; the first axis is the batch.
        factors: per tensor None, or a float32 scalar that it is multiplied by (the loss scale, divided out).
        everything: take the part's figures from all elements.
        skip: int32 scalar, samples measured before these (an earlier chunk of a probe), which count towards the part; None: 0.
    """
    rows = [_one(tensor, factor, everything, skip) for tensor, factor in zip(tensors, factors, strict=True)]
    if not rows:
        return Measured(tf.zeros([0, 4]), tf.zeros([0, 2]), tf.zeros([0, CODES], tf.int32), tf.zeros([0, 3], tf.int32))
    return Measured(*(tf.stack(column) for column in zip(*rows, strict=True)))


def _one(tensor: Any, factor: Any, everything: bool, skip: Any) -> tuple[Any, Any, Any, Any]:
    floats = tensor if tensor.dtype == tf.float32 else tf.cast(tensor, tf.float32)
    if factor is not None:
        floats = floats * factor
    exact = tf.stack(
        [tf.reduce_mean(floats), tf.sqrt(2.0 * tf.nn.l2_loss(floats)), tf.reduce_min(floats), tf.reduce_max(floats)]
    )
    part, stride = (tf.reshape(floats, [-1]), 1) if everything else _part(floats, skip)
    mean = tf.reduce_mean(part)
    spread = tf.reduce_mean(tf.math.squared_difference(part, mean))
    codes = tf.cast(tf.bitwise.right_shift(tf.bitcast(part, tf.uint32), tf.constant(CODE_SHIFT, tf.uint32)), tf.int32)
    counts = tf.raw_ops.DenseBincount(input=codes, size=tf.constant(CODES), weights=tf.zeros([0], tf.int32))
    sizes = tf.stack([tf.size(floats), tf.size(part), tf.convert_to_tensor(stride, tf.int32)])
    return exact, tf.stack([mean, spread]), tf.ensure_shape(counts, [CODES]), sizes


def _part(floats: Any, skip: Any) -> tuple[Any, Any]:
    """The elements that the part's figures are taken from, flat, and the stride between positions."""
    shape = floats.shape
    if shape.rank == 0:
        return tf.reshape(floats, [-1]), 1
    if shape.rank is None or not shape[1:].is_fully_defined():
        return _part_of_unknown_shape(floats, skip)
    sample = shape[1:].num_elements()
    if sample <= PART:
        samples = PART // max(sample, 1) if skip is None else tf.maximum(PART // max(sample, 1) - skip, 0)
        return tf.reshape(floats[:samples], [-1]), 1
    channels = shape[-1] if shape.rank > 2 else 1
    stride = math.ceil(sample / PART) if channels <= PART else sample // channels
    first = floats[:1] if skip is None else floats[: tf.cast(skip < 1, tf.int32)]
    return tf.reshape(tf.reshape(first, [-1, sample // channels, channels])[:, ::stride], [-1]), stride


def _part_of_unknown_shape(floats: Any, skip: Any) -> tuple[Any, Any]:
    """The same where the shape is known only when the step runs. No control flow: the step may be compiled."""
    shape = tf.shape(floats)
    sample = tf.maximum(tf.reduce_prod(shape[1:]), 1)
    last = shape[-1] if floats.shape.rank is not None and floats.shape.rank > 2 else 1
    channels = tf.maximum(last, 1)
    taken = 0 if skip is None else skip
    whole = sample <= PART
    samples = tf.where(whole, tf.maximum(PART // sample - taken, 0), tf.cast(tf.equal(taken, 0), tf.int32))
    stride = tf.where(whole, 1, tf.maximum(-(-sample // PART), 1))
    samples = tf.minimum(samples, shape[0])
    positions = tf.reshape(floats, tf.stack([-1, channels]))[: samples * (sample // channels)]
    return tf.reshape(positions[::stride], [-1]), stride
