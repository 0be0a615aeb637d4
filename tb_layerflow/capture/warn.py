"""How LayerFlow speaks while training runs: one warning per matter, never an exception unless `strict`."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Collection

_COLOURS = re.compile("\x1b\\[[0-9;]*m")
BACKGROUND_THREAD = "layerflow-writer"


class LayerFlowWarning(UserWarning):
    """Something was not recorded; training goes on."""


class RecordingError(RuntimeError):
    """Something was not recorded, and `strict=True` asked for an error."""


class Voice:
    """Says each matter once; with `strict` raises instead.

    What goes wrong in the background thread cannot be raised there: it is kept, and raised by `check` in the training thread.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self._said: set[str] = set()
        self._pending: RecordingError | None = None

    def warn(self, sentence: str, *, cause: BaseException | None = None) -> None:
        """One warning (or error) for one matter."""
        sentence = without_colours(sentence)
        if self.strict:
            error = RecordingError(sentence)
            error.__cause__ = cause
            if threading.current_thread().name == BACKGROUND_THREAD:
                self._pending = self._pending or error
                return
            raise error
        if sentence in self._said:
            return
        self._said.add(sentence)
        try:
            warnings.warn(f"LayerFlow: {sentence}", LayerFlowWarning, stacklevel=2)
        except LayerFlowWarning:  # warnings are errors here; one in the background would only end the writer's thread
            if threading.current_thread().name != BACKGROUND_THREAD:
                raise
            say(sentence)

    def check(self) -> None:
        """Raise what went wrong in the background, if `strict`."""
        error, self._pending = self._pending, None
        if error is not None:
            raise error


def brief(error: BaseException) -> str:
    """An error in one line: TensorFlow's come with the stack of the operation."""
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}".rstrip(": ")


def without_colours(text: str) -> str:
    """A text without the terminal's colours, which Keras puts into the messages of its errors."""
    return _COLOURS.sub("", text)


def say_traced(what: str, instruments: Collection[str], seconds: float, calls: int) -> None:
    """That a recording variant was traced, and which: one measures exact values too, the other does not."""
    variant = "with exact values" if "values" in instruments else "with statistics"
    why = "every variant is traced when it is first needed"
    say(f"traced {what} recorded {variant} in {seconds:.1f} s ({calls} calls): {why}")


def say(sentence: str) -> None:
    """One line on the error stream, beside Keras's progress bar."""
    sys.stderr.write(f"LayerFlow: {sentence}\n")
    sys.stderr.flush()
