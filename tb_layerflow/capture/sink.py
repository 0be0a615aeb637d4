"""Where records of one stream go: captured arrays become records, in the background, in the stream's log."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tb_layerflow.log import records
from tb_layerflow.log.writer import StreamWriter

from . import part, statistics, unpack, workers
from .background import Background
from .fast_records import FastRecords
from .outcome import Outcome, Plan
from .selection import Selection
from .value_writer import ValueWriter
from .values import ExactValues
from .warn import Voice, brief
from .weights import chosen_layers

_open_sinks: weakref.WeakSet[Sink] = weakref.WeakSet()


class Sink:
    """One stream being written. Opens its log with the first record; an error of the disk is one warning, and the end of it.

    Args:
        log_dir: the run's folder.
        stream: its name.
        voice: where warnings go.
        selection: what of a recording belongs to this stream.
        values: writes the exact values of records that have some; None: none are kept.
        class_names: what the classes of the model are called, in their order.
        kinds: of `what`; another stream of the same model may want more of a recording than this one does. None: all.
    """

    def __init__(
        self,
        log_dir: str,
        stream: str,
        voice: Voice,
        selection: Selection,
        values: ValueWriter | None = None,
        class_names: Sequence[str] = (),
        *,
        kinds: Collection[str] | None = None,
    ) -> None:
        self.log_dir = workers.folder_of(log_dir)
        self.stream = stream
        self.last_step: int | None = None
        self.records = 0
        self._submitted = 0
        self.listeners: list[Callable[[str, records.Graph, records.Record], None]] = []
        self.idle = False
        self.in_use: Callable[[], bool] | None = None
        self._voice = voice
        self._selection = selection
        self._values = values
        self._class_names = list(class_names)
        self._kinds = kinds
        self._writer: StreamWriter | None = None
        self._background = Background(self._flush, self._failed)
        self._traces: dict[int, tuple[Any, int, records.Graph]] = {}
        self._notes: list[records.LedgerEntry] = []
        self._broken = False

    @property
    def writer(self) -> StreamWriter | None:
        """The open log, or None before the first record and after the disk failed."""
        return self._writer

    @property
    def is_free(self) -> bool:
        """Whether another writer may take over: the fit has ended, by itself or in an exception."""
        return self.idle or (self.in_use is not None and not self.in_use())

    @property
    def are_values_due(self) -> bool:
        """Whether the next record is to hold exact values: the first one does, then every n-th."""
        return self._values is not None and not self._values.is_over and self._submitted % self._values.every == 0

    @property
    def is_broken(self) -> bool:
        """Whether the disk failed; nothing is written any more."""
        return self._broken

    def open(self) -> None:
        """Open the log now. A stream that was left open by a fit which has ended is taken over.

        Raises:
            ValueError: this stream is being written by another callback.
        """
        self.idle = False
        if self._writer is not None or self._broken:
            return
        for other in list(_open_sinks):
            if other.is_free and other.stream == self.stream and _same_folder(other.log_dir, self.log_dir):
                other.let_go()
        try:
            self._writer = StreamWriter(self.log_dir, self.stream, open_records=FastRecords)
        except OSError as error:
            self._failed(error)
            return
        _open_sinks.add(self)
        for note in self._writer.notes:
            self._voice.warn(note)

    def submit(self, outcome: Outcome, make: Callable[[], tuple[records.Record, unpack.Figures]]) -> None:
        """Write one record. `make` runs in the background: it gives the record without tables, and its figures."""
        if self._broken:
            return
        self._submitted += 1
        self._background.submit(lambda: self._write(outcome, *make()), is_large=ExactValues.name in outcome.noted)

    def note(self, entry: records.LedgerEntry) -> None:
        """A ledger entry for the whole stream; it is written with the next record."""
        self._notes.append(entry)

    def drain(self) -> None:
        """Wait until all records are on disk."""
        self._background.drain()

    def close(self) -> None:
        """Drain, and let go of the log. A later record opens a new session."""
        self._background.close()
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                self._failed(error)
        self._forget()

    def let_go(self) -> None:
        """Close for another one that goes on with the stream. Where all is written, nobody is told if the folder is gone."""
        if not self.idle:
            self.close()
            return
        writer, self._writer = self._writer, None
        self._background.close()
        if writer is not None:
            with contextlib.suppress(OSError):
                writer.close()
        self._forget()

    def _forget(self) -> None:
        self._writer = None
        self._traces.clear()
        _open_sinks.discard(self)

    def _write(self, outcome: Outcome, record: records.Record, figures: unpack.Figures) -> None:
        if self._broken or self._writer is None:
            return
        trace, graph = self._trace_of(outcome)
        record.trace = trace
        rows = {
            kind: chosen
            for kind, entries in outcome.plan.rows.items()
            if self._is_wanted(kind) and (chosen := [row for row in entries if self._is_selected(graph, kind, row)])
        }
        record.tables, record.histograms = unpack.tables(figures, rows)
        notes, self._notes = self._notes, []
        record.ledger += notes
        self._writer.write_record(record)
        self.records += 1
        self._tell(graph, record)
        if self._values is not None:
            self._values.write(
                self._writer, graph, outcome.plan.rows, record, lambda row: self._is_selected(graph, row[0], (*row[1:], 0))
            )

    def _tell(self, graph: records.Graph, record: records.Record) -> None:
        """A listener that raises is not called again; the stream goes on."""
        for listener in list(self.listeners):
            try:
                listener(self.stream, graph, record)
            except Exception as error:
                self.listeners.remove(listener)
                what = f"{type(listener).__name__} failed at step {record.step} ({brief(error)})"
                self._voice.warn(f"{what}; it is not called again, recording goes on.", cause=error)

    def _is_wanted(self, kind: str) -> bool:
        asked = "errors" if kind.startswith("error") else "weights" if kind in records.WEIGHT_KINDS else ""
        return not asked or self._kinds is None or asked in self._kinds

    def _is_selected(self, graph: records.Graph, kind: str, row: tuple[int, int, int]) -> bool:
        if kind in records.WEIGHT_KINDS:
            return self._selection.everything or row[0] in chosen_layers(graph)
        call = graph.calls[row[0]]
        return (call.inputs if kind == "input" else call.outputs)[row[1]].selected

    def _trace_of(self, outcome: Outcome) -> tuple[int, records.Graph]:
        assert self._writer is not None
        known = self._traces.get(id(outcome))
        if known is not None and known[0] is outcome:
            return known[1], known[2]
        graph = self._own(outcome)
        for _, number, earlier in self._traces.values():
            if _same(earlier, graph):
                trace = number
                break
        else:
            graph.class_names = graph.class_names or self._class_names
            trace = self._writer.write_graph(graph)
        if outcome.graph.execution.mode == "eager":
            self._traces.clear()
        self._traces[id(outcome)] = (outcome, trace, graph)
        return trace, graph

    def _own(self, outcome: Outcome) -> records.Graph:
        """The graph with what other streams of the model chose, and this one did not, marked as such."""
        if self._selection.everything:
            return outcome.graph
        own = replace(outcome.graph, calls=[])
        for call, node in zip(outcome.graph.calls, outcome.nodes, strict=True):
            if self._selection(call, node.layer):
                own.calls.append(call)
                continue
            own.calls.append(replace(call, inputs=_unselected(call.inputs), outputs=_unselected(call.outputs)))
        return own

    def _flush(self) -> None:
        if self._writer is not None and not self._broken:
            self._writer.flush()

    def _failed(self, error: BaseException) -> None:
        self._broken = True
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(OSError):
                writer.close()  # what was written before, and is still in a buffer
        what = (
            f"the log in {self.log_dir} cannot be written ({error})"
            if isinstance(error, OSError)
            else f"recording failed: {error!r}"
        )
        end = "records nothing" if writer is None else "ends here, what was written before stays"
        self._voice.warn(f"{what}. Training goes on; stream {self.stream!r} {end}.", cause=error)


def _same_folder(one: str, two: str) -> bool:
    return os.path.abspath(one) == os.path.abspath(two)


def _unselected(ports: list[records.Port]) -> list[records.Port]:
    return [
        replace(port, selected=False, status=port.status or "not selected", error=port.error or "not selected") for port in ports
    ]


def _same(one: records.Graph, two: records.Graph) -> bool:
    return one.calls == two.calls and one.layers == two.layers


def numpy_figures(captured: dict[str, Any], plan: Plan, skip: int = 0) -> unpack.Figures:
    """The measured arrays of one replica or chunk as figures; `skip` samples of the part came in earlier chunks."""
    shapes = statistics.shapes_of(np.asarray(captured["shapes"]), plan.ranks)
    sizes = [part.sizes(shape, everything=plan.everything, skip=skip) for shape in shapes]
    exact, of_part, codes = (np.asarray(captured[name]) for name in ("exact", "part", "codes"))
    return unpack.figures(exact, of_part, codes, np.array(sizes, np.int64).reshape(-1, 3))
