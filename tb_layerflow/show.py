"""A log as lines of text, for `layerflow show`. Knows the reader; prints nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.tags import session_text
from tb_layerflow.log.text import moment, printable
from tb_layerflow.reader import Graph, LogDir, PathError, PortPath, Seconds, Statistics, Stream

FIGURES = ("mean", "std", "min", "max")
TIMES = ("forward ms", "backward ms")


def lines(log: LogDir, run: str | None, stream: str | None, step: int | None) -> Iterator[str]:
    """What the log holds: its streams, then for each of them the calls with their figures at `step` (None: the newest record).

    `run` and `stream` choose; None: all. PathError where there is no such run, stream or step; LogError where there is nothing.
    """
    found = _chosen(log, run, stream)
    if step is not None:
        found = _with_step(found, step)
    rows = [_overview(one) for one in found]
    text = table(("run", "stream", "model", "records", "steps", "sessions"), rows, "<<<><>")
    for one in found:
        text += ["", *_calls(one, step)]
    yield from map(printable, text)


class Wanted(NamedTuple):
    """An exact value, as `Stream.value` takes it."""

    path: str
    kind: str = "output"
    port: int = 0
    step: int | None = None


def value(log: LogDir, run: str | None, stream: str | None, wanted: Wanted) -> tuple[Stream, NDArray[np.generic], int]:
    """The first stream that holds an exact value, the value, and how many more streams hold one.

    `run` and `stream` choose; None: any. Where none has it, what the first of them says.
    """
    found, first = None, None
    others = 0
    for one in _chosen(log, run, stream):
        try:
            if found is None:
                found = (one, one.value(*wanted))
            else:
                one.values.find(*wanted)
                others += 1
        except PathError as error:
            first = first or error
    if found is None:
        raise first or PathError(f"There is no exact {wanted.kind} of {wanted.path!r}.")
    return (*found, others)


def value_lines(array: NDArray[np.generic], place: Sequence[int] | None) -> list[str]:
    """One number exactly as it was recorded, or what a whole array is like. PathError where the place is not in it."""
    if place is not None:
        if len(place) != array.ndim:
            raise PathError(
                f"A place in an array of shape {list(array.shape)} has {array.ndim} positions, the sample's first. "
                f"Received {len(place)}: {','.join(map(str, place))}."
            )
        inside = all(-size <= at < size for at, size in zip(place, array.shape, strict=True))
        if not inside:
            raise PathError(f"{list(place)} is not a place in an array of shape {list(array.shape)}.")
        return [repr(array[tuple(place)].item())]
    numbers = array.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    figures = (
        [("mean", finite.mean()), ("std", finite.std()), ("min", finite.min()), ("max", finite.max())] if finite.size else []
    )
    counts = [("zeros", int((numbers == 0).sum())), ("not finite", numbers.size - finite.size)]
    what = [("dtype", array.dtype.name), ("shape", str(list(array.shape)))]
    return [
        f"{name:<12}{value:.9g}" if isinstance(value, float) else f"{name:<12}{value}" for name, value in what + figures + counts
    ]


def _chosen(log: LogDir, run: str | None, stream: str | None) -> list[Stream]:
    if run is not None and stream is not None:
        return [log.run(run).stream(stream)]
    runs = [log.run(name) for name in ([run] if run is not None else log.runs)]
    found = [one.stream(name) for one in runs for name in one.streams if stream in (None, name)]
    if found:
        return found
    what = "There are no LayerFlow records" if stream is None else f"No run has a stream {stream!r}"
    raise LogError(" ".join([f"{what} below this folder.", *(problem for one in runs for problem in one.problems)]))


def _with_step(streams: list[Stream], step: int) -> list[Stream]:
    """Those that have a record at the step. PathError with the steps nearest to it where none has."""
    found = [stream for stream in streams if step in stream.steps]
    if found:
        return found
    near = sorted({int(one) for stream in streams for one in stream.steps}, key=lambda one: abs(one - step))[:3]
    raise PathError(f"There is no record at step {step}. The nearest: {', '.join(map(str, sorted(near))) or 'none'}.")


def _overview(stream: Stream) -> tuple[str, ...]:
    steps = stream.steps
    lost = f" of {stream.written}" if stream.written > len(steps) else ""
    span = "-" if not len(steps) else str(steps[0]) if len(steps) == 1 else f"{steps[0]} … {steps[-1]}"
    return (stream.run, stream.name, _model(stream), f"{len(steps)}{lost}", span, str(len(stream.sessions)))


def _model(stream: Stream) -> str:
    try:
        return stream.graph.record.model
    except LogError:
        return "?"


def _calls(stream: Stream, step: int | None) -> Iterator[str]:
    """One stream: what its record says, then its calls as a tree."""
    yield from (f"! {problem}" for problem in stream.problems)
    steps = stream.steps
    if not len(steps):
        yield f"{stream.run} · {stream.name}: no record yet"
        return
    place = len(steps) - 1 if step is None else int(np.searchsorted(steps, step))
    yield _headline(stream, place)
    for finding in stream.findings():
        mark = "■" if finding.level == "failure" else "▲"
        yield f"{mark} {finding.rule} · {finding.path} · step {finding.step}: {finding.message}"
    graph = stream.graph_at(int(steps[place]))
    outputs, errors = _at(stream.statistics("output"), place), _at(stream.statistics("error"), place)
    seconds = stream.seconds(int(steps[place]))
    rows = list(_rows(graph, outputs, errors, seconds))
    head = ("call", "type", "output", *FIGURES, "zero", "not finite", "error l2", *(TIMES if seconds else ()))
    yield from table(head, rows, "<<<".ljust(len(head), ">"))


def _headline(stream: Stream, place: int) -> str:
    records = stream.records
    parts = [f"{stream.run} · {stream.name} · step {records.step[place]}"]
    if records.epoch[place] >= 0:
        parts.append(f"epoch {number(records.epoch[place])}")
    parts += [f"{name} {number(values[place])}" for name, values in records.losses.items() if not np.isnan(values[place])]
    parts.append(f"session {session_text(int(records.session[place]))}")
    parts.append(moment(float(records.wall_time[place])))
    return " · ".join(parts)


Figures = dict[PortPath, dict[str, float]]


def _at(statistics: Statistics, place: int) -> Figures:
    """Each tensor's columns at one record, and `part`."""
    columns = [*statistics.columns, "part"]
    values = np.concatenate([statistics.values[place], statistics.part[place][:, None]], axis=1)
    return {port: dict(zip(columns, row, strict=True)) for port, row in zip(statistics.ports, values.tolist(), strict=True)}


