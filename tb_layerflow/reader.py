"""Reading what LayerFlow recorded, as numpy arrays. Never needs TensorFlow, executes nothing, and reads only what is asked for.

log = tb_layerflow.reader.LogDir("logs")
stream = log.run("resnet").stream("train")
steps, means = stream.statistics("output").series("first_dense", "mean")
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from ._reader.arguments import checked
from ._reader.exact import ExactValues
from ._reader.graph import Call, Edge, Graph, PortPath
from ._reader.histograms import Histogram, SampledFrom
from ._reader.history import LayerLossRow, Records
from ._reader.lineage import Lineage, Op
from ._reader.seconds import Seconds
from ._reader.sessions import Seam, Session
from ._reader.source import EventFiles, Source, Stored
from ._reader.statistics import Statistics
from ._reader.stream import Stream
from ._reader.values import ManifestRow
from .analysis.explanation import Explanation, Unexplained
from .log import tags
from .log.errors import LogError
from .log.event_writer import SUBFOLDER
from .log.paths import PathError, nearest
from .log.records import Frame

__all__ = [
    "Call",
    "Edge",
    "EventFiles",
    "ExactValues",
    "Explanation",
    "Frame",
    "Graph",
    "Histogram",
    "LayerLossRow",
    "Lineage",
    "LogDir",
    "LogError",
    "ManifestRow",
    "Op",
    "PathError",
    "PortPath",
    "Records",
    "Run",
    "SampledFrom",
    "Seam",
    "Seconds",
    "Session",
    "Source",
    "Statistics",
    "Stored",
    "Stream",
    "Unexplained",
    "open",
]


class LogDir:
    """The runs below a folder, or of another source of records. Safe to use from many threads."""

    @checked
    def __init__(self, path: str | os.PathLike[str] | None = None, *, source: Source | None = None) -> None:
        """FileNotFoundError where there is no such folder.

        Args:
          path: The folder that TensorBoard's `--logdir` takes, or any below it.
          source: Where records come from instead of the event files below `path`.
        """
        if (path is None) == (source is None):
            raise ValueError(f"LogDir takes a path or a source. Received: path={path!r}, source={source!r}.")
        self.source: Source = EventFiles(path) if source is None and path is not None else source  # type: ignore[assignment]
        self._name = "the source" if path is None else os.fspath(path)
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}

    def __repr__(self) -> str:
        return f"<LogDir {self._name!r}: {', '.join(self.runs) or 'no runs'}>"

    @property
    def runs(self) -> list[str]:
        """The names of the runs that LayerFlow recorded, sorted; `.` is the folder itself. `X/layerflow` is part of `X`."""
        return sorted({_run_name(run) for run in self.source.runs()})

    @checked
    def run(self, name: str) -> Run:
        """One run. KeyError where there is none of that name."""
        folders = [run for run in self.source.runs() if _run_name(run) == name]
        if not folders:
            raise PathError(f"{self._name} has no run {name!r}. {_choice('runs', self.runs, name)}")
        with self._lock:
            known = self._runs.get(name)
            if known is None or known.folders != folders:
                known = self._runs[name] = Run(self.source, name, folders)
            return known

    def refresh(self) -> None:
        """Read what was added since, in all runs."""
        self.source.refresh()
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run._reload()


class Run:
    """One run: a folder with event files. `folders` are the one that people named, and its `layerflow` where there is one."""

    def __init__(self, source: Source, name: str, folders: Sequence[str]) -> None:
        self.name = name
        self.folders = list(folders)
        self._source = source
        self._lock = threading.Lock()
        self._streams: dict[str, Stream] = {}

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {', '.join(self.streams) or 'no streams'}>"

    @property
    def streams(self) -> list[str]:
        """The names of its streams: `train` and `probe` first, the others sorted."""
        parsed = [tags.parse(tag) for folder in self.folders for tag in self._source.tags(folder)]
        names = {tag.stream for tag in parsed if tag is not None}
        return sorted(names, key=lambda name: (name != "train", name != "probe", name))

    @property
    def problems(self) -> list[str]:
        """Sentences about what of its files cannot be read."""
        return [problem for folder in self.folders for problem in self._source.problems(folder)]

    @checked
    def stream(self, name: str) -> Stream:
        """One stream. KeyError where there is none of that name."""
        if name not in self.streams:
            raise PathError(f"Run {self.name!r} has no stream {name!r}. {_choice('streams', self.streams, name)}")
        with self._lock:
            return self._streams.setdefault(name, Stream(self._source, self.folders, self.name, name))

    def _reload(self) -> None:
        """Let its streams take over what the source has by now."""
        with self._lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream._reload()


@checked
def open(path: str | os.PathLike[str]) -> Stream:  # noqa: A001 (`layerflow.open` is the public name)
    """The only stream of the only run below a folder.

    Raises:
      FileNotFoundError: There is no such folder.
      LogError: (a ValueError) Nothing was recorded there, or there are several streams; the sentence lists them.
    """
    log = LogDir(path)
    found = [(run, stream) for run in log.runs for stream in log.run(run).streams]
    if len(found) == 1:
        return log.run(found[0][0]).stream(found[0][1])
    if found:
        lines = "".join(f"\n  LogDir({os.fspath(path)!r}).run({run!r}).stream({stream!r})" for run, stream in found)
        raise LogError(f"{os.fspath(path)} has {len(found)} streams; choose one:{lines}")
    problems = [problem for run in log.runs for problem in log.run(run).problems]
    raise LogError(" ".join([f"{os.fspath(path)} holds nothing that LayerFlow recorded.", *problems]))


def _run_name(folder: str) -> str:
    """The folder that people named: LayerFlow's own sub-folder counts as the one that holds it."""
    if folder == SUBFOLDER:
        return "."
    return folder.removesuffix("/" + SUBFOLDER)


def _choice(what: str, names: Sequence[str], name: str) -> str:
    if not names:
        return f"It has no {what}."
    near = nearest(names, name)
    return f"Its {what}: {', '.join(names)}." if len(names) <= 8 else f"The nearest: {', '.join(near)}."
