"""Findings that two trainings much alike are told apart by: each on a log written by hand, beside one in which nothing is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tb_layerflow.analysis.findings import Limits
from tb_layerflow.log.records import Call, Graph, Layer, Weight
from tests.test_causes import changed, flat
from tests.test_findings import STEPS, chain, found, port, stream_of


def test_records_that_the_loss_scaler_let_pass_spoil_no_others(tmp_path: Path) -> None:
    def each_other(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        if step % 2 and kind in ("output", "error", "weight_gradient"):
            return array * np.nan
        return flat(array) if (kind, name) == ("output", "third") else None

    def named(folder: str, change: Any) -> set[tuple[str, str, int]]:
        stream = stream_of(tmp_path / folder, change, skipped=lambda step: bool(step % 2))
        return {(one.rule, one.path, one.step) for one in stream.findings(Limits(skipped_grace=0))}

    assert named("passes", each_other) == {("non_finite", "first", 1), ("loss_scaler_skips", ".", 1), ("constant", "third", 0)}
    stays = changed(weight_second=(lambda array: array * np.nan, 1), output_second=(lambda array: array * np.nan, 1))
    assert named("stays", stays) == {("non_finite", "second", 1)}


def test_an_average_that_shares_the_error_out_is_not_what_makes_it_vanish(tmp_path: Path) -> None:
    """`second` averages 16,384 numbers, which divides the error's l2 by 128; `third` passes on a fiftieth of what it gets."""
    size = 16_384

    def averages(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        end = np.full((2, 8), 1e-2 * 0.02 * 4, np.float32)  # of an eighth as many numbers as `third` has
        errors = {"second": end, "first": np.repeat(end, size, 1) / size, "third": np.full((32, 8), 1e-2)}
        return errors[name] if kind == "error" else None

    graph = chain()
    graph.layers[1].weights.clear()
    (only,) = stream_of(tmp_path / "average", averages, graph=graph).findings()
    assert (only.rule, only.path, only.evidence["chain"]) == ("vanishing_errors", "third", ["third"])
    np.testing.assert_allclose(only.evidence["factor"], 0.02, rtol=1e-4)


def test_of_a_chain_that_shrinks_errors_all_calls_are_counted(tmp_path: Path) -> None:
    def fades(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return np.full_like(array, {"first": 1e-5, "second": 8e-3, "third": 1.0}[name]) if kind == "error" else None

    (only,) = stream_of(tmp_path, fades).findings()
    assert (only.path, only.evidence["chain"]) == ("second", ["second", "third"])
    assert "1 other call shrinks" in only.message


def test_a_branch_that_errors_do_not_reach_is_named_where_they_are_lost(tmp_path: Path) -> None:
    """`third` lets nothing back into `second`, beside a way from `first` to `sum` on which all is well."""
    (one,) = stream_of(tmp_path / "cut", branch({"second": 1e-12}), graph=beside(), names=BESIDE).findings()
    assert (one.rule, one.path, one.step) == ("vanishing_errors", "third", 0)
    assert one.evidence["branch"] == "second"
    np.testing.assert_allclose(one.evidence["factor"], 1e-10, rtol=1e-4)


def test_a_branch_beside_a_way_around_it_may_get_little_of_the_error(tmp_path: Path) -> None:
    """As the queries of an attention do: neither what passes by itself nor what no call accounts for is a fault."""
    passing = branch({"second": 1e-12}, until=STEPS - 4)
    assert stream_of(tmp_path / "passing", passing, graph=beside(), names=BESIDE).findings() == []
    unaccounted = branch({"second": 1e-9, "third": 1e-9})
    assert stream_of(tmp_path / "unaccounted", unaccounted, graph=beside(), names=BESIDE).findings() == []


def test_a_branch_without_errors_says_nothing_about_a_loss_that_stays(tmp_path: Path) -> None:
    flat_loss = {"losses": lambda step: {"loss": 1.0 + 0.01 * (step % 2)}}
    graph = beside()
    stream = stream_of(tmp_path, branch({"second": 1e-12}), graph=graph, names=BESIDE, step=lambda step: 2 * step, **flat_loss)
    assert {one.rule for one in stream.findings()} == {"vanishing_errors", "loss_does_not_fall"}


BESIDE = ("first", "second", "third", "sum")


def beside() -> Graph:
    """`first`, then `second` and `third` beside a way around both, to their sum with it."""
    graph = chain()
    graph.layers.append(Layer("sum", "sum", "Add"))
    graph.calls.append(Call("sum", "sum", "Add", layer=3, parent=0, inputs=[port((4, 0)), port((2, 0))], outputs=[port()]))
    graph.calls[0].outputs = [port((5, 0))]
    return graph


def graph_of(inputs: dict[str, tuple[str, ...]]) -> Graph:
    """Dense layers by name, each with those that it gets its inputs from; `x` is the model's own input."""
    numbers = {"x": 1, **{name: place + 2 for place, name in enumerate(inputs)}}
    calls = chain().calls[:2]
    calls[0].outputs = [port((len(numbers), 0))]
    for place, (name, sources) in enumerate(inputs.items()):
        given = [port((numbers[source], 0)) for source in sources]
        calls.append(Call(name, name, "Dense", layer=place, parent=0, inputs=given, outputs=[port()]))
    kernel = Weight("kernel", (8, 8), "float32")
    return Graph("model", calls, [Layer(name, name, "Dense", [kernel]) for name in inputs])


def test_errors_that_explode_in_one_of_several_readers_are_not_named_at_another(tmp_path: Path) -> None:
    """What comes back from `gate` is little beside what `way` makes of its own, and both meet in `first`."""
    graph = graph_of({"first": ("x",), "gate": ("first",), "wide": ("first",), "way": ("wide",), "sum": ("gate", "way")})
    errors = branch({"first": 1e5, "gate": 1e-3, "wide": 1e5})
    found = stream_of(tmp_path, errors, graph=graph, names=[layer.path for layer in graph.layers]).findings()
    assert ("exploding_errors", "way", 0) in {(one.rule, one.path, one.step) for one in found}


def test_a_group_that_makes_its_output_itself_stands_in_the_errors_way(tmp_path: Path) -> None:
    """A layer of two directions joins what its two parts put out: no call inside has the output that `turn` gets."""
    graph = graph_of({"first": ("x",), "both": ("first",), "both/forward": ("first",), "turn": ("both",), "end": ("turn",)})
    graph.calls[4].parent = 3
    errors = branch({"first": 1e5, "both": 1e5, "both/forward": 1e5})
    found = stream_of(tmp_path, errors, graph=graph, names=[layer.path for layer in graph.layers]).findings()
    assert [(one.path, one.step) for one in found if one.rule == "exploding_errors"] == [("turn", 0)]


def test_errors_of_several_ends_are_held_against_the_largest(tmp_path: Path) -> None:
    """One of two losses has next to no weight: what comes back from the other is no explosion."""
    graph = graph_of({"first": ("x",), "large": ("first",), "small": ("first",)})
    errors = branch({"first": 2e-2, "large": 1e-2, "small": 1e-6})
    assert stream_of(tmp_path / "sound", errors, graph=graph, names=[layer.path for layer in graph.layers]).findings() == []
    errors = branch({"first": 20.0, "large": 1e-2, "small": 1e-6})
    (one,) = stream_of(tmp_path / "wild", errors, graph=graph, names=[layer.path for layer in graph.layers]).findings()
    assert (one.rule, one.path) == ("exploding_errors", "large")
    np.testing.assert_allclose(one.evidence["ratio"], 2000, rtol=1e-4)


def test_errors_that_grow_in_operations_between_two_calls_are_named_at_the_later(tmp_path: Path) -> None:
    graph = graph_of({"first": ("x",), "second": ("first",), "end": ("second",)})
    graph.calls[3].inputs[0] = port()
    graph.calls[3].inputs[0].derived = [(2, 0)]
    errors = branch({"first": 20.0})
    (one,) = stream_of(tmp_path, errors, graph=graph, names=[layer.path for layer in graph.layers]).findings()
    assert (one.rule, one.path) == ("exploding_errors", "second")
    np.testing.assert_allclose(one.evidence["factor"], 2000, rtol=1e-4)


def test_a_rate_by_which_a_layer_stands_still_after_two_steps_is_too_large(tmp_path: Path) -> None:
    """Its units are dead then, and no update comes after."""

    def dies(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        if name != "first":
            return None
        return {"output": array * (step < 2), "update": array * (2e3 if step < 2 else 0.0)}.get(kind)

    (one,) = stream_of(tmp_path, dies).findings()
    assert (one.rule, one.path, one.step) == ("update_too_large", "first", 0)
    assert "dead_units · first" in one.evidence["explains"] or "constant · first" in one.evidence["explains"]


def test_a_layer_that_slows_down_within_a_few_records_was_slow_from_the_start(tmp_path: Path) -> None:
    def creeps(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return array * (5e-3 if step < 3 else 5e-4) if (kind, name) == ("update", "second") else None

    assert found(stream_of(tmp_path, creeps)) == {("update_too_small", "second", 0)}


def test_a_loss_that_no_longer_falls_since_a_layer_stands_still_is_its_consequence(tmp_path: Path) -> None:
    def stops(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return array * 0 if (kind, name) == ("update", "second") else None

    (one,) = stream_of(tmp_path, stops, step=lambda step: 2 * step, losses={"loss": 1.0}).findings()
    assert (one.rule, one.path, one.evidence["explains"]) == ("unchanged_weights", "second", ["loss_does_not_fall · ."])


def branch(errors: dict[str, float], until: int = STEPS) -> Any:
    """Errors of 1e-2, but of some calls others, up to a record."""

    def change(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return np.full_like(array, errors.get(name, 1e-2) if step < until else 1e-2) if kind == "error" else None

    return change


def test_a_kernel_that_shrinks_to_nothing_is_updated_by_too_much_though_it_is_soon_small(tmp_path: Path) -> None:
    """Decayed to a fifth in every step: beside what such a kernel usually has, all updates but the first are small."""

    def decays(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        value = np.random.default_rng(1).normal(size=(8, 8)) * 0.3 * 0.2**step
        return {"weight": value, "update": -0.8 * value}.get(kind) if name == "second" else None

    assert found(stream_of(tmp_path, decays)) >= {("update_too_large", "second", 0)}


def units_of(silent: Any) -> tuple[Graph, Any]:
    """A model whose `first` has 64 units, of which `silent(step)` (bool [64]) put out zeros and get no gradient."""
    graph = chain()
    graph.layers[0].weights = [Weight("bias", (64,), "float32")]

    def change(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        values = np.random.default_rng(step).normal(size=(32, 64)) * ~silent(step)
        return {"output": np.maximum(values, 0), "weight_gradient": values[0] * 1e-2}.get(kind) if name == "first" else None

    return graph, change


def test_the_same_units_without_a_gradient_in_all_records_are_dead_and_others_each_time_are_sparse(tmp_path: Path) -> None:
    graph, dead = units_of(lambda step: np.arange(64) < 48)
    assert found(stream_of(tmp_path / "dead", dead, graph=graph)) == {("dead_units", "first", 0)}
    graph, sparse = units_of(lambda step: np.random.default_rng(100 + step).permutation(64) < 48 + 12 * (step % 2))
    assert found(stream_of(tmp_path / "sparse", sparse, graph=graph)) == set()
    graph, few = units_of(lambda step: np.arange(64) < 24)
    assert found(stream_of(tmp_path / "few", few, graph=graph)) == set()


def test_units_that_get_no_gradient_though_they_put_something_out_are_not_dead(tmp_path: Path) -> None:
    graph, dead = units_of(lambda step: np.arange(64) < 48)

    def cut(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return np.maximum(np.random.default_rng(step).normal(size=(32, 64)), 0) if (kind, name) == ("output", "first") else dead(
            kind, name, step, array
        )  # fmt: skip

    assert found(stream_of(tmp_path, cut, graph=graph)) == set()


def test_a_kernel_of_zeros_that_gets_no_gradient_is_the_cause_of_its_constant_output(tmp_path: Path) -> None:
    stuck = changed(**{f"{kind}_second": (np.zeros_like, 0) for kind in ("weight", "weight_gradient", "update", "output")})
    (only,) = stream_of(tmp_path / "stuck", stuck).findings()
    assert (only.rule, only.path, only.step) == ("poor_initialisation", "second", 0)
    assert "constant · second" in only.evidence["explains"]

    def starts(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return array * 0 if name == "second" and kind in ("weight", "output") and step == 0 else None

    assert found(stream_of(tmp_path / "on purpose", starts)) == set()


def test_a_rate_too_large_is_named_though_numbers_that_are_none_come_at_once(tmp_path: Path) -> None:
    def wild(factor: float) -> Any:
        return changed(update_first=(lambda array: array * factor, 0), output_third=(lambda array: array * np.nan, 2))

    assert found(stream_of(tmp_path / "wild", wild(1e3))) == {("update_too_large", "first", 0), ("non_finite", "third", 2)}
    assert found(stream_of(tmp_path / "usual", wild(10))) == {("non_finite", "third", 2)}


def test_what_errors_that_explode_in_the_first_step_do_to_updates_is_their_consequence(tmp_path: Path) -> None:
    def explodes(since: int) -> Any:
        return changed(error_first=(lambda array: array * 1e6, since), update_third=(lambda array: array * 1e3, since))

    assert found(stream_of(tmp_path / "first", explodes(0))) == {("exploding_errors", "second", 0)}
    assert {one[0] for one in found(stream_of(tmp_path / "later", explodes(4)))} == {"exploding_errors", "update_too_large"}


def test_a_model_is_slow_by_its_rate_where_none_of_its_kernels_is_faster(tmp_path: Path) -> None:
    def slow(*names: str) -> Any:
        return lambda kind, name, step, array: array * 2e-3 if kind == "update" and name in names else None

    every = ("first", "second", "third")
    assert found(stream_of(tmp_path / "all", slow(*every))) == {("update_too_small", name, 0) for name in every}
    assert found(stream_of(tmp_path / "two", slow("first", "second"))) == set()
    warms_up = stream_of(
        tmp_path / "warms up", lambda kind, name, step, array: array * 3e-4 * (1 + step) if kind == "update" else None
    )
    assert found(warms_up) == set()


def test_a_model_without_kernels_has_no_rate(tmp_path: Path) -> None:
    graph = chain()
    for layer in graph.layers:
        layer.weights.clear()
    assert found(stream_of(tmp_path, graph=graph)) == set()


def test_a_kernel_that_only_its_decay_moves_has_no_rate_that_is_too_small(tmp_path: Path) -> None:
    decays = changed(update_first=(lambda array: array * 1e-5, 0), weight_gradient_first=(np.zeros_like, 0))
    assert found(stream_of(tmp_path, decays)) == set()


def test_of_losses_below_zero_the_fall_is_compared_with_their_spread(tmp_path: Path) -> None:
    noise = np.random.default_rng(4).normal(size=STEPS)

    def rules(folder: str, loss: Any) -> list[str]:
        stream = stream_of(tmp_path / folder, losses=lambda step: {"loss": loss(step)})
        return [one.rule for one in stream.findings(Limits(loss_span=10))]

    assert rules("falls", lambda step: -90 + 5 * (step < 5) + noise[step]) == [], "by less than a tenth of the first third's"
    assert rules("stays", lambda step: -90 + (-1) ** step) == ["loss_does_not_fall"]
    assert rules("rises", lambda step: -90 + step) == ["loss_does_not_fall"]