def _rows(graph: Graph, outputs: Figures, errors: Figures, seconds: dict[str, Seconds]) -> Iterator[tuple[str, ...]]:
    for call in graph.calls:
        for index, port in enumerate(call.outputs or [None]):
            figures = outputs.get(PortPath(call.path, index), {})
            error = errors.get(PortPath(call.path, index), {})
            name = call.path if len(call.outputs) < 2 else f"{call.path} [{index}]"
            yield (
                name,
                call.type,
                shape(port.shape) if port is not None else "",
                *(number(figures.get(figure)) for figure in FIGURES),
                _share(figures, ("zero",)),
                _share(figures, ("nan", "pos_inf", "neg_inf")),
                number(error.get("l2")),
                *(_times(seconds.get(call.path), index) if seconds else ()),
            )


def _times(seconds: Seconds | None, port: int) -> tuple[str, str]:
    """A call's times, in milliseconds, in the row of its first output."""
    if port:
        return "", ""
    return ("-", "-") if seconds is None else (number(1e3 * seconds.forward), number(1e3 * seconds.backward))


def _share(figures: dict[str, float], columns: Iterable[str]) -> str:
    """The share of the elements looked at, in per cent; `<0.1%` where there are a few."""
    part = figures.get("part")
    if not part or np.isnan(part):
        return "-"
    share = sum(figures[column] for column in columns) / part
    return "0" if share == 0 else "<0.1%" if share < 0.001 else f"{share:.1%}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Rows in columns as wide as their widest cell, two spaces apart; `sides` has `<` or `>` for each column."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    laid_out = []
    for row in (head, *rows):
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        laid_out.append("  ".join(cells).rstrip())
    return laid_out


def number(figure: float | None) -> str:
    """Five significant digits; `-` where there is none, because the call was absent or has no such figure."""
    return "-" if figure is None else f"{figure:.5g}"


def shape(dims: Sequence[int] | None) -> str:
    """`(?, 24, 24, 16)`, `?` where a dimension is unknown."""
    return "?" if dims is None else "(" + ", ".join("?" if size < 0 else str(size) for size in dims) + ")"
