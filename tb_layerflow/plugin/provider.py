"""The only file that touches TensorBoard's data provider: its time series as the reader's source of records.

Both loaders are met with the same few calls: a listing, whole time series of tensors, and single blobs. One step of a tensor
cannot be asked for, and the data server takes 44 ms for a small reply however many wait for theirs: what a stream needs is read
side by side, and read again only where it grew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from tensorboard import errors
from tensorboard.data import provider as tensorboard_provider

from tb_layerflow._reader.cache import BoundedCache
from tb_layerflow._reader.source import Stored, folder_of
from tb_layerflow.log import tags
from tb_layerflow.log.errors import LogError

ALL = 10_000_000
"""How many points of a time series to ask for: all that TensorBoard keeps."""

THREADS = 8
TENSOR_BYTES = 256 << 20
BLOB_BYTES = 64 << 20
POINT_BYTES = 120
"""About what a Stored costs beside its payload."""

_NO_TENSOR = (TypeError, ValueError, KeyError, OverflowError, MemoryError)
"""What TensorBoard raises where a tensor's dtype, shape and content do not belong together: for all points of a tag at once."""

Listing = dict[str, dict[str, int]]
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="layerflow-read")


class ProviderSource:
    """One experiment's records. Safe to use from many threads; sees what was added when `refresh` is called."""

    def __init__(self, data_provider: Any, context: Any, experiment: str, logdir: str = "") -> None:
        """`context` is TensorBoard's RequestContext, `experiment` its id, empty for the logdir that TensorBoard was given.

        `logdir` is that folder, empty where TensorBoard has none (`--logdir_spec`).
        """
        self._provider = data_provider
        self._context = context
        self._experiment = experiment
        self._logdir = logdir
        self._tensors: BoundedCache[tuple[int, list[Stored]]] = BoundedCache(TENSOR_BYTES)
        self._blobs: BoundedCache[bytes] = BoundedCache(BLOB_BYTES)
        self._keys: dict[tuple[str, str], tuple[int, dict[int, list[str]]]] = {}
        self._not_ours: dict[tuple[str, str], str] = {}
        self._reading: dict[tuple[str, str], threading.Lock] = {}
        self._listed: Listing = {}
        self.refresh()

    def refresh(self) -> None:
        """List anew: the runs, their tags, and how far each tag has come."""
        calls = [(self._provider.list_blob_sequences, tags.BLOB_PLUGIN), (self._provider.list_tensors, tags.TENSOR_PLUGIN)]
        listed: Listing = {}
        for found in _pool.map(lambda call: self._list(*call), calls):
            for run, series in found.items():
                own = {tag: _version(points) for tag, points in series.items() if tags.parse(tag) is not None}
                listed.setdefault(run, {}).update(own)
        self._listed = {run: own for run, own in listed.items() if own}

    def runs(self) -> list[str]:
        """The runs that hold records of ours."""
        return sorted(self._listed)

    def tags(self, run: str) -> dict[str, int]:
        """The run's tags, each with a number that changes when something is added to it; empty for an unknown run."""
        return dict(self._listed.get(run, {}))

    def tensors(self, run: str, tag: str) -> list[Stored]:
        """All points of a tensor tag that TensorBoard keeps, by rising step; none for an unknown tag."""
        known = self._fresh(run, tag)
        if known is None:
            with self._reading.setdefault((run, _all_blocks(tag)), threading.Lock()):
                known = self._fresh(run, tag)
                if known is None:
                    known = self._read_together(run, tag)
        return known

    def blob_steps(self, run: str, tag: str) -> list[int]:
        """The steps of a blob sequence that TensorBoard keeps, rising."""
        return list(self._blob_keys(run, tag))

    def blob_count(self, run: str, tag: str, step: int) -> int:
        """How many blobs there are at one step; 0 where there is no such step."""
        return len(self._blob_keys(run, tag).get(step, ()))

    def blob(self, run: str, tag: str, step: int, index: int) -> bytes:
        """One blob. LogError where TensorBoard has dropped it, or never had it."""
        held = self._blobs.get((run, tag, step, index))
        if held is not None:
            return held
        keys = self._blob_keys(run, tag).get(step, [])
        if not 0 <= index < len(keys):
            raise LogError(f"{tag} has {len(keys)} blobs at step {step}; blob {index} was asked for.")
        try:
            blob = bytes(self._provider.read_blob(self._context, blob_key=keys[index]))
        except (errors.NotFoundError, KeyError, IndexError) as error:
            raise LogError(f"TensorBoard no longer keeps {tag} at step {step}.") from error
        except _NO_TENSOR as error:
            raise LogError(f"{tag} holds a tensor at step {step} that TensorBoard cannot read: it is damaged.") from error
        except errors.InvalidArgumentError as error:  # seen for names that JSON escapes: the server refuses the keys that it gave
            raise LogError(
                f"TensorBoard's data server cannot read the graphs of the run {run!r}, whose name holds a quote, a backslash or "
                "a control character. Rename the folder, or start TensorBoard with --load_fast=false."
            ) from error
        return self._blobs.put((run, tag, step, index), blob, len(blob))

    def folder(self, run: str) -> str:
        """The run's folder below the logdir: value files are no part of what TensorBoard loads."""
        if not self._logdir:
            raise LogError("Exact values are read from the run's folder: start TensorBoard with --logdir to see them.")
        return folder_of(os.path.expanduser(self._logdir), run)

    def problems(self, run: str) -> list[str]:
        """What was found under tags of ours and is no record. TensorBoard reads the files, and tells nobody where it stops."""
        return [sentence for (of, _), sentence in list(self._not_ours.items()) if of == run]

    def _list(self, call: Callable[..., Any], plugin: str) -> Mapping[str, Mapping[str, Any]]:
        try:
            return call(self._context, experiment_id=self._experiment, plugin_name=plugin) or {}
        except errors.NotFoundError:
            return {}

    def _fresh(self, run: str, tag: str) -> list[Stored] | None:
        """What is held of the tag, if it is all that was listed."""
        version = self._listed.get(run, {}).get(tag)
        if version is None:
            return []
        held = self._tensors.get((run, tag))
        return held[1] if held is not None and held[0] == version else None

    def _read_together(self, run: str, tag: str) -> list[Stored]:
        """The tag's points, read beside the blocks that follow it, because those are asked for next."""
        own = tags.parse(tag)
        ahead = range(own.block + 1, own.block + THREADS) if own is not None and own.block is not None else ()
        following = [str(replace(own, block=block)) for block in ahead]  # type: ignore[type-var]
        wanted = [tag] + [other for other in following if self._fresh(run, other) is None]
        listed = self._listed
        versions = [listed.get(run, {}).get(each, 0) for each in wanted]
        found = list(_pool.map(lambda each: self._tensors_or_error(run, each), wanted))
        for each, version, stored in zip(wanted, versions, found, strict=True):
            if not isinstance(stored, LogError):
                self._tensors.put((run, each), (version, stored), sum(len(one.payload) + POINT_BYTES for one in stored))
        if isinstance(found[0], LogError):
            raise found[0]
        return found[0]

    def _tensors_or_error(self, run: str, tag: str) -> list[Stored] | LogError:
        """The tag's points by rising step; the error of one tag must not hide those that are read beside it."""
        try:
            points = self._points(self._provider.read_tensors, tags.TENSOR_PLUGIN, run, tag)
        except LogError as error:
            return error
        stored = sorted(filter(None, map(_stored, points)), key=lambda one: one.step)
        self._not_ours.pop((run, tag), None)
        if len(stored) < len(points):
            self._not_ours[run, tag] = (
                f"{tag} holds {len(points) - len(stored)} tensors that are not one string: no record is read."
            )
        return stored

    def _blob_keys(self, run: str, tag: str) -> dict[int, list[str]]:
        """TensorBoard's keys of the blobs at each step, by rising step; read again when the tag grew."""
        version = self._listed.get(run, {}).get(tag)
        if version is None:
            return {}
        held = self._keys.get((run, tag))
        if held is None or held[0] != version:
            points = self._points(self._provider.read_blob_sequences, tags.BLOB_PLUGIN, run, tag)
            points.sort(key=lambda point: point.step)
            held = self._keys[run, tag] = (version, {point.step: [blob.blob_key for blob in point.values] for point in points})
        return held[1]

    def _points(self, call: Callable[..., Any], plugin: str, run: str, tag: str) -> list[Any]:
        """The points of one time series. LogError where they are more than TensorBoard's data server sends at once."""
        only = tensorboard_provider.RunTagFilter(runs=[run], tags=[tag])
        try:
            answer = call(self._context, experiment_id=self._experiment, plugin_name=plugin, downsample=ALL, run_tag_filter=only)
        except errors.NotFoundError:
            return []
        except _NO_TENSOR as error:
            if isinstance(error, KeyError) and error.args == (run,):  # the run is gone
                return []
            raise LogError(
                f"{tag} holds a tensor that TensorBoard cannot read: it is damaged, and nothing of it is shown."
            ) from error
        except Exception as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise LogError(f"{tag} holds more than the 256 MB that TensorBoard's data server sends at once.") from error
            raise
        return list((answer or {}).get(run, {}).get(tag, ()))


def _all_blocks(tag: str) -> str:
    """What a tag has in common with the other blocks of its kind: who reads one reads those that follow."""
    own = tags.parse(tag)
    return tag if own is None else str(replace(own, block=None))


def _version(series: Any) -> int:
    """Steps rise within a tag of ours, so that whatever is added changes the newest step."""
    return hash((series.max_step, series.max_wall_time))


def _stored(point: Any) -> Stored | None:
    """The point, if it is a tensor of one string."""
    if point.numpy.size != 1:
        return None
    element = point.numpy.reshape(-1)[0]
    return Stored(point.step, point.wall_time, bytes(element)) if isinstance(element, bytes) else None
