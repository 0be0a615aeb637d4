"""The sixth suite's faults of updates and of learning, and what else is true where nothing passes, or comes back, or all goes wild."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from keras import ops, optimizers

from bench.case import Case

from . import fifth_proofs
from . import fourth_proofs as proofs
from . import sixth_proofs as own
from .fourth_proofs import Switched
from .planting import Holds, Plan, Pulled, Shown, drawn, forgets, from_step
from .sixth_bodies import bigru, coder, crowd, iris, mobile, rank, siren, stack, tabular, temporal, tied, unet

ALL = ("*",)
STUCK: Mapping[str, tuple[str, ...]] = {"loss_does_not_fall": (".",)}
NOTHING_COMES_BACK = {**STUCK, "vanishing_errors": ALL, "unchanged_weights": ALL, "update_too_small": ALL, "worse_readout": ALL}
NOTHING_PASSES = {**NOTHING_COMES_BACK, "constant": ALL, "dead_units": ALL, "dead_channels": ALL}
AFTER_NAN = {**STUCK, "non_finite": ALL, "unchanged_weights": ALL}
WILD = {**NOTHING_PASSES, **AFTER_NAN, "exploding_errors": ALL, "saturated": ALL, "update_too_large": ALL}
PARTS = ("vanishing_errors", "update_too_small", "unchanged_weights", "worse_readout")


def _any_label(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(66).integers(0, 8, y.shape)


def _row_before(x: Any, y: Any) -> None:
    y[:] = np.roll(y, 1, 0)


def _noise(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(68).normal(0, 3, y.shape)


def _by_lot(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(69).integers(0, 2, y.shape)


class _Loud(keras.layers.Layer):  # type: ignore[misc]
    """x under noise of deviation 20, in training and out of it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(7)

    def call(self, x: Any) -> Any:
        return x + keras.random.normal(ops.shape(x), stddev=20.0, seed=self.seeds)


def _fractions(x: Any) -> Any:
    """What stands behind the point in a thousandfold x; its error is taken for that of x (a straight-through estimator)."""
    return x + ops.stop_gradient(1000 * x - ops.floor(1000 * x) - x)


def _rates(last: int, first: float, then: float) -> Any:
    """A rate that changes after the step `last`."""
    return optimizers.schedules.PiecewiseConstantDecay([last], [first, then])


