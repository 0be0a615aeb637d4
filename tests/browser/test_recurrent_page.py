"""A recurrent model with two outputs on the page: its layers speak for themselves, its journey predicts what the stage leads to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from demo.serve import tensorboard
from tests.browser.chromium import DRAWN, Chromium

CANVAS = "document.querySelector('.journey canvas')"


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    keras = pytest.importorskip("keras")
    import tb_layerflow as layerflow

    folder = tmp_path_factory.mktemp("recurrent")
    keras.utils.set_random_seed(5)
    layers = keras.layers
    words = keras.Input((6, 4), name="words")
    memory = layers.LSTM(8, name="memory")(words)
    kind = layers.Dense(3, activation="softmax", name="kind")(layers.Dense(5, name="towards_kind")(memory))
    sign = layers.Dense(1, activation="sigmoid", name="sign")(layers.Dense(5, name="towards_sign")(memory))
    model = keras.Model(words, {"kind": kind, "sign": sign}, name="sentences")
    model.compile(loss={"kind": "sparse_categorical_crossentropy", "sign": "binary_crossentropy"})
    batch = np.random.default_rng(5).normal(size=(2, 6, 4)).astype("float32")
    labels = {"kind": np.array([2, 0]), "sign": np.array([[0.0], [1.0]], "float32")}
    layerflow.record(model, str(folder / "once"), batch, labels, class_names=["minus", "plus"])
    with tensorboard(folder) as served_at:
        yield served_at


def test_a_layer_around_a_loop_is_a_card_with_a_colour_and_says_where_its_weights_are(browser: Chromium, recurrent: str) -> None:
    browser.open(
        recurrent, {"run": "once", "stream": "record", "call": "memory", "kind": "error", "column": "l2", "panel": "weights"}
    )
    browser.wait(DRAWN)
    browser.wait("document.querySelector('[data-call=memory] .bar') !== null")
    assert browser.evaluate("document.querySelector('[data-call=memory]').dataset.open") == "false"
    assert browser.evaluate("document.querySelector('.row[data-path=memory] .value').textContent") != ""
    assert browser.evaluate("document.querySelector('#panel .calls').textContent") == "memory/lstm_cell"
    assert browser.complaints() == []


def shown(browser: Chromium, address: str, call: str) -> tuple[str, list[dict[str, Any]]]:
    browser.open(address, {"run": "once", "stream": "record", "view": "journey", "call": call})
    browser.wait(f"document.querySelector('.journey')?.dataset.path === '{call}' && {CANVAS}.dataset.predictions?.length > 2")
    title, predictions = browser.evaluate(f"[{CANVAS}.dataset.predicted, {CANVAS}.dataset.predictions]")
    return title, json.loads(predictions)


def test_the_prediction_is_that_of_the_output_the_stage_leads_to(browser: Chromium, recurrent: str) -> None:
    title, predictions = shown(browser, recurrent, "towards_sign")
    assert title == "prediction of sign"
    assert [(one["name"], one["isLabel"]) for one in predictions] == [("plus", False), ("minus", True)]
    title, predictions = shown(browser, recurrent, "towards_kind")
    assert (title, len(predictions)) == ("prediction of kind", 3)
    assert [one["name"] for one in predictions if one["isLabel"]] == ["2"]
    assert {one["name"] for one in predictions} == {"0", "1", "2"}, "The two names are those of the other output."


def test_a_run_that_is_not_there_is_said(browser: Chromium, recurrent: str) -> None:
    browser.open(recurrent, {"run": "gone", "stream": "record"})
    browser.wait(DRAWN)
    assert "no run “gone”" in browser.evaluate("document.querySelector('.trouble').textContent")
    browser.press("s")
    browser.wait("document.querySelector('.share').textContent === 'Copied'")
