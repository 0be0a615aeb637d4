"""The table of kinds of models, loops and precisions that LayerFlow records: every row runs, each with its own oracle."""

from __future__ import annotations

from .row import Row


def table() -> list[Row]:
    """All rows, by group."""
    from . import functional, heads, layers_of_kinds, loops, precision, subclassed

    return [row for module in (functional, subclassed, layers_of_kinds, heads, loops, precision) for row in module.rows()]
