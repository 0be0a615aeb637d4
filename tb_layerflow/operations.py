"""A call's operations as lines of text, for `layerflow ops`. Knows the reader; prints nothing itself."""

from __future__ import annotations

from collections.abc import Iterator

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.text import printable
from tb_layerflow.reader import LogDir, Op, PathError, Stream
from tb_layerflow.show import table


def lines(log: LogDir, call: str | None, run: str | None, stream: str | None, step: int | None) -> Iterator[str]:
    """The call's chain in words, then its forward and its backward operations, of the first stream that has such a call; with
    no call, the calls of the first stream with how many operations each has.

    PathError where no stream has it; LogError where there is nothing.
    """
    found = _stream_with(log, call, run, stream)
    lineage = found.lineage(step)
    if call is None:
        counts = lineage.counts().tolist()
        counted = [(one.path, one.type, f"{count:,}") for one, count in zip(lineage.graph.calls, counts, strict=True)]
        text = [f"{found.run} · {found.name}", *table(("call", "type", "operations"), counted, "<<>")]
        yield from map(printable, [*text, "", "Give one of these calls to see its operations: layerflow ops LOGDIR CALL"])
        return
    path = lineage.graph.call(call).path
    text = [f"{found.run} · {found.name} · {path}"]
    if not len(lineage):
        text.append('No operations were recorded: `what` did not hold "lineage", or the ledger says why.')
    chain = lineage.chain(path)
    text += [" → ".join(chain)] if chain else []
    ops = lineage.ops(path)
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
