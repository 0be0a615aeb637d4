"""The table of kinds of models, loops and precisions that LayerFlow records: every row runs, each with its own oracle."""

from __future__ import annotations

from .row import Row


def table() -> list[Row]:
    """All rows, by group."""
    from . import (
        built_in_layers,
        custom_loops,
        fits,
        functional,
        heads,
        layers_of_kinds,
        precision,
        recorded_once,
        subclassed,
        tapes,
    )

    modules = (
        functional,
        built_in_layers,
        subclassed,
        layers_of_kinds,
        heads,
        fits,
        custom_loops,
        tapes,
        recorded_once,
        precision,
    )
    return [row for module in modules for row in module.rows()]
