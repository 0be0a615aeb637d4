"""Which findings are causes: logs written by hand in which one fault makes several rules true, and two faults two."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tb_layerflow._reader.live import stop_on
from tb_layerflow.analysis.findings import Finding, Limits
from tb_layerflow.log.records import Call, Graph
from tests.test_findings import STEPS, chain, found, port, stream_of

Change = Any


def changed(**parts: tuple[Any, int]) -> Change:
    """A change of (kind, name) → (function, first step): `output_first=(np.zeros_like, 4)`."""

    def change(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        make, since = parts.get(f"{kind}_{name}", (None, 0))
        return make(array) if make is not None and step >= since else None

    return change


def large(array: np.ndarray) -> np.ndarray:
    return array * 1e3


def flat(array: np.ndarray) -> np.ndarray:
    return np.full_like(array, 20.0)


def beside() -> Graph:
    """`third` gets the model's input, not what `second` puts out."""
    graph = chain()
    graph.calls[4].inputs = [port((1, 0))]
    return graph


def test_what_layers_behind_a_constant_do_with_it_is_its_consequence(tmp_path: Path) -> None:
    both = changed(output_first=(flat, 0), update_third=(large, 0))
    (only,) = stream_of(tmp_path / "behind", both).findings()
    assert (only.rule, only.path) == ("constant", "first")
    assert only.evidence["explains"] == ["update_too_large · third"]
    apart = stream_of(tmp_path / "beside", both, graph=beside())
    assert found(apart) == {("constant", "first", 0), ("update_too_large", "third", 0)}


def test_what_comes_after_a_rate_that_is_too_large_is_its_consequence_and_what_came_before_is_not(tmp_path: Path) -> None:
    def saturated_from(step: int) -> Change:
        return changed(output_second=(np.sign, step), update_third=(large, 5))

    assert found(stream_of(tmp_path / "after", saturated_from(7))) == {("update_too_large", "third", 5)}
    assert found(stream_of(tmp_path / "before", saturated_from(2))) == {
        ("saturated", "second", 2), ("update_too_large", "third", 5),
    }  # fmt: skip


def test_a_consequence_of_a_consequence_stands_with_the_first_cause(tmp_path: Path) -> None:
    change = changed(update_third=(large, 3), output_first=(flat, 6), error_first=(lambda array: array * 1e-7, 6))
    (only,) = stream_of(tmp_path, change).findings()
    assert (only.rule, only.step) == ("update_too_large", 3)
    assert set(only.evidence["explains"]) >= {"constant · first"}


def test_a_loss_that_stays_because_nothing_passes_is_no_finding_of_its_own(tmp_path: Path) -> None:
    def findings(folder: str, change: Change) -> set[tuple[str, str, int]]:
        stream = stream_of(tmp_path / folder, change, losses=lambda step: {"loss": 1.0 + 0.01 * (step % 2)})
        return {(one.rule, one.path, one.step) for one in stream.findings(Limits(loss_span=8, loss_records=8))}

    assert findings("at once", changed(output_first=(flat, 0))) == {("constant", "first", 0)}
    late = findings("late", changed(output_first=(flat, STEPS - 4)))
    assert {one[0] for one in late} == {"constant", "loss_does_not_fall"}, "it did not fall before either"


def test_one_layer_that_is_called_twice_is_named_once(tmp_path: Path) -> None:
    graph = chain()
    graph.calls[3] = Call("first#1", "first", "Dense", layer=0, parent=0, inputs=[port((1, 0))], outputs=[port()])
    both = changed(output_first=(np.zeros_like, 2), output_second=(np.zeros_like, 2))
    assert found(stream_of(tmp_path, both, graph=graph)) == {("dead_units", "first", 2)}


def test_what_passes_by_itself_is_no_finding(tmp_path: Path) -> None:
    def between(first: int, last: int) -> Change:
        return lambda kind, name, step, array: (
            flat(array) if (kind, name) == ("output", "first") and first <= step < last else None
        )

    assert found(stream_of(tmp_path / "passes", between(3, 7))) == set()
    assert found(stream_of(tmp_path / "stays", between(3, STEPS))) == {("constant", "first", 3)}


def test_a_mask_of_ones_is_no_constant_output(tmp_path: Path) -> None:
    graph = chain()
    graph.layers[0].weights.clear()
    graph.calls[2].inputs[0].dtype = "bool"
    assert found(stream_of(tmp_path, changed(output_first=(np.ones_like, 0)), graph=graph)) == set()


def test_infinities_that_spoil_nothing_are_meant(tmp_path: Path) -> None:
    def some(array: np.ndarray) -> np.ndarray:
        return np.where(np.arange(array.size).reshape(array.shape) % 5 == 0, -np.inf, array)

    assert found(stream_of(tmp_path / "meant", changed(output_third=(some, 0)))) == set()
    spoilt = changed(output_third=(some, 4), error_first=(lambda array: array * np.nan, 4))
    assert ("non_finite", "third", 4) in found(stream_of(tmp_path / "spoilt", spoilt))


