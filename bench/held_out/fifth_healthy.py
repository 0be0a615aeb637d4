"""Healthy trainings of the fifth suite that host no fault, and the shares that their results must exceed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import Case, Training

from . import fifth_bodies, material
from .fourth_healthy import chosen, explains, sides
from .planting import Plan
from .witness import Witness

PLAIN = Plan()


class _Prototypes(layers.Layer):  # type: ignore[misc]
    """Minus the squared distance from x to the nearest of each class's prototypes."""

    def build(self, shape: Any) -> None:
        self.places = self.add_weight(shape=(3, 4, shape[-1]), initializer=keras.initializers.RandomNormal(seed=1), name="places")
        super().build(shape)

    def call(self, x: Any) -> Any:
        return -ops.min(ops.sum(ops.square(x[:, None, None] - self.places), -1), -1)


def _flowers() -> Training:
    """Which iris, by the nearest of twelve learnt prototypes, by centred RMSprop."""
    keras.utils.set_random_seed(881)
    inputs = keras.Input((4,), name="flower")
    outputs = _Prototypes(name="nearest")(inputs)
    return PLAIN.finished(
        inputs, outputs, *material.table("iris"), fifth_bodies.logits(), optimizers.RMSprop(0.01, centered=True), 881, 100
    )


@cache
def _gym() -> tuple[np.ndarray, np.ndarray]:
    """Three exercises of twenty men, and their weight, waist and pulse: float32 [20, 3] each, of mean 0 and deviation 1."""
    from sklearn.datasets import load_linnerud

    x, y = load_linnerud(return_X_y=True)
    return tuple(((part - part.mean(0)) / part.std(0)).astype(np.float32) for part in (x, y))  # type: ignore[return-value]


def _men() -> Training:
    """Weight, waist and pulse from exercises, by a narrow network that learns its twenty men by heart, by Lamb."""
    keras.utils.set_random_seed(882)
    inputs = keras.Input((3,), name="exercises")
    x = layers.Dense(32, activation="silu", kernel_initializer="he_normal", name="first")(inputs)
    outputs = layers.Dense(3, name="men")(layers.Dense(32, activation="silu", kernel_initializer="he_normal", name="second")(x))
    return PLAIN.finished(inputs, outputs, *_gym(), "mse", optimizers.Lamb(2e-2), 882, 200)


def _dark() -> Training:
    """Which pixels are darker than most, from colours a fourth as fine: dilated convolutions, one answer per pixel."""
    keras.utils.set_random_seed(883)
    squares = material.patches(16)[0]
    grey = squares.mean(-1, keepdims=True)
    dark = (grey < np.median(grey)).astype(np.float32)
    coarse = squares.reshape(-1, 8, 2, 8, 2, 3).mean((2, 4))
    inputs = keras.Input((8, 8, 3), name="coarse")
    x = layers.Conv2D(16, 3, padding="same", activation="relu", name="near")(inputs)
    x = layers.Conv2D(16, 3, padding="same", dilation_rate=2, activation="relu", name="far")(x)
    x = layers.Conv2DTranspose(12, 4, strides=2, padding="same", activation="relu", name="up")(
        layers.Concatenate(name="all")([inputs, x])
    )
    outputs = layers.Conv2D(1, 1, name="dark")(x)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return PLAIN.finished(inputs, outputs, coarse, dark, loss, optimizers.Nadam(5e-3), 883, 150)


@cache
def _places() -> tuple[np.ndarray, np.ndarray]:
    """Waves of four lengths at the places of a smaller photograph: float32 [places, 18], and its colours there in -1 … 1."""
    from sklearn.datasets import load_sample_image

    photo = load_sample_image("flower.jpg").astype(np.float32)[::10, ::10] / 127.5 - 1
    rows, columns = np.meshgrid(np.linspace(-1, 1, photo.shape[0]), np.linspace(-1, 1, photo.shape[1]), indexing="ij")
    place = np.stack([rows, columns], -1).reshape(-1, 2)
    waves = [wave(np.pi * 2.0**power * place) for power in range(4) for wave in (np.sin, np.cos)]
    return np.concatenate([place, *waves], -1).astype(np.float32), photo.reshape(-1, 3)


