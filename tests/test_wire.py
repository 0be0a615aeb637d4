"""How many fields a message has, counted fast, is how many the walk over the fields meets, whatever the bytes are."""

from __future__ import annotations

import random

from tb_layerflow.log import wire

_BYTES = (0x00, 0x01, 0x02, 0x05, 0x08, 0x0A, 0x0D, 0x12, 0x7F, 0x80, 0x81, 0x82, 0xFF)


def walked(raw: bytes, most: int) -> int:
    count = 0
    try:
        for _ in wire.fields(raw, 0, len(raw)):
            count += 1
            if count == most:
                break
    except wire.NotEnough:
        pass
    return count


def test_fields_are_counted_as_the_walk_meets_them() -> None:
    draw = random.Random(0)
    counts = set()
    for _ in range(20_000):
        raw = bytes(draw.choice((*_BYTES, draw.randrange(256))) for _ in range(draw.randrange(40)))
        most = draw.choice((1, 2, 3, 100))
        counts.add(walked(raw, most))
        assert wire.count_fields(raw, most) == walked(raw, most), (raw, most)
    assert len(counts) >= 8


def test_long_fields_are_passed_over() -> None:
    for size in (0, 127, 128, 16_383, 16_384, 70_000):
        length = bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7]) if size < 1 << 14 else None
        length = length or bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14])
        for head in (b"\x0a", b"\x82\x01"):
            assert wire.count_fields((head + length + bytes(size)) * 3 + b"\x08\x07", 100) == 4
