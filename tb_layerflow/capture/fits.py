"""Which fits are running, told from the stack: Keras says nothing where one ended in an exception, and fits may be nested.

A fit is known by its `CallbackList`. Only in Keras's own frames is it looked for: to look into a user's frame would keep what it
holds alive. A loop of the user's own is known by its code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from . import families, frames


def is_fitting(callback: Any) -> bool:
    """Whether a fit with this callback is running, in any thread."""
    return any(_holds(listed, callback) for frame in sys._current_frames().values() for listed, _ in _lists(frame))


def is_innermost(callbacks: Iterable[Any], loop: CodeType | None) -> bool:
    """Whether the innermost fit of this thread is one with all of these callbacks, or runs in the user's own `loop`."""
    frame: Any = sys._getframe(1)
    found = next(_lists(frame), None)
    if found is not None:
        return all(_holds(found[0], callback) for callback in callbacks)
    while frame is not None and frame.f_code is not loop:
        frame = frame.f_back
    return frame is not None


def own_loop() -> CodeType | None:
    """The code of the user's own loop, whose callback list is now calling; None where Keras's own `fit` is it."""
    found = next(_lists(sys._getframe(1)), None)
    around = None if found is None else found[1].f_back
    return None if around is None or _is_kerass(around) else around.f_code


def depth(callback: Any) -> int:
    """How many fits with this callback run in this thread, one within the other."""
    return sum(_holds(listed, callback) for listed, _ in _lists(sys._getframe(1)))


def times_listed(callback: Any) -> int:
    """How often the innermost fit of this thread calls this callback for one event."""
    found = next(_lists(sys._getframe(1)), None)
    return 0 if found is None else sum(one is callback for one in getattr(found[0], "callbacks", None) or ())


def _lists(frame: Any) -> Iterator[tuple[Any, Any]]:
    """The callback lists that a stack holds, the innermost first, each once, with the frame that holds it."""
    kinds = tuple(family.module.callbacks.CallbackList for family in families.loaded())
    seen: list[Any] = []
    while frame is not None:
        for value in list(frame.f_locals.values()) if _is_kerass(frame) else ():
            if isinstance(value, kinds) and not any(value is one for one in seen):
                seen.append(value)
                yield value, frame
        frame = frame.f_back


def _is_kerass(frame: Any) -> bool:
    return frames.place_of(frame.f_code.co_filename)[1] == "keras"


def _holds(listed: Any, callback: Any) -> bool:
    return any(one is callback for one in getattr(listed, "callbacks", None) or ())
