"""The grammar of call paths: escaping, joining, patterns, and finding the one that was meant. Pure text, no files, no models.

A path is names joined by `/` below the root, which is `.`. The first call of a name under its parent has no suffix, the second
`#1`, the third `#2`: `encoder#1/first_dense`. Inside a name `/`, `#` and `%` are percent-encoded, and so is a name that is `.`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

ROOT = "."

_SUFFIX = re.compile(r"#[0-9]+(?=/|$)")
_FIRST = re.compile(r"#0(?=/|$)")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_SHOWN = 8


class PathError(KeyError):
    """No call is at the path, or several are; `str()` is the sentence (a plain KeyError would show it quoted)."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def escape(name: str) -> str:
    """One layer's name as one level of a path."""
    if name == ROOT:
        return "%2E"
    return name.replace("%", "%25").replace("/", "%2F").replace("#", "%23")


def unescape(level: str) -> str:
    """The name that `escape` made a level of (without its `#k`)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), level)


def child(parent: str | None, name: str, k: int = 0) -> str:
    """The path of the k-th call (from 0) of the layer called `name`, unescaped, below `parent`: a path, the root `.` or None."""
    level = escape(name) + (f"#{k}" if k else "")
    return level if parent is None or parent == ROOT else f"{parent}/{level}"


def parent(path: str) -> str | None:
    """The path one level up; the root for a top-level path; None for the root itself."""
    if path == ROOT:
        return None
    head, slash, _ = path.rpartition("/")
    return head if slash else ROOT


def split(level: str) -> tuple[str, int]:
    """The last level of a path as (unescaped name, k): `a/first#1` is ("first", 1)."""
    name, mark, k = level.rpartition("/")[2].partition("#")
    return unescape(name), int(k) if mark and k.isdecimal() and len(k) <= 18 else 0


def layer_path(path: str) -> str:
    """The path without the suffixes of any level: that of the layer's first call."""
    return _SUFFIX.sub("", path)


def find(paths: Sequence[str], pattern: str) -> list[int]:
    """The indices of the paths that a name, a path or a glob means, in order; none where nothing matches.

    A pattern without `/` matches at any depth, one with `/` from the root on; `*` stops at `/`, `**` does not. A pattern
    without `#` matches every call, one with `#` exactly that (`#0` is the first). Where a path without wildcards matches
    nothing from the root on, the paths that end in it are meant.
    """
    matches = _matcher(pattern)
    found = [index for index, path in enumerate(paths) if matches(path)]
    if not found and "/" in pattern and "*" not in pattern:
        matches = _matcher("**/" + pattern)
        found = [index for index, path in enumerate(paths) if matches(path)]
    return found


def resolve(paths: Sequence[str], text: str) -> int:
    """The index of the one path that `text` is, or is an ending of. PathError with the nearest, or with all that it could be."""
    wanted = _FIRST.sub("", text)
    for index, path in enumerate(paths):
        if path == wanted:
            return index
    ending = "/" + wanted
    found = [index for index, path in enumerate(paths) if path.endswith(ending)]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(repr(paths[index]) for index in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise PathError(f"{text!r} is the ending of {len(found)} paths: {shown}. Write more of the path.")
    near = nearest(paths, text)
    if near:
        raise PathError(f"No path is or ends in {text!r}. The nearest: {', '.join(map(repr, near))}.")
    raise PathError(f"No path is or ends in {text!r}; there are no paths to choose from.")


def nearest(paths: Sequence[str], text: str, count: int = 3) -> list[str]:
    """Up to `count` paths most like `text`, best first; by whole path or by last level, whichever is nearer."""
    if not paths:
        return []
    distinct = list(dict.fromkeys(paths))[:20_000]
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(text[:200].lower())

    def likeness(path: str) -> float:
        best = 0.0
        for candidate in {path, path.rpartition("/")[2]}:
            matcher.set_seq1(candidate[-200:].lower())
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                best = max(best, matcher.quick_ratio() if len(distinct) > 500 else matcher.ratio())
        return best

    return sorted(distinct, key=lambda path: (-likeness(path), len(path)))[:count]


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path matches, as a function."""
    exact = "#" in pattern
    text = _FIRST.sub("", pattern)
    if "/" not in text and "**" not in text and text != ROOT:
        text = "**/" + text
    text = re.sub(r"(\*\*/)+", "**/", text)  # several in a row mean the same, and would take exponentially long
    expression, position = "", 0
    while position < len(text):
        if text.startswith("**/", position):
            expression, position = expression + "(?:.*/)?", position + 3
        elif text.startswith("**", position):
            expression, position = expression + ".*", position + 2
        elif text[position] == "*":
            expression, position = expression + "[^/]*", position + 1
        else:
            expression, position = expression + re.escape(text[position]), position + 1
    compiled = re.compile(expression, re.DOTALL)
    if exact:
        return lambda path: compiled.fullmatch(path) is not None
    return lambda path: compiled.fullmatch(layer_path(path)) is not None
