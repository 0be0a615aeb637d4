"""What the callback costs a step that it does not record."""

from __future__ import annotations

from .figure import Figure

REPEATS = 9


def measure() -> list[Figure]:
    """A block of steps with the callback attached, nothing due, against the same block without it."""
    from .subject import against_plain

    ratio, note = against_plain("idle", REPEATS)
    return [Figure("a step that is not recorded, callback attached / without", ratio, 1.02, note=note)]