def _picture() -> Training:
    """The colour at a place of a photograph, by a network that holds the picture, by Adam with averaged weights."""
    keras.utils.set_random_seed(884)
    inputs = keras.Input((18,), name="place")
    x = layers.Dense(64, activation="gelu", name="first")(inputs)
    x = layers.Dense(64, activation="gelu", name="second")(layers.Concatenate(name="again")([x, inputs]))
    outputs = layers.Dense(3, activation="tanh", name="colour")(x)
    return PLAIN.finished(inputs, outputs, *_places(), "mae", optimizers.Adam(3e-3, use_ema=True), 884, 300)


@cache
def _neighbours() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two words (int32 [pairs]), that follow one another in a source of Python (1) or were drawn apart (0): float32 [pairs, 1]."""
    passages = material.passages()[0]
    first, second = passages[:, 4:14].reshape(-1), passages[:, 5:15].reshape(-1)
    known = (first > 1) & (second > 1)
    first, second = first[known], second[known]
    drawn = np.random.default_rng(885).permutation(second)
    y = np.repeat(np.array([1, 0], np.float32), len(first))[:, None]
    return {"first": np.concatenate([first, first]), "second": np.concatenate([second, drawn])}, y


def _word_pairs() -> Training:
    """Does one word follow the other? Two embeddings and their product (skip-grams with negative samples), by Adam."""
    keras.utils.set_random_seed(885)
    first, second = keras.Input((), dtype="int32", name="first"), keras.Input((), dtype="int32", name="second")
    normal = keras.initializers.RandomNormal(stddev=0.3, seed=2)
    one = layers.Embedding(material.WORDS, 16, embeddings_initializer=normal, name="before")(first)
    other = layers.Embedding(material.WORDS, 16, embeddings_initializer=normal, name="after")(second)
    outputs = layers.Dense(1, kernel_initializer="ones", name="follows")(layers.Multiply(name="both")([one, other]))
    inputs = {"first": first, "second": second}
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    return PLAIN.finished(inputs, outputs, *_neighbours(), loss, optimizers.Adam(3e-2), 885, 300)


def _self_normal() -> Training:
    """Which grower, by four SELU layers with LeCun's initialisation and alpha dropout, by SGD with gradients clipped by value."""
    keras.utils.set_random_seed(886)
    inputs = keras.Input((13,), name="wine")
    x: Any = inputs
    for number in range(4):
        x = layers.Dense(24, activation="selu", kernel_initializer="lecun_normal", name=f"selu{number}")(x)
    x = layers.AlphaDropout(0.05, seed=3, name="drop")(x)
    outputs = layers.Dense(3, name="grower")(x)
    optimizer = optimizers.SGD(0.05, momentum=0.5, clipvalue=0.5)
    return PLAIN.finished(inputs, outputs, *material.table("wine"), fifth_bodies.logits(), optimizer, 886, 120)


def healthy() -> list[Case]:
    """Nine that are also hosts of faults, and six of other kinds.

    The most frequent class has 0.1 of the digits, 0.2 of the letters, 0.4 of the wines, 0.33 of the irises, 0.63 of the cells, and half
    of the pixels and pairs of words.
    """
    hosts: list[tuple[Any, int, Callable[[Witness], bool]]] = [
        (fifth_bodies.rim, 200, explains(0.7)), (fifth_bodies.highway, 120, sides(0.95, 0)), (fifth_bodies.author, 300, chosen(0.6)),
        (fifth_bodies.wide_and_deep, 150, chosen(0.95)), (fifth_bodies.two_heads, 200, chosen(0.95, "digit")), (fifth_bodies.strips, 250, chosen(0.9)),
        (fifth_bodies.tokens, 300, chosen(0.85)), (fifth_bodies.patient, 200, explains(0.45)), (fifth_bodies.deep, 150, chosen(0.95)),
    ]  # fmt: skip
    others: list[tuple[Any, Callable[[Witness], bool]]] = [
        (_flowers, chosen(0.9)), (_men, explains(0.8)), (_dark, sides(0.85, 0)), (_picture, explains(0.6)),
        (_word_pairs, sides(0.65, 0)), (_self_normal, chosen(0.95)),
    ]  # fmt: skip
    return [
        *(Case(f"healthy fifth {body.__name__}", lambda body=body, steps=steps, seed=seed: body(PLAIN, seed, steps), proved)  # type: ignore[misc]
          for seed, (body, steps, proved) in enumerate(hosts, 871)),
        *(Case(f"healthy fifth{make.__name__}", make, proved) for make, proved in others),
    ]  # fmt: skip
