"""The rows of the seventh suite: moving digits, oscillations, clouds of points, ratings, halves of digits, noisy photographs, sentences."""

from __future__ import annotations

from functools import cache

import numpy as np

from . import material

USERS, ITEMS, WORDS, LENGTH = 60, 40, 9, 8


@cache
def films(count: int = 3000, frames: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A digit that moves by a pixel per frame: float32 [count, frames, 8, 8, 1] in 0 … 1, and which of four ways it goes (int32)."""
    random = np.random.default_rng(71)
    images = material.digit_rows()[0][random.integers(0, 1797, count)]
    way = random.integers(0, 4, count).astype(np.int32)
    steps = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])[way]
    rows = [[np.roll(image, tuple(step * at), (0, 1)) for at in range(frames)] for image, step in zip(images, steps, strict=True)]
    return np.array(rows, np.float32)[..., None], way


@cache
def oscillations(count: int = 3000, length: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Sums of two sines of random lengths and phases: float32 [count, length, 1], and the next number of each: float32 [count, 1]."""
    random = np.random.default_rng(72)
    size, phase = random.uniform(0.3, 1, (2, count, 1)), random.uniform(0, 2 * np.pi, (2, count, 1))
    speed = np.stack([random.uniform(0.2, 0.4, (count, 1)), random.uniform(0.5, 0.9, (count, 1))])
    rows = (size * np.sin(speed * np.arange(length + 1) + phase)).sum(0).astype(np.float32)
    return rows[:, :-1, None], rows[:, -1:]


@cache
def clouds(count: int = 3000, points: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Points around a centre: float32 [count, points, 2], and how far they scatter along each axis, of mean 0 and deviation 1."""
    random = np.random.default_rng(73)
    width = random.uniform(0.2, 1.5, (count, 1, 2))
    x = random.uniform(-0.5, 0.5, (count, 1, 2)) + width * random.normal(0, 1, (count, points, 2))
    y = x.std(1)
    return x.astype(np.float32), ((y - y.mean(0)) / y.std(0)).astype(np.float32)


@cache
def contexts(count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A context (float32 [count, 3]) that says with which factors four numbers (float32 [count, 4]) are summed: float32 [count, 1]."""
    random = np.random.default_rng(74)
    context, numbers = random.uniform(-1, 1, (count, 3)), random.normal(0, 1, (count, 4))
    factors = np.concatenate([context, -context[:, :1] * context[:, 1:2]], 1)
    x = {"context": context.astype(np.float32), "numbers": numbers.astype(np.float32)}
    return x, (1.5 * factors * numbers).sum(1, keepdims=True).astype(np.float32)


@cache
def ratings() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Who rates what (`user`, `item`: int32 [2400]), and how well, by three tastes and a little noise: float32 [2400, 1]."""
    random = np.random.default_rng(75)
    people, things = random.normal(0, 1, (USERS, 3)), random.normal(0, 1, (ITEMS, 3))
    user, item = (each.reshape(-1).astype(np.int32) for each in np.meshgrid(np.arange(USERS), np.arange(ITEMS)))
    y = (people[user] * things[item]).sum(1) + 0.5 * things[item, 0] + random.normal(0, 0.1, len(user))
    return {"user": user, "item": item}, ((y - y.mean()) / y.std()).astype(np.float32)[:, None]


@cache
def nodes() -> tuple[np.ndarray, np.ndarray]:
    """The pixels of digits as nodes: float32 [1797, 64, 3] (how dark, which row, which column), and the digits' classes."""
    images, classes = material.digit_rows()
    places = np.stack(np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8), indexing="ij"), -1).reshape(1, 64, 2)
    x = np.concatenate([2 * images.reshape(-1, 64, 1) - 1, np.repeat(places, len(images), 0)], -1)
    return x.astype(np.float32), classes


@cache
def noisy(count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Photographs' squares of 8 pixels under noise of a known level (`image`, `level` in 0.2 … 1), and that noise of deviation 1."""
    random = np.random.default_rng(76)
    photos = 4 * (material.patches(8)[0] - 0.5)
    image = photos[random.integers(0, len(photos), count)]
    level, noise = random.uniform(0.2, 1, (count, 1)), random.normal(0, 1, image.shape)
    share = level[:, :, None, None]
    mixed = np.sqrt(1 - share**2) * image + share * noise
    return {"image": mixed.astype(np.float32), "level": level.astype(np.float32)}, noise.astype(np.float32)


@cache
def halves(count: int = 4000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Upper and lower halves of digits (float32 [count, 32] each, around 0), and are they of the same class: float32 [count, 1]."""
    both, same = material.pairs(77, count)
    return {"upper": 2 * both["left"][:, :32] - 1, "lower": 2 * both["right"][:, 32:] - 1}, same


@cache
def placed(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Digits somewhere on an empty square: float32 [count, 12, 12, 1] in 0 … 1, and their classes."""
    random = np.random.default_rng(78)
    images, classes = material.digit_rows()
    chosen, places = random.integers(0, len(images), count), random.integers(0, 5, (count, 2))
    x = np.zeros((count, 12, 12, 1), np.float32)
    for row, (number, (top, left)) in enumerate(zip(chosen, places, strict=True)):
        x[row, top : top + 8, left : left + 8, 0] = images[number]
    return x, classes[chosen]


@cache
def levels() -> tuple[np.ndarray, np.ndarray]:
    """Ten measures of patients, and whether their diabetes went beyond each fifth of all: float32 [442, 4] of 0 and 1."""
    x, y = material.table("diabetes")
    return x, (y > np.quantile(y, [0.2, 0.4, 0.6, 0.8])).astype(np.float32)


@cache
def photos() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Squares of two photographs around 0 (float32 [squares, 12, 12, 3]), and which of the two, for each of two heads."""
    x, y = material.patches(12)
    return 2 * x - 1, {"early": y, "late": y}


@cache
def sentences(count: int = 5000) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Words 1 … 8 (`source`, int32 [count, 8]), each word's translation (int32 [count, 8]), and that one place later (`before`)."""
    random = np.random.default_rng(79)
    source = random.integers(1, WORDS, (count, LENGTH)).astype(np.int32)
    target = np.concatenate([[0], 1 + random.permutation(WORDS - 1)]).astype(np.int32)[source]
    before = np.concatenate([np.zeros((count, 1), np.int32), target[:, :-1]], 1)
    return {"source": source, "before": before}, target
