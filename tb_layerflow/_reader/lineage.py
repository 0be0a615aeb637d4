"""The operations of one trace as people ask for them: of a call, of a bucket, of a line of Python. Knows no files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tb_layerflow.analysis import chain
from tb_layerflow.log import decode, records
from tb_layerflow.log.decode_ops import Ops
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import Frame

from .arguments import checked
from .cache import BoundedCache
from .graph import Call, Graph
from .source import Source

_NO_STACK = records.Stack(())
_BYTES = 128 << 20
_BYTES_PER_OP = 500


@dataclass(frozen=True)
class Op:
    """One operation.

    `call` is the path of the innermost call that made it, None where it is of a `bucket`. `direction` is `forward` or `backward`;
    `forward_op` names, for a backward one, the operation whose gradient it is. `variable` is the weight (`<layer path>/<name>`,
    or the variable's own name) that it reads, writes, updates or makes the gradient of; empty where there is none. `frames` lead
    from the outermost line to the innermost; `user_frame` is the innermost of the user's own, None where there is none. `body`
    names the function (a loop's, say) that it stands in. `fate` is what TensorFlow's optimiser made of it; empty where that was
    not recorded. `number` is its place in the trace, `inputs` are the numbers of those that it takes from.
    """

    number: int
    name: str
    type: str
    direction: str
    call: str | None
    bucket: str
    forward_op: str | None
    variable: str
    fate: str
    body: str
    inputs: tuple[int, ...]
    stack: records.Stack = field(repr=False)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """.file, .line, .function, .origin: `user`, `keras`, `tensorflow` or `library`."""
        return self.stack.frames

    @property
    def user_frame(self) -> Frame | None:
        """.file, .line, .function of the innermost user line."""
        return self.stack.frames[self.stack.user_frame] if self.stack.user_frame >= 0 else None


class Lineage:
    """The operations of a trace. `source` has the text of users' lines by (file, line), where it was kept."""

    def __init__(self, graph: Graph, ops: Ops) -> None:
        self.graph = graph
        self.source = ops.source
        self._ops = ops

    def __repr__(self) -> str:
        return f"<Lineage: {len(self):,} operations>"

    def __len__(self) -> int:
        return len(self._ops)

    def op(self, number: int) -> Op:
        """One operation by its number. LogError where it refers to others that there are not."""
        one, ops = self._ops.op(number), self._ops
        return Op(
            number=number,
            name=one.name,
            type=one.type,
            direction="backward" if one.backward else "forward",
            call=None if one.call is None else self.graph.paths[one.call],
            bucket=one.bucket,
            forward_op=None if one.forward_op is None else ops.strings[ops.name[one.forward_op]],
            variable=one.variable,
            fate=one.fate,
            body=one.body,
            inputs=tuple(one.inputs),
            stack=_NO_STACK if one.stack is None else ops.stacks[one.stack],
        )

    @checked
    def ops(self, path: str | None = None, bucket: str | None = None) -> list[Op]:
        """The operations of a call and of the calls inside it, or of a bucket, or all, in the order in which they were made.

        Raises:
          PathError: (a KeyError) No such call.
          ValueError: No such bucket, or both were given.
        """
        return [self.op(number) for number in self.numbers(path, bucket)]

    @checked
    def numbers(self, path: str | None = None, bucket: str | None = None) -> Sequence[int]:
        """As `ops`, only their numbers."""
        if path is not None and bucket is not None:
            raise ValueError(f"Operations are those of a call or of a bucket. Received: path={path!r}, bucket={bucket!r}.")
        if bucket is not None:
            if bucket not in records.BUCKETS:
                raise ValueError(f"bucket must be one of {', '.join(records.BUCKETS)}. Received: {bucket!r}.")
            return self._by_bucket.get(bucket, [])
        if path is None:
            return range(len(self._ops))
        return self.inside(self.graph.call(path).number)

    def inside(self, call: int) -> list[int]:
        """The numbers of the operations of a call and of those inside it."""
        return _numbers(self._is_inside(call))

    def _is_inside(self, call: int) -> NDArray[np.bool_]:
        """Of each operation, whether the call or one inside it made it."""
        calls = self.graph.record.calls
        wanted = np.zeros(len(calls) + 1, np.bool_)  # the last is for those that no call made
        wanted[call] = True
        for number, one in enumerate(calls[call + 1 :], call + 1):
            wanted[number] = one.parent is not None and wanted[one.parent]
        return wanted[self._ops.call]

    def counts(self) -> NDArray[np.int64]:
        """How many operations each call has, those of the calls inside it included: int64 [calls]."""
        calls = self.graph.record.calls
        found: NDArray[np.int64] = np.bincount(self._ops.call[self._ops.call >= 0], minlength=len(calls))
        for number in range(len(calls) - 1, -1, -1):  # a call begins after the one around it
            parent = calls[number].parent
            if parent is not None:
                found[parent] += found[number]
        return found

    @checked
    def chain(self, path: str) -> list[str]:
        """What a call runs, in words and in order: Keras's method, `keras.ops`, TensorFlow's function, the operation."""
        ops, calls = self._ops, self.graph.record.calls
        forward = np.flatnonzero(self._is_inside(self.graph.call(path).number) & ~ops.backward)
        made = zip(ops.call[forward].tolist(), ops.stack[forward].tolist(), ops.type[forward].tolist(), strict=True)
        return chain.words(
            [
                chain.Step(calls[call].type, () if stack < 0 else ops.stacks[stack].frames, ops.strings[type_])
                for call, stack, type_ in made
            ]
        )

    @checked
    def calls_of(self, place: str) -> list[Call]:
        """The calls that a user's line made: `model.py:42`, or `model.py` for every line of the file.

        A line made a call where forward operations of its own have it among their frames, and a group where all inside it have.
        """
        is_meant = _line_matcher(place)
        calls, is_forward = self.graph.record.calls, self._is_forward_of_call
        of_line = is_forward & self._of_stacks(any(map(is_meant, stack.frames)) for stack in self._ops.stacks)
        inside, hit = (np.bincount(self._ops.call[mask], minlength=len(calls)) for mask in (is_forward, of_line))
        is_found = hit > 0
        for number in reversed(range(len(calls))):  # what is inside a call began after it
            parent = calls[number].parent
            if parent is not None:
                inside[parent] += inside[number]
                hit[parent] += hit[number]
        is_found |= (inside > 0) & (hit == inside)
        return [self.graph.calls[number] for number in np.flatnonzero(is_found)]

    @checked
    def search(self, text: str) -> list[int]:
        """The numbers of the operations whose name, type, variable or user line (`model.py:42`, its text) holds `text`."""
        wanted, ops = text.casefold(), self._ops
        strings, variables = (_holding(wanted, words) for words in (self._strings, map(str.casefold, ops.variables)))
        by_line = self._of_stacks(wanted in words for words in self._stack_words)
        return _numbers(strings[ops.name] | strings[ops.type] | variables[ops.variable] | by_line)

    def _of_stacks(self, holds: Iterable[bool]) -> NDArray[np.bool_]:
        """What holds of each stack, for each operation; of one without a stack nothing does."""
        return np.array([*holds, False])[self._ops.stack]

    def _lines(self, stack: records.Stack) -> list[str]:
        users = [frame for frame in stack.frames if frame.origin == "user"]
        texts = [self.source.get((frame.file, frame.line), "") for frame in users]
        return [text.casefold() for text in [*(f"{frame.file}:{frame.line}" for frame in users), *texts]]

    @cached_property
    def _stack_words(self) -> list[str]:
        """What is searched of each stack."""
        return ["\n".join(self._lines(stack)) for stack in self._ops.stacks]

    @cached_property
    def _strings(self) -> list[str]:
        """The strings, as they are searched: folded all at once, unless one has the separator in it."""
        folded = "\0".join(self._ops.strings).casefold().split("\0")
        return folded if len(folded) == len(self._ops.strings) else [text.casefold() for text in self._ops.strings]

    def lines(self) -> dict[tuple[str, int], list[int]]:
        """The users' lines, each with the numbers of the calls that have forward operations from it."""
        return self._calls_by_line

    @cached_property
    def _is_forward_of_call(self) -> NDArray[np.bool_]:
        return (self._ops.call >= 0) & ~self._ops.backward

    @cached_property
    def _calls_by_line(self) -> dict[tuple[str, int], list[int]]:
        calls, is_meant = len(self.graph.record.calls), self._is_forward_of_call & (self._ops.stack >= 0)
        pairs = np.sort(self._ops.stack[is_meant] * calls + self._ops.call[is_meant])
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # not np.unique, which first imports a tenth of a second of NumPy
        found: dict[tuple[str, int], set[int]] = {}
        for stack, call in zip((pairs // calls).tolist(), (pairs % calls).tolist(), strict=True):
            for frame in self._ops.stacks[stack].frames:
                if frame.origin == "user":
                    found.setdefault((frame.file, frame.line), set()).add(call)
        return {line: sorted(found[line]) for line in sorted(found)}

    @cached_property
    def _by_bucket(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number in np.flatnonzero(self._ops.call < 0).tolist():
            found.setdefault(self._ops.bucket(number), []).append(number)
        return found


class Lineages:
    """The lineages of one stream's graphs, read when they are asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read: BoundedCache[Lineage] = BoundedCache(_BYTES)
        self._lock = threading.Lock()

    def get(self, graph: Graph, place: tuple[str, str] | None, trace: int) -> Lineage:
        """The lineage of a graph that is stored at `place` under `trace`. LogError where it cannot be read."""
        key = (graph.session, trace)
        with self._lock:  # who asks while it is being read waits for it
            kept = self._read.get(key)
            if kept is not None:
                return kept
            if place is None:
                raise LogError("The graph is no longer there: its operations cannot be shown.")
            count = self._source.blob_count(*place, trace)
            blobs = (self._source.blob(*place, trace, index) for index in range(count))
            ops = decode.ops(blobs, len(graph.record.calls))
            return self._read.put(key, Lineage(graph, ops), min(_BYTES, _BYTES_PER_OP * (len(ops) + 1)))


def _numbers(mask: NDArray[np.bool_]) -> list[int]:
    found: list[int] = np.flatnonzero(mask).tolist()
    return found


def _holding(wanted: str, words: Iterable[str]) -> NDArray[np.bool_]:
    return np.array([wanted in text for text in words], np.bool_)


def _line_matcher(place: str) -> Callable[[Frame], bool]:
    file, mark, number = place.rpartition(":")
    if not mark or not number.isdecimal():
        file, number = place, ""

    def is_meant(frame: Frame) -> bool:
        named = frame.file == file or frame.file.endswith("/" + file) or file.endswith("/" + frame.file)
        return frame.origin == "user" and named and number in ("", str(frame.line))

    return is_meant
