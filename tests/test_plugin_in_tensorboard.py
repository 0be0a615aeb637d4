"""A real TensorBoard, started as people start it, answers every route; under both loaders, with default flags, and where there is
no TensorFlow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_layerflow.log import value_files
from tb_layerflow.log.records import Manifest, Value
from tb_layerflow.log.writer import StreamWriter
from tb_layerflow.plugin.routes import ROUTES
from tests import make
from tests.answers import parts
from tests.loaders import wait_until

STEPS = 1000
GIVEN = {
    "run": "run",
    "stream": "train",
    "step": 999,
    "kind": "error",
    "column": "l2",
    "path": "encoder#1/first_dense",
    "index": "0,1",
}


AS_PEOPLE_DO = ["-m", "tensorboard.main"]
WITHOUT_TENSORFLOW = ["-c", "import sys; sys.modules['tensorflow'] = None; from tensorboard import main; main.run_main()"]


@pytest.fixture(
    scope="module",
    params=[(AS_PEOPLE_DO, "true"), (AS_PEOPLE_DO, "false"), (WITHOUT_TENSORFLOW, "true")],
    ids=["load_fast=true", "load_fast=false", "without TensorFlow"],
)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where TensorBoard serves; it is stopped, and its data server with it, whatever happens."""
    logdir = tmp_path_factory.mktemp("logs")
    write(logdir / "run")
    program, load_fast = request.param
    command = [sys.executable, *program, "--logdir", str(logdir), "--port", "0", f"--load_fast={load_fast}"]
    log = logdir.parent / f"{logdir.name}.stderr"
    with log.open("w") as stderr, subprocess.Popen(command, stderr=stderr, stdout=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: re.search(r"http://localhost:\d+/", log.read_text()) is not None, 60)
            found = re.search(r"http://localhost:\d+/", log.read_text())
            assert found is not None
            wait_until(lambda: all_records_are_there(found[0]), 60)
            yield found[0]
        finally:
            server.terminate()
            server.wait(20)


def write(folder: Path) -> None:
    graph = make.siamese()
    writer = StreamWriter(folder, "train")
    writer.write_graph(graph)
    for step in range(STEPS):
        writer.write_record(make.record(graph, step))
    error = np.ones((2, 4), np.float32)
    size = value_files.write(writer.value_path(STEPS - 1), [("error", error)])
    held = [
        Value(kind, call, 0, "error", error.shape, "float32", error.nbytes)
        for kind in ("output", "error")
        for call in range(len(graph.calls))
    ]
    writer.write_manifest(Manifest(STEPS - 1, 0, os.path.basename(writer.value_path(STEPS - 1)), held, [], 2, size))
    writer.close()


def ask(address: str, route: str, **parameters: object) -> bytes:
    with urllib.request.urlopen(f"{address}data/plugin/layerflow{route}?{urllib.parse.urlencode(parameters)}") as answer:
        return bytes(answer.read())


def all_records_are_there(address: str) -> bool:
    runs = json.loads(ask(address, "/streams"))["runs"]
    return bool(runs) and runs[0]["streams"][0]["records"] == STEPS


def test_the_tab_is_listed_and_active(address: str) -> None:
    with urllib.request.urlopen(f"{address}data/plugins_listing") as answer:
        listed: dict[str, Any] = json.load(answer)["layerflow"]
    assert (listed["tab_name"], listed["enabled"]) == ("LayerFlow", True)
    assert listed["loading_mechanism"]["module_path"].endswith("/static/index.js")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_every_route_answers(address: str, route: Any) -> None:
    needed = [name.partition("=")[0] for name in route.parameters.split() if not name.endswith("?")]
    answer = ask(address, route.path, **{name: GIVEN[name] for name in needed})
    assert answer


def test_a_thousand_records_reach_the_page(address: str) -> None:
    _, arrays = parts(ask(address, "/steps", run="run", stream="train"))
    assert arrays["step"].tolist() == list(range(STEPS))
    _, series = parts(ask(address, "/series", run="run", stream="train", kind="output", column="count"))
    assert series["values"].shape[1] == STEPS
    assert (series["values"] == 24).all()
    first = json.loads(ask(address, "/histogram", run="run", stream="train", step=0, path="left", kind="output"))
    assert first["step"] == 0
