"""One measured figure beside its target. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 1.25
"""A target that is missed by more than a quarter fails the bench."""


@dataclass(frozen=True)
class Figure:
    """`what` is `value`, in `unit` (empty: a ratio), and is to be at most `target`; `note` says how far its repeats lie apart."""

    what: str
    value: float
    target: float
    unit: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """`met`, `missed by n %` or `FAILED by n %`."""
        if self.value <= self.target:
            return "met"
        verb = "missed" if self.value <= self.target * TOLERANCE else "FAILED"
        return f"{verb} by {100 * (self.value / self.target - 1):.0f} %"


def spread(values: Sequence[float]) -> str:
    """How far repeats lie apart: `of 9, 1.18 to 1.31`."""
    return f"of {len(values)}, {min(values):.3g} to {max(values):.3g}"


def lines(figures: Sequence[Figure]) -> list[str]:
    """The figures as the rows of a Markdown table."""
    rows = [("what", "measured", "reach", "", "repeats"), *map(_row, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows]


def _row(figure: Figure) -> tuple[str, ...]:
    measured, target = (_text(value, figure.unit) for value in (figure.value, figure.target))
    return figure.what, measured, f"≤ {target}", figure.verdict, figure.note


def _text(value: float, unit: str) -> str:
    number = f"{value:.3g}" if value < 100 else f"{value:.0f}"
    return f"{number} {unit}".strip()
