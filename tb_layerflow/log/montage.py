"""Feature maps of one sample as one picture, and a picture as PNG bytes. Pure numpy; for TensorBoard's own Images tab."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_MAPS = 64
_POSITIVE = np.array([196, 80, 12], np.float64)
_NEGATIVE = np.array([36, 104, 180], np.float64)
_GROUND = 255.0
_GAP = 1


def montage(maps: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """The maps of one sample, [height, width, channels], side by side: uint8 [height', width', 3].

    At most MOST_MAPS channels, in their order, in a grid that is about square. One signed scale for all: zero is white, the
    largest magnitude full orange or, below zero, full blue. What is not finite is grey.
    """
    height, width, channels = maps.shape
    shown = min(channels, MOST_MAPS)
    columns = math.ceil(math.sqrt(shown))
    rows = math.ceil(shown / columns)
    picture = np.full((rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 3), 224, np.uint8)
    numbers = np.asarray(maps[:, :, :shown], np.float64)
    finite = np.isfinite(numbers)
    most = np.max(np.abs(numbers), where=finite, initial=0.0) or 1.0
    for channel in range(shown):
        top, left = (channel // columns) * (height + _GAP), (channel % columns) * (width + _GAP)
        picture[top : top + height, left : left + width] = _coloured(numbers[:, :, channel] / most, finite[:, :, channel])
    return picture


def _coloured(shares: NDArray[np.float64], finite: NDArray[np.bool_]) -> NDArray[np.uint8]:
    amount = np.abs(np.where(finite, shares, 0.0))[:, :, None]
    towards = np.where(np.where(finite, shares, 0.0)[:, :, None] < 0, _NEGATIVE, _POSITIVE)
    colours = _GROUND + (towards - _GROUND) * amount
    return np.where(finite[:, :, None], np.rint(colours), 128).astype(np.uint8)


def png(picture: NDArray[np.uint8]) -> bytes:
    """A uint8 [height, width, 3] picture as a PNG file (ISO/IEC 15948: 8 bits a channel, no filter, no interlace)."""
    height, width, _ = picture.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, width * 3)], 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
