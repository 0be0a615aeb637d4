"""Value files: what numpy reads of them, parts of arrays, and that no hostile or broken file does more than give a sentence."""

from __future__ import annotations

import contextlib
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tb_layerflow.log import value_files
from tb_layerflow.log.errors import LogError

NAME = "train-0123abcd-40.npz"
ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def place(folder: Path) -> Path:
    return folder / "plugins" / "layerflow" / NAME


def written(folder: Path, **arrays: np.ndarray) -> Path:
    value_files.write(str(place(folder)), (arrays or {"output/conv": ARRAY}).items())
    return place(folder)


def read(
    folder: Path, member: str = "output/conv", shape: tuple[int, ...] = (2, 3, 4), dtype: str = "float32", *where: slice
) -> np.ndarray:
    return value_files.read(str(folder), NAME, member, shape, dtype, where)


def refusal(folder: Path, *arguments: object) -> str:
    """The sentence, which must not have cost memory."""
    tracemalloc.start()
    try:
        with pytest.raises(LogError) as refused:
            read(folder, *arguments)  # type: ignore[arg-type]
        assert tracemalloc.get_traced_memory()[1] < 8 << 20, "a refusal reads little"
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refused.value)
    return str(refused.value)


DTYPES = st.sampled_from(["<f4", "<f2", "<i8", "|b1", "|u1", "<u2"])


@given(arrays_of.arrays(DTYPES, arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0)))
def test_what_is_written_numpy_reads_and_so_do_we(tmp_path: Path, array: np.ndarray) -> None:
    written(tmp_path, one=array, two=ARRAY)
    with np.load(place(tmp_path)) as archive:
        assert sorted(archive.files) == ["one", "two"]
        np.testing.assert_array_equal(archive["one"], array)
    name = "uint16" if array.dtype == np.uint16 else array.dtype.name
    found = read(tmp_path, "one", array.shape, name)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found.reshape(-1).view(np.uint8), np.atleast_1d(array).reshape(-1).view(np.uint8))


SLICES = st.builds(slice, *[st.one_of(st.none(), st.integers(-9, 9))] * 2, st.one_of(st.none(), st.integers(1, 3)))


@given(st.lists(SLICES, max_size=3), st.sampled_from([4, 20, 100, 1 << 20]))
@example([slice(1, None), slice(None), slice(2, 3)], 20)
def test_a_part_is_what_numpy_cuts_out_however_large_the_blocks_are(tmp_path: Path, where: list[slice], block: int) -> None:
    array = np.random.default_rng(0).normal(size=(7, 5, 6)).astype(np.float32)
    written(tmp_path, one=array)
    before, value_files.BLOCK_BYTES = value_files.BLOCK_BYTES, block
    try:
        np.testing.assert_array_equal(read(tmp_path, "one", array.shape, "float32", *where), array[tuple(where)])
    finally:
        value_files.BLOCK_BYTES = before


def test_a_failing_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="No space left"):
        written(tmp_path)
    assert os.listdir(place(tmp_path).parent) == []


# ------------------------------------------------------------------------------------------------------ hostile files


def test_a_wrong_shape_or_dtype_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    assert refusal(tmp_path, "output/conv", (2, 4, 3)) == (
        f"The array 'output/conv' in {NAME} is float32 [2, 3, 4], not the float32 [2, 4, 3] that was recorded."
    )
    assert "not the int32 [2, 3, 4] that was recorded" in refusal(tmp_path, "output/conv", (2, 3, 4), "int32")
    assert "which value files do not hold" in refusal(tmp_path, "output/conv", (2, 3, 4), "object")


