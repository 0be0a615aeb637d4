"""Call paths: escaping, joining, patterns and endings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_layerflow.log import paths

SIAMESE = [".", "encoder", "encoder/first_dense", "encoder#1", "encoder#1/first_dense", "head", "head/first_dense#1"]


@given(st.text())
def test_every_name_survives_a_path(name: str) -> None:
    level = paths.child("a#1", name, 3).removeprefix("a#1/")
    assert paths.split("a#1/" + level) == (name, 3)
    assert paths.unescape(paths.escape(name)) == name
    assert not {"/", "#"} & set(paths.escape(name))


@given(st.lists(st.tuples(st.text(min_size=1), st.integers(0, 3)), min_size=1, max_size=4), st.data())
def test_two_different_calls_never_share_a_path(levels: list[tuple[str, int]], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.tuples(st.text(min_size=1), st.integers(0, 3)), min_size=1, max_size=4))
    assert (levels == other) == (joined(levels) == joined(other))


def joined(levels: list[tuple[str, int]]) -> str:
    path = paths.ROOT
    for name, k in levels:
        path = paths.child(path, name, k)
    return path


def test_the_first_call_has_no_suffix_and_the_root_no_level() -> None:
    assert paths.child(".", "encoder") == "encoder"
    assert paths.child("encoder#1", "first_dense") == "encoder#1/first_dense"
    assert paths.child("encoder", "first_dense", 2) == "encoder/first_dense#2"
    assert paths.child(None, "generator") == "generator"
    assert paths.child(".", ".") == "%2E"


def test_a_layer_path_drops_the_suffixes_of_every_level() -> None:
    assert paths.layer_path("encoder#1/block#12/first_dense#3") == "encoder/block/first_dense"
    assert paths.layer_path("a%231/b") == "a%231/b"


def test_a_parent_is_one_level_up() -> None:
    assert [paths.parent(path) for path in ("encoder#1/first_dense", "encoder#1", ".")] == ["encoder#1", ".", None]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("first_dense", [2, 4, 6]),
        ("encoder/first_dense", [2, 4]),
        ("encoder#1/first_dense", [4]),
        ("encoder#0/first_dense", [2]),
        ("first_dense#1", [6]),
        ("**/first_dense", [2, 4, 6]),
        ("**/encoder", [1, 3]),
        ("enc*", [1, 3]),
        ("*/first_dense", [2, 4, 6]),
        ("encoder/**", [2, 4]),
        ("*/*/*", []),
        ("**", [0, 1, 2, 3, 4, 5, 6]),
        (".", [0]),
        ("first", []),
        ("first_*", [2, 4, 6]),
        ("f.rst_dense", []),
    ],
)
def test_a_pattern_finds_calls(pattern: str, found: list[int]) -> None:
    assert paths.find(SIAMESE, pattern) == found


def test_a_star_stops_at_a_slash_and_two_do_not() -> None:
    deep = ["a", "a/b", "a/b/c", "d/a/b/c"]
    assert paths.find(deep, "a/*") == [1]
    assert paths.find(deep, "a/**") == [1, 2]
    assert paths.find(deep, "**/a/**/c") == [2, 3]


def test_a_path_without_a_match_from_the_root_is_taken_as_an_ending() -> None:
    assert paths.find(["top/a/b", "top/c/b"], "a/b") == [0]
    assert paths.find(["a/b", "top/a/b"], "a/b") == [0]


def test_a_unique_ending_is_enough() -> None:
    assert paths.resolve(SIAMESE, "encoder/first_dense") == 2
    assert paths.resolve(SIAMESE, "first_dense#1") == 6
    assert paths.resolve(SIAMESE, "encoder#0") == 1
    assert paths.resolve(SIAMESE, ".") == 0


def test_an_ambiguous_ending_lists_what_it_could_be() -> None:
    with pytest.raises(KeyError) as raised:
        paths.resolve(SIAMESE, "first_dense")
    assert str(raised.value) == (
        "'first_dense' is the ending of 2 paths: 'encoder/first_dense', 'encoder#1/first_dense'. Write more of the path."
    )


def test_an_ending_begins_at_a_level() -> None:
    with pytest.raises(KeyError, match="The nearest: 'head/first_dense#1'"):
        paths.resolve(SIAMESE, "dense#1")


def test_a_mistyped_path_gets_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"No path is or ends in 'encoder#1/frist_dense'\. The nearest: 'encoder#1/first_dense'"):
        paths.resolve(SIAMESE, "encoder#1/frist_dense")
    assert paths.nearest(["conv1", "dense_7", "pool"], "densse_7", 1) == ["dense_7"]
    assert paths.nearest([], "x") == []
    with pytest.raises(KeyError, match="no paths to choose from"):
        paths.resolve([], "x")


def test_a_number_of_very_many_digits_is_no_calls_number() -> None:
    assert paths.split("b#" + "9" * 5000) == ("b", 0)


def test_very_many_stars_are_one() -> None:
    assert paths.find(["a/b/q", "a/b/" + "c/" * 30 + "d"], "**/" * 40 + "q") == [0]
