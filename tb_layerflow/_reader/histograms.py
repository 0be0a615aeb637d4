"""The histogram of one tensor at one step, decoded on demand. Knows no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import decode, histogram, tags
from tb_layerflow.log.decode import SparseHistograms
from tb_layerflow.log.errors import LogError

from .cache import BoundedCache
from .graph import Graph
from .sessions import Head, Sessions
from .source import Source
from .statistics import rows_of

_BYTES = 64 << 20


class SampledFrom(NamedTuple):
    """The histogram is of `part` of `total` elements: whole samples (`stride` 1), or every `stride`-th position of the first."""

    part: int
    total: int
    stride: int


@dataclass(frozen=True)
class Histogram:
    """The distribution of one tensor at one step.

    `edges` float64 [n + 1] rise, the middle one is 0; `counts` uint64 [n] are the elements between them; zeros, NaNs and
    infinities are counted apart.
    """

    step: int
    edges: NDArray[np.float64]
    counts: NDArray[np.uint64]
    zero: int
    nan: int
    pos_inf: int
    neg_inf: int
    sampled_from: SampledFrom

    def __repr__(self) -> str:
        filled = np.flatnonzero(self.counts)
        between = f"{self.edges[filled[0]]:.3g} to {self.edges[filled[-1] + 1]:.3g}" if len(filled) else "none in a bin"
        apart = ", ".join(f"{name} {getattr(self, name):,}" for name in ("zero", "nan", "pos_inf", "neg_inf"))
        part, total, _ = self.sampled_from
        return f"<Histogram at step {self.step}: {part:,} of {total:,} elements, {between}; {apart}>"


class Histograms:
    """The histograms of one stream. The records read last stay decoded, sparse, up to a bound."""

    def __init__(self, source: Source, stream: str, sessions: Sessions) -> None:
        self._source = source
        self._stream = stream
        self._sessions = sessions
        self._decoded: BoundedCache[dict[str, SparseHistograms]] = BoundedCache(_BYTES)

    def get(self, head: Head, graph: Graph, kind: str, number: int, port: int) -> Histogram | None:
        """Of one tensor (for weights: layer and weight) in one record; None where it has none. LogError where it is damaged."""
        sparse = self._sparse(head)
        place = rows_of(graph, kind, sparse).get((number, port))
        if place is None:
            return None
        table, row = sparse[place[0]], place[1]
        counts = table.row(row)
        stride = self._stride(head, place[0], int(table.calls[row]), int(table.ports[row]))
        return Histogram(
            step=head.record.step,
            edges=histogram.edges(),
            counts=counts[: 2 * histogram.SIDE],
            zero=int(counts[histogram.ZERO]),
            nan=int(counts[histogram.NAN]),
            pos_inf=int(counts[histogram.POS_INF]),
            neg_inf=int(counts[histogram.NEG_INF]),
            sampled_from=SampledFrom(int(table.part[row]), int(table.total[row]), stride),
        )

    def _sparse(self, head: Head) -> dict[str, SparseHistograms]:
        step, key = head.record.step, (head.session, head.record.step)
        kept = self._decoded.get(key)
        if kept is not None:
            return kept
        tag = str(tags.Tag(self._stream, head.session, "histograms"))
        if not self._source.blob_count(head.run, tag, step):
            return {}
        stamp, own_step, found = decode.sparse_histograms(self._source.blob(head.run, tag, step, 0))
        if (stamp.session, own_step) != key:
            raise LogError(f"The histograms under {tag} at step {step} are of another record: the log is damaged.")
        return self._decoded.put(key, found, sum(table.nbytes for table in found.values()))

    def _stride(self, head: Head, kind: str, call: int, port: int) -> int:
        """How the part that the histogram is of was taken; the statistics beside it say so."""
        record = self._sessions.tables([head], lambda table: table == kind).get((head.session, head.record.step))
        table = record.tables.get(kind) if record else None
        if table is None:
            return 1
        rows = np.flatnonzero((table.calls == call) & (table.ports == port))
        return int(table.stride[rows[0]]) if len(rows) else 1
