"""The stamp on every record: who wrote it, and where it stands in its stream. Knows nothing of what the record holds."""

from __future__ import annotations

from dataclasses import dataclass

from . import layerflow_pb2 as pb
from .errors import LogError
from .records import SCHEMA


@dataclass(frozen=True)
class Stamp:
    """`session_start` is in microseconds since the epoch; `index` counts the records of a session from 0; `trace` is the number
    of the graph that the record's calls refer to."""

    stream: str
    session: int
    session_start: int = 0
    index: int = 0
    trace: int = 0
    version: str = ""
    schema: int = SCHEMA


def to_proto(stamp: Stamp) -> pb.Stamp:
    """The stamp as its message."""
    return pb.Stamp(
        schema=stamp.schema,
        stream=stamp.stream,
        session=stamp.session,
        session_start=stamp.session_start,
        index=stamp.index,
        trace=stamp.trace,
        version=stamp.version,
    )


def from_proto(message: pb.Stamp) -> Stamp:
    """The message as a stamp. LogError where the log is of a newer schema, or no stamp was written at all."""
    check_schema(message.schema, message.version)
    return Stamp(
        stream=message.stream,
        session=message.session,
        session_start=message.session_start,
        index=message.index,
        trace=message.trace,
        version=message.version,
        schema=message.schema,
    )


def check_schema(schema: int, version: str = "") -> None:
    """Raise LogError unless a log of this schema can be read."""
    if schema < 1:
        raise LogError("A record carries no schema version: it is damaged, or was not written by LayerFlow.")
    if schema > SCHEMA:
        writer = f"LayerFlow {version}" if version else "a newer LayerFlow"
        raise LogError(
            f"This log has schema {schema}, written by {writer}; the LayerFlow installed here reads up to schema {SCHEMA}. "
            "Update it: pip install --upgrade tb-layerflow"
        )
