"""The route of receptive windows, asked through TensorBoard's own application, against windows worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_layerflow.log.writer import StreamWriter
from tests import make
from tests.answers import client, get, get_json
from tests.loaders import LOADERS

GRAPH = make.siamese()
AT = {"run": "siamese", "stream": "train", "step": 0}


@pytest.fixture(scope="module", params=sorted(LOADERS))
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    logdir = tmp_path_factory.mktemp("logs")
    _write(logdir / "siamese")
    loader = LOADERS[request.param](logdir)
    yield client(loader, logdir)
    loader.close()


def _write(folder: Path) -> None:
    writer = StreamWriter(folder, "train")
    writer.write_graph(GRAPH)
    writer.write_record(make.record(GRAPH, 0))
    writer.close()


def _windows(asked: Client, path: str, index: str) -> dict[str, Any]:
    answer = get_json(asked, "/windows", **AT, path=path, index=index)
    return {GRAPH.calls[row["call"]].path: row["box"] for row in answer["windows"] if row["port"] == 0}


def test_a_dense_number_saw_the_whole_input_of_its_own_branch(asked: Client) -> None:
    found = _windows(asked, "encoder#1/first_dense", "0,2")
    assert found["encoder#1/first_dense"] == [[0, 1], [2, 3]]
    assert found["encoder#1/flatten"] == [[0, 1], [0, 8]]
    assert found["right"] == [[0, 1], [0, 2], [0, 4]]
    assert "left" not in found


def test_a_flattened_number_saw_the_one_that_it_was(asked: Client) -> None:
    # Of 2 rows of 4, the sixth number is the second of the second row.
    assert _windows(asked, "encoder/flatten", "0,5")["left"] == [[0, 1], [1, 2], [1, 2]]


def test_an_index_outside_is_refused_with_a_sentence(asked: Client) -> None:
    response = get(asked, "/windows", **AT, path="encoder/first_dense", index="0,4")
    assert response.status_code == 400
    assert "4" in response.text


def test_a_path_that_is_not_there_is_a_404(asked: Client) -> None:
    assert get(asked, "/windows", **AT, path="no_such_call", index="0,0").status_code == 404
