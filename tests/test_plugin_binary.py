"""The binary answer, read back with `struct` and `numpy.frombuffer` as http_api.md says, and the JSON in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_layerflow.plugin.binary import encode
from tb_layerflow.plugin.plain import json_text
from tests.answers import parts


def test_arrays_come_back_with_their_dtype_and_shape() -> None:
    sent = {"step": np.arange(3.0), "trace": np.array([[1], [-2]], np.int32), "skipped": np.array([1, 0, 1], np.uint8)}
    header, arrays = parts(encode({"run": "résumé"}, sent))
    assert header["run"] == "résumé"
    for name, array in sent.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


@given(st.text(max_size=40), st.lists(st.integers(0, 9), max_size=5))
def test_every_array_starts_at_a_multiple_of_eight(run: str, sizes: list[int]) -> None:
    answer = encode({"run": run}, {f"a{place}": np.full(size, place, np.uint8) for place, size in enumerate(sizes)})
    header, arrays = parts(answer)
    assert header["run"] == run
    assert [place["offset"] % 8 for place in header["arrays"]] == [0] * len(sizes)
    assert len(answer) % 8 == 0
    assert [arrays[f"a{place}"].tolist() for place in range(len(sizes))] == [[p] * size for p, size in enumerate(sizes)]


def test_numbers_that_json_cannot_hold_travel_in_the_arrays() -> None:
    _, arrays = parts(encode({}, {"values": np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)}))
    assert arrays["values"].tobytes() == np.array([np.nan, np.inf, -np.inf, -0.0], "<f4").tobytes()


def test_big_endian_and_strided_arrays_are_sent_little_endian_in_order() -> None:
    strided = np.arange(12, dtype=">f8").reshape(3, 4)[:, ::2]
    _, arrays = parts(encode({}, {"values": strided}))
    assert arrays["values"].tolist() == [[0, 2], [4, 6], [8, 10]]


def test_a_scalar_and_an_empty_array_keep_their_shape() -> None:
    _, arrays = parts(encode({}, {"scalar": np.float64(2.5), "empty": np.zeros((0, 3), np.float32)}))
    assert arrays["scalar"].shape == ()
    assert arrays["empty"].shape == (0, 3)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"loss": float("nan"), "worse": -float("inf")}, '{"loss":null,"worse":null}'),
        ([2**53, 2**53 + 1, -(2**63)], '[9007199254740992,"9007199254740993","-9223372036854775808"]'),
        ((np.float32(0.5), np.int64(3), np.bool_(True), None), "[0.5,3,true,null]"),
        (np.array([[1.0, np.nan]]), "[[1.0,null]]"),
        ("</script>é", '"</script>é"'),
    ],
)
def test_json_holds_only_what_a_browser_reads_exactly(content: Any, text: str) -> None:
    assert json_text(content) == text


def test_what_json_cannot_hold_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(TypeError, match="JSON cannot hold a bytes"):
        json_text({"raw": b"1"})
