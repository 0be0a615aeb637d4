"""What runs while a step is recorded: the state in which an operation is made. Knows no TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .calls import Node


@dataclass(frozen=True, eq=False)
class Running:
    """What runs: the innermost call; whether a tape runs backward, and for which forward operation; which variable an optimizer
    updates.
    """

    call: Node | None = None
    backward: bool = False
    forward: Any = None
    variable: Any = None


NOTHING = Running()
