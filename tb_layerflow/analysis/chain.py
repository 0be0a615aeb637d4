"""What a call runs, in words: from the frames of its operations to the names by which people know what was called.

`Dense.call`, `keras.ops.matmul`, `tf.matmul`, `MatMul`: the Keras method, the function of `keras.ops` (or of Keras's backend,
where no function of that name led to it), the public function of TensorFlow, the operation. Pure; knows no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

_OPS = re.compile(r"(?:tf_)?keras/src/ops/(\w+)\.py")
_BACKEND = re.compile(r"(?:tf_)?keras/src/(?:backend/tensorflow/)?(\w+)\.py")
_LAYERS = re.compile(r"(?:tf_)?keras/src/(?:layers|models|engine)/")
_ENTRIES = frozenset({"call", "quantized_call"})
_SILENT_TYPES = frozenset({"Const", "Placeholder", "NoOp", "Identity", "ReadVariableOp", "Shape"})
"""Operations that a person would not call a step of the layer: they hold or hand on what others work with."""
_WRAPPERS = frozenset({"sparse_wrapper", "static_call", "use_custom_ops", "wrapped_fn", "wrapper"})
"""Functions of Keras that only stand around others."""
_OPS_WITH_OWN_FOLDER = {"image": "keras.ops.image", "linalg": "keras.ops.linalg"}


class Frame(Protocol):
    """One line of Python: its file, its function, and whose it is: `user`, `keras`, `tensorflow` or `library`."""

    @property
    def file(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def origin(self) -> str: ...


@dataclass(frozen=True)
class Step:
    """One forward operation: the type of its innermost call, its frames (outermost first), its own type."""

    call_type: str
    frames: Sequence[Frame]
    op: str


def words(steps: Iterable[Step]) -> list[str]:
    """The words of all steps in order; what a step shares with the step before it is said once."""
    found: list[str] = []
    before: list[str] = []
    known: dict[tuple[str, int, str], tuple[Sequence[Frame], list[str]]] = {}  # many operations share their frames
    for step in steps:
        if step.op in _SILENT_TYPES:
            continue
        key = (step.call_type, id(step.frames), step.op)
        if key not in known:
            known[key] = step.frames, _words(step)
        now = known[key][1]
        shared = 0
        while shared < min(len(before), len(now) - 1) and before[shared] == now[shared]:
            shared += 1
        found += now[shared:]
        before = now
    return found


def _words(step: Step) -> list[str]:
    start = _entry(step.frames)
    said: list[str] = [f"{step.call_type}.{step.frames[start].function}"] if start >= 0 else []
    tensorflow = ""
    for frame in step.frames[start + 1 :]:
        if frame.origin == "tensorflow":
            tensorflow = tensorflow or (frame.function if _is_public(frame.function) else "")
            continue
        tensorflow = ""
        word = _word(frame, said, step.call_type)
        if word and word not in said:
            said.append(word)
    return said + ([tensorflow] if tensorflow else []) + [step.op]


def _is_public(name: str) -> bool:
    """Whether a person would write it: `x + y` is not written as a function."""
    return name.startswith("tf.") and not name.startswith("tf.__")


def _entry(frames: Sequence[Frame]) -> int:
    """Where the innermost call begins: the last frame that is a layer's `call`. -1: no such frame."""
    for place in range(len(frames) - 1, -1, -1):
        if frames[place].function in _ENTRIES and frames[place].origin in ("user", "keras"):
            return place
    return -1


def _word(frame: Frame, said: Sequence[str], call_type: str) -> str:
    """What people call a function of Keras; empty for what they would not name."""
    name = frame.function
    if frame.origin == "user":
        return name if not name.startswith("<") else ""
    if frame.origin != "keras" or name.startswith(("_", "<")) or name in _ENTRIES or name in _WRAPPERS:
        return ""
    if _LAYERS.match(frame.file):
        return f"{call_type}.{name}"
    if "/activations/" in frame.file:
        return f"keras.activations.{name}"
    named = _OPS.fullmatch(frame.file)
    if named and not name.startswith(("compute_", "symbolic_")):
        return f"{_OPS_WITH_OWN_FOLDER.get(named[1], 'keras.ops')}.{name}"
    behind = _BACKEND.fullmatch(frame.file)
    if behind and frame.file.endswith((f"/tensorflow/{behind[1]}.py", "/src/backend.py")):
        already = any(word.rpartition(".")[2] == name for word in said)
        return "" if already else f"keras.backend.{name}"
    return ""
