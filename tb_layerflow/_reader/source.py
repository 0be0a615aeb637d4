"""Where records come from, and the source that reads a folder's event files. Knows tags, steps and bytes, but no records.

The plugin has another source, over TensorBoard's data provider; all else in the reader works on both alike.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from typing import NamedTuple, Protocol

from tb_layerflow.log import tags
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.event_writer import SUFFIX
from tb_layerflow.log.events import Entry, EventFile


class Stored(NamedTuple):
    """One stored tensor of one string."""

    step: int
    wall_time: float
    payload: bytes


class Source(Protocol):
    """What the reader asks for. Runs are folders relative to the logdir, `.` for itself; tags are LayerFlow's only."""

    def runs(self) -> list[str]:
        """The runs that hold, or should hold, LayerFlow's records."""

    def tags(self, run: str) -> dict[str, int]:
        """The run's tags, each with a number that changes when something is added to it."""

    def tensors(self, run: str, tag: str) -> list[Stored]:
        """All that is stored under a tensor's tag, in the order of its steps. LogError where it cannot be read."""

    def blob_steps(self, run: str, tag: str) -> list[int]:
        """The steps of a blob sequence, rising."""

    def blob_count(self, run: str, tag: str, step: int) -> int:
        """How many blobs there are at one step; 0 where there is no such step."""

    def blob(self, run: str, tag: str, step: int, index: int) -> bytes:
        """One blob. LogError where it is not there or cannot be read."""

    def problems(self, run: str) -> list[str]:
        """Sentences about what of the run could not be read."""

    def folder(self, run: str) -> str:
        """The folder of a run on this machine, below which its value files are. LogError where there is none."""

    def refresh(self) -> None:
        """Look for what was added since."""


class EventFiles:
    """The event files below a folder, read directly. Files are opened only while they are read; safe to use from many threads."""

    def __init__(self, logdir: str | os.PathLike[str]) -> None:
        """FileNotFoundError where there is no such folder."""
        self.logdir = os.fspath(logdir)
        if not os.path.isdir(self.logdir):
            raise FileNotFoundError(f"There is no folder {self.logdir!r}. Give the folder that the runs were recorded into.")
        self._lock = threading.RLock()
        self._files: dict[str, dict[str, EventFile]] = {}
        self._entries: dict[str, dict[str, list[tuple[EventFile, Entry]]]] = {}
        self._not_ours: dict[str, dict[str, str]] = {}
        self._newest_blobs: tuple[EventFile, Entry, list[bytes]] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Find new files, and read on in the known ones."""
        with self._lock:
            for run, paths in _event_files(self.logdir).items():
                files = self._files.setdefault(run, {})
                entries = self._entries.setdefault(run, {})
                for path in paths:
                    file = files.setdefault(path, EventFile(path))
                    for entry in file.read_on():
                        if tags.parse(entry.tag) is not None:
                            entries.setdefault(entry.tag, []).append((file, entry))

    def runs(self) -> list[str]:
        """The runs with LayerFlow's tags, or at least a file of ours."""
        with self._lock:
            return sorted(run for run, files in self._files.items() if self._entries[run] or any(map(_is_ours, files)))

    def tags(self, run: str) -> dict[str, int]:
        """The run's LayerFlow tags, each with the number of its events."""
        with self._lock:
            return {tag: len(entries) for tag, entries in self._entries.get(run, {}).items()}

    def tensors(self, run: str, tag: str) -> list[Stored]:
        """All records of a tag; what is no record is among the run's problems. Where an event is damaged, LogError."""
        with self._lock:
            entries = list(self._entries.get(run, {}).get(tag, ()))
        by_file: dict[EventFile, list[Entry]] = defaultdict(list)
        for file, entry in entries:
            by_file[file].append(entry)
        stored = []
        for file, own in by_file.items():
            for entry, strings in zip(own, file.strings(own), strict=True):
                if len(strings) == 1:
                    stored.append(Stored(entry.step, entry.wall_time, strings[0]))
                    continue
                sentence = f"The event of {tag} at step {entry.step} holds {len(strings)} strings instead of one: it is not read."
                with self._lock:
                    self._not_ours.setdefault(run, {}).setdefault(tag, sentence)  # one sentence for a tag is enough
        return sorted(stored, key=lambda one: one.step)

    def blob_steps(self, run: str, tag: str) -> list[int]:
        """The steps of a blob sequence, rising."""
        with self._lock:
            return sorted({entry.step for _, entry in self._entries.get(run, {}).get(tag, ())})

    def blob_count(self, run: str, tag: str, step: int) -> int:
        """How many blobs there are at one step."""
        return len(self._blobs(run, tag, step))

    def blob(self, run: str, tag: str, step: int, index: int) -> bytes:
        """One blob of one step."""
        blobs = self._blobs(run, tag, step)
        if not 0 <= index < len(blobs):
            raise LogError(f"{tag} has {len(blobs)} blobs at step {step}; blob {index} was asked for.")
        return blobs[index]

    def problems(self, run: str) -> list[str]:
        """What the run's files of ours, and others that hold our events, have to complain of."""
        with self._lock:
            holding = {file for entries in self._entries.get(run, {}).values() for file, _ in entries}
            files = self._files.get(run, {})
            unread = [file.problem for path, file in files.items() if file.problem and (_is_ours(path) or file in holding)]
            return unread + list(self._not_ours.get(run, {}).values())

    def folder(self, run: str) -> str:
        """The run's folder."""
        return folder_of(self.logdir, run)

    def _blobs(self, run: str, tag: str, step: int) -> list[bytes]:
        """All blobs of a step. Those read last are kept, because they are asked for one after the other."""
        with self._lock:
            newest = next((pair for pair in reversed(self._entries.get(run, {}).get(tag, [])) if pair[1].step == step), None)
            if newest is None:
                return []
            kept = self._newest_blobs
            if kept is None or kept[0] is not newest[0] or kept[1] is not newest[1]:
                kept = (*newest, next(newest[0].strings([newest[1]])))
                self._newest_blobs = kept
            return kept[2]


def folder_of(logdir: str, run: str) -> str:
    """The folder of a run below the logdir. LogError where the run's name leads out of it."""
    if os.path.isabs(run) or os.pardir in run.replace(os.sep, "/").split("/") or "\0" in run:
        raise LogError(f"The run {run[:120]!r} is not below the logdir: its value files are not read.")
    return os.path.join(logdir, run)


def _is_ours(path: str) -> bool:
    return path.endswith(SUFFIX)


def _event_files(logdir: str) -> dict[str, list[str]]:
    """The event files of every run below the folder, in the order of their names. Links are followed, each folder once."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for folder, inner, names in os.walk(logdir, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        files = sorted(os.path.join(folder, name) for name in names if "tfevents" in name)
        if files:
            found[os.path.relpath(folder, logdir).replace(os.sep, "/")] = files
    return found
