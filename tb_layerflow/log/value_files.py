"""Value files: one record's arrays in an ordinary zip of .npy files, written whole, read member by member. Knows no records.

A file in a log is not trusted. It is looked for only under a run's own folder, its sizes are checked against its real length
before anything is read, nothing in it is unpacked, evaluated or executed, and whatever is wrong with it is one LogError.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import LogError

SUBFOLDER = ("plugins", "layerflow")
DTYPES = {
    "float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "float64": "<f8", "bool": "|b1",
    "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "|u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
}  # fmt: skip
"""How each dtype of a tensor is stored; bfloat16 as its bits."""

BLOCK_BYTES = 4 << 20
"""A part of an array is read in blocks of about this size."""
MAX_DIRECTORY_BYTES = 8 << 20
"""Of the list of arrays: some 100 bytes each, and the 10,000 calls of a large model have a few arrays each."""
MAX_RANK = 32

_NAME = re.compile(r"[a-z0-9_]{1,32}-[0-9a-f]{8}-(0|[1-9][0-9]{0,18})(\.kept)?\.npz")
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([<|][a-z][0-9])', 'fortran_order': False, 'shape': \(([0-9, ]{0,700})\), \} *\n",
    re.DOTALL,
)
_MAX_NPY_HEADER = 1024
_DAMAGE = (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OverflowError, struct.error, EOFError)
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_END = struct.Struct("<4s8xLLH")
_END_64 = struct.Struct("<4s36xQQ")
_END_64_LOCATOR = struct.Struct("<4s4xQ4x")


class _Place(NamedTuple):
    """Where an array's numbers begin in the file."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]


def name_of(stream: str, session: str, step: int) -> str:
    """The base name of a record's value file."""
    return f"{stream}-{session}-{step}.npz"


