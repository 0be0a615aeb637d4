"""The fourth suite: forty-four faults and sixteen healthy trainings, written by one who had read neither the rules nor their thresholds.

What would a practitioner want named, at which call and at which step, and what else is then true? That each fault is there, and that
each healthy training's result is good, is proved without LayerFlow; nothing had been judged when the suite was finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from keras import initializers, layers, ops, optimizers

from bench.case import BATCH, Case

from . import fourth_proofs as proofs
from .fourth_bodies import (
    experts,
    grown_denser,
    ladder,
    lower_half,
    next_token,
    questions,
    scan,
    sigmoid_convolutions,
    swell,
    together,
    tower,
    wines,
)  # fmt: skip
from .fourth_healthy import healthy
from .fourth_proofs import Noisy, OnlyFlat, Switched, in_halves, since, turned
from .planting import STEPS, Gate, Plan, Shown, forgets, from_step

ALL = ("*",)
STUCK: Mapping[str, tuple[str, ...]] = {"loss_does_not_fall": (".",)}
NOTHING_COMES_BACK = {**STUCK, "vanishing_errors": ALL, "unchanged_weights": ALL, "update_too_small": ALL}
NOTHING_PASSES = {**NOTHING_COMES_BACK, "constant": ALL, "dead_units": ALL, "worse_readout": ALL}
AFTER_NAN = {**STUCK, "non_finite": ALL, "unchanged_weights": ALL}
WILD = {**NOTHING_PASSES, **AFTER_NAN, "exploding_errors": ALL, "saturated": ALL, "update_too_large": ALL}
CODES = ("encoder", "encoder#1", "encoder/*", "encoder#1/*")
MEMORY = ("memory", "memory/*")


def _black(x: Any, y: Any) -> None:
    x[:] = np.maximum(x, 1 / 255)
    x[12 * BATCH + 5] = 0


def _missing(x: Any, y: Any) -> None:
    y[9 * BATCH + 3, 1] = np.nan


def _twice(x: Any, y: Any) -> None:
    x["right"][13 * BATCH + 8] = x["left"][13 * BATCH + 8]


def _endless(x: Any, y: Any) -> None:
    x[2 * BATCH :: 3 * BATCH] = np.inf


def _below_one(x: Any, y: Any) -> None:
    x[:] = np.minimum(x, 0.99)


def _next_row(x: Any, y: Any) -> None:
    y[:] = np.roll(y, 1, 0)


def _blank(x: Any, y: Any) -> None:
    x[:] = 0


def _way_back(model: Any) -> None:
    model.get_layer("gate").backward.assign(1e6)


def _kernel(name: str, times: float) -> Any:
    return lambda model: model.get_layer(name).kernel.assign(model.get_layer(name).kernel * times)


def _no_scale(model: Any) -> None:
    for weight in model.get_layer("normal").trainable_weights:
        weight.assign(weight * 0)


def _normal(deviation: float) -> Any:
    return initializers.RandomNormal(stddev=deviation, seed=8)


def _most_below(shape: Any, dtype: Any = None) -> Any:
    return np.where(np.arange(shape[0]) < 36, -40, 0).astype(np.float32)


def _scaled(optimizer: Any, **options: Any) -> Plan:
    return Plan(optimizer=lambda: optimizers.LossScaleOptimizer(optimizer(), **options))


def _numbers() -> list[Case]:
    logs = Plan(rows=_black, instead={"centred": lambda: Shown(ops.log, name="logs")})
    large = _scaled(lambda: optimizers.SGD(0.2), initial_scale=2.0**40)
    rows = _scaled(lambda: optimizers.SGD(0.05))
    grows = _scaled(lambda: optimizers.Adamax(5e-3), initial_scale=2.0**24, dynamic_growth_steps=2)
    endless = Plan(optimizer=rows.optimizer, rows=_endless)
    skips = {**AFTER_NAN, "update_too_small": ALL, "exploding_errors": ALL}
    return [
        Case("logarithm of a black square", lambda: questions(logs, 721), lambda w: proofs.first_bad(w, "logs", 12), "non_finite", ("logs",), 12,
             {**NOTHING_PASSES, **AFTER_NAN}),
        Case("a missing target", lambda: swell(Plan(rows=_missing), 722), lambda w: proofs.first_bad_loss(w, "next", 9), "non_finite", ("next", "."), 9,
             AFTER_NAN),
        Case("length of no difference", lambda: together(Plan(rows=_twice), 723), lambda w: proofs.first_bad_gradient(w, "distance", "encoder", 13),
             "non_finite", ("distance", "encoder", "encoder#1", "encoder/code", "encoder#1/code"), 13, AFTER_NAN),
        Case("scale starts far too large", in_halves(lambda: grown_denser(large, 724)), lambda w: all(proofs.skipped(w, at) for at in range(10)),
             "loss_scaler_skips", (".",), 0, skips),
        Case("endless numbers in each third batch", lambda: experts(endless, 725),
             lambda w: all(proofs.skipped(w, at) == (at % 3 == 2) for at in range(STEPS)), "loss_scaler_skips", (".",), None, skips),
        Case("scale grows each other step", in_halves(lambda: lower_half(grows, 726)), lambda w: proofs.skipped_share(w) > 0.2,
             "loss_scaler_skips", (".",), None, skips),
    ]  # fmt: skip


def _errors() -> list[Case]:
    tripled = Plan(arguments={"memory": {"activation": "linear", "recurrent_initializer": initializers.Identity(3.0)}})
    strong = initializers.VarianceScaling(18.0, seed=2)
    steep = Plan(behind={"squeeze": lambda: Gate(name="gate")}, callbacks=from_step(20, _way_back))
    logged = Plan(
        arguments={"mix": {"activation": "relu"}}, behind={"mix": lambda: Shown(lambda x: ops.log(x + 1e-12), name="logged")}
    )
    pruned = Plan(callbacks=since(24, _kernel("mix", 1e-8)))
    levels = Plan(behind={"seen": lambda: Shown(lambda x: ops.cast(ops.cast(64 * x, "int32"), "float32") / 64, name="levels")})
    stopped = Plan(behind={"gate": lambda: Shown(ops.stop_gradient, name="stopped")})
    signs = Plan(
        behind={"code": lambda: Shown(lambda x: ops.cast(x > 0, "float32"), name="signs")},
        instead={"distance": lambda: Shown(lambda two: ops.abs(two[0] - two[1]), name="distance")},
    )
    every, convolutions = tuple(f"t{number}" for number in range(12)), tuple(f"c{number}" for number in range(10))
    before = {"exploding_errors": ("pool", "swish", "normal", "sep", "conv1", "centred"), **STUCK}
    grown = {
        **STUCK,
        "non_finite": ALL,
        "update_too_large": ALL,
        "poor_initialisation": MEMORY,
        "worse_readout": MEMORY,
        "exploding_errors": ALL,
    }
    under = ("flat", "seen")
    tiny = {
        "update_too_large": ("mix",),
        "constant": ("mix", "lower"),
        "worse_readout": ("mix", "lower"),
        "update_too_small": ("seen",),
        "unchanged_weights": ("seen",),
        **STUCK,
    }
    shrunk = {**NOTHING_PASSES, "poor_initialisation": ALL}
    return [
        Case("recurrent kernel three times the unit", lambda: scan(tripled, 727), lambda w: proofs.times(w, "memory") > 1e5,
             "exploding_errors", ("lift", *MEMORY), 0, grown),
        Case("twelve kernels three times too large", lambda: tower(seed=728, start=strong), lambda w: proofs.shrinks(w, "t0", "t11") > 1e4,
             "exploding_errors", every, 0, {**WILD, "poor_initialisation": ALL}),
        Case("way back steepens at 20", lambda: questions(steep, 729),
             lambda w: proofs.times(w, "gate", 20) > 1e5 and proofs.times(w, "gate", 19) < 2, "exploding_errors", ("gate", "squeeze"), 20, before),
        Case("logarithm of rectified", lambda: lower_half(logged, 730), lambda w: proofs.times(w, "logged") > 1e6,
             "exploding_errors", ("mix", "logged"), 0,
             {**STUCK, "update_too_large": ALL, "dead_units": ("mix",), "worse_readout": ("mix", "logged"), "exploding_errors": under, "vanishing_errors": under}),
        Case("twelve kernels far too small", lambda: tower(seed=731, activation="tanh", start=_normal(0.02)),
             lambda w: proofs.shrinks(w, "t0", "t11") < 1e-8, "vanishing_errors", every, 0, shrunk),
        Case("ten sigmoid convolutions", lambda: sigmoid_convolutions(seed=732), lambda w: proofs.shrinks(w, "c0", "c9") < 1e-5,
             "vanishing_errors", convolutions, 0, {**STUCK, "constant": ALL, "update_too_small": ALL, "worse_readout": ALL}),
        Case("kernel kept pruned from 24 on", lambda: lower_half(pruned, 733),
             lambda w: proofs.times(w, "mix", 24) < 1e-6 and proofs.times(w, "mix", 23) > 0.1, "vanishing_errors", ("mix", "flat", "seen"), 24, tiny),
        Case("whole numbers of what was seen", lambda: lower_half(levels, 734), lambda w: proofs.cut(w, "seen"), "disconnected", ("seen",), 0,
             {"unchanged_weights": ("seen",), "update_too_small": ("seen",), "vanishing_errors": ("seen", "levels"), "worse_readout": ("levels",)}),
        Case("gate without gradient", lambda: experts(stopped, 735), lambda w: proofs.cut(w, "gate") and w.moved("e0", 3), "disconnected", ("gate",), 0,
             {"unchanged_weights": ("gate",), "update_too_small": ("gate",), "vanishing_errors": ("gate", "stopped")}),
        Case("codes of signs", lambda: together(signs, 736), lambda w: proofs.cut(w, "encoder/wide", "encoder/code") and w.moved("same", 3),
             "disconnected", CODES, 0, {"unchanged_weights": CODES, "update_too_small": CODES, "vanishing_errors": CODES, "worse_readout": CODES}),
    ]  # fmt: skip


def _outputs() -> list[Case]:
    negative = Plan(
        instead={"centred": lambda: layers.Rescaling(-1.0, name="centred")},
        arguments={"conv1": {"kernel_initializer": initializers.RandomUniform(0.05, 0.2, seed=3)}},
    )
    falls = Plan(callbacks=from_step(21, lambda model: model.get_layer("phrases").bias.assign(np.full(32, -50.0))))
    most = Plan(arguments={"mix": {"activation": "relu", "bias_initializer": _most_below}})
    doors = Plan(arguments={"excite": {"kernel_initializer": _normal(1000)}})
    bytes_ = Plan(arguments={"scaled": {"scale": 510.0, "offset": -255.0}})
    expert = Plan(callbacks=from_step(19, _kernel("e1", 1e3)))
    whole = Plan(
        rows=_below_one, instead={"centred": lambda: Shown(lambda x: ops.cast(ops.cast(x, "int32"), "float32"), name="centred")}
    )
    hidden = Plan(behind={"words": lambda: Shown(lambda x: ops.where(ops.abs(x) > 1e6, x, 0.0), name="masked")})
    zeros, alike = (
        Plan(arguments={"w2": {"kernel_initializer": "zeros"}}),
        Plan(arguments={"mix": {"kernel_initializer": initializers.Constant(0.02)}}),
    )
    huge, tiny = (
        Plan(arguments={"conv1": {"kernel_initializer": _normal(20)}}),
        Plan(arguments={"d2": {"kernel_initializer": _normal(1e-7)}}),
    )
    ends = ("squeeze", "excite")
    shut = {
        "poor_initialisation": ("excite",),
        "vanishing_errors": ends,
        "update_too_small": ends,
        "unchanged_weights": ends,
        "worse_readout": ends,
        "exploding_errors": ("squeeze", "pool", "swish", "normal", "sep", "conv1"),
    }
    e1 = dict.fromkeys(("vanishing_errors", "update_too_small", "unchanged_weights", "worse_readout"), ("e1",))
    return [
        Case("negative squares, positive filters", lambda: questions(negative, 737), lambda w: proofs.dead(w, "conv1", 0) == 1, "dead_units", ("conv1",), 0,
             {**NOTHING_PASSES, "poor_initialisation": ("conv1",)}),
        Case("phrases fall silent at 21", lambda: next_token(falls, 738),
             lambda w: proofs.dead(w, "phrases", 21) == 1 and proofs.dead(w, "phrases", 20) < 0.2, "dead_units", ("phrases",), 21, NOTHING_PASSES),
        Case("three quarters of the units below", lambda: lower_half(most, 739), lambda w: proofs.dead(w, "mix", 0) >= 0.75 and proofs.dead(w, "mix", 59) >= 0.75,
             "dead_units", ("mix",), 0, {"poor_initialisation": ("mix",), "worse_readout": ("mix",)}),
        Case("doors shut or open", lambda: questions(doors, 740), lambda w: proofs.at_bounds(w, "excite", 0, 0) > 0.95, "saturated", ("excite",), 0, shut),
        Case("bytes into a recurrent layer", lambda: scan(bytes_, 741), lambda w: proofs.at_bounds(w, "memory", 0) > 0.9, "saturated", MEMORY, 0,
             {**NOTHING_COMES_BACK, "poor_initialisation": ("lift", *MEMORY), "worse_readout": MEMORY}),
        Case("an expert a thousand times stronger", lambda: experts(expert, 742),
             lambda w: proofs.at_bounds(w, "e1", 19) > 0.95 and proofs.at_bounds(w, "e1", 18) < 0.3, "saturated", ("e1",), 19, e1),
        Case("whole numbers of the unit interval", lambda: questions(whole, 743), lambda w: proofs.same(w, "centred", 0), "constant", ("centred",), 0, NOTHING_PASSES),
        Case("mask that hides all", lambda: next_token(hidden, 744), lambda w: proofs.same(w, "masked", 0) and np.ptp(w.output(0, "words")) > 0.01,
             "constant", ("masked",), 0, {**NOTHING_PASSES, "disconnected": ("words",)}),
        Case("normalisation without scale from 23 on", lambda: questions(Plan(callbacks=since(23, _no_scale)), 745),
             lambda w: proofs.same(w, "normal", 23) and not proofs.same(w, "normal", 22), "constant", ("normal",), 23,
             {**NOTHING_PASSES, "update_too_large": ("normal",)}),
        Case("kernel of zeros", lambda: wines(zeros, 746), lambda w: proofs.same(w, "w2", 0) and w.ratio("w1", 0) == 0, "poor_initialisation", ("w2",), 0, NOTHING_PASSES),
        Case("huge filters", lambda: questions(huge, 747), lambda w: proofs.gain(w, "conv1") > 30, "poor_initialisation", ("conv1",), 0,
             {"exploding_errors": ("centred",), "vanishing_errors": ("sep", "conv1"), "update_too_small": ("conv1",)}),
        Case("all units of the mix alike", lambda: lower_half(alike, 748), lambda w: np.ptp(w.output(0, "mix"), axis=-1).max() < 1e-4,
             "poor_initialisation", ("mix",), 0, {"worse_readout": ("mix", "lower")}),
        Case("tiny kernel among others", lambda: grown_denser(tiny, 749), lambda w: proofs.gain(w, "d2") < 1e-5, "poor_initialisation", ("d2",), 0,
             {"update_too_large": ("d2",), "constant": ("d2",), "worse_readout": ("d2",)}),
    ]  # fmt: skip


def _updates_and_learning() -> list[Case]:
    flat = Plan(optimizer=lambda: OnlyFlat(3e-3))
    off = Plan(optimizer=lambda: Switched(0.1, "d2"), callbacks=from_step(18, lambda model: model.optimizer.switch.assign(0)))
    two, hundred = Plan(optimizer=lambda: optimizers.Adam(2.0)), Plan(optimizer=lambda: optimizers.SGD(100.0))
    typo = Plan(optimizer=lambda: optimizers.Adamax(optimizers.schedules.PiecewiseConstantDecay([24], [5e-3, 5.0])))
    small, smaller = Plan(optimizer=lambda: optimizers.SGD(1e-5)), Plan(optimizer=lambda: optimizers.Adam(1e-7))
    ends = Plan(optimizer=lambda: optimizers.Adam(optimizers.schedules.PiecewiseConstantDecay([19], [4e-3, 1e-7])))
    halves, wine, parts = ("seen", "mix", "lower"), ("w1", "w2", "grower"), ("gate", "e0", "e1", "e2", "digit")
    words, rounded = ("words", "phrases", "mix", "kind"), {**STUCK, "unchanged_weights": ALL, "worse_readout": ALL}
    noise, reshaped = (
        Plan(behind={"h1": lambda: Noisy(name="noise")}),
        Plan(behind={"h1": lambda: Shown(turned, name="turned")}),
    )
    narrow = Plan(arguments={"h2": {"units": 1}})
    return [
        Case("forgotten memory", lambda: scan(Plan(model=forgets("memory")), 751), lambda w: proofs.still(w, "memory") and w.moved("lift", 5),
             "unchanged_weights", MEMORY, 0, {"update_too_small": MEMORY}),
        Case("optimizer passes filters by", lambda: questions(flat, 752), lambda w: proofs.still(w, "conv1", "sep") and w.moved("squeeze", 5),
             "unchanged_weights", ("conv1", "sep"), 0, {"update_too_small": ("conv1", "sep")}),
        Case("second layer switched off at 18", lambda: grown_denser(off, 753),
             lambda w: w.moved("d2", 17) and proofs.still(w, "d2", first=18) and w.moved("d1", 18), "unchanged_weights", ("d2",), 18,
             {"update_too_small": ("d2",)}),
        Case("experts at a rate of two", lambda: experts(two, 754), lambda w: proofs.ratios(w, 0, *parts)[0] > 1, "update_too_large", parts, 0, WILD),
        Case("series at a rate of a hundred", lambda: swell(hundred, 755), lambda w: proofs.ratios(w, 0, "memory", "thin", "next")[1] > 1,
             "update_too_large", (*MEMORY, "thin", "next"), 0, WILD),
        Case("typing error in a schedule", lambda: lower_half(typo, 756), lambda w: proofs.ratios(w, 25, *halves)[0] > 1 > 10 * proofs.ratios(w, 24, *halves)[1],
             "update_too_large", halves, 25, WILD),
        Case("wines at a rate of nothing", lambda: wines(small, 757), lambda w: proofs.ratios(w, 5, *wine)[1] < 1e-5, "update_too_small",
             (*wine, "parametric"), 0, rounded),
        Case("pairs at a rate of nothing", lambda: together(smaller, 758), lambda w: proofs.ratios(w, 5, "encoder/wide", "encoder/code", "same")[1] < 1e-5,
             "update_too_small", (*CODES, "same"), 0, rounded),
        Case("schedule ends at 20", lambda: next_token(ends, 759), lambda w: proofs.ratios(w, 20, *words)[1] < 1e-5 < 10 * proofs.ratios(w, 19, *words)[0],
             "update_too_small", words, 20, rounded),
        Case("noise above the signal", lambda: ladder(noise, 781, 100), lambda w: proofs.loses(w, "noise", 0.4), "worse_readout", ("noise",), None, STUCK),
        Case("bottleneck of one unit", lambda: ladder(narrow, 782, 100), lambda w: proofs.loses(w, "h2", 0.4), "worse_readout", ("h2",), None, STUCK),
        Case("turned and reshaped", lambda: ladder(reshaped, 783, 100), lambda w: proofs.loses(w, "turned", 0.4), "worse_readout", ("turned",), None, STUCK),
        Case("targets of the next row", lambda: swell(Plan(rows=_next_row), 784), proofs.stays, "loss_does_not_fall", (".",)),
        Case("blank pictures", lambda: ladder(Plan(rows=_blank), 785), proofs.stays, "loss_does_not_fall", (".",), None, NOTHING_PASSES),
        Case("first weights put back each step", lambda: lower_half(Plan(callbacks=proofs.put_back), 786), proofs.stays, "loss_does_not_fall", (".",), None,
             {"unchanged_weights": ALL, "worse_readout": ALL}),
    ]  # fmt: skip


def fourth() -> list[Case]:
    """All of them."""
    return [*_numbers(), *_errors(), *_outputs(), *_updates_and_learning(), *healthy()]
