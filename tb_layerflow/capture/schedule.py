"""When to record: the forms of `every`. Pure; knows no models."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

EARLY = (0, 1, 2, 5, 10, 20, 50)
"""The steps of a fit that "auto" always records."""
RECORDS_WANTED = 200
WITHOUT_LENGTH = 100
"""How many steps lie between records of "auto" where nobody knows the length of the fit."""
DOUBLING_AFTER = 1_000
"""How many records "auto" makes before its interval doubles."""


def check(every: Any) -> Any:
    """`every` as it was given, if it is of its form.

    Raises:
        ValueError: it is a number below 1, or a word other than "auto" and "epoch".
        TypeError: it is nothing that says when.
    """
    if isinstance(every, bool) or every is None:
        raise TypeError(f'every must be a positive integer, a range, a set, a callable, "auto" or "epoch". Received: {every!r}.')
    if isinstance(every, str):
        if every not in ("auto", "epoch"):
            raise ValueError(f'every must be a positive integer, "auto" or "epoch". Received: {every!r}.')
        return every
    if isinstance(every, (int, np.integer)):
        if every < 1:
            raise ValueError(f'every must be a positive integer or "epoch". Received: {every}.')
        return int(every)
    if callable(every):
        return every
    if isinstance(every, range):
        if every and min(every[0], every[-1]) < 0:
            raise ValueError(f"every must hold steps, integers from 0 on. Received: {every!r}.")
        return every
    if isinstance(every, (set, frozenset, list, tuple, np.ndarray)):
        if not all(isinstance(step, (int, np.integer)) and step >= 0 for step in every):
            raise ValueError(f"every must hold steps, integers from 0 on. Received: {every!r}.")
        return frozenset(int(step) for step in every)
    raise TypeError(
        f'every must be a positive integer, a range, a set, a callable, "auto" or "epoch". Received: {every!r} '
        f"(of type {type(every).__name__})."
    )


class Schedule:
    """Says for each window of steps whether to record it.

    A window is the steps that one execution runs (`steps_per_execution`); its record is of the last. "epoch" is decided by
    `is_epoch_end`, which the caller knows.
    """

    def __init__(self, every: Any) -> None:
        self.every = check(every)
        self.records = 0
        self._fit_start = 0
        self._interval = WITHOUT_LENGTH

    @property
    def by_epoch(self) -> bool:
        """Whether records are made at the end of epochs."""
        return isinstance(self.every, str) and self.every == "epoch"

    def begin_fit(self, first_step: int, steps: int | None) -> None:
        """A fit begins at `first_step` and takes `steps` steps in all (None: nobody knows)."""
        self._fit_start = first_step
        self._interval = WITHOUT_LENGTH if steps is None else max(1, -(-steps // RECORDS_WANTED))

    def is_due(self, first: int, count: int, *, is_epoch_end: bool = False) -> bool:
        """Whether the window of `count` steps from `first` on is to be recorded."""
        if self.by_epoch:
            return is_epoch_end
        steps = range(first, first + count)
        if self.every == "auto":
            return any(self._is_due_by_itself(step - self._fit_start) for step in steps)
        if isinstance(self.every, int):
            every = -(-self.every // count) * count
            return any(step % every == 0 for step in steps)
        if callable(self.every):
            return any(bool(self.every(step)) for step in steps)
        chosen: Container[int] = self.every
        return any(step in chosen for step in steps)

    def _is_due_by_itself(self, step: int) -> bool:
        doubled = self._interval * 2 ** max(0, self.records // DOUBLING_AFTER)
        return step in EARLY or step % doubled == 0

    def recorded(self) -> None:
        """A record was made."""
        self.records += 1
