"""The operations of one trace as people ask for them: of a call, of a bucket, of a line of Python. Knows no files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tb_layerflow.analysis import chain
from tb_layerflow.log import decode, records
from tb_layerflow.log.errors import LogError
from tb_layerflow.log.records import Frame

from .cache import BoundedCache
from .graph import Call, Graph
from .source import Source

BUCKETS = ("loss", "metrics", "optimizer", "input", "other")

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

    def __init__(self, graph: Graph, whole: records.Graph) -> None:
        self.graph = graph
        self.source = whole.source
        self._ops = whole.ops
        self._stacks = whole.stacks

    def __len__(self) -> int:
        return len(self._ops)

    def op(self, number: int) -> Op:
        """One operation by its number."""
        one = self._ops[number]
        return Op(
            number=number,
            name=one.name,
            type=one.type,
            direction="backward" if one.backward else "forward",
            call=None if one.call is None else self.graph.paths[one.call],
            bucket=one.bucket,
            forward_op=None if one.forward_op is None else self._ops[one.forward_op].name,
            variable=one.variable,
            fate=one.fate,
            body=one.body,
            inputs=tuple(one.inputs),
            stack=_NO_STACK if one.stack is None else self._stacks[one.stack],
        )

    def ops(self, path: str | None = None, bucket: str | None = None) -> list[Op]:
        """The operations of a call and of the calls inside it, or of a bucket, or all, in the order in which they were made.

        Raises:
          PathError: (a KeyError) No such call.
          ValueError: No such bucket, or both were given.
        """
        return [self.op(number) for number in self.numbers(path, bucket)]

    def numbers(self, path: str | None = None, bucket: str | None = None) -> Sequence[int]:
        """As `ops`, only their numbers."""
        if path is not None and bucket is not None:
            raise ValueError(f"Operations are those of a call or of a bucket. Received: path={path!r}, bucket={bucket!r}.")
        if bucket is not None:
            if bucket not in BUCKETS:
                raise ValueError(f"bucket must be one of {', '.join(BUCKETS)}. Received: {bucket!r}.")
            return self._by_bucket.get(bucket, [])
        if path is None:
            return range(len(self._ops))
        return self.inside(self.graph.call(path).number)

    def inside(self, call: int) -> list[int]:
        """The numbers of the operations of a call and of those inside it."""
        wanted = {call}
        for number, one in enumerate(self.graph.record.calls[call + 1 :], call + 1):
            if one.parent in wanted:
                wanted.add(number)
        return sorted(op for number in wanted for op in self._by_call.get(number, ()))

    def chain(self, path: str) -> list[str]:
        """What a call runs, in words and in order: Keras's method, `keras.ops`, TensorFlow's function, the operation."""
        call = self.graph.call(path).number
        ops = [self._ops[number] for number in self.inside(call) if not self._ops[number].backward]
        types = {number: one.type for number, one in enumerate(self.graph.record.calls)}
        return chain.words(
            [
                chain.Step(types[op.call], _NO_STACK.frames if op.stack is None else self._stacks[op.stack].frames, op.type)
                for op in ops
                if op.call is not None
            ]
        )

    def calls_of(self, place: str) -> list[Call]:
        """The calls that a user's line made: `model.py:42`, or `model.py` for every line of the file.

        A line made a call where forward operations of its own have it among their frames, and a group where all inside it have.
        """
        is_meant = _line_matcher(place)
        hit = {number for number, stack in enumerate(self._stacks) if any(map(is_meant, stack.frames))}
        found = {op.call for op in self._ops if op.call is not None and not op.backward and op.stack in hit}
        for number in {call.parent for call in self.graph.record.calls if call.parent is not None}:
            forward = [op for op in map(self._ops.__getitem__, self.inside(number)) if not op.backward]
            if forward and all(op.stack in hit for op in forward):
                found.add(number)
        return [self.graph.calls[number] for number in sorted(found)]

    def search(self, text: str) -> list[int]:
        """The numbers of the operations whose name, type, variable or user line (`model.py:42`, its text) holds `text`."""
        wanted = text.casefold()
        lines = {number for number, text in enumerate(self._stack_words) if wanted in text}
        by_words = [number for number, text in enumerate(self._words) if wanted in text]
        if not lines:
            return by_words
        return sorted({*by_words, *(number for number, op in enumerate(self._ops) if op.stack in lines)})

    def _lines(self, stack: records.Stack) -> list[str]:
        users = [frame for frame in stack.frames if frame.origin == "user"]
        texts = [self.source.get((frame.file, frame.line), "") for frame in users]
        return [text.casefold() for text in [*(f"{frame.file}:{frame.line}" for frame in users), *texts]]

    @cached_property
    def _stack_words(self) -> list[str]:
        """What is searched of each stack."""
        return ["\n".join(self._lines(stack)) for stack in self._stacks]

    @cached_property
    def _words(self) -> list[str]:
        """What is searched of each operation."""
        return [f"{op.name}\n{op.type}\n{op.variable}".casefold() for op in self._ops]

    def lines(self) -> dict[tuple[str, int], list[int]]:
        """The users' lines, each with the numbers of the calls that have forward operations from it."""
        return self._calls_by_line

    @cached_property
    def _calls_by_line(self) -> dict[tuple[str, int], list[int]]:
        made = {(op.stack, op.call) for op in self._ops if op.call is not None and not op.backward and op.stack is not None}
        found: dict[tuple[str, int], set[int]] = {}
        for stack, call in made:
            for frame in self._stacks[stack].frames:
                if frame.origin == "user":
                    found.setdefault((frame.file, frame.line), set()).add(call)
        return {line: sorted(found[line]) for line in sorted(found)}

    @cached_property
    def _by_call(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, op in enumerate(self._ops):
            if op.call is not None:
                found.setdefault(op.call, []).append(number)
        return found

    @cached_property
    def _by_bucket(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, op in enumerate(self._ops):
            if op.call is None:
                found.setdefault(op.bucket, []).append(number)
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
            whole = decode.graph(self._source.blob(*place, trace, index) for index in range(count))[1]
            return self._read.put(key, Lineage(graph, whole), min(_BYTES, _BYTES_PER_OP * (len(whole.ops) + 1)))


def _line_matcher(place: str) -> Callable[[Frame], bool]:
    file, mark, number = place.rpartition(":")
    if not mark or not number.isdecimal():
        file, number = place, ""

    def is_meant(frame: Frame) -> bool:
        named = frame.file == file or frame.file.endswith("/" + file) or file.endswith("/" + frame.file)
        return frame.origin == "user" and named and number in ("", str(frame.line))

    return is_meant
