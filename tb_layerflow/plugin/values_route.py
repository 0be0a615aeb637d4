"""The routes of exact values: what there is, one tensor or a part of it, and how one number came about. Knows no HTTP.

Nothing is kept between requests: an answer's arrays are read from their file for it, and are bounded before they are.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.plugin.answers import Answer, Binary, Json
from tb_layerflow.plugin.parameters import BadRequest
from tb_layerflow.reader import Explanation, LogDir, Unexplained

MOST_BYTES = 64 << 20
"""Bytes of one answer of /value."""

MOST_LISTED = 50_000
"""Arrays and cuts in one answer of /values."""

SENT_AS = {
    "float16": "float32", "bfloat16": "float32", "bool": "uint8", "int8": "int32", "int16": "int32", "uint16": "uint32",
    "int64": "float64", "uint64": "float64",
}  # fmt: skip
"""What a browser has no arrays for; whole numbers beyond ±2^53 lose their last digits."""

Slices = tuple[slice, ...]


def values(log: LogDir, run: str, stream: str, step: int | None = None) -> Answer:
    """Which exact tensors there are: the steps, and what the record of one of them holds."""
    exact = log.run(run).stream(stream).values
    steps = exact.steps
    if step is None and not len(steps):
        return Json({"steps": [], "step": None, "samples": 0, "bytes": 0, "values": [], "cut": []})
    manifest = exact.manifest(step)
    listed = [
        {"kind": one.kind, "call": one.call, "port": one.port, "shape": one.shape, "dtype": one.dtype, "bytes": one.bytes}
        for one in manifest.values[:MOST_LISTED]
    ]
    return Json(
        {
            "steps": steps,
            "step": manifest.step,
            "samples": manifest.samples,
            "bytes": manifest.bytes,
            "values": listed,
            "cut": [asdict(entry) for entry in manifest.cut[:MOST_LISTED]],
        }
    )


def value(
    log: LogDir,
    run: str,
    stream: str,
    step: int,
    path: str,
    kind: str,
    port: int = 0,
    sample: int | None = None,
    channels: slice | None = None,
    slices: Slices | None = None,
) -> Answer:
    """One exact tensor, or the part of it that is asked for."""
    exact = log.run(run).stream(stream).values
    found = exact.find(path, kind, port, step)
    shape = found.value.shape
    where = _where(shape, sample, channels, slices)
    part = [len(range(*one.indices(size))) for one, size in zip(where, shape, strict=True)]
    size = math.prod(part) * max(4, _width(found.value.dtype))
    if size > MOST_BYTES:
        what = f"{found.value.dtype} {part} has {size:,} bytes; one answer has at most {MOST_BYTES:,}"
        raise BadRequest(f"{what}. Ask for a part of it: sample=, channels= or slices=.")
    array = exact.value(found, where)
    header = {
        "step": step,
        "kind": kind,
        "port": port,
        "dtype": found.value.dtype,
        "shape": shape,
        "where": [list(one.indices(size)) for one, size in zip(where, shape, strict=True)],
    }
    return Binary(header, {"value": _for_browsers(array)})


def explain(log: LogDir, run: str, stream: str, step: int, path: str, index: tuple[int, ...], port: int = 0) -> Answer:
    """How one recorded number came about."""
    try:
        found = log.run(run).stream(stream).explain(path, index, port, step)
    except IndexError as error:
        raise BadRequest(str(error)) from error
    return Json({"step": step, "index": index, **_explanation(found)})


def _where(shape: tuple[int, ...], sample: int | None, channels: slice | None, slices: Slices | None) -> list[slice]:
    """A slice for every axis. BadRequest where the tensor has too few, or the sample is not there."""
    if slices is not None and (sample is not None or channels is not None):
        raise BadRequest("slices says it all: sample and channels cannot be given beside it.")
    if slices is not None:
        if len(slices) > len(shape):
            raise BadRequest(f"slices has {len(slices)} axes, but the tensor has {len(shape)}.")
        return [*slices, *[slice(None)] * (len(shape) - len(slices))]
    where = [slice(None)] * len(shape)
    if sample is not None:
        if not shape or sample >= shape[0]:
            raise BadRequest(f"sample must be below the {shape[0] if shape else 0} samples that were kept. Received: {sample}.")
        where[0] = slice(sample, sample + 1)
    if channels is not None:
        if not shape:
            raise BadRequest("channels needs a tensor with axes; this one is a single number.")
        where[-1] = channels
    return where


def _width(dtype: str) -> int:
    return 8 if dtype.endswith("64") else 4


def _for_browsers(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return array.astype(SENT_AS.get(array.dtype.name, array.dtype.name), copy=False)


def _explanation(found: Explanation | Unexplained) -> dict[str, Any]:
    """As http_api.md says. The windows' slices become pairs."""
    window = [
        {"port": one.port, "box": box(one.box), "unclipped": box(one.unclipped), "reason": one.reason} for one in found.window
    ]
    if isinstance(found, Unexplained):
        return {"explained": False, "type": found.type, "reason": found.reason, "recorded": found.recorded, "window": window}
    return {
        "explained": True,
        "type": found.type,
        "reason": found.reason,
        "formula": found.formula,
        "combine": found.combine,
        "groups": [asdict(group) for group in found.groups],
        "term_count": found.term_count,
        "omitted": asdict(found.omitted),
        "bias": found.bias,
        "pre_activation": found.pre_activation,
        "activation": found.activation,
        "total": found.total,
        "magnitude": found.magnitude,
        "recorded": found.recorded,
        "difference": found.difference,
        "quantities": found.quantities,
        "steps": [_explanation(one) for one in found.steps],
        "note": found.note,
        "window": window,
    }


def box(given: tuple[slice, ...] | None) -> list[list[int]] | None:
    """Half-open ranges per axis."""
    return None if given is None else [[one.start, one.stop] for one in given]
