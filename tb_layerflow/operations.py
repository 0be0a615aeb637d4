"""A call's operations as lines of text, for `layerflow ops`. Knows the reader; prints nothing itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import BUCKETS
from tb_layerflow.log.text import printable
from tb_layerflow.reader import LogDir, Op, PathError, Stream
from tb_layerflow.show import table


class Wanted(NamedTuple):
    """Which operations: of a call or of a bucket, of one run, stream and step; None: any, of the step the newest."""

    call: str | None = None
    bucket: str | None = None
    run: str | None = None
    stream: str | None = None
    step: int | None = None


def lines(log: LogDir, wanted: Wanted) -> Iterator[str]:
    """The call's chain in words, then its forward and its backward operations, of the first stream that has such a call; the
    bucket's operations of the first stream; with neither, its calls and buckets with how many operations each has.

    PathError where no stream has it; LogError where there is nothing.
    """
    found = _stream_with(log, wanted.call, wanted.run, wanted.stream)
    lineage = found.lineage(wanted.step)
    if wanted.call is None and wanted.bucket is None:
        counts = lineage.counts().tolist()
        counted = [(one.path, one.type, f"{count:,}") for one, count in zip(lineage.graph.calls, counts, strict=True)]
        counted += [(f"--bucket {name}", "-", f"{len(lineage.numbers(bucket=name)):,}") for name in BUCKETS]
        text = [f"{found.run} · {found.name}", *table(("call", "type", "operations"), counted, "<<>")]
        yield from map(printable, [*text, "", "Give one of these to see its operations: layerflow ops LOGDIR CALL"])
        return
    path = None if wanted.call is None else lineage.graph.call(wanted.call).path
    text = [f"{found.run} · {found.name} · {path or wanted.bucket}"]
    if not len(lineage):
        text.append('No operations were recorded: `what` did not hold "lineage", or the ledger says why.')
    chain = [] if path is None else lineage.chain(path)
    text += [" → ".join(chain)] if chain else []
    ops = lineage.ops(path, wanted.bucket)
    for direction in ("forward", "backward"):
        rows = [_row(op) for op in ops if op.direction == direction]
        if rows:
            head = ("type", "name", "gradient of" if direction == "backward" else "call", "variable", "line", "fate")
            text += ["", f"{direction}: {len(rows)}", *table(head, rows, "<<<<<<")]
    yield from map(printable, text)


def _stream_with(log: LogDir, call: str | None, run: str | None, stream: str | None) -> Stream:
    runs = [log.run(name) for name in ([run] if run is not None else log.runs)]
    streams = [one.stream(name) for one in runs for name in one.streams if stream in (None, name)]
    if not streams:
        nothing = "There are no LayerFlow records below this folder."
        raise LogError(nothing if stream is None else f"No run has a stream {stream!r}.")
    first: PathError | None = None
    for found in streams:
        try:
            if call is not None:
                found.graph.call(call)
            return found
        except PathError as error:
            first = first or error
    raise first or PathError(f"No stream has a call {call!r}.")


def _row(op: Op) -> tuple[str, ...]:
    user = op.user_frame
    place = "-" if user is None else f"{user.file}:{user.line}"
    origin = (op.forward_op or "-") if op.direction == "backward" else op.call or ""
    return (op.type, op.name, origin, op.variable or "-", place, op.fate or "-")
