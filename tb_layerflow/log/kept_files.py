"""The file of one kept step: its batch and the weights before its update, as an ordinary npz.

Knows no TensorFlow and no models.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import value_files
from .errors import LogError
from .value_files import SUBFOLDER

SUFFIX = ".kept.npz"
_NAME = re.compile(r"([a-z0-9_]{1,32})-[0-9a-f]{8}-(0|[1-9][0-9]{0,18})\.kept\.npz")
_WEIGHT = "weight:"


@dataclass
class KeptStep:
    """What was kept of one step, before its update. `batch` maps `x`, `x/left`, `y`, … to arrays; `weights` are (path, array)
    in the order of `model.variables`.
    """

    step: int
    batch: dict[str, NDArray[Any]] = field(default_factory=dict)
    weights: list[tuple[str, NDArray[Any]]] = field(default_factory=list)

    def __repr__(self) -> str:
        batch = ", ".join(f"{name} {array.dtype} {list(array.shape)}" for name, array in self.batch.items())
        return f"<KeptStep {self.step}: batch {batch or 'none'}; {len(self.weights)} weights>"


def write(path: str, batch: Mapping[str, Any], weights: Iterable[tuple[str, Any]]) -> None:
    """Write under a temporary name, then rename. bfloat16 is kept as float32, which holds it exactly."""
    members = {name.replace("/", ":"): _plain(array) for name, array in batch.items()}
    for number, (name, array) in enumerate(weights):
        members[f"{_WEIGHT}{number:05d}:{name.replace('/', ':')}"] = _plain(array)
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        np.savez(file, **members)  # type: ignore[arg-type]
    os.replace(temporary, path)


def names(folder: str, stream: str) -> list[tuple[int, str]]:
    """(step, name) of the kept steps of a stream below a run's folder, in the order of the steps."""
    try:
        listed = os.listdir(os.path.join(folder, *SUBFOLDER))
    except OSError:
        return []
    matches = [match for name in listed if (match := _NAME.fullmatch(name)) and match[1] == stream]
    return sorted((int(match[2]), match[0]) for match in matches)


def read(folder: str, name: str) -> KeptStep:
    """Read a kept step of a run. LogError where the file is damaged, too large, not of this form, or outside of the folder."""
    with value_files.opened(folder, name) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                declared = sum(entry.file_size for entry in archive.infolist())
                if declared > os.fstat(file.fileno()).st_size:
                    raise LogError(f"{name} declares more bytes than it has: it is not read.")
            file.seek(0)
            kept = KeptStep(int(name.split("-")[2].split(".")[0]))
            with np.load(file, allow_pickle=False) as arrays:
                for member in sorted(arrays.files):
                    if member.startswith(_WEIGHT):
                        kept.weights.append((member.split(":", 2)[2].replace(":", "/"), arrays[member]))
                    else:
                        kept.batch[member.replace(":", "/")] = arrays[member]
        except (OSError, ValueError, IndexError, EOFError, KeyError, zipfile.BadZipFile) as error:
            raise (
                error if isinstance(error, LogError) else LogError(f"The kept step in {name} cannot be read: {error}.")
            ) from error
    return kept


def _plain(array: Any) -> NDArray[Any]:
    numbers = np.asarray(array)
    return numbers.astype(np.float32) if numbers.dtype.name == "bfloat16" else numbers
