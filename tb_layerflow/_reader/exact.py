"""A stream's exact values as people ask for them: by path, kind, port and step; and the explanation of one number.

Knows heads, graphs and manifests; `values` reads the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis.explain import checked_index
from tb_layerflow.analysis.explanation import Explanation, Unexplained
from tb_layerflow.log import paths, value_files
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import PICTURE, WEIGHT_KINDS, LedgerEntry, Manifest, Value

from . import microscope, values
from .arguments import checked
from .graph import Graph
from .sessions import Head
from .source import Source
from .values import Held, ManifestRow, Manifests

MOST_BYTES = 1 << 30
"""Of the inputs and weights that are read to explain one number."""

_SHOWN_STEPS = 5


class Found(NamedTuple):
    """One exact tensor before it is read: where it is, at which step, and what it is."""

    head: Head
    graph: Graph
    held: Held
    value: Value
    number: int


class ExactValues:
    """What exact values a stream has. Safe to use from many threads."""

    def __init__(
        self,
        source: Source,
        manifests: Manifests,
        heads_at: Callable[[int | None], Iterator[Head]],
        graph_of: Callable[[int, int], Graph | None],
    ) -> None:
        self._source = source
        self._manifests = manifests
        self._heads_at = heads_at
        self._graph_of = graph_of

    def __repr__(self) -> str:
        return f"<ExactValues at {len(self.steps)} steps>"

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps whose record has exact values, rising."""
        return np.array(sorted(head.record.step for head, _ in self._held(None)), np.int64)

    @checked
    def manifest(self, step: int | None = None) -> Manifest:
        """What the record of a step (None: the newest that has values) holds and what was cut. PathError where it has none."""
        for _, held in self._held(step):
            return held.manifest
        raise paths.PathError(f"There are no exact values at step {step}. {self._there(self.steps.tolist())}")

    @checked
    def rows(self, step: int | None = None) -> list[ManifestRow]:
        """The arrays of a step's record: .kind, .path, .port, .shape, .dtype, .bytes."""
        for head, held in self._held(step):
            graph = self._graph_of(head.session, head.trace)
            if graph is None:
                raise LogError(f"The graph of step {head.record.step} cannot be read.")
            return values.listed(graph, held.manifest)
        raise paths.PathError(f"There are no exact values at step {step}. {self._there(self.steps.tolist())}")

    def cuts(self) -> list[LedgerEntry]:
        """What was cut from the records' values, and why."""
        return [entry for _, held in self._held(None) for entry in held.manifest.cut]

    def find(self, path: str, kind: str, port: int, step: int | None) -> Found:
        """The tensor, unread. PathError where it is not there: the sentence says at which steps it is."""
        found = next(self._all(path, kind, port, step), None)
        if found is not None:
            return found
        next(self._heads_at(step), None)  # a step without a record has a sentence of its own
        there = sorted(one.head.record.step for one in self._all(path, kind, port, None)) if step is not None else []
        at = "at any step" if step is None else f"at step {step}"
        raise paths.PathError(
            f"There is no exact {kind} {port} of {path!r} {at}. {self._why(path, kind, port, step)}"
            f"{'' if there else self._ports(path, kind, step)}{self._there(there)}"
        )

    def value(self, found: Found, where: Sequence[slice] = ()) -> NDArray[np.generic]:
        """Read it, or a part of it. LogError where its file cannot be read."""
        return values.read(self._source, found.held, found.value, where)

    def explain(self, path: str, index: Sequence[int], port: int, step: int | None) -> Explanation | Unexplained:
        """How one number of an output came about, from what the same record holds."""
        found = self.find(path, "output", port, step)
        shape = found.value.shape
        place = checked_index(index, shape)
        recorded = float(self.value(found, tuple(slice(at, at + 1) for at in place)).reshape(-1)[0])
        kinds = {kind: values.places_of(found.graph, found.held.manifest, kind) for kind in ("input", "weight")}

        left = MOST_BYTES

        def read(kind: str, number: int, port: int) -> NDArray[np.generic] | None:
            nonlocal left
            value = kinds[kind].get((number, port))
            if value is None:
                return None
            left -= value_files.size_of(value.shape, value.dtype)
            if left < 0:
                raise LogError(
                    f"To explain a number of {path!r} takes inputs and weights of more than {MOST_BYTES:,} bytes; read them with "
                    "value(), which takes one tensor at a time."
                )
            return values.read(self._source, found.held, value)

        return microscope.explained(found.graph, found.head.record, found.number, port, place, shape, recorded, read)

    def _held(self, step: int | None) -> Iterator[tuple[Head, Held]]:
        for head in self._heads_at(step):
            held = self._manifests.get(head)
            if held is not None:
                yield head, held

    def _all(self, path: str, kind: str, port: int, step: int | None) -> Iterator[Found]:
        """The tensor in every record that holds it, the newest first. PathError where no graph has the path."""
        wrong: paths.PathError | None = None
        is_known = False
        for head, held in self._held(step):
            graph = self._graph_of(head.session, head.trace)
            if graph is None:
                continue
            try:
                number = 0 if kind == PICTURE else paths.resolve(_names(graph, kind), path)
            except paths.PathError as error:
                wrong = wrong or error
                continue
            is_known = True
            value = values.places_of(graph, held.manifest, kind).get((number, port))
            if value is not None:
                yield Found(head, graph, held, value, number)
        if wrong is not None and not is_known:
            raise wrong

    def _why(self, path: str, kind: str, port: int, step: int | None) -> str:
        for head, held in self._held(step):
            graph = self._graph_of(head.session, head.trace)
            if graph is None or kind == PICTURE:
                continue
            names = _names(graph, kind)
            entry = values.cut_of(graph, held.manifest, kind, names[paths.resolve(names, path)], port)
            return f"It has {entry.reason}. " if entry is not None else ""
        return ""

    def _ports(self, path: str, kind: str, step: int | None) -> str:
        """Which ports of the call have one; empty where none has."""
        for head, held in self._held(step):
            graph = self._graph_of(head.session, head.trace)
            if graph is None or kind == PICTURE:
                continue
            try:
                number = paths.resolve(_names(graph, kind), path)
            except paths.PathError:
                continue
            ports = sorted(port for call, port in values.places_of(graph, held.manifest, kind) if call == number)
            if ports:
                return f"It has an exact {kind} at port {', '.join(map(str, ports))}. "
        return ""

    def _there(self, steps: list[int]) -> str:
        if not steps:
            every = self.steps.tolist()
            return (
                f"Steps with exact values: {_shown(every)}."
                if every
                else "No record of this stream has exact values: record with values=."
            )
        return f"It is there at {_shown(steps)}."


def _names(graph: Graph, kind: str) -> list[str]:
    return graph.layer_paths if kind in WEIGHT_KINDS else graph.paths


def _shown(steps: list[int]) -> str:
    more = len(steps) - _SHOWN_STEPS
    return ", ".join(map(str, steps[:_SHOWN_STEPS])) + (f" and {more} more" if more > 0 else "")
