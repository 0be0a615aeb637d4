"""The measured seconds of a record's calls, those of a group with the calls inside it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tb_layerflow.log.records import Call


class Seconds(NamedTuple):
    """How long the operations of a call ran, forward and backward, in seconds, over all threads."""

    forward: float
    backward: float


def rolled_up(calls: list[Call], timings: Mapping[int, tuple[float, float]]) -> dict[str, Seconds]:
    """The seconds of every call by path, with those of the calls inside it; without inputs, in the order of the calls.

    `timings` has each call's own, by number; what is no time, or of no call, does not count. Empty where there are none.
    """
    own = {call: pair for call, pair in timings.items() if 0 <= call < len(calls) and all(map(_is_time, pair))}
    if not own:
        return {}
    totals = np.zeros((len(calls), 2))
    for number, pair in own.items():
        totals[number] = pair
    for number in range(len(calls) - 1, -1, -1):  # a call begins before those inside it
        parent = calls[number].parent
        if parent is not None:
            totals[parent] += totals[number]
    return {
        call.path: Seconds(float(forward), float(backward))
        for call, (forward, backward) in zip(calls, totals, strict=True)
        if call.kind != "input"
    }


def _is_time(seconds: float) -> bool:
    return bool(np.isfinite(seconds)) and seconds >= 0
