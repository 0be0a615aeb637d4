"""Text and times from a log as they may be shown to people, in a terminal too. Pure."""

from __future__ import annotations

from datetime import datetime


def printable(line: str) -> str:
    """Names come from logs that others wrote: what would steer a terminal is shown as an escape."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in line)


def moment(seconds: float) -> str:
    """A time in seconds since the epoch, in words; a log may hold one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def counted(number: int, what: str) -> str:
    """A number of things: `1 record`, `2 records`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
