"""What `layerflow doctor` says: what is installed, whether TensorBoard finds the plugin, what a log holds and what is wrong.

Reads package metadata and the log; imports neither TensorFlow nor Keras.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
from collections.abc import Iterator
from importlib import metadata
from typing import NamedTuple

from tb_layerflow.log import tags
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.event_writer import SUFFIX
from tb_layerflow.log.records import Execution
from tb_layerflow.log.text import counted, moment
from tb_layerflow.reader import LogDir, Stream

PACKAGES = (
    "tb-layerflow",
    "tensorboard",
    "tensorboard-data-server",
    "tensorflow",
    "tensorflow-cpu",
    "keras",
    "tf_keras",
    "numpy",
    "protobuf",
)
ENTRY_POINTS = "tensorboard_plugins"
PLUGIN = "tb_layerflow.plugin.loader:LayerFlowLoader"
RETRACES = 5
"""Retraces that are told one by one."""
START = "model.fit(..., callbacks=[tb_layerflow.LayerFlow(LOGDIR)])"


class Finding(NamedTuple):
    """Something that is wrong, where, and what to do about it."""

    where: str
    what: str
    remedy: str


def lines(logdir: str | None = None) -> Iterator[str]:
    """The report, line by line. LogError and OSError as the reader raises them."""
    found, trained, well = installation(), [], "Nothing is wrong."
    yield "Installed"
    yield from (f"  {name:<24}{version or 'not installed'}" for name, version in versions().items())
    yield "TensorBoard"
    yield f"  {'plugin':<24}{', '.join(plugins()) or 'not found'}"
    yield from (f"  {name:<24}{state}" for name, state in loaders().items())
    if logdir is not None:
        log = LogDir(logdir)
        yield f"Log {logdir}"
        for stream in _streams(log):
            yield from (f"  {line}" for line in described(stream))
        found += problems(log, logdir)
        trained, well = [line for stream in _streams(log) for line in training(stream, logdir)], "Nothing is wrong with the log."
    yield well if not found else f"{len(found)} thing{'s are' if len(found) > 1 else ' is'} wrong"
    for finding in found:
        yield f"  {finding.where}: {finding.what}"
        yield f"    → {finding.remedy}"
    yield from trained


# -------------------------------------------------------------------------------------------------------- installation


def versions() -> dict[str, str]:
    """The version of each package that matters, empty where it is not installed; Python's first."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def plugins() -> list[str]:
    """The entry points under which TensorBoard finds LayerFlow."""
    return [found.value for found in metadata.entry_points(group=ENTRY_POINTS) if found.value.startswith("tb_layerflow.")]


def loaders() -> dict[str, str]:
    """TensorBoard's two loaders of event files, and whether each can be used."""
    fast = "not installed: TensorBoard uses the Python loader"
    if importlib.util.find_spec("tensorboard_data_server") is not None:
        import tensorboard_data_server

        binary = tensorboard_data_server.server_binary()
        fast = "available" if binary else "its package has no binary for this machine: TensorBoard uses the Python loader"
    return {"fast loader": fast, "Python loader": "available"}


def installation() -> list[Finding]:
    """What is wrong with this installation."""
    found = []
    names = plugins()
    if not names:
        found.append(
            Finding("TensorBoard", "it does not find the LayerFlow plugin.", "Run `pip install tb-layerflow` in its environment.")
        )
    if len(names) > 1:
        what = f"LayerFlow is installed {len(names)} times, and a second plugin of one name stops it."
        found.append(Finding("TensorBoard", what, "Run `pip uninstall tb-layerflow` until it is gone, then install it once."))
    if _before(_version("tensorboard"), (2, 21)) and importlib.util.find_spec("pkg_resources") is None:
        found.append(Finding("TensorBoard", "this version needs `pkg_resources`, which setuptools has no longer.",
                             'Run `pip install "setuptools<81"`.'))  # fmt: skip
    return found


def _before(version: str, wanted: tuple[int, int]) -> bool:
    parts = version.split(".")[:2]
    return len(parts) == 2 and all(part.isdecimal() for part in parts) and (int(parts[0]), int(parts[1])) < wanted


# ----------------------------------------------------------------------------------------------------------------- log


def _streams(log: LogDir) -> Iterator[Stream]:
    for run in log.runs:
        for name in log.run(run).streams:
            yield log.run(run).stream(name)


def described(stream: Stream) -> list[str]:
    """What one stream holds, and how its step executes."""
    steps = stream.steps
    found = [
        f"run {stream.run!r}, stream {stream.name!r}: {counted(len(steps), 'record')}"
        + (f", steps {steps[0]} to {steps[-1]}" if len(steps) > 1 else f", step {steps[0]}" if len(steps) else "")
    ]
    sessions = stream.sessions
    if len(sessions) > 1:
        starts = ", ".join(moment(session.start / 1e6) for session in sessions if session.start)
        found.append(f"  {len(sessions)} sessions, begun {starts}")
    try:
        record = stream.graph.record
    except ValueError:
        return found
    skipped = sum(entry.status == "skipped" for entry in stream.ledger())
    what = f"{counted(record.leaf_count, 'call')}, {counted(len(record.layers), 'layer')}"
    left_out = f"{counted(skipped, 'thing')} skipped, which the ledger explains" if skipped else "nothing skipped"
    found.append(f"  {record.model!r}: {what}; {left_out}")
    return found + [f"  {line}" for line in executed(stream.execution())]


