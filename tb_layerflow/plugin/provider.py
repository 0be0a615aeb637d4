"""The only file that touches TensorBoard's data provider: its time series as the reader's source of records.

Both loaders are met with the same few calls: a listing, whole time series of tensors, and single blobs. What TensorBoard dropped,
or does not know yet, is absent here, never an exception.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tensorboard import errors
from tensorboard.data import provider as tensorboard_provider

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.tags import BLOB_PLUGIN, TENSOR_PLUGIN
from tb_layerflow.plugin.cache import BoundedCache

ALL = 10_000_000
"""How many points of a time series to ask for: all that TensorBoard keeps. There is no other way to ask for a certain step."""

THREADS = 8
TENSOR_BYTES = 256 << 20
BLOB_BYTES = 128 << 20

Item = TypeVar("Item")
Result = TypeVar("Result")
Listing = dict[str, dict[str, Any]]


class Provider:
    """One per TensorBoard: the data provider, and what was read from it lately."""

    def __init__(self, data_provider: Any) -> None:
        self.data_provider = data_provider
        self.tensors: BoundedCache[tuple[object, list[tuple[int, float, bytes]]]] = BoundedCache(TENSOR_BYTES)
        self.sequences: BoundedCache[tuple[object, dict[int, list[str]]]] = BoundedCache(BLOB_BYTES // 4)
        self.blobs: BoundedCache[bytes] = BoundedCache(BLOB_BYTES)
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def together(self, read: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """`read` of every item, side by side: the data server takes 44 ms for a small reply, however many wait for theirs."""
        items = list(items)
        if len(items) < 2:
            return [read(item) for item in items]
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="layerflow-read")
        return list(self._pool.map(read, items))


class ProviderSource:
    """What one request sees of the log: listed once, when first needed, so that an answer does not mix two moments."""

    def __init__(self, provider: Provider, context: Any, experiment: str) -> None:
        self._provider = provider
        self._context = context
        self._experiment = experiment
        self._listed: Listing | None = None

    def runs(self) -> list[str]:
        """Names of the runs that hold records of ours."""
        return sorted(self._listing())

    def tags(self, run: str) -> dict[str, bytes]:
        """The run's tags of ours, each with its plugin content; empty for an unknown run."""
        return {tag: series.plugin_content for tag, series in self._listing().get(run, {}).items()}

    def tensors(self, run: str, tag: str) -> list[tuple[int, float, bytes]]:
        """(step, wall time in seconds, bytes) of every kept point of a tensor tag, by rising step; read again only when it grew."""
        found = self._read(self._provider.tensors, run, tag, self._read_tensors, lambda rows: sum(len(raw) for *_, raw in rows))
        return found if found is not None else []

    def blob_steps(self, run: str, tag: str) -> dict[int, int]:
        """How many blobs each kept step of a blob tag has, by rising step."""
        return {step: len(keys) for step, keys in self._sequences(run, tag).items()}

    def blob(self, run: str, tag: str, step: int, index: int) -> bytes | None:
        """One blob, or None where TensorBoard has dropped its step, or never had it."""
        key = (self._experiment, run, tag, step, index)
        held = self._provider.blobs.get(key)
        if held is not None:
            return held
        keys = self._sequences(run, tag).get(step, [])
        if not 0 <= index < len(keys):
            return None
        blob = self._asked(lambda: self._provider.data_provider.read_blob(self._context, blob_key=keys[index]))
        if blob is not None:
            self._provider.blobs.put(key, bytes(blob), len(blob))
        return blob

    def _listing(self) -> Listing:
        if self._listed is None:
            data_provider = self._provider.data_provider
            calls = [(data_provider.list_blob_sequences, BLOB_PLUGIN), (data_provider.list_tensors, TENSOR_PLUGIN)]
            listed: Listing = {}
            for answer in self._provider.together(lambda call: self._asked(self._list, *call), calls):
                for run, tags in (answer or {}).items():
                    listed.setdefault(run, {}).update(tags)
            self._listed = listed
        return self._listed

    def _list(self, call: Callable[..., Any], plugin: str) -> Mapping[str, Mapping[str, Any]] | None:
        return call(self._context, experiment_id=self._experiment, plugin_name=plugin)  # type: ignore[no-any-return]

    def _sequences(self, run: str, tag: str) -> dict[int, list[str]]:
        found = self._read(self._provider.sequences, run, tag, self._read_sequences, lambda steps: 300 * len(steps) + 100)
        return found if found is not None else {}

    def _read(
        self,
        cache: BoundedCache[tuple[object, Result]],
        run: str,
        tag: str,
        read: Callable[[str, str], Result],
        size: Callable[[Result], int],
    ) -> Result | None:
        """The time series, from the cache unless its newest point is another than when it was read."""
        series = self._listing().get(run, {}).get(tag)
        if series is None:
            return None
        key, newest = (self._experiment, run, tag), (series.max_step, series.max_wall_time)
        held = cache.get(key)
        if held is not None and held[0] == newest:
            return held[1]
        points = self._asked(read, run, tag)
        if points is not None:
            cache.put(key, (newest, points), size(points))
        return points

    def _read_tensors(self, run: str, tag: str) -> list[tuple[int, float, bytes]]:
        points = self._points(self._provider.data_provider.read_tensors, TENSOR_PLUGIN, run, tag)
        rows = ((point.step, point.wall_time, _only_string(point.numpy)) for point in points)
        return sorted((step, wall_time, raw) for step, wall_time, raw in rows if raw is not None)

    def _read_sequences(self, run: str, tag: str) -> dict[int, list[str]]:
        points = self._points(self._provider.data_provider.read_blob_sequences, BLOB_PLUGIN, run, tag)
        return {point.step: [blob.blob_key for blob in point.values] for point in sorted(points, key=lambda point: point.step)}

    def _points(self, call: Callable[..., Any], plugin: str, run: str, tag: str) -> list[Any]:
        only = tensorboard_provider.RunTagFilter(runs=[run], tags=[tag])
        answer = call(self._context, experiment_id=self._experiment, plugin_name=plugin, downsample=ALL, run_tag_filter=only)
        return list((answer or {}).get(run, {}).get(tag, ()))

    def _asked(self, call: Callable[..., Result], *arguments: Any) -> Result | None:
        """The provider's answer; None where it knows no such run, tag or step. LogError where the answer would be too large."""
        try:
            return call(*arguments)
        except (errors.NotFoundError, KeyError, IndexError):
            return None
        except Exception as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise LogError("A block of records is larger than the 256 MiB that TensorBoard's data server sends.") from error
            raise


def _only_string(array: Any) -> bytes | None:
    """The one string of a tensor, or None where the tensor is something else."""
    if array.size != 1:
        return None
    element = array.reshape(-1)[0]
    return bytes(element) if isinstance(element, bytes) else None
