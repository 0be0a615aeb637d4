"""The fixed histogram bins: the same for every tensor, run and step. Pure numpy; capture computes the same bins with TensorFlow.

A bin is a half octave of magnitude, for one sign: the float32's sign, exponent and first bit of the mantissa choose it. Bins
0 … SIDE-1 hold the negative numbers, from the largest magnitude to the smallest; bins SIDE … 2·SIDE-1 the positive ones, from the
smallest magnitude to the largest, so that edges rise from left to right. Magnitudes beyond 2^-64 or 2^64 are counted in the
outermost bin of their side. Zero, NaN, +Inf and -Inf have bins of their own, after the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LOWEST_EXPONENT = -64
HIGHEST_EXPONENT = 64
SIDE = 2 * (HIGHEST_EXPONENT - LOWEST_EXPONENT)
ZERO, NAN, POS_INF, NEG_INF = range(2 * SIDE, 2 * SIDE + 4)
BINS = 2 * SIDE + 4

_EXPONENT_BIAS = 127
FIRST_HALF_OCTAVE = 2 * (LOWEST_EXPONENT + _EXPONENT_BIAS)
"""What `float32 bits >> 22`, without the sign, is at 2^LOWEST_EXPONENT."""


def edges() -> NDArray[np.float64]:
    """The 2·SIDE + 1 edges of the signed bins, rising; the middle one is 0."""
    magnitudes = np.ldexp(
        np.where(np.arange(SIDE + 1) % 2, 1.5, 1.0), LOWEST_EXPONENT + np.arange(SIDE + 1) // 2
    )
    magnitudes[0] = 0.0
    return np.concatenate([-magnitudes[::-1], magnitudes[1:]])


def bin_of(numbers: NDArray[np.floating]) -> NDArray[np.int64]:
    """The bin of each number, taken as float32; same shape, int64."""
    floats = np.asarray(numbers, np.float32)
    bits = floats.view(np.uint32)
    half_octave = np.clip(((bits & 0x7FFFFFFF) >> 22).astype(np.int64) - FIRST_HALF_OCTAVE, 0, SIDE - 1)
    bins = np.where(bits >> 31, SIDE - 1 - half_octave, SIDE + half_octave)
    bins = np.where(floats == 0, ZERO, bins)
    bins = np.where(np.isnan(floats), NAN, bins)
    bins = np.where(np.isposinf(floats), POS_INF, bins)
    return np.where(np.isneginf(floats), NEG_INF, bins)


def counts(numbers: NDArray[np.floating]) -> NDArray[np.uint64]:
    """How many of the numbers fall into each bin: uint64 [BINS]."""
    return np.bincount(bin_of(numbers).ravel(), minlength=BINS).astype(np.uint64)
