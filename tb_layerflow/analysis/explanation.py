"""What the microscope answers: the terms that made one number, grouped and bounded. Knows no layer and no file.

A formula describes its terms as whole arrays (`Products`); only the terms that are listed become objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LISTED_TERMS = 2000
"""At most so many terms are listed; the others are counted and summed."""
LISTED_GROUPS = 1000
"""At most so many groups are listed; the terms of the others are counted and summed."""

SHOWN_TERMS = 5
"""How many an explanation prints."""


class CannotExplain(Exception):
    """Raised inside formulas with the sentence that people read; `explain` turns it into an `Unexplained`."""


@dataclass(frozen=True)
class Term:
    """One number that took part: `product` is what it contributed.

    `port` is the number of the layer's input and `index` the place in it, batch axis first; port -1 is a number in between (the
    depthwise result of a separable convolution) and -2 one of the layer's own. `weight` is what the value was multiplied with,
    `weight_name` the weight (or `input 1`) it was read from at `weight_index`; None where there was none.
    """

    port: int
    index: tuple[int, ...]
    value: float
    product: float
    weight_name: str = ""
    weight_index: tuple[int, ...] | None = None
    weight: float | None = None

    def __str__(self) -> str:
        place = f"input {self.port} " if self.port >= 0 else ""
        factor = "" if self.weight is None else f" × {number(self.weight)} ({self.weight_name} {list(self.weight_index or ())})"
        return f"{number(self.product)} from {place}{list(self.index)}: {number(self.value)}{factor}"


@dataclass(frozen=True)
class Group:
    """All terms of one channel of one input: their sum, the sum of their magnitudes, their count, and those listed."""

    port: int
    channel: int
    sum: float
    magnitude: float
    count: int
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Omitted:
    """The terms that are not listed, because there are more than the cap."""

    count: int = 0
    sum: float = 0.0
    magnitude: float = 0.0


@dataclass(frozen=True)
class PortWindow:
    """What part of one input the number depends on: the smallest box, a slice per axis, batch axis first.

    `unclipped` also reaches into the padding, so that it may begin below zero or end beyond the map. Both are None where the
    number depends on nothing of this input. `reason` says why the whole input was taken, where it is not known.
    """

    port: int
    box: tuple[slice, ...] | None
    unclipped: tuple[slice, ...] | None
    reason: str = ""


@dataclass(frozen=True)
class Explanation:
    """How one number came about.

    `combine` says how the terms make `pre_activation`: `sum` (with the bias), `product`, `maximum`, `minimum` or `share` (of
    the sum). `total` is computed in float64 from the recorded inputs; `magnitude`, the sum of the terms' and the bias's
    magnitudes, is what a difference to the recorded number is to be judged against. `quantities` are the numbers in between,
    by name. `steps` explain a composed layer part by part, in the order in which they ran.
    """

    type: str
    formula: str
    groups: tuple[Group, ...]
    term_count: int
    omitted: Omitted
    bias: float | None
    pre_activation: float
    activation: str
    total: float
    magnitude: float
    combine: str = "sum"
    quantities: tuple[tuple[str, float], ...] = ()
    steps: tuple[Explanation, ...] = ()
    note: str = ""
    recorded: float | None = None
    window: tuple[PortWindow, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        # A NaN, which no order holds, comes first: it decides the sum.
        terms = sorted(self.terms, key=lambda term: -abs(term.product) if term.product == term.product else -np.inf)[:SHOWN_TERMS]
        lines = [self.formula or f"{self.type}: {number(self.total)}", *map(str, terms)]
        if self.term_count > len(terms):
            lines.append(f"and {self.term_count - len(terms):,} smaller terms")
        if self.recorded is not None:
            lines.append(f"recorded: {number(self.recorded)}")
        return "\n  ".join(lines)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The listed terms, those of the group with the largest sum first."""
        return tuple(term for group in self.groups for term in group.terms)

    @property
    def difference(self) -> float | None:
        """`total` minus the recorded number; None where none was recorded."""
        return None if self.recorded is None else self.total - self.recorded


@dataclass(frozen=True)
class Unexplained:
    """A number that the microscope cannot take apart: `reason` is one sentence that says why; the window is still known."""

    type: str
    reason: str
    recorded: float | None = None
    window: tuple[PortWindow, ...] = ()


