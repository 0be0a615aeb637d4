"""What runs while a step is recorded: the state in which an operation is made. Knows no TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .calls import Node


@dataclass(eq=False)
class Running:
    """What runs: the innermost call; whether a tape runs backward, and for which forward operation; which variable an optimizer
    updates. `entered` is the layer whose `__call__` runs around its `call`; what is made there belongs to the call too, which is
    put in as soon as it has begun.
    """

    call: Node | None = None
    backward: bool = False
    forward: Any = None
    variable: Any = None
    entered: Any = None


NOTHING = Running()
