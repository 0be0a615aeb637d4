"""Twelve more healthy trainings and twenty-one more faults on which thresholds are set: kinds that no other list has."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from .case import BATCH, Case
from .held_out.healthy import explains, right
from .held_out.planting import Gate, Plan, Shown, from_step
from .held_out.witness import Witness
from .more_bodies import (
    brightness,
    deep,
    far_or_near,
    gru_attention,
    large_targets,
    picture,
    rare,
    resnet,
    routed,
    several,
    transferred,
    written,
)

STUCK = {"loss_does_not_fall": (".",)}
ALL = ("*",)


def _of_others(x: Any, y: Any) -> None:
    y[:] = y[np.random.default_rng(3).permutation(len(y))]


def _noise(x: Any, y: Any) -> None:
    x[:] = np.random.default_rng(3).random(x.shape)


def _infinite(x: Any, y: Any) -> None:
    x[9 * BATCH + 2, 5] = np.inf


def _rate_at(step: int, rate: float) -> Any:
    def change(model: Any) -> None:
        model.optimizer.learning_rate = rate

    return from_step(step, change)


def _normal(stddev: float) -> Any:
    return keras.initializers.RandomNormal(stddev=stddev, seed=11)


def _falls(share: float) -> Any:
    def proved(witness: Witness) -> bool:
        return bool(np.mean(witness.losses[-20:]) < share * np.mean(witness.losses[:3]))

    return proved


def _louder(model: Any) -> None:
    model.get_layer("gate").backward.assign(1e5)


def more() -> list[Case]:
    """Faults, then healthy trainings."""
    gap = Plan(rows=_infinite)
    loud = Plan(behind={"stem": lambda: Gate(name="gate")}, callbacks=from_step(21, _louder))
    rnn = Plan(instead={"states": lambda: layers.SimpleRNN(32, activation="linear", return_sequences=True,
               recurrent_initializer=keras.initializers.Orthogonal(2.5, seed=4), name="states")})  # fmt: skip
    faint = Plan(behind={"dropped": lambda: layers.Rescaling(1e-7, name="faint")})
    half = Plan(behind={"states": lambda: Shown(ops.stop_gradient, name="stopped")})
    kernel = Plan(behind={"code": lambda: Shown(lambda x: ops.cast(ops.cast(4 * x, "int32"), "float32"), name="whole")})
    low = Plan(arguments={"r6": {"bias_initializer": keras.initializers.Constant(-50.0)}})
    late = Plan(callbacks=from_step(16, lambda model: model.get_layer("mix").bias.assign(np.full(32, -1e3))))
    pixels = Plan(arguments={"code": {"activation": "tanh", "kernel_initializer": _normal(60.0)}})
    opened = Plan(arguments={"expert2": {"activation": "sigmoid", "kernel_initializer": _normal(300.0)}})
    floor = Plan(behind={"r1": lambda: Shown(lambda x: ops.floor(x / 256.0) + 0.0 * x, name="whole")})
    shut = Plan(behind={"wide": lambda: Gate(name="gate")}, callbacks=from_step(18, lambda model: model.behind.forward.assign(0)))
    big, small = (
        Plan(arguments={"mix": {"kernel_initializer": _normal(10.0)}}),
        Plan(arguments={"down": {"kernel_initializer": _normal(1e-5)}}),
    )
    clipped = Plan(optimizer=lambda: optimizers.SGD(0.1, clipnorm=1e-7))
    spike, fast = Plan(callbacks=_rate_at(22, 3.0)), Plan(optimizer=lambda: optimizers.RMSprop(1.0))
    wrong, noise = Plan(rows=_of_others), Plan(rows=_noise)
    uphill = Plan(optimizer=lambda: optimizers.SGD(-0.003))
    narrow = Plan(behind={"m1": lambda: Shown(lambda x: ops.roll(x, 2, 0), name="rolled")})
    wild = dict.fromkeys(
        ("exploding_errors", "saturated", "dead_units", "constant", "vanishing_errors", "loss_does_not_fall"), ALL
    )
    return [
        Case("endless pixel", lambda: deep(gap, 322), None, "non_finite", ("pixels",), 9),
        Case("residual loud from a step on", lambda: resnet(loud, 301), None, "exploding_errors", ("gate",), 21, STUCK),
        Case(
            "recurrent kernel too strong",
            lambda: gru_attention(rnn, 302),
            None,
            "exploding_errors",
            ("states", "pooled"),
            0,
            {**STUCK, "poor_initialisation": ("states",), "saturated": ("weight",)},
        ),
        Case(
            "code almost nothing",
            lambda: far_or_near(faint, 303),
            None,
            "vanishing_errors",
            ("encoder/faint", "encoder#1/faint"),
            0,
            STUCK,
        ),
        Case("states stopped", lambda: gru_attention(half, 304), None, "disconnected", ("words", "states", "states/*"), 0, STUCK),
        Case("code in whole numbers", lambda: picture(kernel, 305), None, "disconnected", ("down", "code"), 0, STUCK),
        Case("seventh layer below nought", lambda: deep(low, 306), None, "dead_units", ("r6",), 0, STUCK),
        Case("head dies", lambda: transferred(late, 307), None, "dead_units", ("mix",), 16, STUCK),
        Case(
            "code at its bounds",
            lambda: picture(pixels, 308),
            None,
            "saturated",
            ("code",),
            0,
            {**STUCK, "poor_initialisation": ("code",)},
        ),
        Case(
            "one expert at its bounds",
            lambda: routed(opened, 309),
            None,
            "saturated",
            ("expert2",),
            0,
            {"poor_initialisation": ("expert2",)},
        ),
        Case("divided as if by bytes", lambda: large_targets(floor, 310), None, "constant", ("whole",), 0, STUCK),
        Case("written shut from a step on", lambda: written(shut, 311), None, "constant", ("gate",), 18, STUCK),
        Case("strong head over what stays", lambda: transferred(big, 312), None, "poor_initialisation", ("mix",), 0, STUCK),
        Case(
            "weak filters",
            lambda: picture(small, 313),
            None,
            "poor_initialisation",
            ("down",),
            0,
            {"vanishing_errors": ("down",)},
        ),
        Case(
            "clipped to nothing",
            lambda: routed(clipped, 314),
            None,
            "update_too_small",
            ("gate", "digit", "expert0", "expert1", "expert2", "expert3"),
            0,
            STUCK,
        ),
        Case(
            "rate of three from a step on",
            lambda: picture(spike, 315),
            None,
            "update_too_large",
            ("down", "code", "up", "drawn"),
            22,
            wild,
        ),
        Case(
            "rate of one by RMSprop",
            lambda: gru_attention(fast, 316),
            None,
            "update_too_large",
            ("words", "states/*", "states", "weight", "modules"),
            0,
            wild,
        ),
        Case("labels of others in a residual network", lambda: resnet(wrong, 317, 80), None, "loss_does_not_fall", (".",)),
        Case("noise for pixels", lambda: routed(noise, 319, 80), None, "loss_does_not_fall", (".",)),
        Case("written uphill", lambda: written(uphill, 320), None, "loss_does_not_fall", (".",)),
        Case(
            "labels of others in half precision",
            lambda: several(narrow, 321, 80),
            None,
            "worse_readout",
            ("rolled",),
            None,
            STUCK,
        ),
        Case("healthy residual network", lambda: resnet(steps=200), right_one_hot(0.9)),
        Case("healthy large targets", lambda: large_targets(steps=150), explains(0.4)),
        Case("healthy attention over states", lambda: gru_attention(steps=250), right(0.6)),
        Case("healthy far or near", lambda: far_or_near(steps=200), _falls(0.6)),
        Case("healthy rare", lambda: rare(steps=150), right_one(0.95)),
        Case("healthy picture", lambda: picture(steps=200), explains(0.5)),
        Case("healthy several labels", lambda: several(steps=120), _falls(0.5)),
        Case("healthy brightness", lambda: brightness(steps=200), explains(0.6)),
        Case("healthy routed", lambda: routed(steps=100), right(0.9)),
        Case("healthy written", lambda: written(steps=250), right(0.8)),
        Case("healthy deep", lambda: deep(steps=250), right_one_hot(0.7)),
        Case("healthy transferred", lambda: transferred(steps=150), right(0.85)),
    ]


def right_one_hot(share: float) -> Any:
    """The largest score is that of the label's one, for this share of the last rows."""

    def proved(witness: Witness) -> bool:
        last = len(witness.losses)
        witness.at(last)
        rows = slice((last - 25) * BATCH, last * BATCH)
        return float(np.mean(witness.model.predict(witness.x[rows], verbose=0).argmax(-1) == witness.y[rows].argmax(-1))) > share

    return proved


def right_one(share: float) -> Any:
    """The one score is on the label's side of a half, for this share of the last rows."""

    def proved(witness: Witness) -> bool:
        last = len(witness.losses)
        witness.at(last)
        rows = slice((last - 25) * BATCH, last * BATCH)
        return float(np.mean((witness.model.predict(witness.x[rows], verbose=0) > 0.5) == (witness.y[rows] > 0.5))) > share

    return proved