def test_a_kernel_that_starts_at_nothing_may_grow_many_times_over(tmp_path: Path) -> None:
    def grows(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        sign = np.sign(np.random.default_rng(1).normal(size=array.shape)).astype(np.float32)
        return {"weight": sign * 1e-3 * step, "update": sign * 1e-3}.get(kind) if name == "third" else None

    assert found(stream_of(tmp_path, grows)) == set()


def test_updates_that_are_small_because_all_is_learnt_are_no_finding(tmp_path: Path) -> None:
    def still(*kinds: str) -> Change:
        return lambda kind, name, step, array: array * 1e-5 if kind in kinds and step >= 2 else None

    learnt = stream_of(tmp_path / "learnt", still("error", "update", "weight_gradient"))
    assert found(learnt) == set()
    stalled = stream_of(tmp_path / "stalled", still("update"))
    assert {one[0] for one in found(stalled)} == {"update_too_small"}


def test_a_sample_that_is_new_to_a_model_that_has_learnt_much_is_no_explosion(tmp_path: Path) -> None:
    def learns(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return array * 1e-6 if kind == "error" and 5 <= step != 10 else None

    assert found(stream_of(tmp_path, learns)) == set()


def test_a_loss_that_only_falls_to_what_it_costs_to_know_nothing_does_not_fall(tmp_path: Path) -> None:
    noise = np.random.default_rng(2).normal(size=STEPS) * 0.02

    def rules(folder: str, loss: Any) -> list[str]:
        stream = stream_of(tmp_path / folder, losses=lambda step: {"loss": loss(step)})
        return [one.rule for one in stream.findings(Limits(loss_span=10))]

    assert rules("flat", lambda step: 2.3 + 0.2 * 0.5**step + noise[step]) == ["loss_does_not_fall"]
    assert rules("slow", lambda step: 2.5 - 0.01 * step) == []
    assert rules("fast", lambda step: 0.1 + 2.0 * 0.5**step) == []


def test_who_waits_for_a_consequence_stops_at_its_cause() -> None:
    cause = Finding("constant", "first", 3, "flat", {"explains": ["vanishing_errors · first", "loss_does_not_fall · ."]})
    record: Any = SimpleNamespace(step=3, findings=lambda: [cause])
    assert stop_on("loss_does_not_fall")(record) is True
    assert stop_on("saturated")(record) is False


def test_a_rate_of_zero_is_named_though_nothing_else_moves_and_steps_that_accumulate_are_not(tmp_path: Path) -> None:
    start = np.random.default_rng(3).normal(size=(8, 8))

    def at(since: int, every: int = 1) -> Change:
        """From a step on weights stay, but for those steps that make an update of what so many have gathered."""

        def change(kind: str, name: str, step: int, array: np.ndarray) -> Any:
            is_still = step >= since and (every == 1 or (step + 1) % every)
            moved = min(step, since) if every == 1 else step // every
            return {"update": array * (not is_still), "weight": start * (1 + 1e-3 * moved)}.get(kind)

        return change

    still = {(rule, path) for rule, path, step in found(stream_of(tmp_path / "still", at(3))) if step == 3}
    assert still == {("unchanged_weights", name) for name in ("first", "second", "third")}
    accumulates = found(stream_of(tmp_path / "accumulates", at(0, 4)))
    assert not any(rule == "unchanged_weights" for rule, _, _ in accumulates)


def test_what_comes_and_goes_is_no_finding(tmp_path: Path) -> None:
    def left_out(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return array * 0 if (kind, name) == ("output", "third") and step in (1, 4, 6, 11, 12, 13, 14) else None

    assert found(stream_of(tmp_path, left_out)) == set()


def test_a_constant_is_named_where_it_was_first(tmp_path: Path) -> None:
    half = changed(output_second=(lambda array: np.full_like(array, 0.5), 0), output_first=(flat, 3))
    assert found(stream_of(tmp_path, half)) == {("constant", "second", 0)}


def test_a_model_that_is_not_trained_has_no_worse_readout(tmp_path: Path) -> None:
    from tests.test_findings import squares_at

    stream = stream_of(tmp_path, layer_losses=squares_at(0.95, 1.0), batch_size=400)
    assert found(stream) == set()


def test_an_operation_that_rectifies_is_dead_where_it_puts_out_nothing(tmp_path: Path) -> None:
    graph = chain()
    graph.calls[4].layer, graph.calls[4].type = None, "Relu"
    assert found(stream_of(tmp_path, changed(output_third=(np.zeros_like, 2)), graph=graph)) == {("dead_units", "third", 2)}
