"""A stream's records as what findings are made from. Knows the stream; the rules are `analysis.findings`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tb_layerflow.analysis.findings import KINDS, Finding, Limits, Observed, findings
from tb_layerflow.analysis.observed import Figures
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.paths import PathError

from .values import CHANNELS

if TYPE_CHECKING:
    from .stream import Stream

LOOKED_AT = 5
"""Records whose per-channel figures are read: their files are many, and a channel that is dead stays so."""


def of_stream(stream: Stream, limits: Limits | None = None) -> list[Finding]:
    """All findings of a stream's records; none where there is no record or no graph."""
    try:
        graph = stream.graph.record
    except LogError:
        return []
    if not len(stream.steps):
        return []
    records = stream.records
    observed = Observed(
        graph=graph,
        steps=stream.steps,
        statistics={kind: stream.statistics(kind) for kind in KINDS},
        losses=records.losses,
        skipped=records.skipped,
        batch_size=np.asarray(records.batch_size),
        layer_losses=records.layer_losses,
        ledger=graph.ledger,
        channels=_channels(stream),
    )
    return findings(observed, limits)


def _channels(stream: Stream) -> Callable[[str, int], list[tuple[int, Figures]]]:
    """Gives the per-channel figures of an output in at most LOOKED_AT records, as far as they were kept and can be read."""

    @functools.cache
    def steps() -> list[int]:
        known = stream.values.steps
        places = np.unique(np.linspace(0, len(known) - 1, LOOKED_AT).astype(np.int64))
        return known[places].tolist() if len(known) else []

    def of(path: str, port: int) -> list[tuple[int, Figures]]:
        found = []
        for step in steps():
            try:
                found.append((step, np.asarray(stream.value(path, f"{CHANNELS}output", port, step), np.float32)))
            except (LogError, PathError):
                continue
        return found

    return of
