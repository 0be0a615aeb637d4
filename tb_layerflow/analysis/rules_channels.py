"""The findings about units and channels that are dead though their layer is not. Pure functions."""

from __future__ import annotations

import numpy as np

from .limits import Limits
from .observed import Finding, Floats, Observed
from .rules_outputs import rectifies
from .states import staying

ZERO = 4
"""The row of per-channel figures that holds the share of zeros."""
STEADY = 0.95
"""How likely a unit without a gradient in one record has none in another, for the units to be the same."""


def units_without_gradient(observed: Observed, limits: Limits) -> list[Finding]:
    """Many units of a rectifying layer get no gradient in any record, though the others do.

    Definition: of the gradient of the bias (or of a normalisation's offset) that a rectifying call (see `rectifies`) adds, or the
    call that it gets its input from, at least `dead_units` are exactly zero, but not all (that is the rule `dead_units`' matter),
    no smaller share of the output is zero, and that stays so (see `staying`); and from there on the units are the same: the
    variance of their number is at most 1 - STEADY of its mean. (Were each silent by itself in a share q of the records, the mean
    would be the sum of all q and the variance that of all q(1 - q): units that a sparse layer wakes now and then make it vary.)
    Healthy layers reach 0.69. Source: Lu et al. 2019, Dying ReLU and initialization.
    """
    found = []
    for number, call, port in observed.leaf_outputs():
        zeros = observed.share("output", call.path, port, "zero")
        if zeros is None or not rectifies(observed, number, call):
            continue
        for one in (number, *observed.sources(number)[:1]):
            if (share := _without_gradient(observed, one)) is not None:
                break
        else:
            continue
        units, silent = share
        place = staying((silent >= limits.dead_units) & (zeros >= silent) & (silent < 1), limits)
        if place is None:
            continue
        counts = units * silent[place:][np.isfinite(silent[place:])]
        if counts.var() > (1 - STEADY) * counts.mean():
            continue
        reach = float(silent[place])
        message = f"{reach:.1%} of the units of {call.path} get no gradient in any record: they are dead."
        evidence = {"units": int(counts.min()), "of": units, "silent": reach, "limit": limits.dead_units, "port": port}
        found.append(Finding("dead_units", call.path, int(observed.steps[place]), message, evidence))
    return found


def _without_gradient(observed: Observed, number: int) -> tuple[int, Floats] | None:
    """How many units the bias (or offset) of a call's layer has, and the share of its gradient that is zero, float64 [steps]."""
    call = observed.graph.calls[number]
    if call.layer is None:
        return None
    layer = observed.graph.layers[call.layer]
    for place, weight in enumerate(layer.weights):
        if weight.trainable and weight.name in ("bias", "beta") and len(weight.shape) == 1:
            share = observed.share("weight_gradient", layer.path, place, "zero")
            return None if share is None else (weight.shape[0], share)
    return None


def dead_channels(observed: Observed, limits: Limits) -> list[Finding]:
    """Many channels of a rectified convolution are zero for all samples at all positions.

    Definition: the output of a rectifying call (see `rectifies`) has three axes or more; of its channels at least
    `dead_channels` put out nothing but zeros in each of `records` records or more that hold exact values (per-channel figures
    are taken there alone), and not all do (that is `dead_units`' matter). A few dead channels are usual, and cost only what
    they take to compute. Source: Lu et al. 2019, Dying ReLU and initialization.
    """
    found = []
    for number, call, port in observed.leaf_outputs():
        if len(call.outputs[port].shape or ()) < 3 or not rectifies(observed, number, call):
            continue
        figures = observed.channels(call.path, port)
        if len(figures) < limits.records:
            continue
        dead = np.all([one[ZERO] == 1.0 for _, one in figures], axis=0)
        if dead.all() or dead.mean() < limits.dead_channels:
            continue
        names = np.flatnonzero(dead).tolist()
        message = f"{len(names)} of the {len(dead)} channels of {call.path} are zero for all samples at all positions."
        evidence = {"channels": names, "zero": float(dead.mean()), "limit": limits.dead_channels, "port": port}
        found.append(Finding("dead_units", call.path, figures[0][0], message, evidence))
    return found
