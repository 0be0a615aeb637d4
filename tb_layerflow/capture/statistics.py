"""Statistics and histogram codes of tensors, as arithmetic that XLA compiles. Knows nothing of layers, records or files.

Exact over all elements: mean, l2, min, max. From a part (see `part`): the mean, the mean squared deviation from it (two passes:
from float32 sums of squares it is wrong), and how many numbers have each code, the first ten bits of a float32 (`log.histogram`
makes bins of codes). A model of a hundred calls has hundreds of tensors, and tracing is paid per operation: tensors of one shape
share a function (see `shared`), small ones of one size are the rows of one, and raw operations share their constants.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tb_layerflow.log.histogram import CODE_SHIFT, CODES

from . import part as parts
from . import shared

raw = tf.raw_ops


class Measured(NamedTuple):
    """What leaves the step, for n tensors: `exact` float32 [n, 4] (mean, half the sum of squares, min, max), `part` float32 [n,
    2] (mean and mean squared deviation), `codes` int32 [n, CODES], and `shapes`, int32, their shapes one behind another."""

    exact: Any
    part: Any
    codes: Any
    shapes: Any


class One(NamedTuple):
    """One tensor's row of each field of `Measured`; and where they were asked for: `channels`, figures of its part per channel,
    float32 [5 * channels] (mean, mean squared deviation, min, max, how many are zero), `elements`, how many these are from, and
    `samples`, its first ones as they are, in memory of their own.
    """

    exact: Any
    part: Any
    codes: Any
    shape: Any
    channels: Any = None
    elements: Any = None
    samples: Any = None


def measure(
    tensors: Sequence[Any],
    factors: Sequence[Any],
    *,
    everything: bool = False,
    skip: Any = None,
    known: Mapping[int, One] | None = None,
) -> Measured:
    """Reduce tensors of any real dtype and shape.

    Args:
        tensors: dense tensors; the first axis is the batch.
        factors: per tensor None, or a float32 scalar that it is multiplied by (the loss scale, divided out).
        everything: take the part's figures from all elements.
        skip: int32 scalar, samples measured before these (an earlier chunk of a probe), which count towards the part; None: 0.
        known: what `measure_one` gave for some of the tensors, by their number.
    """
    if not tensors:
        empty = tf.zeros([0], tf.int32)
        return Measured(tf.zeros([0, 4]), tf.zeros([0, 2]), tf.zeros([0, CODES], tf.int32), empty)
    known = known or {}
    reducer = _Reducer()
    order: list[int] = []
    for group in _alike(tensors, factors, skip, known):
        order += group
        if len(group) > 1:
            reducer.add_alike([tensors[index] for index in group], factors[group[0]])
            continue
        number = group[0]
        one = known.get(number) or measure_one(tensors[number], factors[number], everything=everything, skip=skip)
        reducer.add(one, is_of_known_shape=tensors[number].shape.is_fully_defined())
    return reducer.measured(order, [tensor.shape for tensor in tensors])


def measure_one(
    tensor: Any, factor: Any, *, everything: bool = False, skip: Any = None, channels: int = 0, samples: int = 0
) -> One:
    """What `measure` makes of one tensor, and what else is wanted of it: read once, it is let go of early.

    Args:
        tensor, factor, everything, skip: as for `measure`.
        channels: the size of the last axis, for figures per channel; 0: none.
        samples: how many of the first samples, of those that there are; 0: none.
    """
    return One(**shared.call(_one, tensor, factor, skip, everything=everything, channels=channels, samples=samples))


def _alike(tensors: Sequence[Any], factors: Sequence[Any], skip: Any, known: Container[int]) -> list[list[int]]:
    """The tensors by number, one by one or in groups that can be reduced together: small ones of one known number of elements.

    Variables, their gradients and their updates are such, by the hundred. The groups come after the others.
    """
    alone: list[list[int]] = []
    groups: dict[tuple[int, int], list[int]] = {}
    for index, (tensor, factor) in enumerate(zip(tensors, factors, strict=True)):
        elements = tensor.shape.num_elements() if tensor.shape.is_fully_defined() else None
        if skip is None and elements is not None and 0 < elements <= parts.PART and index not in known:
            groups.setdefault((elements, id(factor)), []).append(index)
        else:
            alone.append([index])
    alone += [group for group in groups.values() if len(group) == 1]
    return alone + [group for group in groups.values() if len(group) > 1]


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
    """Collects the figures of each tensor, to be stacked once."""

    def __init__(self) -> None:
        self._ops = _Ops()
        self._alone: list[One] = []
        self._dynamic_shapes: list[Any] = []
        self._blocks: list[tuple[Any, Any, Any]] = []

    def add(self, one: One, *, is_of_known_shape: bool) -> None:
        """Add what one tensor was reduced to."""
        self._alone.append(one)
        if not is_of_known_shape:
            self._dynamic_shapes.append(one.shape)

    def add_alike(self, tensors: Sequence[Any], factor: Any) -> None:
        """Reduce tensors of one number of elements, which are all of their part, as the rows of one."""
        rows = raw.Pack(values=[self._ops.flat(self._ops.floats(tensor, None)) for tensor in tensors], axis=0)
        if factor is not None:
            rows = raw.Mul(x=rows, y=factor)
        along = tf.constant([1])
        mean = raw.Mean(input=rows, axis=along, keep_dims=True)
        half_squares = 0.5 * raw.Sum(input=raw.Square(x=rows), axis=along, keep_dims=True)
        # Along an axis Min and Max pass over a NaN, which must spread as it does where a whole tensor is reduced.
        has_nan = raw.Any(input=raw.IsNan(x=rows), axis=along, keep_dims=True)
        low = tf.where(has_nan, np.float32(np.nan), raw.Min(input=rows, axis=along, keep_dims=True))
        high = tf.where(has_nan, np.float32(np.nan), raw.Max(input=rows, axis=along, keep_dims=True))
        spread = raw.Mean(input=raw.SquaredDifference(x=rows, y=mean), axis=along, keep_dims=True)
        codes = self._ops.codes(rows) + CODES * np.arange(len(tensors), dtype=np.int32)[:, None]
        counts = self._ops.counted(self._ops.flat(codes), len(tensors) * CODES)
        exact = tf.concat([mean, half_squares, low, high], 1)
        self._blocks.append((exact, tf.concat([mean, spread], 1), tf.reshape(counts, [len(tensors), CODES])))

    def measured(self, order: Sequence[int], shapes: Sequence[Any]) -> Measured:
        """All that was added, in the order of the tensors' numbers; `order` has the numbers as they were added."""
        blocks = list(self._blocks)
        if self._alone:
            columns = zip(*((one.exact, one.part, one.codes) for one in self._alone), strict=True)
            exact, part, codes = (raw.Pack(values=column, axis=0) for column in columns)
            blocks.insert(0, (exact, part, codes))
        places = np.argsort(np.array(order))
        exact, part, codes = (tf.gather(tf.concat(column, 0), places) for column in zip(*blocks, strict=True))
        return Measured(exact, part, codes, tf.concat(self._shapes(order, shapes), 0))

    def _shapes(self, order: Sequence[int], shapes: Sequence[Any]) -> list[Any]:
        """The shapes in the order of the tensors' numbers; a tensor of unknown rank has its rank before its shape."""
        dynamic = iter(self._dynamic_shapes)
        found = {index: next(dynamic) for index in order if not shapes[index].is_fully_defined()}
        pieces: list[Any] = []
        known: list[int] = []  # sizes that wait to become one constant
        for index, shape in enumerate(shapes):
            if index not in found:
                known += shape.as_list()
                continue
            pieces.append(np.array(known, np.int32))
            known = []
            pieces += [found[index]] if shape.rank is not None else [tf.reshape(tf.size(found[index]), [1]), found[index]]
        pieces.append(np.array(known, np.int32))
        return pieces


