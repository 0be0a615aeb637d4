"""Trainings that set no threshold: at least three models for each rule, with one fault planted in each, and healthy ones.

They were written, and what may be found in each was decided, without knowing the rules' definitions and thresholds. Whether the
fault is there (and whether a healthy training's result is good) is proved by Keras and NumPy alone, `Case.proved`. Rules were then
mended for the kinds of misses that the first suite had shown, on other trainings (`strict_faults.py`), and `second` was trained once.
Two expectations of the first were corrected afterwards: a GRU's weights are its cell's, and an LSTM over one word never uses its
recurrent kernel.
"""

from __future__ import annotations

from bench.case import Case

from .healthy import healthy
from .numbers_and_errors import disconnected, exploding, loss_scaler_skips, non_finite, vanishing
from .outputs_and_updates import (
    constant,
    dead_units,
    loss_does_not_fall,
    poor_initialisation,
    saturated,
    unchanged_weights,
    update_ratio,
    worse_readout,
)
from .second import second

GROUPS = (
    non_finite, loss_scaler_skips, exploding, vanishing, disconnected, dead_units, saturated, constant, poor_initialisation,
    unchanged_weights, update_ratio, worse_readout, loss_does_not_fall, healthy, second,
)  # fmt: skip


def held_out() -> list[Case]:
    """All of them."""
    return [case for group in GROUPS for case in group()]
