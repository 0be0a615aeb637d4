"""The forms that an answer can take. Knows nothing of HTTP and of logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from tb_layerflow.plugin.binary import encode
from tb_layerflow.plugin.plain import json_text


class NotFound(LookupError):
    """No such run, stream, step, call or port; the text is for people. Answered with 404."""


@dataclass(frozen=True)
class Json:
    """An answer in JSON."""

    content: Mapping[str, Any]

    content_type = "application/json"

    def body(self) -> bytes:
        """As http_api.md says: UTF-8, NaN and infinities as null."""
        return json_text(self.content).encode("utf-8")


@dataclass(frozen=True)
class Binary:
    """An answer of arrays, with a header in JSON."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    content_type = "application/octet-stream"

    def body(self) -> bytes:
        """As http_api.md says: header length, header, padding, little-endian arrays."""
        return encode(self.header, self.arrays)


Answer = Json | Binary
