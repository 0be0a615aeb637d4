"""Layers called from places that a test of source lines knows: in a helper in a file of its own, through a decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

HELPER_LINE = 14


def helped(layer: Any, x: Any) -> Any:
    """A helper that calls the layer."""
    return layer(x)


def through(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator; the line of its wrapper is not the innermost."""

    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        return function(*args)

    return wrapped
