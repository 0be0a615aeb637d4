"""From a record's exact arrays to its value file and manifest: which arrays fit, what they are called. Runs in the background."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log import paths, value_files
from tb_layerflow.log.records import PICTURE, WEIGHT_KINDS, Exact, ExactArray, Graph, LedgerEntry, Manifest, Record, Value
from tb_layerflow.log.writer import StreamWriter

from . import value_cuts
from .value_cuts import Row
from .value_settings import Values
from .warn import Voice

Planned = dict[str, list[tuple[int, int, int]]]
_LONGEST_NAME = 400
_MEMBER_BYTES = 512
"""About what an array costs in a file beside its numbers, its name twice and the headers."""


@dataclass
class Budget:
    """What is left of a run's bytes, shared by the streams of one callback."""

    limit: int
    left: int = -1
    spent: bool = False

    def __post_init__(self) -> None:
        self.left = self.limit if self.left < 0 else self.left


class ValueWriter:
    """Writes the value files of one stream. When the disk fails it warns once and stops; the records go on.

    Args:
        settings: how often there are values, and how many bytes one record's may have.
        budget: what all records together may.
        pictures: uint8 arrays, one per sample, that are kept in every file; None: none.
        voice: where warnings go.
    """

    def __init__(self, settings: Values, budget: Budget, pictures: NDArray[np.uint8] | None, voice: Voice) -> None:
        self.every = settings.every
        self._record_bytes = settings.record_bytes
        self._budget = budget
        self._pictures = pictures
        self._voice = voice
        self._broken = False

    @property
    def is_over(self) -> bool:
        """Whether no more values are to be recorded: the limit of the run is reached, or the disk failed."""
        return self._broken or self._budget.spent

    def write(
        self, writer: StreamWriter, graph: Graph, planned: Planned, record: Record, is_selected: Callable[[Row], bool]
    ) -> None:
        """Write what a record has. `planned` are the plan's rows by kind, `is_selected` says which belong to the stream."""
        exact = record.exact
        if exact is None or self.is_over:
            return
        content = _Content(graph, record, _rows_of_slots(planned), is_selected)
        figures, pictures = content.figures(exact), self._some_pictures(exact)
        arrays = content.arrays(exact)
        aside = sum(one.array.nbytes for one in figures) + (0 if pictures is None else pictures.nbytes)
        left = self._budget.left - _MEMBER_BYTES * (len(arrays) + len(figures) + 1)
        kept = content.fitting(arrays, self._record_bytes - aside, left - aside, self._record_bytes, self._budget)
        if left < aside:
            figures, pictures = [], None
        named = _named(graph, kept, figures, pictures)
        if not named and not content.cut:
            return
        path = writer.value_path(record.step)
        try:
            size = value_files.write(path, [(value.member, array) for value, array in named.values()]) if named else 0
        except OSError as error:
            self._broken = True
            text = f"the value file {path} cannot be written ({error}). Exact values end here; records and what was written stay."
            self._voice.warn(text, cause=error)
            return
        self._budget.left -= size
        values = [*(value for value, _ in named.values()), *_aliases(named, kept)]
        manifest = Manifest(
            record.step, record.trace, os.path.basename(path) if named else "", values, content.cut, exact.samples, size
        )
        writer.write_manifest(manifest)

    def _some_pictures(self, exact: Exact) -> NDArray[np.uint8] | None:
        return None if self._pictures is None or not exact.samples else self._pictures[: exact.samples]


def made(
    settings: Values | None, pictures: NDArray[np.uint8] | None, voice: Voice, budget: Budget | None = None
) -> ValueWriter | None:
    """The writer for these settings, with a budget of its own unless one is given."""
    if settings is None:
        return None
    return ValueWriter(settings, budget or Budget(settings.run_bytes), pictures, voice)


