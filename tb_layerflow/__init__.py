"""LayerFlow: what flows through the layers of a TensorFlow or Keras model, recorded while it trains and shown in TensorBoard.

Public names are loaded when they are first used: importing this package imports neither TensorFlow nor TensorBoard.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import reader as reader
    from . import summary as summary
    from .reader import open as open
    from .summary import LayerFlow as LayerFlow
    from .summary import Recorder as Recorder
    from .summary import record as record

__version__ = "0.1.0"

_HOMES = {
    "summary": None,
    "reader": None,
    "LayerFlow": "summary",
    "Recorder": "summary",
    "record": "summary",
    "open": "reader",
}
__all__ = ["LayerFlow", "Recorder", "find_layers", "open", "reader", "record", "summary"]


def find_layers(model: Any, pattern: str) -> list[Any]:
    """Find layers in nested models by name, path or glob.

    Args:
        model: a Keras model, of either family.
        pattern: a name without "/" matches at any depth; in a path "*" stops at "/", "**" does not.

    Returns:
        Every match, with `.path`, `.layer` and `.access`, the Python text that reaches the layer from `model`.

    Raises:
        TypeError: `model` is no Keras model.
        LookupError: nothing matches; the sentence names the nearest.
    """
    from .capture import access, families

    families.of(model)
    return access.find(model, pattern)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
