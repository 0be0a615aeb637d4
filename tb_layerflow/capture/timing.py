"""Measured seconds of each call, forward and backward: TensorFlow's profiler looks on while a recorded step runs.

The profiler says which operation of the graph ran when, on which thread. An operation's seconds are its call's; those of
LayerFlow's own operations are nobody's, and a fused one is the call's whose name it kept. Of replicas the first is told. Knows no
Keras.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tb_layerflow.log.records import TIMING, Execution, Graph, LedgerEntry, Op, Record

from . import fates

ANOTHER = "no time of the calls: another profiler was running"
COMPILED = "no time of the calls: XLA compiled the function into one cluster, whose inside has none (jit_compile=False has)"
EAGER = "no time of the calls: the step ran eagerly, where operations have no names by which to tell them"
TRACED = "no time of the calls: the step was traced as it ran, and the first run takes longer than those after it"
UNKNOWN = "no time of the calls: this TensorFlow lets nobody read its profiler"
ACCELERATED = "no time of the calls: the profiler is read for the CPU alone, and the step ran on another device"

_OPTIONS = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 0}
_EXECUTOR = "ExecutorState::Process"
_INLINED = re.compile(r"/_\d+/")
_CALLERS = ("While", "If", "Case", "PartitionedCall")

Owner = tuple[int, bool]
"""A call, and whether it is its backward pass."""


def why_not(executed: Execution) -> str:
    """Why a function that executes like this has no time per call; empty where it has one."""
    if executed.run_eagerly:
        return EAGER
    if executed.jit_compile:
        return COMPILED
    return "" if all(device.startswith("CPU") for device in executed.devices) else ACCELERATED


@dataclass
class Profile:
    """A context in which TensorFlow's profiler looks on. Nothing that fails in it concerns what runs inside.

    `reason` says why there are no events, if there are none; given beforehand, nothing is tried. `events` are serialised.
    """

    reason: str = ""
    events: bytes = field(default=b"", repr=False)
    _session: Any = None

    def __enter__(self) -> Profile:
        if self.reason:
            return self
        try:
            from tensorflow.python.profiler.internal import _pywrap_profiler

            session = _pywrap_profiler.ProfilerSession()
            session.start("", _OPTIONS)
            self._session = session
        except (ImportError, AttributeError, TypeError):
            self.reason = UNKNOWN
        except Exception as error:
            self.reason = ANOTHER if type(error).__name__ == "AlreadyExistsError" else _failed(error)
        return self

    def __exit__(self, *exception: object) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        try:
            self.events = session.stop()
        except Exception as error:
            self.reason = _failed(error)


def fill(record: Record, profile: Profile | None, graph: Graph, first_call: int = 0) -> None:
    """Put the seconds of the calls of `graph` into the record, or the reason why there are none into its ledger.

    Args:
        record: the record; `first_call` is the number that the graph's first call has in it.
        profile: of one run of the graph; None: none was wanted.
    """
    if profile is None:
        return
    reason = profile.reason
    if not reason:
        try:
            found = per_call(profile.events, graph.ops)
        except Exception as error:
            reason = _failed(error)
    if reason:
        step = record.step if reason in (ANOTHER, TRACED) else -1
        entry = LedgerEntry("", TIMING, -1, "skipped", reason, step)
        record.ledger += [] if entry in record.ledger else [entry]
        return
    for call, (forward, backward) in found.items():
        before = record.timings.get(call + first_call, (0.0, 0.0))
        record.timings[call + first_call] = (before[0] + forward, before[1] + backward)


def _failed(error: Exception) -> str:
    return f"no time of the calls: TensorFlow's profiler failed ({type(error).__name__}: {error})"


def per_call(events: bytes, ops: Iterable[Op]) -> dict[int, tuple[float, float]]:
    """The seconds of the operations of each call, forward and backward, without those of the calls inside it.

    Args:
        events: what the profiler gave, a serialised `Trace`.
        ops: the operations of the graph that ran.
    """
    from tensorflow.tsl.profiler.protobuf import trace_events_pb2

    owners = _Owners(ops)
    runs = _by_run(trace_events_pb2.Trace.FromString(events).trace_events)
    seconds: dict[int, list[float]] = {}
    for name, own in max(runs.values(), key=owners.known_in, default=[]):
        owner = owners.of(name)
        if owner is not None:
            seconds.setdefault(owner[0], [0.0, 0.0])[owner[1]] += own
    return {call: (forward, backward) for call, (forward, backward) in seconds.items()}


class _Owners:
    """Whose an operation is, by the name that it has when it runs.

    What stands in a function body, runs under the name of the operation that runs the body, then its own.
    """

    def __init__(self, ops: Iterable[Op]) -> None:
        self._in_graph: dict[str, Owner | None] = {}
        self._callers: dict[str, Owner | None] = {}
        self._in_bodies: dict[str, set[Owner | None]] = {}
        for op in ops:
            if op.fate == fates.ADDED:  # a name that the optimiser gave
                continue
            owner = None if op.call is None else (op.call, op.backward)
            if op.body:
                self._in_bodies.setdefault(op.name, set()).add(owner)
                continue
            self._in_graph[op.name] = owner
            if op.type.endswith(_CALLERS):
                self._callers[op.name] = owner

    def known_in(self, run: list[tuple[str, float]]) -> int:
        """How many of the graph's operations ran in a run."""
        return len({name for name, _ in run} & self._in_graph.keys())

    def of(self, name: str) -> Owner | None:
        if name in self._in_graph:
            return self._in_graph[name]
        *around, inner = _INLINED.split(name)
        found = self._in_bodies.get(inner, set()) if around else set()
        if len(found) == 1:
            return next(iter(found))
        while "/" in name:
            name = name.rpartition("/")[0]
            if name in self._callers:
                return self._callers[name]
        return None


