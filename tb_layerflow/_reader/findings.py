"""A stream's records as what findings are made from. Knows the stream; the rules are `analysis.findings`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tb_layerflow.analysis.findings import KINDS, Finding, Limits, Observed, findings
from tb_layerflow.log.errors import LogError

if TYPE_CHECKING:
    from .stream import Stream


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
    )
    return findings(observed, limits)