@dataclass(frozen=True)
class Products:
    """Terms as arrays: `index` int64 [terms, input rank], `value` and `product` float64 [terms], `channel` int64 [terms].

    `weight_index` is int64 [terms, weight rank] and `weight` float64 [terms], or None where the terms have no weight.
    """

    port: int
    index: Indices
    value: Array
    product: Array
    channel: Indices
    weight_name: str = ""
    weight_index: Indices | None = None
    weight: Array | None = None

    def term(self, place: int) -> Term:
        """The term at one place of the arrays."""
        return Term(
            self.port,
            tuple(self.index[place].tolist()),
            float(self.value[place]),
            float(self.product[place]),
            self.weight_name,
            None if self.weight_index is None else tuple(self.weight_index[place].tolist()),
            None if self.weight is None else float(self.weight[place]),
        )


def columns(grid: tuple[int, ...], *coordinates: Indices | int) -> Indices:
    """The places of a grid, int64 [places, coordinates]; each coordinate broadcasts to the grid."""
    return np.stack([np.broadcast_to(coordinate, grid).ravel() for coordinate in coordinates], axis=-1).astype(np.int64)


def single(port: int, index: Sequence[int], value: float, factor: float | None = None, *, name: str = "",
           weight_index: Sequence[int] | None = None, product: float | None = None) -> Products:  # fmt: skip
    """One term; its product is value × factor unless given."""
    made = value * (1.0 if factor is None else factor) if product is None else product
    return Products(
        port,
        np.array([index], np.int64).reshape(1, -1),
        np.array([value], np.float64),
        np.array([made], np.float64),
        np.array([index[-1] if len(index) else 0], np.int64),
        name,
        None if weight_index is None else np.array([weight_index], np.int64).reshape(1, -1),
        None if factor is None else np.array([factor], np.float64),
    )


def magnitude_of(parts: Sequence[Products]) -> float:
    """The sum of the magnitudes of all products."""
    return float(sum(np.abs(part.product).sum() for part in parts))


def total_of(parts: Sequence[Products]) -> float:
    """The sum of all products."""
    return float(sum(part.product.sum() for part in parts))


def grouped(parts: Sequence[Products]) -> tuple[tuple[Group, ...], Omitted]:
    """The groups by input and channel, that of the largest sum first, with at most LISTED_TERMS terms in LISTED_GROUPS groups.

    Where there are more terms, those with the largest products are listed; inside a group they keep the order of the input.
    """
    parts = [part for part in parts if len(part.product)]
    if not parts:
        return (), Omitted()
    product = np.concatenate([part.product for part in parts])
    size = np.abs(np.nan_to_num(product, nan=np.inf))
    keys = np.concatenate([np.stack([np.full_like(part.channel, part.port), part.channel], axis=-1) for part in parts])
    labels, group_of = np.unique(keys, axis=0, return_inverse=True)
    group_of = group_of.reshape(-1)
    sums = np.bincount(group_of, product)
    order = np.argsort(-np.abs(np.nan_to_num(sums, nan=np.inf)), kind="stable")[:LISTED_GROUPS]
    listed = np.flatnonzero(np.isin(group_of, order))
    if len(listed) > LISTED_TERMS:
        listed = np.sort(listed[np.argpartition(-size[listed], LISTED_TERMS)[:LISTED_TERMS]])
    part_of = np.repeat(np.arange(len(parts)), [len(part.product) for part in parts])
    starts = np.concatenate([[0], np.cumsum([len(part.product) for part in parts])])
    terms: dict[int, list[Term]] = {int(group): [] for group in order}
    for place in listed.tolist():
        part = int(part_of[place])
        terms[int(group_of[place])].append(parts[part].term(int(place - starts[part])))
    counts, magnitudes = np.bincount(group_of), np.bincount(group_of, np.abs(product))
    groups = tuple(
        Group(int(labels[group][0]), int(labels[group][1]), float(sums[group]), float(magnitudes[group]), int(counts[group]),
              tuple(terms[int(group)]))
        for group in order
    )  # fmt: skip
    left = np.ones(len(product), bool)
    left[listed] = False
    return groups, Omitted(int(left.sum()), float(product[left].sum()), float(np.abs(product[left]).sum()))


def number(value: float) -> str:
    """A number as formulas print it: six significant digits, a real minus sign."""
    return f"{value:.6g}".replace("-", "−")
