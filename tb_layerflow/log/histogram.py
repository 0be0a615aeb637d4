"""The fixed histogram bins: the same for every tensor, run and step. Pure numpy; capture counts the same codes with TensorFlow.

A number's *code* is the first ten bits of its float32: sign, exponent and the first bit of the mantissa. A *bin* is a half
octave of magnitude for one sign. Bins 0 … SIDE-1 hold the negative numbers, from the largest magnitude to the smallest; bins
SIDE … 2·SIDE-1 the positive ones, from the smallest to the largest, so that edges rise from left to right. Magnitudes beyond
2^-64 or 2^64 are counted in the outermost bin of their side. Zero, NaN, +Inf and -Inf have bins of their own after the
others. Zero includes magnitudes below 2^-127, which most devices flush to zero anyway; a NaN is a quiet NaN, the kind that
arithmetic makes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LOWEST_EXPONENT = -64
HIGHEST_EXPONENT = 64
SIDE = 2 * (HIGHEST_EXPONENT - LOWEST_EXPONENT)
ZERO, NAN, POS_INF, NEG_INF = range(2 * SIDE, 2 * SIDE + 4)
BINS = 2 * SIDE + 4

CODE_SHIFT = 22
CODES = 1 << (32 - CODE_SHIFT)

_EXPONENT_BIAS = 127


def edges() -> NDArray[np.float64]:
    """The 2·SIDE + 1 edges of the signed bins, rising; the middle one is 0."""
    half_octaves = np.arange(SIDE + 1)
    magnitudes = np.ldexp(np.where(half_octaves % 2, 1.5, 1.0), LOWEST_EXPONENT + half_octaves // 2)
    magnitudes[0] = 0.0
    return np.concatenate([-magnitudes[::-1], magnitudes[1:]])


def _bin_of_code() -> NDArray[np.int64]:
    code = np.arange(CODES)
    magnitude = code % (CODES // 2)
    half_octave = np.clip(magnitude - 2 * (LOWEST_EXPONENT + _EXPONENT_BIAS), 0, SIDE - 1)
    negative = code >= CODES // 2
    bins = np.where(negative, SIDE - 1 - half_octave, SIDE + half_octave)
    bins = np.where(magnitude == 0, ZERO, bins)
    bins = np.where(magnitude == CODES // 2 - 2, np.where(negative, NEG_INF, POS_INF), bins)
    return np.where(magnitude == CODES // 2 - 1, NAN, bins)


BIN_OF_CODE = _bin_of_code()
_ORDER = np.argsort(BIN_OF_CODE, kind="stable")
_STARTS = np.searchsorted(BIN_OF_CODE[_ORDER], np.arange(BINS))


def bin_of(numbers: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """The bin of each number, taken as float32; same shape, int64."""
    floats = np.asarray(numbers, np.float32)
    bins: NDArray[np.int64] = BIN_OF_CODE[floats.view(np.uint32) >> CODE_SHIFT]
    return bins


def counts(numbers: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    """How many of the numbers fall into each bin: uint64 [BINS]."""
    return np.bincount(bin_of(numbers).ravel(), minlength=BINS).astype(np.uint64)


def fold(codes: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Counts of bins from counts of codes: [rows, CODES] → uint64 [rows, BINS]."""
    ordered = np.asarray(codes)[:, _ORDER]
    return np.add.reduceat(ordered, _STARTS, axis=1).astype(np.uint64) if len(codes) else np.zeros((0, BINS), np.uint64)
