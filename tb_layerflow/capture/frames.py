"""The Python lines that made an operation, reduced to file, line, function and origin, once per distinct stack.

TensorFlow keeps each operation's stack as a thing that can be hashed and is formatted only when it is read; a step of thousands
of operations has a few hundred distinct ones. Knows no calls.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tb_layerflow.log.records import Frame, Stack

from . import buckets

_ORIGINS = {"keras": "keras", "tf_keras": "keras", "tensorflow": "tensorflow", "tb_layerflow": "layerflow"}
_WRAPPERS = ("hooks.py", "lineage_hooks.py", "autograph.py")
"""Our files whose functions only run other people's code."""
_RUNNERS = (*_WRAPPERS, "variants.py", "functions.py", "inference.py", "recorder.py", "once.py", "manual.py")
"""Our files that run other people's code; what our other files make is ours, also where they go through Keras for it."""
_REPORTERS = ("capture/eager_operations.py", "framework/op_callbacks.py", "util/tf_stack.py")
"""Behind the line of an eager operation stand those that report it to us."""
_PLUMBING = frozenset(
    {
        "keras/src/utils/traceback_utils.py",
        "tf_keras/src/utils/traceback_utils.py",
        "keras/src/utils/tf_utils.py",
        "tensorflow/python/util/traceback_utils.py",
        "tensorflow/python/util/dispatch.py",
        "tensorflow/python/util/deprecation.py",
        "tensorflow/python/framework/op_def_library.py",
        "tensorflow/python/framework/ops.py",
        "tensorflow/python/framework/func_graph.py",
    }
)
_PLUMBING_FOLDERS = ("tensorflow/python/eager/", "tensorflow/python/autograph/", "tensorflow/python/distribute/")


@dataclass(frozen=True)
class Made:
    """Where an operation was made: `stack` is its place among the stacks, `own` says that LayerFlow made it for itself, `bucket`
    whose part of the step its lines are, where they say so.
    """

    stack: int
    own: bool
    bucket: str


class Stacks:
    """The distinct stacks of a recording. `all` are the stacks so far; `user_lines` the (file, line) of their user frames."""

    def __init__(self) -> None:
        self.all: list[Stack] = []
        self.paths: dict[str, str] = {}
        self._made: dict[Any, Made] = {}
        self._places: dict[Stack, int] = {}

    def of(self, traceback: Any) -> Made:
        """What a stack (TensorFlow's `StackTrace`, or any hashable sequence of frame summaries) says about an operation.

        Operations that TensorFlow copied from elsewhere have no stack: None.
        """
        made = self._made.get(traceback)
        if made is None:
            lines = [(line.filename, line.lineno, line.name) for line in traceback or ()]
            while lines and lines[-1][0].endswith(_REPORTERS):
                lines.pop()
            made = self._made[traceback] = self._reduce(lines)
        return made

    def _reduce(self, lines: Iterable[tuple[str, int, str]]) -> Made:
        frames = []
        ours = innermost = ""
        for filename, line, function in lines:
            file, origin = place_of(filename)
            if origin == "layerflow":
                ours = innermost = file.rpartition("/")[2]
            elif origin != "tensorflow":
                innermost = ""
            if origin == "layerflow" or _is_plumbing(file, function):
                continue
            if origin == "user":
                self.paths.setdefault(file, filename)
            frames.append(Frame(file, line, _public_name(file, function) if origin == "tensorflow" else function, origin))
        user = max((place for place, frame in enumerate(frames) if frame.origin == "user"), default=-1)
        stack = Stack(tuple(frames), user)
        place = self._places.setdefault(stack, len(self.all))
        if place == len(self.all):
            self.all.append(stack)
        is_own = innermost not in ("", *_WRAPPERS) or ours not in ("", *_RUNNERS)
        return Made(place, is_own, buckets.by_lines(frames))


_known_places: dict[str, tuple[str, str]] = {}


def place_of(filename: str) -> tuple[str, str]:
    """A file's short name and its origin: package-relative for what is in a package, the base name for all else."""
    known = _known_places.get(filename)
    if known is None:
        known = _known_places[filename] = _place(filename.replace("\\", "/"))
    return known


def _place(path: str) -> tuple[str, str]:
    for package, folder in _package_folders():
        if path.startswith(folder + "/"):
            return f"{package}/{path[len(folder) + 1 :]}", _ORIGINS[package]
    for folder in ("/site-packages/", "/dist-packages/"):
        if folder in path:
            short = path.rpartition(folder)[2]
            return short, _ORIGINS.get(short.partition("/")[0], "library")
    for folder in _standard_folders():
        if path.startswith(folder + "/"):
            return path[len(folder) + 1 :], "library"
    if path.startswith("<frozen"):
        return path, "library"
    return _package_relative(path), "user"


def _package_folders() -> list[tuple[str, str]]:
    found = []
    for package in _ORIGINS:
        file = getattr(sys.modules.get(package), "__file__", None)
        if file:
            found.append((package, os.path.dirname(file).replace("\\", "/")))
    return found


def _standard_folders() -> list[str]:
    paths = sysconfig.get_paths()
    return [paths[name].replace("\\", "/") for name in ("stdlib", "platstdlib") if name in paths]


def _package_relative(path: str) -> str:
    """`net.py` of a script, `models/net.py` of a module in the package `models`."""
    folder, name = os.path.split(path)
    for _ in range(16):
        if not folder or not os.path.isfile(os.path.join(folder, "__init__.py")):
            break
        folder, package = os.path.split(folder)
        name = f"{package}/{name}"
    return name


def _is_plumbing(file: str, function: str) -> bool:
    return file in _PLUMBING or (file.startswith(_PLUMBING_FOLDERS) and function != "gradient")


_public_names: dict[tuple[str, str], str] = {}


def _public_name(file: str, function: str) -> str:
    """`tf.matmul` for TensorFlow's `matmul` in math_ops.py; the function's own name where it is not public."""
    key = (file, function)
    known = _public_names.get(key)
    if known is None:
        found = getattr(sys.modules.get(file.removesuffix(".py").replace("/", ".")), function, None)
        names: Iterable[str] = ()
        while found is not None and not names:
            names = [name for name in vars(found).get("_tf_api_names", ()) if "raw_ops" not in name] if _has_dict(found) else ()
            found = getattr(found, "__wrapped__", None)
        shortest = min(names, key=lambda name: (name.count("."), len(name), name), default="")
        known = _public_names[key] = f"tf.{shortest}" if shortest else function
    return known


def _has_dict(found: Any) -> bool:
    return hasattr(found, "__dict__")


def source_lines(stacks: Iterable[Stack], paths: dict[str, str], most: int = 2000) -> dict[tuple[str, int], str]:
    """The text of the users' lines in these stacks, at most `most` of them, each at most 200 characters."""
    import linecache

    found: dict[tuple[str, int], str] = {}
    for stack in stacks:
        for frame in stack.frames:
            key = (frame.file, frame.line)
            if frame.origin == "user" and key not in found and len(found) < most:
                text = linecache.getline(paths.get(frame.file, ""), frame.line).strip()
                if text:
                    found[key] = text[:200]
    return found
