"""The routes of lineage: operations of a call, a bucket or a search, a call's chain, and the users' lines. Knows no HTTP.

Operations come in pages; stacks that several of a page share are sent once.
"""

from __future__ import annotations

from typing import Any

from tb_layerflow._reader.lineage import Lineage
from tb_layerflow.log import records
from tb_layerflow.plugin.answers import Answer, Json
from tb_layerflow.plugin.parameters import BadRequest
from tb_layerflow.reader import LogDir, Op

PAGE = 1000
"""Operations in one answer of /ops."""

MOST_WORDS = 2000
MOST_LINES = 5000
MOST_NEIGHBOURS = 64


def ops(
    log: LogDir,
    run: str,
    stream: str,
    step: int | None = None,
    path: str | None = None,
    bucket: str | None = None,
    search: str | None = None,
    offset: int = 0,
) -> Answer:
    """A page of the operations of a call, of a bucket, or of all; `search` narrows them down."""
    if path is not None and bucket is not None:
        raise BadRequest(f"Operations are those of a path or of a bucket. Received: path={path!r} and bucket={bucket!r}.")
    lineage = log.run(run).stream(stream).lineage(step)
    numbers = lineage.numbers(path, bucket)
    if search is not None:
        within = set(numbers) if path is not None or bucket is not None else numbers
        numbers = [number for number in lineage.search(search) if number in within]
    page = [lineage.op(number) for number in numbers[offset : offset + PAGE]]
    stacks: dict[records.Stack, int] = {}
    calls = {path: number for number, path in enumerate(lineage.graph.paths)}
    rows = [_row(op, calls, stacks.setdefault(op.stack, len(stacks))) for op in page]
    counts = {name: len(lineage.numbers(bucket=name)) for name in records.BUCKETS}
    return Json(
        {
            "total": len(numbers),
            "offset": offset,
            "ops": rows,
            "stacks": [_stack(stack, lineage) for stack in stacks],
            "buckets": counts,
            "all": len(lineage),
        }
    )


def chain(log: LogDir, run: str, stream: str, path: str, step: int | None = None) -> Answer:
    """What a call runs, in words."""
    words = log.run(run).stream(stream).chain(path, step=step)
    return Json({"path": path, "chain": words[:MOST_WORDS], "total": len(words)})


def sources(log: LogDir, run: str, stream: str, step: int | None = None, place: str | None = None) -> Answer:
    """The users' lines with the calls that each made; with `place` (`model.py:42`), the calls of that line or file alone."""
    lineage = log.run(run).stream(stream).lineage(step)
    if place is not None:
        return Json({"place": place, "calls": [call.number for call in lineage.calls_of(place)]})
    lines = lineage.lines()
    listed = [
        {"file": file, "line": line, "text": lineage.source.get((file, line), ""), "calls": calls[:MOST_WORDS]}
        for (file, line), calls in list(lines.items())[:MOST_LINES]
    ]
    return Json({"lines": listed, "total": len(lines)})


def _row(op: Op, calls: dict[str, int], stack: int) -> dict[str, Any]:
    return {
        "number": op.number,
        "name": op.name,
        "type": op.type,
        "direction": op.direction,
        "call": None if op.call is None else calls[op.call],
        "bucket": op.bucket,
        "forward_op": op.forward_op,
        "variable": op.variable,
        "fate": op.fate,
        "body": op.body,
        "inputs": op.inputs[:MOST_NEIGHBOURS],
        "stack": stack,
    }


def _stack(stack: records.Stack, lineage: Lineage) -> dict[str, Any]:
    frames = [[frame.file, frame.line, frame.function, frame.origin] for frame in stack.frames]
    user = stack.frames[stack.user_frame] if stack.user_frame >= 0 else None
    text = "" if user is None else lineage.source.get((user.file, user.line), "")
    return {"frames": frames, "user_frame": stack.user_frame, "text": text}
