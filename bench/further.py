"""Ten healthy trainings and twenty-seven faults more on which thresholds are set, in models of still other kinds."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops, optimizers

from .case import BATCH, Case
from .further_bodies import by_heart, channels, counts, film, gated, irises, letters, quantiles, shallow, wide_and_deep
from .held_out.healthy import explains, right
from .held_out.planting import Gate, Plan, Pulled, Shown, from_step
from .more import ALL, STUCK, right_one_hot
from .more_bodies import deep, large_targets, resnet, several, transferred


def _constant(value: float) -> Any:
    return keras.initializers.Constant(value)


def _normal(stddev: float) -> Any:
    return keras.initializers.RandomNormal(stddev=stddev, seed=12)


def _thousand(x: Any, y: Any) -> None:
    y[20 * BATCH :] *= 1e3


def _spoil(model: Any) -> None:
    kernel = model.get_layer("w2").kernel.numpy()
    kernel[3, 4] = np.nan
    model.get_layer("w2").kernel.assign(kernel)


def _bias(name: str, value: float) -> Any:
    def change(model: Any) -> None:
        bias = model.get_layer(name).bias
        bias.assign(np.full(bias.shape, value))

    return change


def _scale(name: str, factor: float) -> Any:
    def change(model: Any) -> None:
        kernel = model.get_layer(name).kernel
        kernel.assign(kernel * factor)

    return change


def _rate(step: int, rate: float) -> Any:
    return from_step(step, lambda model: setattr(model.optimizer, "learning_rate", rate))


def further() -> list[Case]:
    """Faults, then healthy trainings."""
    gamma = Plan(arguments={"a_norm2": {"gamma_initializer": "zeros", "gamma_constraint": lambda w: w * 0.0}})
    beta = Plan(arguments={"b_norm1": {"beta_initializer": _constant(-60)}})
    ones = Plan(arguments={"wide3": {"activation": "sigmoid"}}, callbacks=from_step(19, _bias("wide3", 400.0)))
    words = Plan(behind={"places": lambda: Shown(ops.stop_gradient, name="stopped")})
    alike = Plan(arguments={"a_wide": {"kernel_initializer": _constant(0.02)}})
    many = Plan(arguments={f"r{number}": {"kernel_initializer": _normal(1.2)} for number in range(14)})
    few = Plan(arguments={f"r{number}": {"kernel_initializer": _normal(0.06)} for number in range(14)})
    half = Plan(behind={"m1": lambda: layers.Rescaling(1e6, dtype="float16", name="louder")})
    still = Plan(instead={"w1": lambda: Pulled(32, 0.0, activation="swish", name="w1")})
    jump = Plan(arguments={"ink": {"activation": "exponential"}}, behind={"l1": lambda: layers.Rescaling(3e4, name="louder")})
    unused = Plan(behind={"deep2": lambda: Shown(lambda x: x[:, :1] * 0.0, name="nothing")})
    shut = Plan(arguments={"b_gate": {"kernel_initializer": _normal(400.0)}})
    lone = Plan(optimizer=lambda: optimizers.SGD(0.0))
    slow = Plan(optimizer=lambda: optimizers.Adam(1e-9))
    late = Plan(callbacks=_rate(30, 0.0), optimizer=lambda: optimizers.Adam(1e-3))
    fast = Plan(optimizer=lambda: optimizers.Nadam(0.7))
    narrow = Plan(behind={"flat": lambda: layers.Dense(1, name="narrow")})
    first = Plan(behind={"norm": lambda: Shown(lambda x: ops.flip(x, 0), name="flipped")})
    huge = Plan(arguments={"wide5": {"kernel_initializer": _normal(30.0)}})
    tanh = Plan(callbacks=from_step(23, _scale("w2", 1e4)))
    wild = dict.fromkeys(
        ("exploding_errors", "saturated", "dead_units", "constant", "vanishing_errors", "loss_does_not_fall"), ALL
    )
    fade = Plan(behind={"soft": lambda: Gate(backward=1e-9, name="gate")})
    deeps = tuple(f"r{number}" for number in range(14))

    def mixed(x: Any, y: Any) -> None:
        y[:] = y[np.random.default_rng(6).permutation(len(y))]

    return [
        Case("branch normalised to nothing", lambda: resnet(gamma, 501), None, "constant", ("a_norm2",), 0),
        Case("second branch below nought", lambda: resnet(beta, 502), None, "dead_units", ("b_relu1",), 0),
        Case(
            "filters that all say one", lambda: channels(ones, 503), None, "saturated", ("wide3",), 19, {"constant": ("wide3",)}
        ),
        Case("letters stopped", lambda: letters(words, 504), None, "disconnected", ("letter", "places"), 0),
        Case("equal units in a block", lambda: letters(alike, 505), None, "poor_initialisation", ("a_wide",), 0),
        Case(
            "each layer a little louder",
            lambda: deep(many, 506),
            None,
            "exploding_errors",
            deeps,
            0,
            {"poor_initialisation": deeps, "update_too_large": deeps, **STUCK},
        ),
        Case(
            "each layer a little fainter",
            lambda: deep(few, 507),
            None,
            "vanishing_errors",
            deeps,
            0,
            {**STUCK, "constant": ALL, "dead_units": ALL},
        ),
        Case(
            "too loud for half precision",
            lambda: several(half, 508),
            None,
            "non_finite",
            ("louder",),
            0,
            {**STUCK, "loss_scaler_skips": (".",)},
        ),
        Case("kernel spoilt", lambda: irises(Plan(callbacks=from_step(14, _spoil)), 509), None, "non_finite", ("w2",), 14),
        Case(
            "targets by the thousand from a step on",
            lambda: large_targets(Plan(rows=_thousand), 510),
            None,
            "exploding_errors",
            ("progress", "."),
            20,
            {**STUCK, "update_too_large": ALL},
        ),
        Case("first layer never pulled", lambda: by_heart(still, 511), None, "unchanged_weights", ("w1",), 0),
        Case(
            "louder before an exponential",
            lambda: counts(jump, 512),
            None,
            "non_finite",
            ("ink",),
            0,
            {"exploding_errors": ALL, "poor_initialisation": ALL},
        ),
        Case("deep way times nothing", lambda: wide_and_deep(unused, 513), None, "constant", ("nothing",), 0, STUCK),
        Case(
            "gate at its bounds",
            lambda: gated(shut, 514),
            None,
            "saturated",
            ("b_gate",),
            0,
            {"poor_initialisation": ("b_gate",)},
        ),
        Case(
            "no rate at all",
            lambda: shallow(lone, 515),
            None,
            "unchanged_weights",
            ("stem", "a_dense", "b_dense", "a_bent", "b_bent", "digit"),
            0,
            STUCK,
        ),
        Case("rate of nothing for letters", lambda: letters(slow, 516), None, "update_too_small", ALL, 0, STUCK),
        Case("rate of nothing from a step on", lambda: channels(late, 517), None, "unchanged_weights", ALL, 30, STUCK),
        Case("rate of 0.7", lambda: gated(fast, 518), None, "update_too_large", ALL, 0, wild),
        Case("one number of what stays", lambda: transferred(narrow, 519, 150), None, "worse_readout", ("narrow",), None, STUCK),
        Case("squares flipped in the batch", lambda: channels(first, 520, 100), None, "worse_readout", ("flipped",), None, STUCK),
        Case(
            "huge filters of one width",
            lambda: channels(huge, 521),
            None,
            "poor_initialisation",
            ("wide5",),
            0,
            {"exploding_errors": ALL, "update_too_large": ALL, **STUCK},
        ),
        Case("tanh pushed to its bounds", lambda: irises(tanh, 522), None, "saturated", ("w2",), 23, STUCK),
        Case("soft way back cut", lambda: quantiles(fade, 523), None, "vanishing_errors", ("gate",), 0, STUCK),
        *(
            Case(
                f"labels of other {name}",
                lambda body=body, seed=seed: body(Plan(rows=mixed), seed, 80),
                None,
                "loss_does_not_fall",
                (".",),
            )
            for name, body, seed in (
                ("wholes", gated, 531),
                ("films", film, 532),
                ("squares side by side", channels, 533),
                ("letters", letters, 534),
            )
        ),
        Case("healthy letters", lambda: letters(steps=250), right(0.35)),
        Case("healthy stochastic depth", lambda: shallow(steps=200), right_one_hot(0.85)),
        Case("healthy wines by heart", lambda: irises(steps=300), right(0.98)),
        Case("healthy wines by heart with SGD", lambda: by_heart(steps=300), right(0.98)),
        Case("healthy counts", lambda: counts(steps=200), explains(0.6)),
        Case("healthy film", lambda: film(steps=250), right(0.8)),
        Case("healthy wide and deep", lambda: wide_and_deep(steps=120), None),
        Case("healthy quantiles", lambda: quantiles(steps=200), None),
        Case("healthy channels", lambda: channels(steps=200), right(0.85)),
        Case("healthy gated", lambda: gated(steps=150), right(0.9)),
    ]
