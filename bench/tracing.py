"""What the first recorded steps cost: tracing the recording variants."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 2
_WARM_UP = 1


def measure() -> list[Figure]:
    """Tracing for recorded steps, with what LayerFlow records by itself, against tracing the plain step; fresh models.

    By itself it traces two variants, one with exact values and one without: the figure is half of that. The first pair of a
    process is not counted: TensorFlow itself warms up in its plain step.
    """
    from .subject import Subject

    ratios = []
    for _ in range(_WARM_UP + REPEATS):
        subject = Subject()
        plain = subject.tracing("plain")
        ratios.append(subject.tracing("default") / plain / 2)
    counted = ratios[_WARM_UP:]
    note = f"{spread(counted)}; there are two"
    return [Figure("tracing one recording variant / tracing the plain step", median(counted), 3, note=note)]