class _Content:
    """Which rows of a record's arrays belong to this stream, and what is cut of them."""

    def __init__(self, graph: Graph, record: Record, by_slot: dict[int, list[Row]], is_selected: Callable[[Row], bool]) -> None:
        self._graph = graph
        self._step = record.step
        self._by_slot = by_slot
        self._is_selected = is_selected
        exact = record.exact or Exact()
        reason = "{:,} bytes, cut before they left the step: the exact values of a record may have {{:,}} bytes"
        self._early = [(row, reason.format(size)) for row, size in exact.cut if is_selected(row)]
        self.cut: list[LedgerEntry] = []

    def arrays(self, exact: Exact) -> list[ExactArray]:
        """The tensors, under the rows that the record's graph has for them."""
        return self._own(exact.arrays)

    def figures(self, exact: Exact) -> list[ExactArray]:
        """The figures of channels."""
        return self._own(exact.figures)

    def _own(self, arrays: Iterable[ExactArray]) -> list[ExactArray]:
        found = []
        for one in arrays:
            rows = one.rows
            if one.slot is not None:
                wanted = set(rows)
                planned = self._by_slot.get(one.slot, rows)
                rows = [row for row in planned if row in wanted or row[0].startswith("error")] or rows
            rows = sorted((row for row in rows if self._is_selected(row)), key=lambda row: -row[1])  # the innermost call first
            if rows:
                found.append(ExactArray(rows, one.array, one.dtype, one.slot))
        return found

    def fitting(
        self, arrays: list[ExactArray], of_record: int, of_run: int, record_bytes: int, budget: Budget
    ) -> list[ExactArray]:
        """The arrays that fit into both limits; the others, and what was cut at trace time, are in `cut`."""
        self.cut = [self._entry(row, reason.format(record_bytes), -1) for row, reason in self._early]
        sizes = [(value_cuts.importance(self._graph, one.rows), one.array.nbytes) for one in arrays]
        by_run = of_run < of_record
        gone = value_cuts.cut(sizes, max(0, min(of_record, of_run)))
        what, most = ("of all records together", budget.limit) if by_run else ("of a record", record_bytes)
        for place in sorted(gone):
            reason = f"{sizes[place][1]:,} bytes, cut: the exact values {what} may have {most:,} bytes"
            self.cut += [self._entry(row, reason, self._step) for row in arrays[place].rows]
        if by_run and (gone or of_run < 0):
            budget.spent = True
            text = f"exact values end here: those of all records together may have {budget.limit:,} bytes"
            self.cut.append(LedgerEntry("", "", -1, "note", text, self._step))
        return [one for place, one in enumerate(arrays) if place not in gone]

    def _entry(self, row: Row, reason: str, step: int) -> LedgerEntry:
        kind, number, port = row
        path = self._graph.layers[number].path if kind in WEIGHT_KINDS else self._graph.calls[number].path
        return LedgerEntry(path, kind, port, "truncated", reason, step)


Named = dict[str, tuple[Value, NDArray[Any]]]


def _rows_of_slots(planned: Planned) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for kind, rows in planned.items():
        for number, port, slot in rows:
            found.setdefault(slot, []).append((kind, number, port))
    return found


def _named(graph: Graph, kept: list[ExactArray], figures: list[ExactArray], pictures: NDArray[np.uint8] | None) -> Named:
    """Each array once, under the name of the first thing that it is."""
    named: Named = {}
    for prefix, arrays in (("", kept), ("channels:", figures)):
        for one in arrays:
            kind, number, port = one.rows[0]
            member = _member(graph, prefix.replace(":", "-") + kind, number, port, named)
            shape = tuple(one.array.shape)
            named[member] = (Value(prefix + kind, number, port, member, shape, one.dtype, one.array.nbytes), one.array)
    if pictures is not None:
        named["pictures"] = (Value(PICTURE, 0, 0, "pictures", tuple(pictures.shape), "uint8", pictures.nbytes), pictures)
    return named


def _aliases(named: Named, kept: list[ExactArray]) -> Iterable[Value]:
    """The other things that an array is, as further lines of the manifest with the same member."""
    first = {(value.kind, value.call, value.port): value for value, _ in named.values()}
    for one in kept:
        stored = first[one.rows[0]]
        for kind, number, port in one.rows[1:]:
            yield Value(kind, number, port, stored.member, stored.shape, stored.dtype, stored.bytes)


def _member(graph: Graph, kind: str, number: int, port: int, taken: Named) -> str:
    """A name that says what the array is, as `numpy.load` shows it: `output/encoder#1/first_dense`, `…@1` for another port."""
    weight = kind in WEIGHT_KINDS
    path = graph.layers[number].path if weight else graph.calls[number].path
    path = "" if path == paths.ROOT else f"/{path}"
    ending = f"/{graph.layers[number].weights[port].name}" if weight else f"@{port}" if port else ""
    name = f"{kind}{path}{ending}"
    plain = not any(level in ("", ".", "..") for level in name.split("/")) and name.isprintable() and "\\" not in name
    if not plain or len(name.encode("utf-8", "replace")) > _LONGEST_NAME or name in taken:
        name = f"{kind}/{number}@{port}"
    return name if name not in taken else f"{kind}/{number}@{port}~{len(taken)}"
