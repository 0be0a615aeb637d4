"""One stream of a run: its steps, graphs, statistics, histograms and ledger, read when they are asked for. Knows no files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explanation import Explanation, Unexplained
from tb_layerflow.analysis.findings import Finding, Limits
from tb_layerflow.log import kept_files, paths
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.kept_files import KeptStep
from tb_layerflow.log.records import LABEL, PICTURE, TRACE, WEIGHT_KINDS, Execution, LedgerEntry

from .arguments import checked
from .cache import BoundedCache
from .exact import ExactValues
from .findings import of_stream
from .graph import Call, Graph
from .graphs import Graphs
from .histograms import Histogram, Histograms
from .history import LayerLossRow, Records, collect
from .lineage import Lineage, Lineages, Op
from .seconds import Seconds, rolled_up
from .sessions import Head, Seam, Session, Sessions
from .source import Source
from .statistics import Statistics, stack
from .values import CHANNELS, Manifests

KINDS = ("input", "output", "error", *WEIGHT_KINDS)

_STATISTICS_BYTES = 256 << 20


class Stream:
    """One sequence of records of a run. Safe to use from many threads; `refresh` reads what was added since."""

    def __init__(self, source: Source, runs: Iterable[str], run: str, name: str) -> None:
        self.name = name
        self.run = run
        self._source = source
        self._runs = list(runs)
        self._sessions = Sessions(source, self._runs, name)
        self._lock = threading.RLock()
        self._loaded = False
        self._statistics: BoundedCache[Statistics] = BoundedCache(_STATISTICS_BYTES)
        self._histograms = Histograms(source, name, self._sessions)
        self._graphs = Graphs(source)
        self._lineages = Lineages(source)
        self._manifests = Manifests(source, name, self._sessions)
        self._history: BoundedCache[Records] = BoundedCache(1)
        self._findings: BoundedCache[list[Finding]] = BoundedCache(4)

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} of run {self.run!r}>"

    def refresh(self) -> None:
        """Read what was added since."""
        self._source.refresh()
        self._reload()

    def _reload(self) -> None:
        """Take over what the source has by now: `LogDir.refresh` asks it once for all streams."""
        with self._lock:
            self._loaded = False

    # -------------------------------------------------------------------------------------------------------- records

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps that have a record, int64, rising."""
        return np.array([head.record.step for head in self._heads], np.int64)

    @property
    def records(self) -> Records:
        """What the records say about their steps, as columns beside `steps`."""
        heads, version = self._snapshot()
        key = ("records", version)
        kept = self._history.get(key)
        return kept or self._history.put(key, collect(heads, self._trace_number, self._graph_of), 1)

    @property
    def sessions(self) -> list[Session]:
        """The sessions that wrote this stream, by their start."""
        with self._lock:
            self._load()
            return list(self._sessions.all)

    @property
    def seams(self) -> list[Seam]:
        """Where another session goes on: .step, .session, .hidden (how many older records are not shown)."""
        with self._lock:
            self._load()
            return list(self._sessions.seams)

    @property
    def written(self) -> int:
        """How many records were written, by their running index; more than `steps` where some were lost or sampled away."""
        return len(self._heads) + sum(max(session.missing, 0) for session in self.sessions)

    @property
    def problems(self) -> list[str]:
        """Sentences about what cannot be read; empty where all is well."""
        with self._lock:
            self._load()
            found = [problem for run in self._runs for problem in self._source.problems(run)]
            return list(dict.fromkeys(found + self._sessions.problems + self._graphs.problems + self._manifests.problems))

    def ledger(self) -> list[LedgerEntry]:
        """What was recorded, skipped, truncated or sampled, and why: of every graph in force, then of the records by step."""
        entries: dict[LedgerEntry, None] = {}
        for key in dict.fromkeys((head.session, head.trace) for head in self._heads):
            graph = self._graph_of(*key)
            entries.update(dict.fromkeys(graph.record.ledger if graph else ()))
        if not self._heads and (newest := self._newest_graph()) is not None:
            entries.update(dict.fromkeys(newest.record.ledger))
        for head in self._heads:
            entries.update(dict.fromkeys(head.record.ledger))
        entries.update(dict.fromkeys(self.values.cuts()))
        return list(entries)

    @checked
    def findings(self, limits: Limits | None = None) -> list[Finding]:
        """What is wrong with this training: .rule, .path, .step, .message, .evidence, .level; failures first, then by step.

        Args:
          limits: The thresholds of the rules (`analysis.findings.Limits`); None: the measured ones.
        """
        with self._lock:
            self._load()
            key = (limits, self._sessions.version)
            kept = self._findings.get(key)
            return list(kept if kept is not None else self._findings.put(key, of_stream(self, limits), 1))

    def losses(self) -> list[LayerLossRow]:
        """The layer losses, by step and call: .step, .path, .port, .form, .loss, .accuracy, .task, .output, .baseline."""
        return list(self.records.layer_losses)

    @checked
    def seconds(self, step: int | None = None) -> dict[str, Seconds]:
        """How long each call took in a record, measured: `.forward` and `.backward` by path, groups with the calls inside them.

        They are what the operations took in the recorded step, added over all threads; what belongs to no call (the loss, the
        optimizer) and what LayerFlow adds is not among them. Only `what=(…, "timing")` has them.

        Args:
          step: One of `steps`; None: the newest that has them.

        Returns:
          The seconds by path; empty where they were not measured: the ledger's entries of kind `timing` say why.

        Raises:
          PathError: (a KeyError) No such step.
        """
        for head in self._heads_at(step):
            graph = self._graph_of(head.session, head.trace) if head.record.timings else None
            found = {} if graph is None else rolled_up(graph.record.calls, head.record.timings)
            if found:
                return found
        return {}

    # ---------------------------------------------------------------------------------------------------------- graph

    @property
    def graph(self) -> Graph:
        """The newest graph. LogError where there is none, or it cannot be read."""
        graph = self._newest_graph()
        if graph is None:
            raise LogError(self._no_graph())
        return graph

    @checked
    def graph_at(self, step: int) -> Graph:
        """The graph in force at a step: that of the newest record up to it (of the first record, before that)."""
        heads = self._heads
        if not heads:
            return self.graph
        steps = np.array([head.record.step for head in heads], np.int64)
        place = int(np.searchsorted(steps, step, side="right")) - 1
        head = heads[max(place, 0)]
        graph = self._graph_of(head.session, head.trace)
        if graph is None:
            raise LogError(self._no_graph())
        return graph

    @checked
    def execution(self, step: int | None = None) -> Execution:
        """How the function executes whose trace is in force at a step (None: at the end), with all its retraces up to then."""
        found = (self.graph if step is None else self.graph_at(step)).record.execution
        entries = [
            entry
            for head in self._heads
            if step is None or head.record.step <= step
            for entry in head.record.ledger
            if entry.kind == TRACE
        ]
        own = sum(entry.reason.startswith(f"{found.function} ") for entry in entries)
        reasons = [f"step {entry.step}: {entry.reason}" for entry in entries]
        return replace(found, traces=max(found.traces, own + 1 if own else 0), retraces=[*found.retraces, *reasons])

    # -------------------------------------------------------------------------------------------------------- lineage

    @checked
    def lineage(self, step: int | None = None) -> Lineage:
        """The operations of the trace in force at a step, by default of the newest. LogError where they cannot be read."""
        graph = self.graph if step is None else self.graph_at(step)
        session = next((one for one in self.sessions if one.number == graph.session), None)
        place = None if session is None else session.stored.get(("graph", None))
        return self._lineages.get(graph, place, graph.own_trace)

    @checked
    def ops(self, path: str | None = None, *, bucket: str | None = None, step: int | None = None) -> list[Op]:
        """The operations of a call and of the calls inside it, or of a bucket; forward and backward, as they were made.

        Args:
          path: A call's path, or the unique ending of one.
          bucket: `loss`, `metrics`, `optimizer`, `input` or `other`: what was made outside every call.
          step: In the trace in force at this step; None: in the newest.

        Raises:
          PathError: (a KeyError) No such call.
          ValueError: No such bucket, or both a path and a bucket.
        """
        return self.lineage(step).ops(path, bucket)

    @checked
    def chain(self, path: str, *, step: int | None = None) -> list[str]:
        """What a call runs, in words and in order: `Dense.call`, `keras.ops.matmul`, `tf.matmul`, `MatMul`, …"""
        return self.lineage(step).chain(path)

    @checked
    def calls_of(self, place: str, *, step: int | None = None) -> list[Call]:
        """The calls that a line of the user's made: `model.py:42`; all lines of a file: `model.py`."""
        return self.lineage(step).calls_of(place)

    # ----------------------------------------------------------------------------------------- statistics, histograms

    @checked
    def statistics(self, kind: str = "output") -> Statistics:
        """The statistics of one kind of tensor at all steps.

        Args:
          kind: `input`, `output`, `error` (the record's own), `error#1` or `error:name` (a backward pass's), `weight`,
            `weight_gradient` or `update`. An input that is another call's output has the statistics of that.
        """
        _check_kind(kind)
        with self._lock:
            heads = self._heads
            key = (kind, self._sessions.version)
            kept = self._statistics.get(key)
            if kept is None:
                found = self._sessions.tables(heads, _is_wanted(kind))
                decoded = [
                    (self._graph_of(head.session, head.trace), found.get((head.session, head.record.step))) for head in heads
                ]
                kept = stack(kind, [head.record.step for head in heads], decoded)
                self._statistics.put(key, kept, kept.nbytes)
            return kept

    @checked
    def histogram(self, path: str, kind: str = "output", port: int = 0, step: int | None = None) -> Histogram:
        """The histogram of one tensor.

        Args:
          path: A call's path (a layer's, for weights), or the unique ending of one.
          kind: As for `statistics`.
          port: Which of the call's tensors.
          step: One of `steps`; None: the newest that has the histogram.

        Raises:
          PathError: (a KeyError) No such path.
          KeyError: No such step, or no histogram of that tensor.
        """
        _check_kind(kind)
        for head in self._heads_at(step):
            graph = self._graph_of(head.session, head.trace)
            if graph is None:
                continue
            names = graph.layer_paths if kind in WEIGHT_KINDS else graph.paths
            try:
                number = paths.resolve(names, path)
            except paths.PathError:
                if step is None and head is not self._heads[0]:
                    continue
                raise
            found = self._histograms.get(head, graph, kind, number, port)
            if found is not None:
                return found
        where = "at any step" if step is None else f"at step {step}"
        raise paths.PathError(f"There is no histogram of {kind} {port} of {path!r} {where}.")

    # ----------------------------------------------------------------------------------------------------------- values

    @property
    def values(self) -> ExactValues:
        """Which exact values there are: .steps, .rows(step), .manifest(step)."""
        return ExactValues(self._source, self._manifests, self._heads_at, self._graph_of)

    @checked
    def kept(self, step: int | None = None) -> KeptStep:
        """What the flight recorder (`keep_last`) kept of a step: `.step`, `.batch`, `.weights` before the update.

        Args:
          step: The step; None: the newest that was kept.

        Raises:
          KeyError: Nothing was kept at this step; the sentence names the steps.
          LogError: The file is damaged, or the source has no folder to look in.
        """
        found = [
            (at, self._source.folder(run), name)
            for run in self._runs
            for at, name in kept_files.names(self._source.folder(run), self.name)
        ]
        for at, folder, name in sorted(found, reverse=True):
            if step is None or at == step:
                return kept_files.read(folder, name)
        if not found:
            raise paths.PathError("No step was kept: with keep_last= one is, where a loss is not finite or a fit breaks off.")
        steps = ", ".join(str(at) for at, _, _ in sorted(found))
        raise paths.PathError(f"No step was kept at {step}. Received: step={step}. Steps that were kept: {steps}.")

    @checked
    def value(self, path: str, kind: str = "output", port: int = 0, step: int | None = None) -> NDArray[np.generic]:
        """One exact tensor, as it was recorded.

        Args:
          path: A call's path (a layer's, for weights), or the unique ending of one.
          kind: As for `statistics`; an input that is another call's output is read as that. Or `channels:<kind>`: float32 [5,
            channels], each channel's mean, std, min, max and share of zeros; or `picture`: the samples as people see them; or, of
            the model's path, `label`: the labels of the output `port`.
          port: Which of the call's tensors.
          step: One of `values.steps`; None: the newest that has it.

        Returns:
          The array in the tensor's own dtype (bfloat16 as float32), the samples that were kept first. Errors are float32.

        Raises:
          PathError: (a KeyError) No such path, or no such value at that step; the sentence says at which steps it is.
          LogError: (a ValueError) Its file is not there, or damaged.
        """
        if kind not in (PICTURE, LABEL):
            _check_kind(kind.removeprefix(CHANNELS))
        exact = self.values
        return exact.value(exact.find(path, kind, port, step))

    @checked
    def explain(self, path: str, index: Sequence[int], port: int = 0, step: int | None = None) -> Explanation | Unexplained:
        """How one recorded number of an output came about: the products that made it, and their sum beside the number.

        Args:
          path: A call's path, or the unique ending of one.
          index: The number's place in `value(path)`, the sample first; negative positions count from the end.
          port: Which of the call's outputs.
          step: As for `value`.

        Returns:
          An `Explanation` (.terms, .bias, .total, .recorded, .window, …), or an `Unexplained` with the .reason why there is none.

        Raises:
          PathError: (a KeyError) No such path, or no such output at that step.
          IndexError: The index is outside of what was kept.
          LogError: (a ValueError) The value file is not there, or damaged.
        """
        return self.values.explain(path, index, port, step)

    # --------------------------------------------------------------------------------------------------------- loading

    @property
    def _heads(self) -> list[Head]:
        return self._snapshot()[0]

    def _snapshot(self) -> tuple[list[Head], object]:
        """The records in force and the version that they are of, taken together: the log may grow between two questions."""
        with self._lock:
            self._load()
            return self._sessions.visible, self._sessions.version

    def _load(self) -> None:
        if not self._loaded:
            self._sessions.load()
            self._loaded = True

    def _heads_at(self, step: int | None) -> Iterator[Head]:
        heads = self._heads
        if step is None:
            yield from reversed(heads)
            return
        found = [head for head in heads if head.record.step == step]
        if not found:
            raise paths.PathError(f"Stream {self.name!r} has no record at step {step}. {_near_steps(self.steps, step)}")
        yield from found

    def _newest_graph(self) -> Graph | None:
        heads = self._heads
        with self._lock:
            return self._graphs.newest(self._sessions.all, (heads[-1].session, heads[-1].trace) if heads else None)

    def _graph_of(self, session: int, trace: int) -> Graph | None:
        with self._lock:
            return self._graphs.get(self._sessions.all, session, trace)

    def _trace_number(self, session: int, trace: int) -> int:
        return self._graphs.number(self.sessions, session, trace)

    def _no_graph(self) -> str:
        reason = next(iter(self.problems), "nothing has been recorded yet.")
        return f"Stream {self.name!r} of run {self.run!r} has no graph that can be read: {reason}"


def _check_kind(kind: str) -> None:
    if kind not in KINDS and not kind.startswith(("error#", "error:")):
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, or error#0, error#1, …, or error:<name>. Received: {kind!r}.")


def _is_wanted(kind: str) -> Callable[[str], bool]:
    """Which of a record's tables a kind needs; which of those of errors is meant, depends on the record."""
    if kind.startswith("error"):
        return lambda table: table.startswith("error")
    kinds = ("input", "output") if kind == "input" else (kind,)
    return lambda table: table in kinds


def _near_steps(steps: NDArray[np.int64], step: int) -> str:
    if not len(steps):
        return "It has no records yet."
    near = sorted(steps.tolist(), key=lambda one: abs(one - step))[:3]
    return f"The nearest: {', '.join(map(str, sorted(near)))}."
