"""Records as the JSON of http_api.md. Pure: objects of the log and the reader in, dicts and lists out."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from tb_layerflow.log import records
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.tags import session_text
from tb_layerflow.reader import Graph, Histogram, Session, Stream


def stream(found: Stream) -> dict[str, Any]:
    """One stream of /streams."""
    steps = found.steps
    return {
        "stream": found.name,
        "records": len(steps),
        "written": found.written,
        "first_step": steps[0] if len(steps) else None,
        "last_step": steps[-1] if len(steps) else None,
        "sessions": [session(one) for one in found.sessions],
        "model": _model(found),
        "problem": " ".join(found.problems),
    }


def _model(found: Stream) -> str:
    """The name of the root, or empty where there is no graph that can be read: the stream's problem says so."""
    try:
        return found.graph.record.model
    except LogError:
        return ""


def session(found: Session) -> dict[str, Any]:
    """One session of a stream; `start` in seconds since the epoch."""
    return {"session": session_text(found.number), "start": found.start / 1e6, "records": len(found.heads)}


def graph(found: Graph, execution: records.Execution, error_kinds: list[str]) -> dict[str, Any]:
    """The whole of /graph; `execution` as the stream tells it."""
    record = found.record
    is_counted = any(each.flops for each in record.calls)
    return {
        "schema": records.SCHEMA,
        "model": record.model,
        "session": session_text(found.session),
        "trace": found.trace,
        "layers": [layer(each) for each in record.layers],
        "calls": [call(each) | {"flops": each.flops if is_counted else None} for each in record.calls],
        "execution": asdict(execution),
        "class_names": record.class_names,
        "backward_names": record.backward_names,
        "error_kinds": error_kinds,
    }


def layer(found: records.Layer) -> dict[str, Any]:
    """One layer of /graph; `parameters` are the elements of its own weights."""
    return {
        "path": found.path,
        "name": found.name,
        "type": found.type,
        "called": found.called,
        "trainable": found.trainable,
        "access": found.access,
        "data_format": data_format(found),
        "weights": [asdict(weight) for weight in found.weights],
        "parameters": sum(int(np.prod(weight.shape, dtype=np.int64)) for weight in found.weights),
    }


def data_format(found: records.Layer) -> str:
    """`channels_first` or `channels_last` where the layer's settings say so, else empty. A normalisation says it by its axis."""
    try:
        settings = json.loads(found.config) if found.config else {}
    except (ValueError, RecursionError):
        return ""
    given = settings.get("data_format") if isinstance(settings, dict) else None
    if given in ("channels_first", "channels_last"):
        return str(given)
    is_first = isinstance(settings, dict) and found.type == "BatchNormalization" and settings.get("axis") in (1, [1])
    return "channels_first" if is_first else ""


def call(found: records.Call) -> dict[str, Any]:
    """One call of /graph, but for its `flops`, of which only the whole graph tells whether 0 is a number or means unknown."""
    return {
        "path": found.path,
        "name": found.name,
        "type": found.type,
        "kind": found.kind,
        "layer": found.layer,
        "parent": found.parent,
        "inputs": [port(each) for each in found.inputs],
        "outputs": [port(each) for each in found.outputs],
        "status": found.status,
        "repeats": found.repeats,
        "failed": found.failed,
        "output_bytes": found.output_bytes or None,
    }


def port(found: records.Port) -> dict[str, Any]:
    """One port of a call; `derived` only where there is something in it."""
    names = ("key", "shape", "dtype", "kind", "source", "status", "error")
    described = {name: getattr(found, name) for name in names}
    return described | {"derived": found.derived} if found.derived else described


def histogram(found: Histogram) -> dict[str, Any]:
    """The whole of /histogram: the bins between the outermost ones that are not empty, and those between them and 0."""
    filled = np.flatnonzero(found.counts)
    middle = len(found.counts) // 2
    first = min(filled[0], middle) if len(filled) else middle
    last = max(filled[-1] + 1, middle) if len(filled) else middle
    return {
        "step": found.step,
        "edges": found.edges[first : last + 1],
        "counts": found.counts[first:last],
        "zero": found.zero,
        "nan": found.nan,
        "pos_inf": found.pos_inf,
        "neg_inf": found.neg_inf,
        "sampled_from": found.sampled_from._asdict(),
    }
