"""The graphs of one stream's sessions, read when they are asked for: only their structure, never ops. Knows no records."""

from __future__ import annotations

from collections.abc import Sequence

from tb_layerflow.log import decode, records, tags
from tb_layerflow.log.errors import LogError

from .cache import BoundedCache
from .graph import Graph
from .sessions import Session
from .source import Source

_BYTES = 64 << 20
_BYTES_PER_CALL = 2000


class Graphs:
    """The graphs by (session, trace). `problems` are sentences about those that cannot be read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read: BoundedCache[Graph] = BoundedCache(_BYTES)
        self._broken: dict[tuple[int, int], str] = {}

    @property
    def problems(self) -> list[str]:
        """One sentence per graph that was asked for and cannot be read."""
        return list(self._broken.values())

    def get(self, sessions: Sequence[Session], session: int, trace: int) -> Graph | None:
        """The graph of one trace of one session; None, and a problem, where it cannot be read."""
        key = (session, trace)
        kept = self._read.get(key)
        if kept is not None:
            return kept
        try:
            record = self._record(sessions, session, trace)
        except LogError as error:
            self._broken[key] = str(error)
            return None
        self._broken.pop(key, None)
        graph = Graph(record, session, self.number(sessions, session, trace), trace)
        return self._read.put(key, graph, _BYTES_PER_CALL * (len(record.calls) + len(record.layers) + 1))

    def newest(self, sessions: Sequence[Session], of_record: tuple[int, int] | None) -> Graph | None:
        """The graph of the newest record; before the first record, of the newest session that has one."""
        if of_record is not None and (graph := self.get(sessions, *of_record)) is not None:
            return graph
        for session in reversed(sessions):
            for trace in reversed(self._traces(session)):
                if (graph := self.get(sessions, session.number, trace)) is not None:
                    return graph
        return None

    def number(self, sessions: Sequence[Session], session: int, trace: int) -> int:
        """The number of a trace over all sessions: how many there are before it."""
        before = 0
        for one in sessions:
            traces = self._traces(one)
            if one.number == session:
                return before + sum(other < trace for other in traces)
            before += len(traces)
        return before

    def _traces(self, session: Session) -> list[int]:
        place = session.stored.get(("graph", None))
        return self._source.blob_steps(*place) if place else []

    def _record(self, sessions: Sequence[Session], session: int, trace: int) -> records.Graph:
        place = next((one.stored.get(("graph", None)) for one in sessions if one.number == session), None)
        count = self._source.blob_count(*place, trace) if place else 0
        name = f"graph {trace} of session {tags.session_text(session)}"
        if place is None or not count:
            raise LogError(f"The {name} is not there: its records cannot be shown.")
        first = self._source.blob(*place, trace, 0)
        structure = decode.structure_blobs(first)
        if structure > count:
            raise LogError(f"The {name} has {count} of the {structure} blobs that hold its calls: it is damaged.")
        rest = (self._source.blob(*place, trace, index) for index in range(1, structure))
        return decode.graph([first, *rest])[1]
