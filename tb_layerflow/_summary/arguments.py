"""Arguments that several calls of the writing API share: checked, or a sentence that says what was received."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from tb_layerflow.capture.value_settings import Values
from tb_layerflow.log.mirror import KINDS as MIRRORS

WHAT = ("outputs", "errors", "weights", "lineage")
EXTRAS = ("losses", "timing")
ALWAYS = ("outputs",)
RECORD_VALUES = Values(samples=4, every=1)
"""What `record` keeps by itself."""


def what(what: Iterable[str], source: bool) -> tuple[str, ...]:
    """The kinds; `source` asks for the text of the users' lines beside the lineage, whose operations "timing" needs."""
    wanted = (what,) if isinstance(what, str) else tuple(what)
    for kind in wanted:
        if kind not in WHAT + EXTRAS:
            raise ValueError(f"what must hold kinds out of {', '.join(map(repr, WHAT + EXTRAS))}. Received: {kind!r}.")
    needed = (("lineage",) if "timing" in wanted else ()) + (("source",) if source else ())
    return tuple(dict.fromkeys(ALWAYS + wanted + needed))


def statistics(statistics: str) -> bool:
    if statistics not in ("auto", "exact"):
        raise ValueError(f'statistics must be "auto" or "exact". Received: {statistics!r}.')
    return statistics == "exact"


def folder(log_dir: Any) -> str:
    if not isinstance(log_dir, (str, os.PathLike)) or not os.fspath(log_dir):
        raise TypeError(f"log_dir must be a path. Received: {log_dir!r} (of type {type(log_dir).__name__}).")
    if "\0" in os.fsdecode(log_dir):
        raise ValueError(f"log_dir must be a path, which has no NUL character. Received: {log_dir!r}.")
    return str(os.fspath(log_dir))


def keep_last(keep_last: int) -> int:
    if isinstance(keep_last, bool) or not isinstance(keep_last, int) or keep_last < 0:
        raise ValueError(f"keep_last must be how many steps to keep, an integer from 0 on. Received: {keep_last!r}.")
    return keep_last


def mirror(mirror: Iterable[str]) -> tuple[str, ...]:
    wanted = (mirror,) if isinstance(mirror, str) else tuple(mirror)
    for kind in wanted:
        if kind not in MIRRORS:
            raise ValueError(f"mirror must hold kinds out of {', '.join(map(repr, MIRRORS))}. Received: {kind!r}.")
    return wanted


def writer_of(sink: Any) -> Callable[[], Any]:
    return lambda: sink.writer
