"""Ten more faults and four more healthy models, first trained after rules had been mended for what the others had shown."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from bench.case import BATCH, Case, Training

from . import bodies, material
from .healthy import explains, right
from .numbers_and_errors import _fades, _first_bad, _grows
from .outputs_and_updates import _at_bounds, _loses, _rate, _zero_share
from .planting import STEPS, Plan, Shown, forgets, from_step
from .witness import Witness

PLAIN = Plan()


def colour_of(plan: Plan = PLAIN, seed: int = 501, steps: int = STEPS) -> Training:
    """The mean colour of a square of which only the lower half is seen: convolutions with batch normalisation, by RMSprop."""
    keras.utils.set_random_seed(seed)
    squares = material.patches(12)[0]
    y = (squares.mean((1, 2)) - squares.mean()) / squares.std()
    inputs = keras.Input((6, 12, 3), name="half")
    x = plan.put(inputs, layers.Conv2D, 16, 3, activation="relu", name="edges")
    x = plan.put(x, layers.BatchNormalization, momentum=0.9, name="norm")
    x = plan.put(x, layers.Conv2D, 16, 3, strides=2, activation="relu", name="parts")
    x = plan.put(x, layers.Flatten, name="flat")
    x = plan.put(x, layers.Dense, 24, activation="relu", name="mix")
    x = plan.put(x, layers.Dense, 3, name="colour")
    return plan.finished(inputs, x, squares[:, 6:], y, "mse", optimizers.RMSprop(3e-3), seed, steps)


def recited(plan: Plan = PLAIN, seed: int = 502, steps: int = STEPS) -> Training:
    """A passage is read by a GRU; which module is it of? SGD with momentum would be slow: Adamax."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((12,), dtype="int32", name="passage")
    x = plan.put(inputs, layers.Embedding, material.WORDS, 32, name="words")
    x = plan.put(x, layers.GRU, 40, name="recall")
    x = plan.put(x, layers.Dropout, 0.1, name="dropped")
    x = plan.put(x, layers.Dense, 8, name="modules")
    return plan.finished(inputs, x, *material.passages(12), bodies.logits(), optimizers.Adamax(2e-2), seed, steps)


def weighed(plan: Plan = PLAIN, seed: int = 503, steps: int = STEPS) -> Training:
    """Wines by a wide and a deep way, the deep one weighed by a sigmoid of the same table, by Adam."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((13,), name="wine")
    x = plan.put(inputs, layers.Dense, 40, activation="silu", name="deep1")
    x = plan.put(x, layers.Dense, 20, activation="silu", name="deep2")
    weight = plan.put(inputs, layers.Dense, 20, activation="sigmoid", name="weight")
    x = plan.put(x * weight, layers.Dense, 10, activation="silu", name="deep3")
    x = layers.Concatenate(name="both")([x, inputs])
    x = plan.put(x, layers.Dense, 3, name="cultivar")
    return plan.finished(inputs, x, *material.table("wine"), bodies.logits(), optimizers.Adam(5e-3), seed, steps)


def squares_attended(plan: Plan = PLAIN, seed: int = 504, steps: int = STEPS) -> Training:
    """A small vision transformer: four pieces of a square, each a token, one block, by AdamW."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input((16, 16, 3), name="square")
    x = plan.put(inputs, layers.Conv2D, 24, 8, strides=8, name="pieces")
    x = plan.put(x, layers.Reshape, (4, 24), name="tokens")
    y = plan.put(x, layers.LayerNormalization, name="before")
    x = x + layers.MultiHeadAttention(3, 8, name="attention")(y, y)
    y = plan.put(x, layers.LayerNormalization, name="after")
    y = plan.put(y, layers.Dense, 48, activation="relu", name="wide")
    x = x + plan.put(y, layers.Dense, 24, name="thin")
    x = plan.put(x, layers.GlobalAveragePooling1D, name="pool")
    x = plan.put(x, layers.Dense, 2, name="photo")
    return plan.finished(inputs, x, *material.patches(16), bodies.logits(), optimizers.AdamW(3e-3), seed, steps)


def colour_and_photo(seed: int = 505) -> Training:
    """Two heads on one convolution; only the first has a loss."""
    keras.utils.set_random_seed(seed)
    squares, which = material.patches(12)
    inputs = keras.Input((12, 12, 3), name="square")
    x = layers.Flatten(name="flat")(layers.Conv2D(8, 3, strides=2, activation="elu", name="conv")(inputs))
    outputs = {"photo": layers.Dense(2, name="photo")(x), "colour": layers.Dense(3, name="colour")(x)}
    return PLAIN.finished(inputs, outputs, squares, {"photo": which}, {"photo": bodies.logits()}, optimizers.Adam(3e-3), seed)


def _wrong_unit(x: Any, y: Any) -> None:
    y[22 * BATCH : 23 * BATCH] *= 1e6


def _blank(x: Any, y: Any) -> None:
    x[8 * BATCH + 3] = 0


def _outlier(witness: Witness) -> bool:
    sizes = [np.linalg.norm(witness.flow(step, "colour")[0][2]) for step in (21, 22, 23)]
    return bool(sizes[1] > 1e4 * sizes[0] and sizes[2] < 1e-3 * sizes[1])


