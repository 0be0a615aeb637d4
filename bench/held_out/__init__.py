"""Trainings that set no threshold: at least three models for each rule, with one fault planted in each, and healthy ones.

The figures come from `seventh.py`, which is trained by itself. Those of this list and of `third.py` to `sixth.py` are no longer
blind: they were written, and what may be found in each was decided, without knowing the rules' definitions and thresholds, but rules
were mended for what they showed, first for the kinds of misses of the first suite, on other trainings (`strict_faults.py`), then,
after `second` had been trained once, for what both showed of layer losses, then for what `third` to `sixth` showed, one after another.
Whether a fault is there (and whether a healthy training's result is good) is proved by Keras and NumPy alone, `Case.proved`. Three
expectations were corrected afterwards: a GRU's weights are its cell's, an LSTM over one word never uses its recurrent kernel, and a
GRU closed to the last bit of float32 puts out 0 everywhere: a constant, by which errors vanish.
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