def write(path: str, arrays: Iterable[tuple[str, NDArray[np.generic]]]) -> int:
    """Write (member, array) pairs under a temporary name, then rename; returns the file's size in bytes.

    Nothing is compressed, so that a part of one array can be read by itself. OSError where the disk does not take it; then
    nothing is left behind.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
            for member, array in arrays:
                entry = zipfile.ZipInfo(f"{member}.npy")
                with file.open(entry, "w", force_zip64=array.nbytes >= 1 << 30) as target:
                    np.lib.format.write_array(target, np.asarray(array, order="C"), version=(1, 0), allow_pickle=False)
        size = os.path.getsize(temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise
    return size


def read(
    folder: str,
    name: str,
    member: str,
    shape: Sequence[int],
    dtype: str,
    where: Sequence[slice] = (),
) -> NDArray[np.generic]:
    """One array of a value file, or the part of it that `where` (a slice per leading axis) chooses.

    Args:
      folder: The run's folder; the file is `plugins/layerflow/<name>` in it, and nowhere else.
      name: The file's base name.
      member: The array's name in the file.
      shape: What shape it must have.
      dtype: The tensor's dtype by name; bfloat16 gives its bits as uint16.
      where: Slices with positive steps.

    Raises:
      LogError: The file is not there, lies elsewhere, or is not what it should be. The text says which.
    """
    if dtype not in DTYPES:
        raise LogError(f"The array {_shown(member)} has the dtype {_shown(dtype)}, which value files do not hold.")
    with opened(folder, name) as file:
        try:
            place = _find(file, name, member)
        except LogError:
            raise
        except _DAMAGE as error:
            raise LogError(f"The value file {name} is damaged or cut off: {error}.") from error
        if place.shape != tuple(shape) or place.dtype != np.dtype(DTYPES[dtype]):
            stored, recorded = f"{place.dtype.name} {list(place.shape)}", f"{dtype} {list(shape)}"
            raise LogError(f"The array {_shown(member)} in {name} is {stored}, not the {recorded} that was recorded.")
        return _selected(file, place, where)


def size_of(shape: Sequence[int], dtype: str) -> int:
    """How many bytes such an array has. LogError where it is none that value files hold."""
    if dtype not in DTYPES:
        raise LogError(f"The dtype {_shown(dtype)} is none that value files hold.")
    return _bytes(shape, np.dtype(DTYPES[dtype]))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "…")


# -------------------------------------------------------------------------------------------------------- which file


@contextlib.contextmanager
def opened(folder: str, name: str) -> Iterator[BinaryIO]:
    """The file, opened for reading. LogError where it is no plain file inside of the run's own `plugins/layerflow`."""
    if not _NAME.fullmatch(name):
        raise LogError(f"{_shown(name)} is no name of a value file: it is not read.")
    inside = os.path.join(os.path.realpath(folder), *SUBFOLDER)
    path = os.path.join(inside, name)
    real = os.path.realpath(path)
    if os.path.dirname(real) != inside and os.path.commonpath([inside, real]) != inside:
        raise LogError(f"The value file {name} is a link that leads out of its run's folder: it is not read.")
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(real, flags)
    except OSError as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise LogError(f"The value file {name} {reason}; it belongs into plugins/layerflow of the run's folder.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LogError(f"The value file {name} is no plain file: it is not read.")
    with open(descriptor, "rb") as file:
        try:
            yield file
        except OSError as error:
            raise LogError(f"The value file {name} cannot be read ({error.strerror}).") from error


# ------------------------------------------------------------------------------------------------------ where in it


def _find(file: BinaryIO, name: str, member: str) -> _Place:
    size = os.fstat(file.fileno()).st_size
    _check_directory(file, name, size)
    with zipfile.ZipFile(file) as archive:
        try:
            entry = archive.getinfo(f"{member}.npy")
        except KeyError:
            raise LogError(f"The value file {name} has no array {_shown(member)}: it is damaged or of another record.") from None
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        raise LogError(
            f"The array {_shown(member)} in {name} is compressed or encrypted, as LayerFlow writes none: it is not read."
        )
    file.seek(entry.header_offset)
    signature, name_length, extra_length = _LOCAL_HEADER.unpack(_exactly(file, _LOCAL_HEADER.size))
    if signature != b"PK\3\4":
        raise LogError(f"The value file {name} is damaged: there is no array where its list says so.")
    begin = entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length
    end = begin + entry.file_size
    if entry.compress_size != entry.file_size or end > size:
        raise LogError(f"The array {_shown(member)} in {name} says that it has {entry.file_size:,} bytes, but it has not.")
    file.seek(begin)
    header = _NPY.match(file.read(min(_MAX_NPY_HEADER, entry.file_size)))
    descr = None if header is None else header[2].decode()
    if header is None or descr not in DTYPES.values() or struct.unpack("<H", header[1])[0] + 10 != header.end():
        raise LogError(f"The array {_shown(member)} in {name} is no plain array of numbers: it is not read.")
    dtype = np.dtype(descr)
    shape = tuple(int(text) for text in header[3].decode().split(",") if text.strip())
    place = _Place(begin + header.end(), shape, dtype)
    absurd = len(shape) > MAX_RANK or _bytes([max(size, 1) for size in shape], dtype) >= 1 << 62  # a 0 hides the others
    if absurd or place.offset + _bytes(shape, dtype) != end:
        claimed, real = list(shape)[:MAX_RANK], f"{entry.file_size:,}"
        raise LogError(f"The array {_shown(member)} in {name} says that it is {claimed}; its {real} bytes are not.")
    return place


def _check_directory(file: BinaryIO, name: str, size: int) -> None:
    """Refuse a list of members that is larger than ours ever are, before `zipfile` reads all of it."""
    tail = min(size, _END.size + 65_535)
    file.seek(size - tail)
    ending = file.read(tail)
    at = ending.rfind(b"PK\5\6")
    if at < 0 or len(ending) < at + _END.size:
        raise LogError(f"The value file {name} is cut off or no zip: its list of arrays is missing.")
    _, directory, _, _ = _END.unpack_from(ending, at)
    locator = size - tail + at - _END_64_LOCATOR.size
    if locator >= 0:
        file.seek(locator)
        signature, place = _END_64_LOCATOR.unpack(_exactly(file, _END_64_LOCATOR.size))
        if signature == b"PK\6\7" and place + _END_64.size <= size:
            file.seek(place)
            directory = max(directory if directory != 0xFFFFFFFF else 0, _END_64.unpack(_exactly(file, _END_64.size))[1])
    if directory > MAX_DIRECTORY_BYTES:
        raise LogError(f"The value file {name} lists {directory:,} bytes of names; at most {MAX_DIRECTORY_BYTES:,} are read.")


def _exactly(file: BinaryIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) != count:
        raise EOFError("it ends too early")
    return found


def _bytes(shape: Sequence[int], dtype: np.dtype[np.generic]) -> int:
    count = dtype.itemsize
    for size in shape:
        count *= size
    return count


# ------------------------------------------------------------------------------------------------------- its numbers


def _selected(file: BinaryIO, place: _Place, where: Sequence[slice]) -> NDArray[np.generic]:
    """The chosen part; of an array larger than a block, only blocks with something of the part are read, one at a time."""
    ranges = [range(*one.indices(size)) for one, size in zip(where, place.shape, strict=False)]
    ranges += [range(size) for size in place.shape[len(ranges) :]]
    found = np.empty([len(one) for one in ranges], place.dtype)
    if found.size:
        _fill(file, place.offset, place.shape, ranges, found)
    return found


def _fill(file: BinaryIO, offset: int, shape: tuple[int, ...], ranges: list[range], target: NDArray[np.generic]) -> None:
    whole = all(len(one) == size for one, size in zip(ranges, shape, strict=True))
    if whole or _bytes(shape, target.dtype) <= BLOCK_BYTES:
        block = _numbers(file, offset, shape, target.dtype)
        target[...] = block if whole else block[_slices(ranges)]
        return
    row = _bytes(shape[1:], target.dtype)
    first, rest = ranges[0], ranges[1:]
    if row >= BLOCK_BYTES:
        for place, index in enumerate(first):
            _fill(file, offset + index * row, shape[1:], rest, target[place, ...])
        return
    rows = max(1, BLOCK_BYTES // row // first.step) * first.step
    for begin in range(first.start, first.stop, rows):
        count = min(rows, shape[0] - begin)
        block = _numbers(file, offset + begin * row, (count, *shape[1:]), target.dtype)
        own = range(0, min(count, first.stop - begin), first.step)
        place = (begin - first.start) // first.step
        target[place : place + len(own)] = block[_slices([own, *rest])]


def _slices(ranges: Iterable[range]) -> tuple[slice, ...]:
    return tuple(slice(one.start, one.stop, one.step) for one in ranges)


def _numbers(file: BinaryIO, offset: int, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    numbers = np.empty(shape, dtype)
    file.seek(offset)
    if file.readinto(numbers.reshape(-1).view(np.uint8).data) != numbers.nbytes:  # type: ignore[attr-defined]
        raise LogError("A value file was cut off while it was read.")
    return numbers
