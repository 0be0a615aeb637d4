"""What the first recorded step costs: tracing the recording variant."""

from __future__ import annotations

from statistics import median

from .figure import Figure, spread

REPEATS = 2
_WARM_UP = 1


def measure() -> list[Figure]:
    """By how much the first step is longer than the second: recorded with LayerFlow's defaults against plain, on fresh models.

    The first pair of a process is not counted: TensorFlow itself warms up in its plain step.
    """
    from .subject import Subject

    ratios = []
    for _ in range(_WARM_UP + REPEATS):
        subject = Subject()
        plain = subject.tracing("plain").processor
        ratios.append(subject.tracing("default").processor / plain)
    counted = ratios[_WARM_UP:]
    return [Figure("tracing the recording variant / tracing the plain step", median(counted), 3, note=spread(counted))]
