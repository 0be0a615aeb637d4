"""Tags and summary metadata: under which name and plugin each kind of record is stored. Knows nothing of the records' content.

A tag is `layerflow/<stream>/<session>/<kind>`, the session as 8 hex digits. The session keeps the events of two processes apart,
because TensorBoard's loaders drop or hide records of one tag whose steps go back.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tensorboard.compat.proto import summary_pb2

from .errors import LogError
from .records import SCHEMA
from .stamp import check_schema

PREFIX = "layerflow/"
BLOB_PLUGIN = "layerflow"
TENSOR_PLUGIN = "layerflow_statistics"
BLOB_KINDS = ("graph", "histograms")
TENSOR_KINDS = ("statistics", "values")
RECORDS_PER_BLOCK = 100

_STREAM = re.compile(r"[a-z0-9_]{1,32}")
_TAG = re.compile(r"layerflow/([a-z0-9_]{1,32})/([0-9a-f]{8})/(?:(graph|histograms)|(statistics|values)/(0|[1-9][0-9]{0,8}))")


@dataclass(frozen=True)
class Tag:
    """A parsed tag. `block` is the record's running index // RECORDS_PER_BLOCK for tensor kinds, else None."""

    stream: str
    session: int
    kind: str
    block: int | None = None

    def __str__(self) -> str:
        tail = self.kind if self.block is None else f"{self.kind}/{self.block}"
        return f"{PREFIX}{self.stream}/{session_text(self.session)}/{tail}"


def session_text(session: int) -> str:
    """The session as people see it: 8 hex digits."""
    return f"{session:08x}"


def parse(tag: str) -> Tag | None:
    """The parts of a tag, or None where it is not one of LayerFlow's."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return None
    stream, session, blob_kind, tensor_kind, block = match.groups()
    if blob_kind:
        return Tag(stream, int(session, 16), blob_kind)
    return Tag(stream, int(session, 16), tensor_kind, int(block))


def check_stream(stream: object) -> str:
    """The name, if it can name a stream; else ValueError."""
    if not isinstance(stream, str) or not _STREAM.fullmatch(stream):
        raise ValueError(f"stream must be 1 to 32 characters of a-z, 0-9 and _. Received: {stream!r}.")
    return stream


def metadata(kind: str) -> summary_pb2.SummaryMetadata:
    """The metadata that the events of this kind carry: plugin name, data class, and the schema version as content."""
    if kind in BLOB_KINDS:
        plugin, data_class = BLOB_PLUGIN, summary_pb2.DATA_CLASS_BLOB_SEQUENCE
    elif kind in TENSOR_KINDS:
        plugin, data_class = TENSOR_PLUGIN, summary_pb2.DATA_CLASS_TENSOR
    else:
        raise ValueError(f"kind must be one of {', '.join(BLOB_KINDS + TENSOR_KINDS)}. Received: {kind!r}.")
    content = json.dumps({"schema": SCHEMA}).encode()
    return summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content), data_class=data_class
    )


def schema_of(plugin_content: bytes) -> int:
    """The schema version in a tag's plugin content. LogError where there is none, or it is newer than this LayerFlow."""
    try:
        content = json.loads(plugin_content)
        schema = content["schema"] if isinstance(content, dict) else None
    except (ValueError, KeyError, RecursionError):
        schema = None
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise LogError("A LayerFlow tag carries no schema version: the log is damaged.")
    check_schema(schema)
    return schema