def _one(tensor: Any, factor: Any, skip: Any, *, everything: bool, channels: int, samples: int) -> dict[str, Any]:
    """The fields of a `One`."""
    ops = _Ops()
    floats = ops.floats(tensor, factor)
    flat = ops.flat(floats)
    along = ops.constant(0)
    exact = [ops.mean(flat), raw.L2Loss(t=flat), raw.Min(input=flat, axis=along), raw.Max(input=flat, axis=along)]
    chosen = flat if everything else ops.chosen(floats, flat, skip)
    mean = ops.mean(chosen)
    part = [mean, ops.mean(raw.SquaredDifference(x=chosen, y=mean))]
    fields = {
        "exact": raw.Pack(values=exact, axis=0),
        "part": raw.Pack(values=part, axis=0),
        "codes": ops.counted(ops.codes(chosen), CODES),
        "shape": raw.Shape(input=floats),
    }
    if channels:
        fields |= {"channels": ops.of_channels(chosen, channels), "elements": raw.Size(input=chosen)}
    if samples:
        # Not a slice, which would be a view and keep the whole batch in memory.
        fields["samples"] = tf.gather(tensor, tf.range(tf.minimum(tf.shape(tensor)[0], samples)))
    return fields


class _Ops:
    """The operations that all reductions are made of, over constants that one graph's have in common."""

    def __init__(self) -> None:
        self._constants: dict[tuple[int, ...], Any] = {}
        self._shift = tf.constant(CODE_SHIFT, tf.uint32)
        self._no_weights = tf.zeros([0], tf.int32)

    def floats(self, tensor: Any, factor: Any) -> Any:
        floats = tensor if tensor.dtype == tf.float32 else tf.cast(tensor, tf.float32)
        return floats if factor is None else raw.Mul(x=floats, y=factor)

    def flat(self, tensor: Any) -> Any:
        return raw.Reshape(tensor=tensor, shape=self.constant(-1))

    def mean(self, flat: Any) -> Any:
        return raw.Mean(input=flat, axis=self.constant(0))

    def codes(self, floats: Any) -> Any:
        bits = raw.RightShift(x=raw.Bitcast(input=floats, type=tf.uint32), y=self._shift)
        return raw.Cast(x=bits, DstT=tf.int32)

    def counted(self, codes: Any, size: int) -> Any:
        return raw.DenseBincount(input=codes, size=tf.constant(size), weights=self._no_weights, binary_output=False)

    def of_channels(self, chosen: Any, channels: int) -> Any:
        """The figures of each channel, float32 [5 * channels]."""
        positions = raw.Reshape(tensor=chosen, shape=self.constant(-1, channels))
        along = self.constant(0)
        mean = raw.Mean(input=positions, axis=along)
        figures = [
            mean,
            raw.Mean(input=raw.SquaredDifference(x=positions, y=mean), axis=along),
            raw.Min(input=positions, axis=along),
            raw.Max(input=positions, axis=along),
            raw.Sum(input=raw.Cast(x=raw.Equal(x=positions, y=tf.constant(0.0)), DstT=tf.float32), axis=along),
        ]
        return raw.ConcatV2(values=figures, axis=tf.constant(0))

    def chosen(self, floats: Any, flat: Any, skip: Any) -> Any:
        """The part, one behind another."""
        shape = floats.shape
        if shape.rank == 0:
            return flat
        if shape.rank is None or not shape[1:].is_fully_defined():
            return _chosen_by_dynamic_shape(floats, skip)
        part = parts.of_sample(shape[1:])
        sample = shape[1:].num_elements()
        if part.stride > 1:
            rows = raw.Reshape(tensor=flat, shape=self.constant(-1, part.channels))
            end = sample // part.channels
            end = end if skip is None else end * tf.cast(skip < 1, tf.int32)
            return self.flat(self._from_first(rows, end, part.stride))
        if skip is None and shape[0] is not None and shape[0] <= part.samples:
            return flat
        end = part.samples * sample
        return self._from_first(flat, end if skip is None else tf.maximum(end - skip * sample, 0))

    def _from_first(self, tensor: Any, end: Any, stride: int = 1) -> Any:
        """`tensor[:end:stride]`, without the constants that Python's slices make for each."""
        end = self.constant(end) if isinstance(end, int) else raw.Pack(values=[end], axis=0)
        return raw.StridedSlice(input=tensor, begin=self.constant(0), end=end, strides=self.constant(stride))

    def constant(self, *values: int) -> Any:
        """An int32 constant [n], made once."""
        if values not in self._constants:
            self._constants[values] = tf.constant(values, tf.int32)
        return self._constants[values]


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
