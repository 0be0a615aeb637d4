"""One stream's exact values: which arrays there are at which step, and reading one of them, or a part, from its value file.

Knows manifests and value files; how a path or an error's pass is meant, the graph says. Nothing is kept but manifests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import decode, tags, value_files
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import LABEL, PICTURE, LedgerEntry, Manifest, Value

from .graph import Graph, error_kind
from .sessions import Head, Sessions
from .source import Source
from .statistics import rows_of

CHANNELS = "channels:"
CHANNEL_FIGURES = ("mean", "std", "min", "max", "zero")
"""The rows of a `channels:<kind>` array, float32 [5, channels]; `zero` is a share."""


@dataclass(frozen=True)
class Held:
    """The manifest of one record: what its value file holds, and in which run folder that is."""

    manifest: Manifest
    stream: str
    session: int
    run: str


class ManifestRow(NamedTuple):
    """One array of a value file, as `stream.values` lists it. `path` is a call's, for weights a layer's."""

    kind: str
    path: str
    port: int
    shape: tuple[int, ...]
    dtype: str
    bytes: int


class _Rows(NamedTuple):
    calls: NDArray[np.uint32]
    ports: NDArray[np.uint32]


class Manifests:
    """The manifests of one stream, read on when the source has more."""

    def __init__(self, source: Source, stream: str, sessions: Sessions) -> None:
        self._source = source
        self._stream = stream
        self._sessions = sessions
        self._blocks: dict[tuple[str, str], tuple[int, list[Held]]] = {}
        self._version: object = None
        self._found: dict[tuple[int, int], Held] = {}
        self.problems: list[str] = []

    def get(self, head: Head) -> Held | None:
        """What is kept of a record; None where it has no exact values."""
        if self._version != self._sessions.version:
            self._load()
        return self._found.get((head.session, head.record.step))

    def _load(self) -> None:
        found: dict[tuple[int, int], Held] = {}
        self.problems = []
        for session in self._sessions.all:
            for (kind, _), (run, tag) in session.stored.items():
                if kind == "values":
                    found.update({(one.session, one.manifest.step): one for one in self._block(run, tag)})
        self._found, self._version = found, self._sessions.version

    def _block(self, run: str, tag: str) -> list[Held]:
        version = self._source.tags(run).get(tag, 0)
        known = self._blocks.get((run, tag))
        if known is None or known[0] != version:
            known = self._blocks[run, tag] = (version, self._read(run, tag))
        return known[1]

    def _read(self, run: str, tag: str) -> list[Held]:
        found: list[Held] = []
        try:
            for stored in self._source.tensors(run, tag):
                stamp, manifest = decode.manifest(stored.payload)
                parsed = tags.parse(tag)
                if parsed is None or (stamp.stream, stamp.session) != (parsed.stream, parsed.session):
                    raise LogError(f"A record under {tag} is stamped for another stream or session: it is damaged.")
                found.append(Held(manifest, stamp.stream, stamp.session, run))
        except LogError as error:
            self.problems.append(f"{error} (Stream {self._stream}, exact values.)")
        return found


def places_of(graph: Graph, manifest: Manifest, kind: str) -> dict[tuple[int, int], Value]:
    """Which array stands for each tensor of a kind: {(call, port): value}; an input that is another call's output has that."""
    if kind in (PICTURE, LABEL):
        return {(value.call, value.port): value for value in manifest.values if value.kind == kind}
    prefix = CHANNELS if kind.startswith(CHANNELS) else ""
    by_kind: dict[str, list[Value]] = {}
    for value in manifest.values:
        if value.kind.startswith(CHANNELS) == bool(prefix):
            by_kind.setdefault(value.kind.removeprefix(prefix), []).append(value)
    tables = {
        name: _Rows(np.array([one.call for one in values], np.uint32), np.array([one.port for one in values], np.uint32))
        for name, values in by_kind.items()
    }
    found = rows_of(graph, kind.removeprefix(prefix), tables)
    return {port: by_kind[table][row] for port, (table, row) in found.items()}


def cut_of(graph: Graph, manifest: Manifest, kind: str, path: str, port: int) -> LedgerEntry | None:
    """The line that says that a tensor was cut from this record's values, if it was."""
    own = error_kind(graph.record, kind, frozenset(entry.kind for entry in manifest.cut)) if kind.startswith("error") else kind
    return next((one for one in manifest.cut if (one.kind, one.path, one.port) == (own, path, port)), None)


def read(source: Source, held: Held, value: Value, where: Sequence[slice] = ()) -> NDArray[np.generic]:
    """One array, or the part that a slice per leading axis chooses; bfloat16 as float32.

    Raises:
      LogError: The file is not there or not what the manifest says; or the source has no folder to look in.
    """
    expected = value_files.name_of(held.stream, tags.session_text(held.session), held.manifest.step)
    if held.manifest.file != expected:
        raise LogError(
            f"The values record of step {held.manifest.step} names {held.manifest.file[:80]!r}, not {expected}: it is damaged."
        )
    array = value_files.read(source.folder(held.run), expected, value.member, value.shape, value.dtype, where)
    return widened(array, value.dtype)


def widened(array: NDArray[np.generic], dtype: str) -> NDArray[np.generic]:
    """bfloat16's bits as the float32 that they are the upper half of; all else unchanged."""
    return (array.astype(np.uint32) << np.uint32(16)).view(np.float32) if dtype == "bfloat16" else array


def listed(graph: Graph, manifest: Manifest) -> list[ManifestRow]:
    """The arrays of a manifest with their paths; those that the graph does not know are left out."""
    rows = []
    for value in manifest.values:
        is_weight = value.kind in ("weight", "weight_gradient", "update")
        names = graph.layer_paths if is_weight else graph.paths
        if value.call < len(names):
            rows.append(ManifestRow(value.kind, names[value.call], value.port, value.shape, value.dtype, value.bytes))
    return rows
