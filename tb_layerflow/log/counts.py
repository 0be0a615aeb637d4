"""How many things one record may hold: checked before a Python object is made for each of them. Knows no files and no bytes.

A message of two bytes costs some 140 once it is parsed, and a thousand as a Python object: a few MB could fill a machine.
The bounds are far above what is ever recorded: 10,000 calls, some 200,000 operations.
"""

from __future__ import annotations

from typing import Any

from .errors import LogError

MOST_FIELDS = 400_000
"""Fields at the top level of a record."""

MOST_GRAPH_FIELDS = 3_000_000
MOST_PORTS = 1_000_000
MOST_DIMENSIONS = 255

MOST = {
    "calls": 100_000,
    "layers": 100_000,
    "class_names": 100_000,
    "backward_names": 10_000,
    "ops": 2_000_000,
    "stacks": 1_000_000,
    "frames": 1_000_000,
    "strings": 1_000_000,
    "source": 1_000_000,
    "ledger": 300_000,
    "losses": 10_000,
    "layer_losses": 300_000,
    "timings": 300_000,
    "values": 300_000,
    "cut": 300_000,
}
"""By the name of the repeated field."""


def check(message: Any, what: str) -> None:
    """LogError where a repeated field of a message holds more than MOST says."""
    for field, _ in message.ListFields():
        found = len(getattr(message, field.name)) if field.name in MOST else 0
        if found > MOST.get(field.name, 0):
            raise too_many(what, found, field.name, MOST[field.name])


def check_ports(message: Any) -> None:
    """LogError where the calls of a Graph message have too many ports, or a port too many dimensions."""
    ports = sum(len(call.inputs) + len(call.outputs) for call in message.calls)
    derived = sum(len(port.derived) for call in message.calls for port in call.inputs) if ports <= MOST_PORTS else 0
    if max(ports, derived) > MOST_PORTS:
        raise too_many("graph", max(ports, derived), "ports", MOST_PORTS)


def dimensions(dims: Any) -> tuple[int, ...]:
    """A shape's sizes. LogError where they are too many."""
    if len(dims) > MOST_DIMENSIONS:
        raise too_many("graph", len(dims), "dimensions of one tensor", MOST_DIMENSIONS)
    return tuple(dims)


def too_many(what: str, found: int, name: str, most: int) -> LogError:
    """The sentence."""
    return LogError(f"A {what} record has {found:,} {name.replace('_', ' ')}; at most {most:,} are read: it is damaged.")
