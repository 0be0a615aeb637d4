"""What the reader's public functions are given, checked against their own annotations. Knows nothing of logs."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tb_layerflow.analysis.limits import Limits

Function = TypeVar("Function", bound=Callable[..., Any])


def _is_whole(value: object) -> bool:
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_number and -(1 << 63) <= int(value) < 1 << 63  # type: ignore[call-overload]


def _are_whole(value: object) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and all(map(_is_whole, value))


_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "int": (_is_whole, "a whole number of 64 bits"),
    "Limits": (lambda value: isinstance(value, Limits), "analysis.limits.Limits"),
    "Sequence[int]": (_are_whole, "whole numbers, one per axis, such as (0, 5, 5, 0)"),
    "str | os.PathLike[str]": (lambda value: isinstance(value, (str, os.PathLike)), "the path of a folder"),
}


def checked(function: Function) -> Function:
    """The function, with a TypeError that names what was received where an argument is not what its annotation says."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [parameter.name for parameter in parameters]
    wanted = {}
    for parameter in parameters:
        kind = str(parameter.annotation).removesuffix(" | None")
        if kind in _KINDS:
            wanted[parameter.name] = (*_KINDS[kind], kind != str(parameter.annotation))

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        for name, value in (*zip(names, given, strict=False), *named.items()):
            if name in wanted:
                fits, what, optional = wanted[name]
                if not fits(value) and not (optional and value is None):
                    received = repr(value)
                    received = received if len(received) <= 120 else received[:117] + "…"
                    raise TypeError(f"{name} must be {what}{' or None' if optional else ''}. Received: {received}.")
        return function(*given, **named)

    return call  # type: ignore[return-value]
