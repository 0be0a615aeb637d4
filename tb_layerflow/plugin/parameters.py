"""What a request asks for: every parameter of the API, its form, and the sentence that a wrong one gets. Knows no log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tb_layerflow.log.records import BUCKETS, COLUMNS, LABEL, PICTURE

MOST_AXES = 32
_WHOLE = r"-?[0-9]{1,9}"

MAX_LENGTH = 4096
"""Characters of one parameter; call paths of deeply nested models are long."""


class BadRequest(ValueError):
    """A parameter is missing or not of its form; the text says which, and what was received. Answered with 400."""


def text(name: str, given: str) -> str:
    """Any text that is not empty."""
    if not given or len(given) > MAX_LENGTH:
        raise BadRequest(f"{name} must be 1 to {MAX_LENGTH} characters long. Received: {len(given)} characters.")
    return given


def integer(name: str, given: str) -> int:
    """A whole number that fits into 64 bits with its sign."""
    if not re.fullmatch(r"-?[0-9]{1,19}", given) or not -(2**63) <= int(given) < 2**63:
        raise BadRequest(f"{name} must be a whole number. Received: {_shown(given)}.")
    return int(given)


def position(name: str, given: str) -> int:
    """A whole number from 0 to a million, which no model's ports exceed."""
    number = integer(name, given)
    if not 0 <= number <= 1_000_000:
        raise BadRequest(f"{name} must be a whole number from 0 on. Received: {_shown(given)}.")
    return number


def stream(name: str, given: str) -> str:
    """The name of a stream."""
    if not re.fullmatch(r"[a-z0-9_]{1,32}", given):
        raise BadRequest(f"{name} must be 1 to 32 of a-z, 0-9 and _. Received: {_shown(given)}.")
    return given


def kind(name: str, given: str) -> str:
    """A kind of tensor; the error of one backward pass has its number or name after `error`."""
    if not re.fullmatch(r"input|output|error([#:][^/\x00-\x1f]{1,200})?|weight|weight_gradient|update", given):
        expected = "input, output, error, error#0, error:generator, weight, weight_gradient or update"
        raise BadRequest(f"{name} must be {expected}. Received: {_shown(given)}.")
    return given


def value_kind(name: str, given: str) -> str:
    """A kind of exact array: of tensor, its figures per channel, the pictures or the labels."""
    if given not in (PICTURE, LABEL):
        try:
            kind(name, given.removeprefix("channels:"))
        except BadRequest as error:
            raise BadRequest(f"{str(error).removesuffix('.')}; or channels:<kind>, picture or label.") from None
    return given


def channels(name: str, given: str) -> slice:
    """A range `a:b` of channels."""
    match = re.fullmatch(r"([0-9]{1,9}):([0-9]{1,9})", given)
    if match is None or int(match[1]) >= int(match[2]):
        raise BadRequest(f"{name} must be a range of channels such as 0:16. Received: {_shown(given)}.")
    return slice(int(match[1]), int(match[2]))


def slices(name: str, given: str) -> tuple[slice, ...]:
    """numpy's slices without steps backwards: `0,:,2:9,::2`. An index keeps its axis."""
    found: list[slice] = []
    for one in given.split(","):
        match = re.fullmatch(rf"(?:({_WHOLE})|({_WHOLE})?:({_WHOLE})?(?::([1-9][0-9]{{0,8}}))?)", one.strip())
        if match is None or len(found) == MOST_AXES:
            raise BadRequest(f"{name} must be indices and slices such as 0,:,2:9. Received: {_shown(given)}.")
        index, *ends = (None if text is None else int(text) for text in match.groups())
        found.append(slice(*ends) if index is None else slice(index, index + 1 or None))
    return tuple(found)


def index(name: str, given: str) -> tuple[int, ...]:
    """The place of one number: `0,5,5,0`."""
    parts = given.split(",")
    if len(parts) > MOST_AXES or not all(re.fullmatch(_WHOLE, part.strip()) for part in parts):
        raise BadRequest(f"{name} must be whole numbers such as 0,5,5,0. Received: {_shown(given)}.")
    return tuple(int(part) for part in parts)


def bucket(name: str, given: str) -> str:
    """What operations outside every call belong to."""
    if given not in BUCKETS:
        raise BadRequest(f"{name} must be loss, metrics, optimizer, input or other. Received: {_shown(given)}.")
    return given


def offset(name: str, given: str) -> int:
    """How many rows to pass over, from 0 to a billion."""
    number = integer(name, given)
    if not 0 <= number <= 1_000_000_000:
        raise BadRequest(f"{name} must be a whole number from 0 on. Received: {_shown(given)}.")
    return number


def column(name: str, given: str) -> str:
    """A column of the statistics."""
    if given not in COLUMNS:
        raise BadRequest(f"{name} must be one of {', '.join(COLUMNS)}. Received: {_shown(given)}.")
    return given


FORMS: Mapping[str, Callable[[str, str], Any]] = {
    "run": text,
    "stream": stream,
    "step": integer,
    "kind": kind,
    "value_kind": value_kind,
    "sample": position,
    "channels": channels,
    "slices": slices,
    "index": index,
    "column": column,
    "path": text,
    "port": position,
    "bucket": bucket,
    "search": text,
    "offset": offset,
    "place": text,
}


def checked(spec: str, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The parameters that `spec` names (`"run stream step?"`, a `?` after those that may be left out), each of its form.

    A form other than that of its name stands behind `=`: `kind=value_kind`.

    `given` maps a name to every value that the request has for it.
    """
    forms = {name: form or name for name, _, form in (part.rstrip("?").partition("=") for part in spec.split())}
    expected = {part.rstrip("?").partition("=")[0]: part.endswith("?") for part in spec.split()}
    unknown = sorted(set(given) - set(expected))
    if unknown:
        raise BadRequest(f"This route takes {_listed(expected)}. Received: {_shown(unknown[0])}.")
    values = {}
    for name, optional in expected.items():
        several = given.get(name, ())
        if len(several) == 1:
            values[name] = FORMS[forms[name]](name, several[0])
        elif several or not optional:
            raise BadRequest(f"{name} must be given once. Received: {len(several)} times.")
    return values


def _listed(names: Mapping[str, bool]) -> str:
    return ", ".join(names) if names else "no parameters"


def _shown(given: str) -> str:
    return repr(given if len(given) <= 60 else given[:57] + "…")
