"""A Graph message's operations as columns; an `Op` is made only when it is asked for. Knows neither bytes nor files.

There may be hundreds of thousands, of which people look at some dozens: most of what reading them would cost is never spent.
"""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from . import layerflow_pb2 as pb
from .errors import LogError
from .records import Frame, Op, Stack


class Ops:
    """The operations of one trace, with the stacks and the users' lines that they refer to.

    The columns are int64, one number per operation, -1 for none: `name` and `type` are places in `strings`, `variable` one in
    `variables`, `call` one among the graph's calls, `stack` one in `stacks`; `backward` is bool. What else there is to an
    operation, `op` reads and checks.

    Raises:
      LogError: One of the indices in the columns or in the stacks points nowhere.
    """

    def __init__(self, message: pb.Graph, calls: int) -> None:
        self._ops = message.ops
        self.strings = list(message.strings)
        try:
            self.stacks = _stacks(message, self.strings)
            self.source = {(self.strings[line.file], line.line): line.text for line in message.source}
        except IndexError as error:
            raise LogError(_LACKING) from error
        rows = list(message.ops)

        self.name, self.type, self.call, self.stack = (
            np.fromiter(map(attrgetter(field), rows), np.int64, len(rows)) for field in ("name", "type", "call", "stack")
        )
        if len(rows) and max(self.name.max(), self.type.max()) >= len(self.strings):
            raise LogError(_LACKING)
        for column, count, what in ((self.call, calls, "call"), (self.stack, len(self.stacks), "stack")):
            for extreme in (column.min(initial=0), column.max(initial=0)):
                index_of(int(extreme), count, what)
            column -= 1
        self.backward = np.fromiter(map(attrgetter("backward"), rows), np.bool_, len(rows))
        variables = list(map(attrgetter("variable"), rows))
        self.variables = list(dict.fromkeys(variables))
        places = {name: place for place, name in enumerate(self.variables)}
        self.variable = np.fromiter(map(places.__getitem__, variables), np.int64, len(rows))

    def __len__(self) -> int:
        return len(self._ops)

    def op(self, number: int) -> Op:
        """One operation. LogError where its inputs, or the operation whose gradient it is, are none."""
        op, call, stack = self._ops[number], int(self.call[number]), int(self.stack[number])
        if any(index == 0 for index in op.inputs):
            raise LogError("A graph's op has an input that is no op: it is damaged.")
        return Op(
            self.strings[op.name],
            self.strings[op.type],
            None if call < 0 else call,
            op.bucket,
            op.backward,
            index_of(op.forward_op, len(self), "op"),
            op.variable,
            None if stack < 0 else stack,
            op.fate,
            [one for index in op.inputs if (one := index_of(index, len(self), "op")) is not None],
            op.body,
        )

    def bucket(self, number: int) -> str:
        """The bucket of an operation that no call made."""
        return self._ops[number].bucket


_LACKING = "A graph's stacks or ops refer to a string or a frame that it lacks: it is damaged."


def index_of(plus_one: int, count: int, what: str) -> int | None:
    """An index that is stored plus one, 0 for none. LogError where it points nowhere."""
    if not 0 <= plus_one <= count:
        raise LogError(f"A graph refers to {what} {plus_one - 1}, but has {count}: it is damaged.")
    return plus_one - 1 if plus_one else None


def _stacks(message: pb.Graph, strings: list[str]) -> list[Stack]:
    frames = [Frame(strings[frame.file], frame.line, strings[frame.function], frame.origin) for frame in message.frames]
    stacks = []
    for stack in message.stacks:
        if not -1 <= stack.user_frame < len(stack.frames):
            raise IndexError
        stacks.append(Stack(tuple([frames[index] for index in stack.frames]), stack.user_frame))
    return stacks
