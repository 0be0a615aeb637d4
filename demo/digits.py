"""The 1,797 handwritten digits that scikit-learn ships, as arrays to train on. Knows no model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

TEST_IMAGES = 360
GREY_LEVELS = 16


class Examples(NamedTuple):
    """Images `x`, float32 in [−1, 1], [image, row, column, channel], and which digit each shows, `y`, int64."""

    x: npt.NDArray[np.float32]
    y: npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Two images each, as in `Examples`, and whether both show the same digit: `same`, float32 [pair, 1], half of them ones."""

    left: npt.NDArray[np.float32]
    right: npt.NDArray[np.float32]
    same: npt.NDArray[np.float32]


def load(size: int, channels: int) -> tuple[Examples, Examples]:
    """The images to train on and those to test with, in the same order each time.

    Args:
      size: Rows and columns; a multiple of 8, which is how large the digits are.
      channels: How often the grey image is repeated.
    """
    digits = load_digits()
    grey = digits.images.astype(np.float32) / (GREY_LEVELS / 2) - 1
    larger = grey.repeat(size // grey.shape[1], axis=1).repeat(size // grey.shape[2], axis=2)
    order = np.random.default_rng(0).permutation(len(grey))
    x, y = larger[order, :, :, None].repeat(channels, axis=3), digits.target[order].astype(np.int64)
    return Examples(x[TEST_IMAGES:], y[TEST_IMAGES:]), Examples(x[:TEST_IMAGES], y[:TEST_IMAGES])


def with_moved(examples: Examples, pixels: int) -> Examples:
    """The images, then all of them moved by `pixels` to the right, left, bottom and top: five times as many to learn from."""
    rows, columns = examples.x.shape[1:3]
    wide = np.pad(examples.x, ((0, 0), (pixels, pixels), (pixels, pixels), (0, 0)), constant_values=-1)
    corners = [(pixels + down, pixels + right) for down, right in ((0, 0), (0, -pixels), (0, pixels), (-pixels, 0), (pixels, 0))]
    moved = [wide[:, top : top + rows, start : start + columns] for top, start in corners]
    return Examples(np.concatenate(moved), np.tile(examples.y, len(moved)))


def pairs(examples: Examples, count: int, seed: int) -> Pairs:
    """`count` pairs out of `examples`, drawn with `seed`: even ones of the same digit, odd ones of two different digits."""
    draw = np.random.default_rng(seed)
    left = draw.integers(len(examples.y), size=count)
    same = np.arange(count) % 2 == 0
    partners = [(examples.y == examples.y[image]) == alike for image, alike in zip(left, same, strict=True)]
    right = np.array([draw.choice(np.flatnonzero(possible)) for possible in partners])
    return Pairs(examples.x[left], examples.x[right], same.astype(np.float32)[:, None])