def _by_run(events: Iterable[Any]) -> dict[str, list[tuple[str, float]]]:
    """The operations that ran, by name with their own seconds, in each run of a function."""
    threads: dict[tuple[int, int], list[_Event]] = defaultdict(list)
    for event in events:
        length = event.duration_ps
        if not length:  # most: what the pools of threads say
            continue
        arguments = event.args
        is_run = event.name.startswith(_EXECUTOR)
        if is_run or "long_name" in arguments:
            name = "" if is_run else arguments["long_name"].rpartition(":")[0]
            found = (event.timestamp_ps, -length, name, arguments["id"] if is_run else "")
            threads[event.device_id, event.resource_id].append(found)
    runs: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for thread in threads.values():
        for run, name, own in _own_times(sorted(thread)):
            runs[run].append((name, own))
    return runs


_Event = tuple[int, int, str, str]
"""Start, length with a minus (of two that start at once the longer is the outer one), operation, run: either is empty."""


@dataclass
class _Open:
    """An event that has begun; `name` is empty where it is a run at work."""

    end: int
    run: str
    name: str
    own: int


def _own_times(events: Iterable[_Event]) -> Iterator[tuple[str, str, float]]:
    """Run, name and own seconds of each operation of one thread: without those that ran inside it in the same run."""
    stack: list[_Open] = []
    for start, minus_length, name, starts_run in events:
        while stack and stack[-1].end <= start:
            yield from _closed(stack.pop())
        run = starts_run or (stack[-1].run if stack else "")
        around = next((one for one in reversed(stack) if one.name and one.run == run), None)
        if around is not None and name:
            around.own += minus_length
        stack.append(_Open(start - minus_length, run, name, -minus_length))
    while stack:
        yield from _closed(stack.pop())


def _closed(event: _Open) -> Iterator[tuple[str, str, float]]:
    if event.name and event.run:
        yield event.run, event.name, max(event.own, 0) / 1e12