def test_a_shape_that_hides_absurd_sizes_behind_a_zero_is_refused(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904, 4611686018427387904), }\n"
    place(tmp_path).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(place(tmp_path), "w") as file:
        file.writestr("output/conv.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    assert "says that it is [0, 4611686018427387904" in refusal(tmp_path, "output/conv", (0, 1 << 62, 1 << 62))


def test_a_missing_file_or_array_is_a_sentence(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"The value file {NAME} is not there; it belongs into plugins/layerflow of the run's folder."
    written(tmp_path)
    assert "has no array 'input/conv'" in refusal(tmp_path, "input/conv")


def npz(folder: Path, content: bytes, compression: int = zipfile.ZIP_STORED) -> None:
    place(folder).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(place(folder), "w", compression) as archive:
        archive.writestr("output/conv.npy", content)


def npy(text: str, body: bytes = b"", length: int | None = None) -> bytes:
    header = text.encode() + b" " * (118 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) if length is None else length) + header + body


def test_a_huge_declared_size_is_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    huge = (1 << 40, 3, 4)
    npz(tmp_path, npy(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {huge}, }}", ARRAY.tobytes()))
    assert "says that it is [1099511627776, 3, 4]; its 225 bytes are not" in refusal(tmp_path, "output/conv", huge)


def test_a_compressed_bomb_is_not_inflated(tmp_path: Path) -> None:
    shape = (1 << 26,)
    bomb = npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}") + bytes(1 << 26)
    npz(tmp_path, bomb, zipfile.ZIP_DEFLATED)
    assert place(tmp_path).stat().st_size < 1 << 20
    del bomb
    assert "is compressed or encrypted, as LayerFlow writes none: it is not read" in refusal(
        tmp_path, "output/conv", shape, "uint8"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os'), }",
        "{'descr': '<z9', 'fortran_order': False, 'shape': (2, 3, 4), }",
        "((((((((((((((((((((((((((((((((((((((((((",
    ],
)
def test_a_pickled_object_or_any_other_header_is_refused_unread(tmp_path: Path, text: str) -> None:
    npz(tmp_path, npy(text, b"cos\nsystem\n(S'true'\ntR."))
    assert "is no plain array of numbers: it is not read" in refusal(tmp_path)


@pytest.mark.parametrize(
    "name", ["../../secret.npz", "train-0123abcd-40.npz/../x", "/etc/passwd", "train-0123abcd-4.npz\0", "", "x.npz"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    np.savez(tmp_path / "secret.npz", a=ARRAY)
    with pytest.raises(LogError, match="is no name of a value file"):
        value_files.read(str(tmp_path), name, "a", (2, 3, 4), "float32")


def test_a_symbolic_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    outside = written(tmp_path / "elsewhere")
    for run in ("file", "folder", "plugins"):
        place(tmp_path / run).parent.parent.parent.mkdir(parents=True)
    place(tmp_path / "file").parent.mkdir(parents=True)
    place(tmp_path / "file").symlink_to(outside)
    place(tmp_path / "folder").parent.parent.mkdir()
    place(tmp_path / "folder").parent.symlink_to(outside.parent)
    place(tmp_path / "plugins").parent.parent.symlink_to(outside.parent.parent)
    for run in ("file", "folder", "plugins"):
        assert "is a link that leads out of its run's folder: it is not read" in refusal(tmp_path / run)


def test_a_link_inside_the_folder_and_a_linked_run_are_read(tmp_path: Path) -> None:
    real = written(tmp_path / "run")
    real.rename(real.with_name("moved.npz"))
    place(tmp_path / "run").symlink_to("moved.npz")
    (tmp_path / "linked").symlink_to(tmp_path / "run")
    for run in ("run", "linked"):
        np.testing.assert_array_equal(read(tmp_path / run), ARRAY)


def test_a_pipe_or_a_folder_in_its_place_does_not_hang(tmp_path: Path) -> None:
    place(tmp_path).parent.mkdir(parents=True)
    os.mkfifo(place(tmp_path))
    assert "is no plain file" in refusal(tmp_path)
    place(tmp_path).unlink()
    place(tmp_path).mkdir()
    assert refusal(tmp_path)


def test_a_file_cut_at_any_byte_gives_the_array_or_a_sentence(tmp_path: Path) -> None:
    whole = written(tmp_path).read_bytes()
    for size in range(len(whole)):
        place(tmp_path).write_bytes(whole[:size])
        assert refusal(tmp_path), size


@given(st.data())
@settings(max_examples=300)
def test_a_file_with_any_bytes_changed_gives_an_array_of_its_shape_or_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(written(tmp_path).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    place(tmp_path).write_bytes(raw)
    with contextlib.suppress(LogError):
        assert read(tmp_path).shape == (2, 3, 4)


def test_a_list_of_members_larger_than_ours_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, **{"output/conv": ARRAY, **{f"a{number}": ARRAY for number in range(50)}})
    monkeypatch.setattr(value_files, "MAX_DIRECTORY_BYTES", 1000)
    assert "bytes of names; at most 1,000 are read" in refusal(tmp_path)
