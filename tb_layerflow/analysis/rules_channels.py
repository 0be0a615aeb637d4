"""The finding about channels that are dead though their layer is not. Pure functions."""

from __future__ import annotations

import numpy as np

from .limits import Limits
from .observed import Finding, Observed
from .rules_outputs import rectifies

ZERO = 4
"""The row of per-channel figures that holds the share of zeros."""


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
