"""One stream's records, put in order: which sessions wrote them, and which record is in force at a step. Knows no statistics.

Sessions are ordered by their start. A newer one hides the older ones' records from its own first step on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tb_layerflow.log import decode, tags
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import Record

from .source import Source, Stored


class Seam(NamedTuple):
    """From `step` on the records are of the session `session`; `hidden` older records are not shown."""

    step: int
    session: int
    hidden: int


@dataclass(frozen=True)
class Head:
    """A record without its tables, and where it is stored. `index` is the running index in its session."""

    session: int
    index: int
    trace: int
    wall_time: float
    record: Record
    run: str
    tag: str


@dataclass
class Session:
    """One process that wrote the stream. `start` is in microseconds since the epoch, 0 where it wrote no record that can be read.

    `stored` maps (kind, block) to (run, tag).
    """

    number: int
    start: int = 0
    stored: dict[tuple[str, int | None], tuple[str, str]] = field(default_factory=dict, repr=False)
    heads: list[Head] = field(default_factory=list, repr=False)

    @property
    def missing(self) -> int:
        """How many records were written, as the running index shows, but are not there."""
        return self.heads[-1].index + 1 - len(self.heads) if self.heads else 0


class Sessions:
    """The sessions of one stream, read on by `load`."""

    def __init__(self, source: Source, runs: Iterable[str], stream: str) -> None:
        self._source = source
        self._runs = list(runs)
        self._stream = stream
        self._blocks: dict[tuple[str, str], tuple[int, list[Head], int, str]] = {}
        self.all: list[Session] = []
        self.visible: list[Head] = []
        self.seams: list[Seam] = []
        self._found_wrong: list[str] = []
        self._broken: dict[tuple[str, int], str] = {}
        self.version: tuple[tuple[str, str, int], ...] = ()

    @property
    def problems(self) -> list[str]:
        """Sentences about what cannot be read, as far as it was asked for."""
        return self._found_wrong + list(self._broken.values())

    def load(self) -> bool:
        """Read what was added to the source; whether anything was."""
        found = [
            (run, text, version, tag)
            for run in self._runs
            for text, version in self._source.tags(run).items()
            if (tag := tags.parse(text)) is not None and tag.stream == self._stream
        ]
        version = tuple(sorted((run, text, version) for run, text, version, _ in found))
        if version == self.version:
            return False
        sessions: dict[int, Session] = {}
        problems: list[str] = []
        for run, text, count, tag in sorted(found, key=lambda one: (one[3].session, one[3].kind, one[3].block or 0)):
            session = sessions.setdefault(tag.session, Session(tag.session))
            session.stored[tag.kind, tag.block] = (run, text)
            if tag.kind == "statistics":
                heads, start, problem = self._block(run, text, count)
                session.heads.extend(heads)
                session.start = session.start or start
                problems += [problem] if problem else []
        for session in sessions.values():
            session.heads = _rising(session.heads)
            session.start = session.start or self._start_of_graph(session, problems)
        self.all = sorted(sessions.values(), key=lambda session: (session.start, session.number))
        self.visible, self.seams = _overlay(self.all)
        self._found_wrong = problems + _gaps(self.all)
        self.version = version
        return True

    def tables(self, heads: Iterable[Head], wanted: Callable[[str], bool]) -> dict[tuple[int, int], Record]:
        """The heads' records with the tables whose kind is wanted, by (session, step). Those that cannot be read are left out."""
        steps_of: dict[tuple[str, str], set[int]] = defaultdict(set)
        for head in heads:
            steps_of[head.run, head.tag].add(head.record.step)
        found: dict[tuple[int, int], Record] = {}
        for (run, tag), steps in steps_of.items():
            for stored in self._stored(run, tag):
                record = self._tables(stored, tag, wanted) if stored.step in steps else None
                if record is not None:
                    found[record[0], stored.step] = record[1]
        return found

    def _tables(self, stored: Stored, tag: str, wanted: Callable[[str], bool]) -> tuple[int, Record] | None:
        try:
            stamp, record = decode.statistics(stored.payload, wanted)
        except LogError as error:
            self._broken[tag, stored.step] = self._sentence(error, stored.step)
            return None
        return stamp.session, record

    def _sentence(self, error: LogError, step: int) -> str:
        return f"{error} (Stream {self._stream}, step {step}.)"

    def _stored(self, run: str, tag: str) -> list[Stored]:
        try:
            return self._source.tensors(run, tag)
        except LogError:
            return []  # the file changed since its heads were read; the source's `problems` say so

    def _block(self, run: str, tag: str, version: int) -> tuple[list[Head], int, str]:
        known = self._blocks.get((run, tag))
        if known is None or known[0] != version:
            known = (version, *self._read_block(run, tag))
            self._blocks[run, tag] = known
        return known[1:]

    def _read_block(self, run: str, tag: str) -> tuple[list[Head], int, str]:
        heads: list[Head] = []
        start, problem = 0, ""
        try:
            stored = self._source.tensors(run, tag)
        except LogError as error:
            return [], 0, str(error)
        for one in stored:
            found = self._head_or_problem(one, run, tag)
            if isinstance(found, str):
                problem = problem or found
            else:
                heads.append(found[0])
                start = start or found[1]
        return heads, start, problem

    def _head_or_problem(self, stored: Stored, run: str, tag: str) -> tuple[Head, int] | str:
        try:
            return self._head(stored, run, tag)
        except LogError as error:
            return self._sentence(error, stored.step)

    def _head(self, stored: Stored, run: str, tag: str) -> tuple[Head, int]:
        stamp, record = decode.statistics(stored.payload, decode.nothing)
        parsed = tags.parse(tag)
        if parsed is None or (stamp.stream, stamp.session) != (parsed.stream, parsed.session) or record.step != stored.step:
            raise LogError(f"A record under {tag} is stamped for another stream, session or step: it is damaged.")
        return Head(stamp.session, stamp.index, stamp.trace, stored.wall_time, record, run, tag), stamp.session_start

    def _start_of_graph(self, session: Session, problems: list[str]) -> int:
        if ("graph", None) not in session.stored:
            return 0
        run, tag = session.stored["graph", None]
        try:
            steps = self._source.blob_steps(run, tag)
            return decode.graph_stamp(self._source.blob(run, tag, steps[0], 0)).session_start if steps else 0
        except LogError as error:
            problems.append(f"{error} (Stream {self._stream}.)")
            return 0


def _rising(heads: list[Head]) -> list[Head]:
    """By step, one per step: a log that has two has the newer one last."""
    return sorted({head.record.step: head for head in heads}.values(), key=lambda head: head.record.step)


def _overlay(sessions: list[Session]) -> tuple[list[Head], list[Seam]]:
    visible: list[Head] = []
    seams: list[Seam] = []
    for session in sessions:
        if session.heads:
            first = session.heads[0].record.step
            kept = [head for head in visible if head.record.step < first]
            seams = [seam for seam in seams if seam.step < first]
            if visible:
                seams.append(Seam(first, session.number, len(visible) - len(kept)))
            visible = kept + session.heads
    return visible, seams


def _gaps(sessions: list[Session]) -> list[str]:
    return [
        f"{session.missing} of {session.heads[-1].index + 1} records of session {tags.session_text(session.number)} are not "
        "there: they were lost, or TensorBoard's --samples_per_plugin dropped them."
        for session in sessions
        if session.missing > 0
    ]
