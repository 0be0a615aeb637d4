"""The seventh suite's faults of updates and of learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops, optimizers

from bench.case import Case

from . import fifth_proofs
from . import fourth_proofs as proofs
from . import seventh_proofs as own
from . import sixth_proofs as earlier
from .fourth_proofs import Switched
from .planting import Holds, Plan, Pulled, Shown, drawn, forgets, from_step
from .seventh_bodies import film, hyper, inverted, memory, sets, taste, volume
from .seventh_more import glu, levels, towers, translator
from .sixth_later import ALL, STUCK, WILD


def _any_order(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(81).permutation(y)


def _noise(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(82).normal(0, 2, y.shape)


def _by_lot(x: Any, y: Any) -> None:
    y[:] = np.random.default_rng(83).integers(0, 2, y.shape)


def _rates(last: int, first: float, then: float) -> Any:
    """A rate that changes after the step `last`."""
    return optimizers.schedules.PiecewiseConstantDecay([last], [first, then])


def _averaged(x: Any) -> Any:
    return ops.zeros_like(x) + ops.mean(x, -1, keepdims=True)


def _optimizer(make: Any) -> Plan:
    return Plan(optimizer=make)


def _updates() -> list[Case]:
    off = Plan(optimizer=lambda: Switched(0.1, "thin2"), callbacks=from_step(24, lambda model: model.optimizer.switch.assign(0)))
    held = Plan(arguments={"each1": {"kernel_constraint": Holds(), "kernel_initializer": drawn}})
    masked = _optimizer(lambda: fifth_proofs.Masked(0.03, "solid1"))
    two = _optimizer(lambda: optimizers.Nadam(2.0))
    typo = _optimizer(lambda: optimizers.SGD(_rates(27, 0.03, 300.0)))
    leaps = _optimizer(lambda: optimizers.Adam(_rates(20, 1e-2, 10.0)))
    pulled, weak = (
        Plan(instead={"d2": lambda pull=pull: Pulled(24, pull, activation="elu", name="d2")})  # type: ignore[misc]
        for pull in (1e5, 1e-4)
    )
    slow, clipped = _optimizer(lambda: optimizers.SGD(3e-6)), _optimizer(lambda: optimizers.SGD(0.05, global_clipnorm=1e-4))
    ends = _optimizer(lambda: optimizers.Adam(_rates(25, 5e-3, 1e-7)))
    halves, codes = (
        ("upper1", "upper2", "lower1", "lower2"),
        ("user_code", "item_code", "user_deep", "item_deep", "deep1", "deep2"),
    )
    made, solid, seen = ("code", "maker", "mix", "value"), ("solid1", "solid2", "goes"), ("look", "lower", "upper", "mix", "goes")
    told = ("source_code", "source_wide", "source_thin", "before_code", "wide", "thin", "word")
    little = {**STUCK, "unchanged_weights": ALL, "worse_readout": ALL}
    return [
        Case("forgotten maker of kernels", lambda: hyper(Plan(model=forgets("maker")), 1181), lambda w: proofs.still(w, "maker") and w.moved("code", 5),
             "unchanged_weights", ("maker",), 0, {"update_too_small": ("maker",)}),
        Case("last thin layer switched off at 24", lambda: inverted(off, 1182),
             lambda w: w.moved("thin2", 23) and proofs.still(w, "thin2", first=24) and w.moved("widen2", 24), "unchanged_weights", ("thin2",), 24,
             {"update_too_small": ("thin2",)}),
        Case("kernel of each point held by a constraint", lambda: sets(held, 1183), lambda w: proofs.still(w, "each1") and w.moved("each2", 5), "unchanged_weights",
             ("each1",), 0, {"update_too_small": ("each1",)}),
        Case("forgotten codes of the rated", lambda: taste(Plan(model=forgets("item_deep")), 1184), lambda w: proofs.still(w, "item_deep") and w.moved("user_deep", 5),
             "unchanged_weights", ("item_deep",), 0, {**STUCK, "update_too_small": ("item_deep",)}),
        Case("mask of zeros for the first solid", lambda: volume(masked, 1185), lambda w: proofs.still(w, "solid1") and w.moved("solid2", 5), "unchanged_weights",
             ("solid1",), 0, {"update_too_small": ("solid1",)}),
        Case("towers at a rate of two", lambda: towers(two, 1186), lambda w: proofs.ratios(w, 0, *halves)[0] > 1, "update_too_large", (*halves, "same"), 0, WILD),
        Case("a typing error at 28", lambda: hyper(typo, 1187), lambda w: proofs.ratios(w, 28, *made)[1] > 1 > 10 * proofs.ratios(w, 27, *made)[1], "update_too_large",
             made, 28, WILD),
        Case("tastes leap at 21", lambda: taste(leaps, 1188), lambda w: proofs.ratios(w, 21, *codes)[0] > 1 > 10 * proofs.ratios(w, 20, *codes)[1], "update_too_large",
             (*codes, "rating"), 21, WILD),
        Case("second of three pulled a hundred thousandfold", lambda: levels(pulled, 1189), lambda w: w.ratio("d2", 0) > 1 > 20 * w.ratio("d1", 0), "update_too_large",
             ("d2",), 0, WILD),
        Case("films at a rate of nothing", lambda: volume(slow, 1190), lambda w: earlier.small_from(w, 5, *solid), "update_too_small", solid, 0, little),
        Case("films clipped to nothing", lambda: film(clipped, 1191), lambda w: earlier.small_from(w, 5, *seen), "update_too_small", (*seen, "look/*"), 0, little),
        Case("translator's rate falls to nothing at 26", lambda: translator(ends, 1192), lambda w: earlier.small_from(w, 26, *told) and w.ratio("word", 25) > 1e-4,
             "update_too_small", (*told, "cross", "recall", "cross/*", "recall/*"), 26, little),
        Case("second of three held to a ten thousandth", lambda: levels(weak, 1193), lambda w: earlier.small_from(w, 5, "d2") and w.ratio("d1", 5) > 1e-4,
             "update_too_small", ("d2",), 0, {"unchanged_weights": ("d2",), "worse_readout": ("d2",)}),
    ]  # fmt: skip


def _behind(name: str, function: Any, called: str) -> Plan:
    return Plan(behind={name: lambda: Shown(function, name=called)})


def _learning() -> list[Case]:
    neighbour = _behind("pool", lambda x: ops.repeat(x[::2], 2, axis=0), "of_neighbour")
    averaged = _behind("measures", _averaged, "averaged")
    in_order = _behind("pool", lambda x: ops.sort(x, 0), "sorted_batch")
    mixed = _behind("solid2", own.mixed_up, "mixed_up")
    first = _behind("sum2", lambda x: ops.zeros_like(x) + x[:1], "first_for_all")
    uphill = _optimizer(lambda: optimizers.SGD(-0.003))
    stuck = {"worse_readout": ALL}
    return [
        Case("each second digit has its neighbour's features", lambda: inverted(neighbour, 1195, 120), lambda w: proofs.loses(w, "of_neighbour", 0.3), "worse_readout",
             ("of_neighbour",), None, STUCK),
        Case("all measures of a wine averaged", lambda: glu(averaged, 1196, 120), lambda w: proofs.loses(w, "averaged", 0.3), "worse_readout", ("averaged",), None, STUCK),
        Case("features sorted along the batch", lambda: film(in_order, 1199, 120), lambda w: proofs.loses(w, "sorted_batch", 0.3), "worse_readout", ("sorted_batch",), None,
             STUCK),
        Case("time and batch changed places", lambda: volume(mixed, 1197, 120), lambda w: proofs.loses(w, "mixed_up", 0.3), "worse_readout", ("mixed_up",), None, STUCK),
        Case("the first sample's features for all", lambda: glu(first, 1198, 120), lambda w: proofs.loses(w, "first_for_all", 0.3), "worse_readout", ("first_for_all",), None,
             {**STUCK, "constant": ("first_for_all", "grower"), "vanishing_errors": ALL}),
        Case("noise in place of the next number", lambda: memory(Plan(rows=_noise), 1201), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
        Case("films uphill", lambda: volume(uphill, 1202), fifth_proofs.climbs, "loss_does_not_fall", (".",), None, WILD),
        Case("films with another's label", lambda: film(Plan(rows=_any_order), 1203), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
        Case("patients' levels by lot", lambda: levels(Plan(rows=_by_lot), 1204), proofs.stays, "loss_does_not_fall", (".",), None, stuck),
    ]  # fmt: skip


def later() -> list[Case]:
    """All of them."""
    return [*_updates(), *_learning()]
