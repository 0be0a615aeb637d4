"""Real data for the trainings of this suite: two photographs, handwritten digits, Python's own source, and scikit-learn's tables."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

MODULES = ("argparse", "datetime", "tarfile", "typing", "turtle", "statistics", "ipaddress", "difflib")
WORDS, LETTERS = 400, 64


@cache
def patches(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares of two photographs, half overlapping: float32 [squares, size, size, 3] in 0 … 1, and int32 which of the two it is of."""
    from sklearn.datasets import load_sample_images

    squares, which = [], []
    for number, photo in enumerate(load_sample_images().images):
        for top in range(0, photo.shape[0] - size, size // 2):
            for left in range(0, photo.shape[1] - size, size // 2):
                squares.append(photo[top : top + size, left : left + size])
                which.append(number)
    return np.stack(squares).astype(np.float32) / 255, np.array(which, np.int32)


@cache
def _sources() -> tuple[str, ...]:
    return tuple(inspect.getsource(importlib.import_module(name)) for name in MODULES)


@cache
def passages(length: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Successive words of eight modules of Python: int32 [passages, length], 1 an uncommon word; and which module they are of."""
    texts = [re.findall(r"[a-z_]+", source.lower()) for source in _sources()]
    common = [word for word, _ in Counter(word for text in texts for word in text).most_common(WORDS - 2)]
    number = {word: index + 2 for index, word in enumerate(common)}
    rows, which = [], []
    for index, text in enumerate(texts):
        for start in range(0, min(len(text), 6000) - length, length // 2):
            rows.append([number.get(word, 1) for word in text[start : start + length]])
            which.append(index)
    return np.array(rows, np.int32), np.array(which, np.int32)


@cache
def letters(length: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Letters of Python's `argparse`: int32 [pieces, length], and each piece's next letters [pieces, length]."""
    text = np.frombuffer(re.sub(r"\s+", " ", _sources()[0].lower()).encode("ascii", "replace"), np.uint8).astype(np.int32)
    codes = np.where(text >= 96, text - 64, np.maximum(text - 32, 0))
    starts = np.arange(0, len(codes) - length - 1, 7)[:, None] + np.arange(length)
    return np.minimum(codes[starts], LETTERS - 1), np.minimum(codes[starts + 1], LETTERS - 1)


def table(name: str, *, raw: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A table of scikit-learn: float32 [rows, columns], standardised unless `raw`, and its labels (a number's too)."""
    datasets = importlib.import_module("sklearn.datasets")
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if not raw:
        x = (x - x.mean(0)) / (x.std(0) + 1e-9)
    if len(set(y)) > 20:
        return x.astype(np.float32), ((y - y.mean()) / y.std()).astype(np.float32)[:, None]
    return x.astype(np.float32), y.astype(np.int32)


def digit_rows() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits as a sequence of eight rows: float32 [1797, 8, 8] in 0 … 1, and their classes."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return (digits.images / 16).astype(np.float32), digits.target.astype(np.int32)


def pairs(seed: int, count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Pairs of handwritten digits (`left`, `right`: float32 [count, 64]), and float32 [count, 1] whether they are the same digit."""
    images, classes = digit_rows()
    flat, random = images.reshape(-1, 64), np.random.default_rng(seed)
    left = random.integers(0, len(flat), count)
    right = random.integers(0, len(flat), count)
    for row in range(0, count, 2):
        right[row] = random.choice(np.flatnonzero(classes == classes[left[row]]))
    return {"left": flat[left], "right": flat[right]}, (classes[left] == classes[right]).astype(np.float32)[:, None]


def in_order(x: Any, y: Any, rows: int, seed: int) -> tuple[Any, Any]:
    """`rows` rows in a random order, repeated where there are fewer: row i x 32 is the first of the batch of step i."""
    count = len(y) if not isinstance(y, dict) else len(next(iter(y.values())))
    random = np.random.default_rng(seed)
    chosen = np.concatenate([random.permutation(count) for _ in range(-(-rows // count))])[:rows]
    return taken(x, chosen), taken(y, chosen)


def taken(part: Any, rows: Any) -> Any:
    """These rows of an array, or of each array of a dict (a copy, in both cases)."""
    return {key: value[rows].copy() for key, value in part.items()} if isinstance(part, dict) else part[rows].copy()
