"""How well labels can be read from features: a ridge-regularised linear readout in closed form. numpy only; knows no models.

The features are standardised by the mean and standard deviation of the fitting half. The strength of the ridge is the one, out of
STRENGTHS times the number of fitted samples, with the least squared leave-one-out error over the fitting half (PRESS, Allen
1974), which has a closed form: the residual over one minus the leverage. Ties go to the stronger. A scored sample's standardised
features are clipped to their range over the fitting half: a readout says nothing beyond what it was fitted on, and of a unit that
but one fitted sample woke, the deviation is too small to measure others by.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 512
"""More features than this are projected to as many."""
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3)
SEED = 0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Readout:
    """scores = clip((features - mean) / scale, low, high) @ weights + intercept; `ridge` is the strength that was chosen."""

    mean: Floats
    scale: Floats
    low: Floats
    high: Floats
    weights: Floats
    intercept: Floats
    ridge: float

    def scores(self, features: Floats) -> Floats:
        """[samples, targets] for [samples, dimensions]."""
        standard = (np.asarray(features, np.float64) - self.mean) / self.scale
        found: Floats = np.clip(standard, self.low, self.high) @ self.weights + self.intercept
        return found


def halves(count: int, seed: int = SEED) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The samples to fit on and those to score on: the two halves of a seeded permutation, each in rising order."""
    shuffled = np.random.default_rng(seed).permutation(count)
    return np.sort(shuffled[: count // 2]), np.sort(shuffled[count // 2 :])


def chosen(count: int, most: int, seed: int = SEED) -> NDArray[np.int64]:
    """At most `most` of `count` samples, by a seeded permutation, in rising order."""
    return np.sort(np.random.default_rng([seed, count]).permutation(count)[:most])


def sketch(dimensions: int, seed: int = SEED) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The fixed random projection to DIMENSIONS: each feature's bucket and sign (count sketch, Charikar et al. 2002).

    A projected feature is the sum of its bucket's features times their signs: inner products are kept on average.
    """
    random = np.random.default_rng([seed, dimensions])
    return random.integers(0, DIMENSIONS, dimensions).astype(np.int32), random.choice([-1.0, 1.0], dimensions).astype(np.float32)


def fit(features: Floats, targets: Floats) -> Readout:
    """Fit on [samples, dimensions] and [samples, targets]; at least two samples, all finite."""
    features, targets = np.asarray(features, np.float64), np.asarray(targets, np.float64)
    mean, spread = features.mean(0), features.std(0)
    scale = np.where(spread > 1e-7 * np.maximum(np.abs(mean), 1e-30), spread, np.inf)
    standard, intercept = (features - mean) / scale, targets.mean(0)
    residuals = targets - intercept
    count = len(features)
    is_wide = standard.shape[1] > count
    gram = standard @ standard.T if is_wide else standard.T @ standard
    squares, axes = np.linalg.eigh(gram)
    squares = np.maximum(squares, 0.0)
    basis = axes if is_wide else standard @ axes
    seen = basis.T @ residuals
    best, least = float("nan"), np.inf
    for strength in reversed(STRENGTHS):
        ridge = strength * count
        kept = (squares if is_wide else 1.0) / (squares + ridge)
        leverage = 1.0 / count + np.square(basis) @ np.broadcast_to(kept, squares.shape)
        left = (residuals - basis @ (kept[:, None] * seen)) / np.maximum(1.0 - leverage, 1e-9)[:, None]
        if (error := float(np.square(left).sum())) < least * (1 - 1e-9):
            best, least = ridge, error
    inner = seen / (squares + best)[:, None]
    weights = standard.T @ (axes @ inner) if is_wide else axes @ inner
    return Readout(mean, scale, standard.min(0), standard.max(0), weights, intercept, best)