def _length(x: Any) -> Any:
    return x / ops.sqrt(ops.sum(x * x, (1, 2, 3), keepdims=True))


def second() -> list[Case]:
    """Ten faults and four healthy trainings, in the same form as the first suite."""
    shut = np.zeros((2, 120), np.float32)
    shut[:, :40] = 20
    lost = {"loss_does_not_fall": (".",)}
    closed = {
        **lost, "vanishing_errors": ("recall",), "constant": ("recall", "dropped", "modules"), "poor_initialisation": ("recall",), "worse_readout": ("recall",),
        "unchanged_weights": ("words", "recall", "recall/*", "modules"), "update_too_small": ("words", "recall", "recall/*"),
    }  # fmt: skip
    gru = Plan(arguments={"recall": {"bias_initializer": lambda shape, dtype=None: shut}})
    unit = Plan(rows=_wrong_unit, optimizer=lambda: optimizers.Adam(3e-3))
    tiny = Plan(
        arguments={"pieces": {"kernel_initializer": keras.initializers.RandomNormal(stddev=1e-7, seed=1)}},
        behind={"tokens": lambda: layers.LayerNormalization(epsilon=1e-16, name="stretched")},
    )
    dies = Plan(callbacks=from_step(12, lambda model: model.get_layer("parts").bias.assign(np.full(16, -500.0))))
    dead = {
        **lost, "constant": ("parts", "flat", "mix", "colour"), "vanishing_errors": ("edges", "norm", "parts"), "dead_units": ("mix",),
        "unchanged_weights": ("edges", "norm", "parts", "mix"), "update_too_small": ("edges", "norm", "parts", "mix"),
    }  # fmt: skip
    strong = Plan(arguments={"weight": {"kernel_initializer": keras.initializers.RandomNormal(stddev=1e4, seed=2)}})
    stuck = {"poor_initialisation": ("weight",), "update_too_small": ("weight",), "unchanged_weights": ("weight",)}
    jump = Plan(callbacks=from_step(18, lambda model: _rate(model, 1.0)))
    wild = {**lost, "exploding_errors": ("*",), "dead_units": ("wide",), "vanishing_errors": ("*",)}
    rolled = Plan(behind={"pool": lambda: Shown(lambda x: ops.roll(x, 3, 0), name="rolled")})
    blank = Plan(
        rows=_blank, behind={"pieces": lambda: Shown(_length, name="of_length_one")}, arguments={"pieces": {"use_bias": False}}
    )
    return [
        Case("closed GRU", lambda: recited(gru, 511), lambda w: _fades(w, "recall", 1e-6) and not w.output(0, "recall").any(), "constant",
                ("recall",), 0, closed),
        Case("second head without a loss", colour_and_photo, lambda w: not w.moved("colour", 7) and w.moved("photo", 7), "disconnected",
                ("colour",), 0, {"unchanged_weights": ("colour",)}),
        Case("colour in another unit", lambda: colour_of(unit, 512), _outlier, "exploding_errors", ("colour", "."), 22, lost),
        Case("normalised almost nothing", lambda: squares_attended(tiny, 513), lambda w: _grows(w, "stretched", 1e4), "exploding_errors",
                ("stretched",), 0, {"poor_initialisation": ("pieces",), "update_too_large": ("pieces",)}),
        Case("convolution dies", lambda: colour_of(dies, 514), lambda w: _zero_share(w, "parts", 11) < 0.95 and _zero_share(w, "parts", 12) == 1,
                "dead_units", ("parts",), 12, dead),
        Case("weights of nought or one", lambda: weighed(strong, 515), lambda w: _at_bounds(w, "weight", 0, 0) > 0.95, "saturated",
                ("weight",), 0, stuck),
        Case("forgotten layer of a transformer", lambda: squares_attended(Plan(model=forgets("thin")), 516),
                lambda w: not any(w.moved("thin", at) for at in range(50)) and w.moved("wide", 5), "unchanged_weights", ("thin",), 0),
        Case("rate jumps to one", lambda: squares_attended(jump, 517), lambda w: w.ratio("wide", 18) > 1 and w.ratio("wide", 17) < 0.1,
                "update_too_large", ("pieces", "before", "attention", "attention/*", "after", "wide", "thin", "photo"), 18, wild),
        Case("batch rolled in a transformer", lambda: squares_attended(rolled, 518), lambda w: _loses(w, "rolled", 0.2), "worse_readout",
                ("rolled",), None, lost),
        Case("blank square of length one", lambda: squares_attended(blank, 519), lambda w: _first_bad(w, "of_length_one", 8), "non_finite",
                ("of_length_one",), 8),
        Case("healthy colour of half", lambda: colour_of(PLAIN, 521, 250), explains(0.7)),
        Case("healthy recited", lambda: recited(PLAIN, 522, 300), right(0.75)),
        Case("healthy weighed", lambda: weighed(PLAIN, 523, 100), right(0.95)),
        Case("healthy transformer of squares", lambda: squares_attended(PLAIN, 524, 250), right(0.88)),
    ]  # fmt: skip
