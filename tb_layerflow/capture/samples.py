"""The fixed samples of a probe or of `record`: checked once, kept on the host, handed out in chunks. Knows no models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from . import nests


class Samples:
    """(x, y, sample_weight), each any nest of arrays with the samples first; y and sample_weight may be None.

    Raises:
        TypeError: what was given is neither samples nor a dataset of them.
        ValueError: there are no samples, or the parts have different numbers of them.
    """

    def __init__(self, x: Any, y: Any = None, sample_weight: Any = None) -> None:
        self.x, self.y, self.sample_weight = (_on_host(part) for part in (x, y, sample_weight))
        sizes = {
            _length(leaf) for part in (self.x, self.y, self.sample_weight) for _, leaf in nests.flatten(part) if leaf is not None
        }
        if len(sizes) > 1:
            raise ValueError(f"x, y and sample_weight must have equally many samples. Received: {sorted(sizes)}.")
        if not sizes or sizes == {0}:
            raise ValueError("There must be at least one sample. Received: none.")
        self.count = sizes.pop()

    @classmethod
    def of(cls, given: Any) -> Samples:
        """From (x, y), (x, y, sample_weight), x alone, or a `tf.data.Dataset` (or another iterable) of batches of those."""
        if isinstance(given, tuple) and 1 <= len(given) <= 3 and not hasattr(given, "_fields"):
            return cls(*given)
        if isinstance(given, tf.data.Dataset) or (hasattr(given, "__getitem__") and hasattr(given, "num_batches")):
            return cls(*_gathered(given))
        if isinstance(given, (np.ndarray, tf.Tensor, dict)):
            return cls(given)
        raise TypeError(
            "probe must be (x, y), (x, y, sample_weight), x, or a tf.data.Dataset of batches of those. "
            f"Received: {type(given).__name__}."
        )

    @property
    def has_labels(self) -> bool:
        """Whether there is a y."""
        return self.y is not None

    def chunks(self, size: int) -> Iterator[tuple[tuple[Any, Any, Any], float, int]]:
        """((x, y, sample_weight), share of all samples, samples before), at most `size` samples at once."""
        for start in range(0, self.count, size):
            stop = min(start + size, self.count)
            chunk = (_sliced(self.x, start, stop), _sliced(self.y, start, stop), _sliced(self.sample_weight, start, stop))
            yield chunk, (stop - start) / self.count, start


def _on_host(part: Any) -> Any:
    return nests.map_leaves(lambda _, leaf: _array(leaf), part) if part is not None else None


def _array(leaf: Any) -> Any:
    if leaf is None or isinstance(leaf, (tf.RaggedTensor, tf.SparseTensor)):
        return leaf
    array = np.asarray(leaf)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _length(leaf: Any) -> int:
    if isinstance(leaf, tf.RaggedTensor):
        return int(leaf.nrows())
    if not len(leaf.shape):
        raise ValueError("Samples must have an axis of samples. Received: a scalar.")
    return int(leaf.shape[0])


def _sliced(part: Any, start: int, stop: int) -> Any:
    if part is None:
        return None
    return nests.map_leaves(lambda _, leaf: None if leaf is None else _rows(leaf, start, stop), part)


def _rows(leaf: Any, start: int, stop: int) -> Any:
    if isinstance(leaf, tf.SparseTensor):
        return tf.sparse.slice(leaf, [start] + [0] * (leaf.shape.rank - 1), [stop - start, *leaf.shape[1:]])
    return tf.convert_to_tensor(leaf[start:stop])


def _gathered(batches: Any) -> tuple[Any, ...]:
    """All batches of a dataset as one (x, y, sample_weight)."""
    gathered = [batch if isinstance(batch, tuple) else (batch,) for batch in batches]
    if not gathered:
        raise ValueError("The probe's dataset has no batches. Received: an empty dataset.")
    parts = []
    for part in zip(*gathered, strict=True):
        columns = [[leaf for _, leaf in nests.flatten(piece)] for piece in part]
        joined = [_joined([column[position] for column in columns]) for position in range(len(columns[0]))]
        parts.append(nests.packed(part[0], joined))
    return tuple(parts)


def _joined(pieces: list[Any]) -> Any:
    if pieces[0] is None:
        return None
    if isinstance(pieces[0], tf.RaggedTensor):
        return tf.concat(pieces, 0)
    if isinstance(pieces[0], tf.SparseTensor):
        return tf.sparse.concat(0, pieces)
    return np.concatenate([np.asarray(piece) for piece in pieces])