def _updates() -> list[Case]:
    off = Plan(optimizer=lambda: Switched(0.1, "wide"), callbacks=from_step(26, lambda model: model.optimizer.switch.assign(0)))
    held = Plan(arguments={"stem": {"kernel_constraint": Holds(), "kernel_initializer": drawn}})
    masked = Plan(optimizer=lambda: fifth_proofs.Masked(0.02, "turn"))
    three, lion = Plan(optimizer=lambda: optimizers.Adam(3.0)), Plan(optimizer=lambda: optimizers.Lion(1.0))
    typo = Plan(optimizer=lambda: optimizers.SGD(_rates(32, 0.05, 500.0)))
    pulled = Plan(
        optimizer=lambda: optimizers.SGD(0.02, momentum=0.9),
        instead={"mix": lambda: Pulled(32, 1e5, activation="relu", name="mix")},
    )
    slow, clipped = Plan(optimizer=lambda: optimizers.SGD(1e-6)), Plan(optimizer=lambda: optimizers.SGD(0.05, clipnorm=1e-4))
    ends = Plan(optimizer=lambda: optimizers.Adam(_rates(23, 1e-2, 2e-7)))
    weak = Plan(instead={"width_mix": lambda: Pulled(16, 1e-4, activation="silu", name="width_mix")})
    filters, lower = ("stem", "depth", "point", "squeeze", "excite", "digit"), ("whole", "low1", "low2", "up", "joined", "steep")
    letters, turns, wide = (
        ("chars", "both", "both/*", "mix", "long"),
        ("turn", "turn#1", "turn#2"),
        ("tower/wide", "tower#1/wide"),
    )
    sines, waves = ("first", "second", "colour"), ("stem", "change1", "door1", "change2", "door2", "change4", "door4", "form")
    little = {**STUCK, "unchanged_weights": ALL, "worse_readout": ALL}
    return [
        Case("forgotten bottom", lambda: unet(Plan(model=forgets("low2")), 971), lambda w: proofs.still(w, "low2") and w.moved("low1", 5), "unchanged_weights", ("low2",), 0,
             {"update_too_small": ("low2",)}),
        Case("tower's first layer switched off at 26", lambda: rank(off, 972),
             lambda w: w.moved("tower/wide", 25) and proofs.still(w, "tower/wide", first=26) and w.moved("tower/thin", 26), "unchanged_weights", wide, 26,
             {"update_too_small": wide}),
        Case("filters held by a constraint", lambda: temporal(held, 973), lambda w: proofs.still(w, "stem") and w.moved("change1", 5), "unchanged_weights", ("stem",), 0,
             {"update_too_small": ("stem",)}),
        Case("mask of zeros for the layer called thrice", lambda: tied(masked, 974), lambda w: proofs.still(w, "turn") and w.moved("lift", 5), "unchanged_weights", turns, 0,
             {"update_too_small": turns}),
        Case("sines at a rate of three", lambda: siren(three, 975), lambda w: proofs.ratios(w, 0, *sines)[0] > 1, "update_too_large", sines, 0, WILD),
        Case("lion at a rate of one", lambda: tied(lion, 976), lambda w: proofs.ratios(w, 0, "lift", "turn", "grower")[0] > 1, "update_too_large",
             ("lift", "grower", *turns), 0, WILD),
        Case("a typing error at 33", lambda: temporal(typo, 977), lambda w: proofs.ratios(w, 33, *waves)[1] > 1 > 10 * proofs.ratios(w, 32, *waves)[1], "update_too_large",
             waves, 33, WILD),
        Case("the mix pulled a hundred thousandfold", lambda: tabular(pulled, 978), lambda w: w.ratio("mix", 0) > 1 > 20 * w.ratio("numbers", 0), "update_too_large",
             ("mix",), 0, WILD),
        Case("digits at a rate of nothing", lambda: mobile(slow, 979), lambda w: own.small_from(w, 5, *filters), "update_too_small", (*filters, "norm"), 0, little),
        Case("edges clipped to nothing", lambda: unet(clipped, 980), lambda w: own.small_from(w, 5, *lower), "update_too_small", lower, 0, little),
        Case("rate falls to nothing at 24", lambda: bigru(ends, 981), lambda w: own.small_from(w, 24, "chars", "both", "mix", "long") and w.ratio("mix", 23) > 1e-4,
             "update_too_small", letters, 24, little),
        Case("one layer held to a ten thousandth", lambda: iris(weak, 982), lambda w: own.small_from(w, 5, "width_mix") and w.ratio("kind_mix", 5) > 1e-4,
             "update_too_small", ("width_mix",), 0, {"unchanged_weights": ("width_mix",), "worse_readout": ("width_mix",)}),
    ]  # fmt: skip


def _learning() -> list[Case]:
    rolled = Plan(behind={"flat": lambda: Shown(lambda x: ops.roll(x, 1, axis=0), name="rolled")})
    over = Plan(behind={"pooled": lambda: Shown(lambda x: ops.zeros_like(x) + ops.mean(x, 0, keepdims=True), name="over_batch")})
    fraction = Plan(behind={"pooled": lambda: Shown(_fractions, name="fraction")})
    loud = Plan(behind={"most": lambda: _Loud(name="loud")})
    uphill = Plan(optimizer=lambda: optimizers.SGD(-0.005))
    stuck = {"worse_readout": ALL}
    return [
        Case("rolled along the batch", lambda: mobile(rolled, 983, 100), lambda w: proofs.loses(w, "rolled", 0.3), "worse_readout", ("rolled",), None, STUCK),
        Case("mean over the batch", lambda: crowd(over, 984, 100), lambda w: own.alike_in_batch(w, "over_batch") and proofs.loses(w, "over_batch", 0.3), "worse_readout",
             ("over_batch",), None, {**STUCK, "constant": ("over_batch", "most")}),
        Case("what stands behind the point", lambda: temporal(fraction, 985, 100), lambda w: proofs.loses(w, "fraction", 0.3), "worse_readout", ("fraction",), None, STUCK),
        Case("noise twenty times too loud", lambda: stack(loud, 986, 100), lambda w: proofs.loses(w, "loud", 0.3), "worse_readout", ("loud",), None,
             {**STUCK, "exploding_errors": ALL}),
        Case("crowds with any label", lambda: crowd(Plan(rows=_any_label), 987), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
        Case("marks of the row before", lambda: bigru(Plan(rows=_row_before), 988), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
        Case("noise to draw", lambda: coder(Plan(rows=_noise), 989), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
        Case("a rate below zero", lambda: tied(uphill, 991), fifth_proofs.climbs, "loss_does_not_fall", (".",), None, WILD),
        Case("sides by lot", lambda: rank(Plan(rows=_by_lot), 990), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
    ]  # fmt: skip


def later() -> list[Case]:
    """All of them."""
    return [*_updates(), *_learning()]
