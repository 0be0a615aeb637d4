"""`strategy.run` inside a recorded function: every replica is recorded by itself, in its own thread, and all leave as one.

No collective is added: each replica's figures leave as its local results, and are merged on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from .autograph import convert_as_around
from .recording import active

if TYPE_CHECKING:
    from .outcome import Outcome

INLINE = ("_DefaultDistributionStrategy", "OneDeviceStrategy")
"""Strategies whose replica runs in the thread that calls it, where the recording under way sees it."""


@dataclass
class Share:
    """What one `strategy.run` gave: what the first replica found, and the arrays of each replica."""

    outcome: Outcome
    arrays: list[dict[str, Any]]
    strategy: str = ""
    count: int = 1
    instruments: list[Any] = field(default_factory=list)


RecordReplica = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any], Any]]
"""Runs a function in a replica while its calls are recorded: (outputs, arrays, trace), as `functions.record_call` does."""


class Replicas:
    """Gathers what the replicas of a recorded function give. `record` records one of them."""

    def __init__(self, record: RecordReplica) -> None:
        self._record = record
        self.shares: list[Share] = []
        self.failure: Exception | None = None

    def run(self, original: Any, strategy: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: Any) -> Any:
        """`strategy.run(fn, args, kwargs, options)`, recorded in each replica."""
        function = convert_as_around(getattr(fn, "python_function", fn))
        traces: dict[int, Any] = {}

        @tf.autograph.experimental.do_not_convert
        def recorded(*own: Any, **named: Any) -> Any:
            context = tf.distribute.get_replica_context()
            number = context.replica_id_in_sync_group if context is not None else 0
            outputs, captured, trace = self._record(function, own, named)
            traces[number if isinstance(number, int) else len(traces)] = trace
            return outputs, captured

        outputs, captured = original(strategy, recorded, args, kwargs, options)
        first = traces[min(traces)]
        failed = next((trace.failure for trace in traces.values() if trace.failure is not None), None)
        if failed is not None:
            self.failure = failed
        elif first.outcome.graph.calls:
            replicas = list(strategy.experimental_local_results(captured))
            count = int(strategy.num_replicas_in_sync)
            self.shares.append(Share(first.outcome, replicas, type(strategy).__name__, count, first.instruments))
        return outputs


def runs(original: Any) -> Any:
    """`Strategy.run` while a recording is under way."""

    @functools.wraps(original)
    def run(self: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        recording = active()
        if recording is None or recording.replicas is None or type(self).__name__ in INLINE:
            return original(self, fn, args, kwargs, options)
        return recording.replicas.run(original, self, fn, tuple(args), dict(kwargs or {}), options)

    return run
