"""Which exact values to keep: the forms of `values`. Imports no TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .selection import listed


@dataclass(frozen=True)
class Values:
    """Which exact tensors to keep beside the statistics.

    Args:
        samples: how many samples of each tensor, from the first on; None: all of them.
        every: the first record and then every n-th holds values.
        layers: of which calls, in the forms of `layers` of `LayerFlow`; None: of all that are recorded.
        record_bytes: how many bytes one record's arrays may have. What is over it is cut, whole tensors at a time.
        run_bytes: how many bytes all value files of one callback (or `record`) may have.

    Raises:
        ValueError: a number is not positive.
    """

    samples: int | None = 1
    every: int = 10
    layers: Any = None
    record_bytes: int = 160 << 20
    run_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        for name in ("samples", "every", "record_bytes", "run_bytes"):
            number = getattr(self, name)
            if name == "samples" and number is None:
                continue
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                expected = "a positive integer, or None for all" if name == "samples" else "a positive integer"
                raise ValueError(f"{name} must be {expected}. Received: {number!r}.")


def checked(values: Any, automatic: Values) -> Values | None:
    """The settings that `values` means, None for no values. `automatic` is what "auto" stands for."""
    if isinstance(values, Values):
        return values
    if values is None or (isinstance(values, str) and values == "none"):
        return None
    if isinstance(values, str) and values == "auto":
        return automatic
    if isinstance(values, str) and values == "all":
        return Values(samples=None, every=1)
    raise ValueError(f'values must be "none", "auto", "all" or layerflow.summary.Values(...). Received: {values!r}.')


def together(first: Values | None, second: Values | None) -> Values | None:
    """What holds all that either asks of one record."""
    if first is None or second is None:
        return first or second
    layers = None
    if first.layers is not None and second.layers is not None:
        layers = [*listed(first.layers), *listed(second.layers)]
    samples = None if first.samples is None or second.samples is None else max(first.samples, second.samples)
    return Values(samples, 1, layers, max(first.record_bytes, second.record_bytes), max(first.run_bytes, second.run_bytes))
