"""The file of one kept step: its batch and the weights before its update, as an ordinary npz. Knows no TensorFlow and no models."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import LogError

SUFFIX = ".kept.npz"
_MOST_BYTES = 16 << 30
_WEIGHT = "weight:"


@dataclass
class KeptStep:
    """What was kept of one step. `batch` maps `x`, `x/left`, `y`, … to arrays; `weights` are in the order of the model's variables."""

    path: str
    batch: dict[str, NDArray[Any]] = field(default_factory=dict)
    weights: list[tuple[str, NDArray[Any]]] = field(default_factory=list)


def write(path: str, batch: Mapping[str, Any], weights: Iterable[tuple[str, Any]]) -> None:
    """Write under a temporary name, then rename. bfloat16 is kept as float32, which holds it exactly."""
    members = {name.replace("/", ":"): _plain(array) for name, array in batch.items()}
    for number, (name, array) in enumerate(weights):
        members[f"{_WEIGHT}{number:05d}:{name.replace('/', ':')}"] = _plain(array)
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        np.savez(file, **members)  # type: ignore[arg-type]
    os.replace(temporary, path)


def read(path: str) -> KeptStep:
    """Read a kept step. LogError where the file is damaged or not of this form."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                raise LogError(f"{os.path.basename(path)} declares more bytes than a kept step can have.")
        kept = KeptStep(path)
        with np.load(path, allow_pickle=False) as arrays:
            for member in sorted(arrays.files):
                if member.startswith(_WEIGHT):
                    kept.weights.append((member.split(":", 2)[2].replace(":", "/"), arrays[member]))
                else:
                    kept.batch[member.replace(":", "/")] = arrays[member]
    except (OSError, ValueError, zipfile.BadZipFile, KeyError) as error:
        raise LogError(f"The kept step in {os.path.basename(path)} cannot be read: {error}.") from error
    return kept


def _plain(array: Any) -> NDArray[Any]:
    numbers = np.asarray(array)
    return numbers.astype(np.float32) if numbers.dtype.name == "bfloat16" else numbers
