"""What LayerFlow puts on a model during `fit`: one attachment per model, which serves all of its callbacks.

Between batches nothing of it is on the model. In `on_train_batch_begin` of a step to be recorded it puts its function in place of
`model.train_function`; that function's first act is to put the plain one back. Should another callback raise in between, the
function left behind finds, when it is called, that it was not armed for that `fit`, and runs the plain one.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, Protocol

from tb_layerflow.log import records

from . import execution, fits
from .signatures import Signatures
from .value_settings import together
from .variants import Captured, DataEnded, Needs, StepVariant


class Member(Protocol):
    """One callback of the model's."""

    needs: Needs
    callback: Any
    variants: list[StepVariant]

    def deliver(self, captured: Captured, seconds: float) -> None:
        """Take what a recorded step gave."""

    def interrupted(self, error: BaseException, broken: Captured | None) -> None:
        """Take the news that the step itself raised, and what it had done."""

    def refuse(self, error: BaseException) -> None:
        """Take the news that recording failed; the step runs, or ran, all the same."""


_attachments: weakref.WeakKeyDictionary[Any, Attachment] = weakref.WeakKeyDictionary()


def of(model: Any) -> Attachment:
    """The attachment of a model, made when first asked for."""
    if model not in _attachments:
        _attachments[model] = Attachment(model)
    return _attachments[model]


class Attachment:
    """Arms a model's train function and shares one recording variant among its members.

    It lives as long as the model, so it must not hold it: the members hold the variants, and are themselves held by their users.
    """

    def __init__(self, model: Any) -> None:
        self._model = weakref.ref(model)
        self._member_references: list[weakref.ref[Any]] = []
        self._requests: list[Any] = []
        self._wanted: set[str] = set()
        self._timed = False
        self._plain: Any = None
        self._loop: CodeType | None = None
        self._variants: weakref.WeakValueDictionary[tuple[str, ...], StepVariant] = weakref.WeakValueDictionary()
        self._made_for: tuple[Any, ...] = ()
        self._signatures = Signatures("train_step")
        self.last_step_count: int | None = None

    def join(self, member: Member) -> None:
        """A callback's fit begins; anything left armed by an interrupted one is taken off."""
        self.disarm()
        if not any(other is member for other in self._members):
            self._member_references.append(weakref.ref(member))

    def leave(self, member: Member) -> None:
        """A callback's fit has ended."""
        self.disarm()
        self._member_references = [weakref.ref(other) for other in self._members if other is not member]

    @property
    def _members(self) -> list[Any]:
        return [member for reference in self._member_references if (member := reference()) is not None]

    def arm(self, member: Member, instruments: Iterable[str] = (), timed: bool = False) -> None:
        """Record the next call of the train function for `member`, with the instruments of these names; `timed`: profiled."""
        model = self._model()
        assert model is not None, "a callback holds its model"
        if not self._requests:
            self._plain = model.train_function
            self._loop = fits.own_loop()
            model.train_function = self._armed(model)
        self._requests.append(member)
        self._wanted.update(instruments)
        self._timed |= timed

    def disarm(self) -> None:
        """Put the plain function back, if it is not there."""
        model = self._model()
        if model is not None and getattr(model.train_function, "_layerflow", None) is self:
            model.train_function = self._plain
        self._requests = []
        self._wanted = set()
        self._timed = False
        self._plain = None

    def _armed(self, model: Any) -> Callable[[Any], Any]:
        def train_function(iterator: Any) -> Any:
            plain, requests, wanted, timed = self._plain, self._requests, self._wanted, self._timed
            self.disarm()
            if not requests or not fits.is_innermost([member.callback for member in requests], self._loop):
                return plain(iterator)
            return self._record(model, plain, iterator, requests, wanted, timed)

        train_function._layerflow = self  # type: ignore[attr-defined]
        return train_function

    def _record(self, model: Any, plain: Any, iterator: Any, requests: list[Any], wanted: set[str], timed: bool) -> Any:
        started = time.perf_counter()
        try:
            variant = self._variant_for(model, wanted)
        except Exception as error:
            for member in requests:
                member.refuse(error)
            return plain(iterator)
        try:
            captured = variant(iterator, timed)
        except DataEnded:
            return plain(iterator)
        except StopIteration:  # the data has ended: no step
            raise
        except BaseException as error:
            for member in requests:
                member.interrupted(error, variant.broken)
            raise
        seconds = time.perf_counter() - started
        self.last_step_count = captured.steps
        for member in requests:
            if captured.failure is not None:
                member.refuse(captured.failure)
            else:
                member.deliver(captured, seconds)
        logs, captured.logs = captured.logs, None
        return logs

    def _variant_for(self, model: Any, wanted: set[str]) -> StepVariant:
        """The variant that serves every member at once, so that a fit has one per set of instruments, whatever is due
        together.
        """
        made_for = (
            tuple(id(member) for member in self._members),
            execution.is_eager(model),
            bool(model.jit_compile),
            id(model.optimizer),
        )
        if made_for != self._made_for:
            self._made_for = made_for
            self._variants.clear()
            for member in self._members:
                member.variants.clear()
        key = tuple(sorted(wanted))
        if key not in self._variants:
            needs = _union([member.needs for member in self._members])
            instruments = [make() for name, make in needs.instruments.items() if name in wanted]
            variant = StepVariant(model, needs, self._signatures, instruments)
            self._variants[key] = variant
            for member in self._members:
                member.variants.append(variant)
        return self._variants[key]


def _union(needs: list[Needs]) -> Needs:
    kinds = tuple(dict.fromkeys(kind for need in needs for kind in need.kinds))

    def selected(call: records.Call, layer: Any) -> bool:
        return any(need.selected(call, layer) for need in needs)

    values = functools.reduce(together, [need.values for need in needs])
    return Needs(selected, kinds, any(need.everything for need in needs), values)
