"""Asks the plugin's routes as a browser would, and reads the answers back by http_api.md's words alone."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from tensorboard.backend import application
from tensorboard.plugins.core import core_plugin
from werkzeug.test import Client, TestResponse

from tb_layerflow.plugin.loader import LayerFlowLoader
from tests.loaders import Loader, flags_for

ROOT = "/data/plugin/layerflow"


def client(loader: Loader, logdir: object, **flags: object) -> Client:
    """TensorBoard's own application, middleware included, with our plugin on this loader's data provider."""
    plugins = [core_plugin.CorePluginLoader(), LayerFlowLoader()]
    return Client(application.TensorBoardWSGIApp(flags_for(logdir, **flags), plugins, loader.data_provider))


def get(on: Client, route: str, prefix: str = "", **parameters: object) -> TestResponse:
    """The response, whatever its status."""
    return on.get(prefix + ROOT + route, query_string={name: str(value) for name, value in parameters.items()})


def get_json(on: Client, route: str, **parameters: object) -> Any:
    """The JSON of a route that must answer."""
    response = get(on, route, **parameters)
    assert response.status_code == 200, response.text
    assert response.content_type == "application/json"
    return json.loads(response.text, parse_constant=lambda name: refuse(f"JSON holds {name}"))


def get_binary(on: Client, route: str, **parameters: object) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a route that must answer."""
    response = get(on, route, **parameters)
    assert response.status_code == 200, response.text
    assert response.content_type == "application/octet-stream"
    return parts(response.data)


def parts(answer: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a binary answer."""
    (length,) = struct.unpack_from("<I", answer)
    header = json.loads(answer[4 : 4 + length])
    arrays = {}
    for place in header["arrays"]:
        dtype = np.dtype(place["dtype"]).newbyteorder("<")
        flat = np.frombuffer(answer, dtype, int(np.prod(place["shape"], dtype=np.int64)), place["offset"])
        arrays[place["name"]] = flat.reshape(place["shape"])
    return header, arrays


def refuse(reason: str) -> None:
    raise AssertionError(reason)
