"""The entry module: what it does to TensorBoard's flags, and that no failure of ours stops TensorBoard."""

from __future__ import annotations

import argparse
import logging
import sys

import pytest
from tensorboard.plugins import base_plugin

from tb_layerflow.plugin.loader import EVERY_RECORD, LayerFlowLoader


def fixed(**samples: int) -> dict[str, int]:
    flags = argparse.Namespace(samples_per_plugin=dict(samples))
    LayerFlowLoader().fix_flags(flags)
    return flags.samples_per_plugin


def test_every_record_is_kept_by_default() -> None:
    assert fixed(images=3) == {"images": 3, "layerflow": EVERY_RECORD, "layerflow_statistics": EVERY_RECORD}


def test_the_users_own_number_wins() -> None:
    assert fixed(layerflow=7) == {"layerflow": 7, "layerflow_statistics": EVERY_RECORD}


def test_a_users_zero_means_all() -> None:
    assert fixed(layerflow=0, layerflow_statistics=5) == {"layerflow": EVERY_RECORD, "layerflow_statistics": 5}


@pytest.mark.parametrize("flags", [argparse.Namespace(), argparse.Namespace(samples_per_plugin=None)])
def test_flags_without_a_table_of_samples_are_left_alone(flags: argparse.Namespace) -> None:
    before = dict(vars(flags))
    LayerFlowLoader().fix_flags(flags)
    assert vars(flags) == before


def test_a_plugin_that_cannot_be_made_leaves_one_line_and_no_exception(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "tb_layerflow.plugin.plugin", None)
    with caplog.at_level(logging.WARNING, "tensorboard"):
        assert LayerFlowLoader().load(base_plugin.TBContext()) is None
    assert "LayerFlow is not shown: " in caplog.text
