"""Why a function is traced anew: which of its arguments differ from those it was traced with before. Builds no operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from . import nests

LISTED = 3
"""Differing arguments that a reason names."""


class _Argument(NamedTuple):
    """What TensorFlow tells traces apart by: a tensor's dtype and shape, a Python value itself, any other object by identity."""

    kind: str
    text: str
    identity: int = 0


_Described = dict[str, _Argument]
_ABSENT = _Argument("absent", "absent")
_REMEDIES = {
    "Python": "Every Python value is traced by itself: pass a tensor, tf.constant(…), where only the number changes.",
    "shape": "Every shape is traced by itself: batches of one size, an input_signature or reduce_retracing=True avoid it.",
    "dtype": "Every dtype is traced by itself: cast before the call.",
    "object": "Every object is traced by itself: pass the same one, or use it from the function's closure.",
}


class Signatures:
    """The different arguments that one function was traced with. `name` is what people call it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: list[_Described] = []

    @property
    def count(self) -> int:
        """How many there were: as often its Python code has run."""
        return len(self._known)

    def traced(self, arguments: dict[str, Any]) -> str:
        """It was traced with these arguments, nests by name: the sentence that says which of them is new.

        Empty for the first trace, and for arguments that were there before (a variant for recording is traced with the same).
        """
        described = {
            f"{name}[{key}]" if key else name: _described(leaf)
            for name, value in arguments.items()
            for key, leaf in nests.flatten(value)
        }
        if described in self._known:
            return ""
        nearest = min(reversed(self._known), key=lambda one: len(_differing(one, described)), default=None)
        self._known.append(described)
        if nearest is None:
            return ""
        names = _differing(nearest, described)
        changes = [_change(name, nearest.get(name, _ABSENT), described.get(name, _ABSENT)) for name in names[:LISTED]]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        remedy = _remedy(nearest.get(names[0], _ABSENT), described.get(names[0], _ABSENT))
        return f"{self._name} was traced anew (trace {self.count}): {', '.join(changes)}{more}. {remedy}".rstrip()


def bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """A call's arguments by the names of the function's parameters."""
    try:
        filled = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return {str(position): value for position, value in enumerate(args)} | kwargs
    filled.apply_defaults()
    return dict(filled.arguments)


def _described(leaf: Any) -> _Argument:
    specification = getattr(leaf, "element_spec", None)
    if specification is not None:
        return _Argument("data", f"data of {specification}")
    if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
        dtype = getattr(leaf.dtype, "name", leaf.dtype)
        return _Argument("tensor", f"{dtype} {_shape(leaf.shape)}")
    if leaf is None or isinstance(leaf, (bool, int, float, complex, str, bytes)):
        return _Argument("Python", f"the Python {type(leaf).__name__} {leaf!r:.60}")
    return _Argument("object", f"a {type(leaf).__name__}", id(leaf))


def _shape(shape: Any) -> str:
    try:
        return f"[{', '.join('?' if size is None else str(int(size)) for size in shape)}]"
    except (TypeError, ValueError):  # of unknown rank
        return "of any shape"


def _differing(one: _Described, two: _Described) -> list[str]:
    return [name for name in dict.fromkeys([*two, *one]) if one.get(name) != two.get(name)]


def _change(name: str, before: _Argument, after: _Argument) -> str:
    if before.text == after.text:
        return f"argument `{name}` is another {after.text.removeprefix('a ')}"
    return f"argument `{name}` changed from {before.text} to {after.text}"


def _remedy(before: _Argument, after: _Argument) -> str:
    if before.kind == after.kind == "tensor":
        return _REMEDIES["dtype" if before.text.split(" ")[0] != after.text.split(" ")[0] else "shape"]
    return _REMEDIES.get(after.kind, "")
