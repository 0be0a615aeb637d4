"""From which record on something is so, told from what passes by itself. Pure functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .limits import Limits


def staying(holds: NDArray[np.bool_], limits: Limits, *, until_the_end: bool = False) -> int | None:
    """The place of the first record from which on something stays so: of a run of `records` records or more in which it holds,
    if the run has `loss_records` of them (not so `until_the_end`), or it holds in three quarters of all from there on and in no
    more than a tenth of those before. What passes by itself is no fault, nor what comes and goes.
    """
    place, run = 0, 0
    for end, one in enumerate([*holds.tolist(), False]):
        if one:
            run += 1
            continue
        place = end - run
        is_run, run = (run >= limits.records, run >= limits.loss_records and not until_the_end), 0
        if is_run[0] and (is_run[1] or (holds[:place].sum() <= 0.1 * place and holds[place:].mean() >= 0.75)):
            return place
    return None


def lasting(holds: NDArray[np.bool_], records: int) -> int | None:
    """The place of the first record of the first run of `records` records in a row for which something holds."""
    run = 0
    for place, one in enumerate(holds.tolist()):
        run = run + 1 if one else 0
        if run == records:
            return place - records + 1
    return None
