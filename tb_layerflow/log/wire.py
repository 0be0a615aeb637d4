"""The little of protobuf's wire format that lets a reader look at a message without parsing it. Knows no message."""

from __future__ import annotations

from collections.abc import Iterator

_FIXED = {1: 8, 5: 4}


class NotEnough(Exception):
    """The bytes end before the field does."""


def varint(raw: bytes, position: int) -> tuple[int, int]:
    """The number at a position, and the position behind it. NotEnough where it does not end."""
    if position < len(raw) and raw[position] < 0x80:  # nearly always, and fields are looked at by the hundred thousand
        return raw[position], position + 1
    number, shift = 0, 0
    for index in range(position, min(position + 10, len(raw))):
        number |= (raw[index] & 0x7F) << shift
        if raw[index] < 0x80:
            return number, index + 1
        shift += 7
    raise NotEnough


def fields(raw: bytes, position: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Every field in raw[position:end] as (number, wire type, begin, end) of its content; the last may reach beyond the bytes.

    NotEnough where a field's head is cut, or is no field.
    """
    while position < end:
        head, begin = varint(raw, position)
        number, kind = head >> 3, head & 7
        if kind == 2:
            length, begin = varint(raw, begin)
            position = begin + length
        elif kind == 0:
            position = varint(raw, begin)[1]
        elif kind in _FIXED:
            position = begin + _FIXED[kind]
        else:
            raise NotEnough
        yield number, kind, begin, position


def spans(raw: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Every field of a whole message as (begin of its head, number, wire type, begin, end). NotEnough where one is cut."""
    position = 0
    for number, kind, begin, end in fields(raw, 0, len(raw)):
        if end > len(raw):
            raise NotEnough
        yield position, number, kind, begin, end
        position = end


def count_fields(raw: bytes, most: int) -> int:
    """How many fields the message has at its top level, counted up to `most`; fields behind damage do not count."""
    count, position, end = 0, 0, len(raw)
    try:
        while position < end and count < most:
            count += 1
            if position + 4 <= end and raw[position] & 7 == 2:
                # Nearly all are such, with a head and a length of one or two bytes; graphs have hundreds of thousands.
                begin = position + 1 if raw[position] < 0x80 else position + 2
                length = raw[begin]
                if raw[begin - 1] < 0x80 and length < 0x80:
                    position = begin + 1 + length
                    continue
                if raw[begin - 1] < 0x80 and raw[begin + 1] < 0x80:
                    position = begin + 2 + (length & 0x7F) + (raw[begin + 1] << 7)
                    continue
            position = next(fields(raw, position, end))[3]
    except NotEnough:
        return count - 1
    return count