def training(stream: Stream, logdir: str) -> list[str]:
    """How many findings there are about the training itself, and the command that shows them; empty where there are none."""
    try:
        found = stream.findings()
    except LogError as error:
        return [f"Whether the training went well cannot be told: {error}"]
    if not found:
        return []
    failures = sum(finding.level == "failure" for finding in found)
    many = f"{counted(len(found), 'finding')}, {failures} of them failures"
    command = shlex.join(["layerflow", "show", logdir, "--run", stream.run, "--stream", stream.name])
    return [f"About the training there {'are' if len(found) > 1 else 'is'} {many}: {command}"]


def executed(execution: Execution) -> list[str]:
    """How a step executes, in words."""
    if not execution.mode:
        return []
    how = {"eager": "eagerly, operation by operation", "traced": "traced", "compiled": "compiled by XLA"}.get(
        execution.mode, execution.mode
    )
    steps = f", {execution.steps_per_execution} steps per execution" if execution.steps_per_execution > 1 else ""
    where = f"{execution.strategy}, {execution.replicas} replicas" if execution.strategy else "no distribution strategy"
    found = [f"executes {how}{steps}; {where}; dtype policy {execution.dtype_policy or 'unknown'}"]
    traced = f"traced {counted(execution.traces, 'time')}; tracing the recording one took {execution.trace_seconds:.1f} s"
    found.append(f"{execution.function or 'step'}: {traced}")
    found += [f"retraced: {reason}" for reason in execution.retraces[:RETRACES]]
    if len(execution.retraces) > RETRACES:
        found.append(f"and retraced {counted(len(execution.retraces) - RETRACES, 'time')} more, which the ledger tells")
    keras = f"{execution.family} {execution.keras_version}, " if execution.family else ""
    return [*found, f"{keras}TensorFlow {execution.tensorflow_version} on {', '.join(execution.devices) or 'unknown devices'}"]


def problems(log: LogDir, logdir: str) -> list[Finding]:
    """What is wrong with the logdir."""
    found = [] if log.runs else [Finding(logdir, "nothing that LayerFlow recorded is here.", f"Record something: {START}")]
    for name in log.runs:
        run = log.run(name)
        damage = [sentence for folder in run.folders for sentence in _unreadable(log, folder)]
        sentences = [*run.problems, *damage, *(sentence for stream in run.streams for sentence in run.stream(stream).problems)]
        found += [Finding(f"run {name!r}", sentence, _remedy(sentence)) for sentence in dict.fromkeys(sentences)]
        for folder in run.folders:
            found += _writers(name, os.path.join(logdir, folder))
        for stream in run.streams:
            found += _of_stream(run.stream(stream))
    return found


def _unreadable(log: LogDir, folder: str) -> Iterator[str]:
    """Reads every event of a folder once: sentences about those that are damaged."""
    for tag in log.source.tags(folder):
        parsed = tags.parse(tag)
        try:
            if parsed is not None and parsed.kind not in tags.BLOB_KINDS:
                log.source.tensors(folder, tag)
            elif parsed is not None:
                for step in log.source.blob_steps(folder, tag):
                    for number in range(log.source.blob_count(folder, tag, step)):
                        log.source.blob(folder, tag, step, number)
        except LogError as error:
            yield str(error)


def _remedy(sentence: str) -> str:
    if "newer" in sentence or "schema" in sentence:
        return "Update the reader: pip install -U tb-layerflow"
    return "What was written before it is shown; record again to have the rest, or copy the file once more where it was cut."


def _writers(run: str, folder: str) -> list[Finding]:
    names = [name for name in os.listdir(folder) if "tfevents" in name] if os.path.isdir(folder) else []
    ours = [name for name in names if name.endswith(SUFFIX)]
    foreign = sorted(set(names) - set(ours))
    if not ours or not foreign:
        return []
    what = (
        f"two writers share the folder ({foreign[0]} is not ours), and TensorBoard's Python loader may follow only one of them."
    )
    return [Finding(f"run {run!r}", what, "Give LayerFlow a folder of its own, such as LOGDIR/layerflow.")]


def _of_stream(stream: Stream) -> list[Finding]:
    where = f"run {stream.run!r}, stream {stream.name!r}"
    found = []
    if not len(stream.steps):
        found.append(
            Finding(
                where,
                "it has a graph and no records.",
                "Training may have stopped early; see `every`, which says when to record.",
            )
        )
    missing = sum(max(session.missing, 0) for session in stream.sessions)
    if missing:
        found.append(Finding(where, f"{missing} records that were written are not there.",
                             "A file was cut or is missing; copy the whole folder again."))  # fmt: skip
    for older, newer in zip(stream.sessions, stream.sessions[1:], strict=False):
        if older.heads and newer.start and older.heads[-1].wall_time * 1e6 > newer.start:
            what = "two processes wrote it at the same time; the one that began later hides the other's steps."
            found.append(Finding(where, what, "Give each process a log_dir, or a `stream=`, of its own."))
            break
    return found
