"""Tags and the metadata that goes with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto import summary_pb2

from tb_layerflow.log import tags
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.tags import Tag

STREAMS = st.from_regex(r"[a-z0-9_]{1,32}", fullmatch=True)
KINDS = st.sampled_from(["graph", "histograms"]).map(lambda kind: (kind, None)) | st.tuples(
    st.sampled_from(["statistics", "values"]), st.integers(0, 10**8)
)


@given(STREAMS, st.integers(0, 2**32 - 1), KINDS)
def test_a_tag_parses_as_what_it_was_made_of(stream: str, session: int, kind: tuple[str, int | None]) -> None:
    tag = Tag(stream, session, *kind)
    assert tags.parse(str(tag)) == tag


def test_a_tag_has_the_documented_form() -> None:
    assert str(Tag("train", 0x1A2B, "statistics", 3)) == "layerflow/train/00001a2b/statistics/3"
    assert str(Tag("probe", 0xFFFFFFFF, "graph")) == "layerflow/probe/ffffffff/graph"


@pytest.mark.parametrize(
    "other",
    ["loss", "layerflow/train/1a2b/graph", "layerflow/train/0000001A/graph", "layerflow/Train/00000001/graph",
     "layerflow/train/00000001/statistics", "layerflow/train/00000001/graph/0", "layerflow/train/00000001/graph\n"],
)  # fmt: skip
def test_other_tags_are_none(other: str) -> None:
    assert tags.parse(other) is None


@pytest.mark.parametrize("name", ["", "Train", "a/b", "a" * 33, "ä", None, 3])
def test_a_stream_that_cannot_be_a_name_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"stream must be 1 to 32 characters of a-z, 0-9 and _\. Received: "):
        tags.check_stream(name)


@pytest.mark.parametrize(
    ("kind", "plugin", "data_class"),
    [
        ("graph", "layerflow", summary_pb2.DATA_CLASS_BLOB_SEQUENCE),
        ("histograms", "layerflow", summary_pb2.DATA_CLASS_BLOB_SEQUENCE),
        ("statistics", "layerflow_statistics", summary_pb2.DATA_CLASS_TENSOR),
        ("values", "layerflow_statistics", summary_pb2.DATA_CLASS_TENSOR),
    ],
)
def test_the_metadata_names_plugin_class_and_schema(kind: str, plugin: str, data_class: int) -> None:
    metadata = tags.metadata(kind)
    assert (metadata.plugin_data.plugin_name, metadata.data_class) == (plugin, data_class)
    assert tags.schema_of(metadata.plugin_data.content) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"schema": true}', b'{"schema": "1"}', b"[" * 100_000])
def test_content_without_a_schema_is_a_sentence(content: bytes) -> None:
    with pytest.raises(LogError, match="carries no schema version"):
        tags.schema_of(content)


def test_a_newer_schema_says_what_to_do() -> None:
    with pytest.raises(LogError, match=r"This log has schema 2, .* reads up to schema 1. Update it: pip install --upgrade"):
        tags.schema_of(b'{"schema": 2}')
