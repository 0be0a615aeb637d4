"""Every kind of model and loop is recorded as a pass written by hand says, and trains as it would without recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow
from tests.table import table
from tests.table.compare import check
from tests.table.row import Hand, Row

TABLE = table()


@pytest.mark.parametrize("row", TABLE, ids=[f"{row.group}: {row.what}" for row in TABLE])
@pytest.mark.filterwarnings("error::tb_layerflow.capture.warn.LayerFlowWarning")
@pytest.mark.filterwarnings("ignore:Your input ran out of data:UserWarning")  # Keras 3.3, of any data that ends
def test_the_kind_is_recorded_as_by_hand_and_trains_as_without(row: Row, tmp_path: Path) -> None:
    if row.missing:
        pytest.skip(row.missing)
    left = row.run(tmp_path)
    with Hand() as hand:
        losses = row.by_hand(hand)
    hand.differentiate(losses)
    check(row, layerflow.reader.LogDir(tmp_path).run(".").stream(row.stream), hand)
    if row.trains:
        fused = row.fused_by_2_16 and tf.__version__.startswith("2.16.")
        assert_same(left, row.run(None), 1e-6 if fused else row.left_within)


def assert_same(found: list[np.ndarray], expected: list[np.ndarray], within: float) -> None:
    assert len(found) == len(expected) and len(found) > 0
    for one, other in zip(found, expected, strict=True):
        if within:
            np.testing.assert_allclose(one, other, rtol=within, atol=within)
        else:
            np.testing.assert_array_equal(one, other)
