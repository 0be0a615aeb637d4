"""The binary answer: a JSON header and raw arrays in one body. Pure; knows nothing of HTTP and of what the arrays mean."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.plugin.plain import json_text

ALIGNMENT = 8


def encode(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """`uint32 header length | JSON header | zeros to a multiple of 8 | little-endian arrays`, each at a multiple of 8.

    The header gets `"arrays": [{"name", "dtype", "shape", "offset"}, …]` added, offsets in bytes from the answer's start. The
    digits of an offset change the header's length, so the room for the header grows until it holds.
    """
    packed = {name: _little_endian(array) for name, array in arrays.items()}
    room = 0
    while True:
        start = _aligned(4 + room)
        text = json_text({**header, "arrays": _placed(packed, start)}).encode("utf-8")
        if _aligned(4 + len(text)) <= start:
            break
        room = len(text)
    parts = [struct.pack("<I", len(text)), text, bytes(start - 4 - len(text))]
    for array in packed.values():
        parts += [array.tobytes(), bytes(-array.nbytes % ALIGNMENT)]
    return b"".join(parts)


def _placed(arrays: Mapping[str, NDArray[Any]], start: int) -> list[dict[str, Any]]:
    places = []
    for name, array in arrays.items():
        places.append({"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "offset": start})
        start = _aligned(start + array.nbytes)
    return places


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    contiguous = np.ascontiguousarray(array).reshape(np.shape(array))
    return contiguous.astype(contiguous.dtype.newbyteorder("<"), copy=False)


def _aligned(size: int) -> int:
    return size + -size % ALIGNMENT
