"""The rows of the sixth suite: waves, long words, token counts, edges of photographs, pairs of patients, and tables of scikit-learn."""

from __future__ import annotations

import importlib
import inspect
from functools import cache

import numpy as np

from . import material

MODULES = ("asyncio.base_events", "email.message", "logging", "pathlib")
LENGTH, TOKENS, LETTERS = 12, 9, 64


@cache
def waves(length: int = 32, count: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Sines, squares and saws of several lengths under a little noise: float32 [count, length, 1], and which of the three (int32)."""
    random = np.random.default_rng(61)
    kind = random.integers(0, 3, count).astype(np.int32)
    phase = random.uniform(0, 1, (count, 1)) + np.arange(length) / random.uniform(8, 16, (count, 1))
    forms = np.stack([np.sin(2 * np.pi * phase), np.where(phase % 1 < 0.5, 1.0, -1.0), 2 * (phase % 1) - 1])
    rows = forms[kind, np.arange(count)] + random.normal(0, 0.05, (count, length))
    return rows.astype(np.float32)[..., None], kind


@cache
def crowds(count: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Eight to twelve tokens 1 … 8, then zeros as padding: int32 [count, 12], and which token is drawn most often, 0 … 7."""
    random = np.random.default_rng(62)
    rows = random.integers(1, TOKENS, (count, LENGTH))
    most = random.integers(0, TOKENS - 1, count)
    for row in range(count):
        long = random.integers(8, LENGTH + 1)
        rows[row, random.choice(long, 5, replace=False)] = most[row] + 1
        rows[row, long:] = 0
    return rows.astype(np.int32), most.astype(np.int32)


@cache
def long_words(length: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Letters of four modules of Python: int32 [pieces, length]; is each in a word of six letters or more: float32 [pieces, length, 1]."""
    text = " ".join(" ".join(inspect.getsource(importlib.import_module(name)).lower().split())[:15000] for name in MODULES)
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int32)
    codes = np.where(codes >= 96, codes - 64, np.maximum(codes - 32, 0)) % LETTERS
    inside = np.zeros(len(text), np.float32)
    start = 0
    for word in text.split(" "):
        inside[start : start + len(word)] = len(word) >= 6
        start += len(word) + 1
    starts = np.arange(0, len(codes) - length, 11)[:, None] + np.arange(length)
    return codes[starts], inside[starts][..., None]


@cache
def edges(size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Grey squares of two photographs around 0 (float32 [squares, size, size, 1]), and how steep each is at each pixel, of deviation 1."""
    grey = material.patches(size)[0].mean(-1)
    down, right = np.gradient(grey, axis=(1, 2))
    steep = np.hypot(down, right)
    return ((grey - grey.mean()) / grey.std())[..., None], ((steep - steep.mean()) / steep.std())[..., None].astype(np.float32)


@cache
def regimes(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Six numbers in -1 … 1, and one that depends on three of them, on which three and how by the signs of two others (float32)."""
    random = np.random.default_rng(63)
    x = random.uniform(-1, 1, (count, 6))
    signs = 2 * (x[:, 0] > 0) + (x[:, 1] > 0)
    y = np.choose(signs, [2 * x[:, 2] + x[:, 3], x[:, 4] - 2 * x[:, 5], x[:, 3] - x[:, 2], 2 * x[:, 5] + x[:, 4]])
    return x.astype(np.float32), (y + random.normal(0, 0.05, count)).astype(np.float32)[:, None]


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits as pictures: float32 [1797, 8, 8, 1] in -1 … 1, and their classes."""
    images, classes = material.digit_rows()
    return 2 * images[..., None] - 1, classes


@cache
def couples(count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Pairs of patients (`left`, `right`: float32 [count, 10]), and whether the left one's diabetes went further: float32 [count, 1]."""
    x, y = material.table("diabetes")
    random = np.random.default_rng(64)
    left, right = random.integers(0, len(x), (2, count))
    return {"left": x[left], "right": x[right]}, (y[left] > y[right]).astype(np.float32)


@cache
def tumours() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A tumour's radius and texture in tenths of all (int32 [569]), 28 further measures (float32 [569, 28]), and is it benign."""
    x, y = material.table("breast_cancer")
    tenths = [np.searchsorted(np.quantile(x[:, column], np.linspace(0.1, 0.9, 9)), x[:, column]) for column in (0, 1)]
    known = {"radius": tenths[0].astype(np.int32), "texture": tenths[1].astype(np.int32), "others": x[:, 2:].copy()}
    return known, y[:, None].astype(np.float32)


@cache
def irises() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Three measures of an iris (float32 [150, 3]), of which kind it is, and the fourth measure, its petals' width."""
    x, y = material.table("iris")
    return x[:, :3].copy(), {"kind": y, "width": x[:, 3:].copy()}


@cache
def temple() -> tuple[np.ndarray, np.ndarray]:
    """Places in -1 … 1 of a photograph of a temple (float32 [places, 2]), and its colours there, of mean 0 and deviation 1."""
    from sklearn.datasets import load_sample_image

    photo = load_sample_image("china.jpg").astype(np.float32)
    photo = photo[: photo.shape[0] // 12 * 12, : photo.shape[1] // 12 * 12]
    photo = photo.reshape(photo.shape[0] // 12, 12, photo.shape[1] // 12, 12, 3).mean((1, 3))
    rows, columns = np.meshgrid(np.linspace(-1, 1, photo.shape[0]), np.linspace(-1, 1, photo.shape[1]), indexing="ij")
    colours = photo.reshape(-1, 3)
    return np.stack([rows, columns], -1).reshape(-1, 2).astype(np.float32), (colours - colours.mean(0)) / colours.std(0)
