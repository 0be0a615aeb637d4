"""Which instruments the kinds of `what` ask for: in training steps, and where a model is run on given samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .losses import Losses, enough
from .samples import Samples
from .value_settings import Values
from .values import ExactValues
from .weights import Weights

ALWAYS = ("weights",)
"""Instruments of training steps that every record has, as far as they are wanted."""


def for_training(kinds: Iterable[str], values: Values | None = None, *, everything: bool = False) -> dict[str, Callable[[], Any]]:
    """The makers of the instruments of training steps, by name, in the order in which they work: values come last."""
    makers: dict[str, Callable[[], Any]] = {"weights": lambda: Weights(updates=True)} if "weights" in kinds else {}
    if values is not None:
        makers["values"] = lambda: ExactValues(values, everything=everything)
    return makers


def for_samples(
    kinds: Iterable[str],
    samples: Samples,
    *,
    weights: bool,
    loss: Any = None,
    values: Values | None = None,
    everything: bool = False,
) -> list[Any]:
    """The instruments of a probe or of `record`. `weights`: whether no other stream of the run has them."""
    found: list[Any] = [Weights(updates=False)] if weights and "weights" in kinds else []
    if "losses" in kinds or enough(samples):
        found.append(Losses(samples, loss=loss))
    if values is not None:
        found.append(ExactValues(values, everything=everything))
    return found
