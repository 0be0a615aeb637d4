"""Each rule of the findings, on a log written by hand whose numbers show the fault, and on one that does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_layerflow import reader, show
from tb_layerflow.analysis.findings import RULES, Limits
from tb_layerflow.log.records import Call, Graph, Layer, LayerLoss, LedgerEntry, Port, Record, Weight
from tb_layerflow.log.writer import StreamWriter
from tests import make

NAMES = ("first", "second", "third")
STEPS = 15


def chain() -> Graph:
    """Three dense layers one behind another; `second` is a tanh."""
    layers = [
        Layer(name, name, "Dense", [Weight("kernel", (8, 8), "float32"), Weight("bias", (8,), "float32")],
              config='{"activation": "tanh"}' if name == "second" else '{"activation": "relu"}')
        for name in NAMES
    ]  # fmt: skip
    calls = [
        Call(".", "model", "Functional", outputs=[port((4, 0))]),
        Call("x", "x", "Input", "input", parent=0, outputs=[port()]),
    ]
    for place, name in enumerate(NAMES):
        calls.append(Call(name, name, "Dense", layer=place, parent=0, inputs=[port((place + 1, 0))], outputs=[port()]))
    return Graph("model", calls, layers)


def port(source: tuple[int, int] | None = None) -> Port:
    return Port(shape=(-1, 8), dtype="float32", source=source)


def stream_of(
    folder: Path, change: Any = None, graph: Graph | None = None, names: Sequence[str] = NAMES, **fields: Any
) -> reader.Stream:
    """A log of STEPS healthy records; `change(kind, name, step, array)` may return another array for one tensor.

    `names` are those of the graph's layers, whose calls follow those of the model and its input in the same order.
    """
    graph = graph or chain()
    random = np.random.default_rng(0)
    writer = StreamWriter(folder, "train")
    writer.write_graph(graph)
    for step in range(STEPS):
        record = Record(step, 0, batch_size=32, losses={"loss": 1.0 / (1 + step)})
        for kind, scale in (("output", 1.0), ("error", 1e-2), ("weight", 0.3), ("weight_gradient", 1e-2), ("update", 1e-3)):
            rows, arrays = [], []
            for place, name in enumerate(names):
                array = (random.normal(size=(32, 8)) * scale).astype(np.float32)
                array = np.tanh(array) if (kind, name) == ("output", "second") else array
                if change is not None and (other := change(kind, name, step, array)) is not None:
                    array = np.asarray(other, np.float32)
                rows.append((place if "weight" in kind or kind == "update" else place + 2, 0))
                arrays.append(array)
            record.tables[kind] = make.table(rows, arrays)
        for name, value in fields.items():
            setattr(record, name, value(step) if callable(value) else value)
        writer.write_record(record)
    writer.close()
    return reader.open(folder)


def found(stream: reader.Stream) -> set[tuple[str, str, int]]:
    return {(one.rule, one.path, one.step) for one in stream.findings()}


def only(kind: str, name: str, make_it: Any, since: int = 0) -> Any:
    return lambda *asked: make_it(asked[3]) if asked[:2] == (kind, name) and asked[2] >= since else None


def test_a_training_without_fault_has_no_finding(tmp_path: Path) -> None:
    assert stream_of(tmp_path).findings() == []


def test_the_first_output_that_is_not_finite_is_named_with_its_step_and_the_last_good_record(tmp_path: Path) -> None:
    def spoil(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return np.full_like(array, np.nan) if step >= 7 and (kind == "error" or (kind == "output" and name != "first")) else None

    stream = stream_of(tmp_path, spoil)
    first = stream.findings()[0]
    assert (first.rule, first.path, first.step, first.level) == ("non_finite", "second", 7, "failure")
    assert first.evidence["direction"] == "forward" and first.evidence["last good record"] == 6


def test_an_error_that_is_not_finite_is_named_where_the_backward_pass_met_it_first(tmp_path: Path) -> None:
    def spoil(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        return np.full_like(array, np.inf) if step >= 3 and kind == "error" and name != "third" else None

    first = stream_of(tmp_path, spoil).findings()[0]
    assert (first.rule, first.path, first.step, first.evidence["direction"]) == ("non_finite", "second", 3, "backward")


def test_weights_that_were_already_bad_say_so_and_how_to_catch_it(tmp_path: Path) -> None:
    first = stream_of(tmp_path, only("weight", "second", lambda array: array * np.nan, 5)).findings()[0]
    assert (first.path, first.step, first.evidence["kind"]) == ("second", 5, "weight")
    assert "already non-finite" in first.message and "step 4" in first.message and "every=1" in first.message


def test_overflow_in_a_step_that_the_loss_scaler_skipped_is_no_failure(tmp_path: Path) -> None:
    change = only("error", "first", lambda array: array * np.inf)
    assert found(stream_of(tmp_path, change, skipped=True)) & {("non_finite", "first", 0)} == set()


def test_a_loss_scaler_that_goes_on_skipping_is_named(tmp_path: Path) -> None:
    assert ("loss_scaler_skips", ".", 0) in found(stream_of(tmp_path / "all", skipped=True))
    few = stream_of(tmp_path / "few", skipped=lambda step: step < 3)
    assert few.findings() == []


def test_the_call_through_which_errors_grow_or_shrink_the_most_is_named(tmp_path: Path) -> None:
    grown = stream_of(tmp_path / "grown", only("error", "first", lambda array: array * 1e6))
    assert ("exploding_errors", "second", 0) in found(grown)
    shrunk = stream_of(tmp_path / "shrunk", only("error", "first", lambda array: array * 1e-6))
    assert found(shrunk) == {("vanishing_errors", "second", 0)}


def test_errors_that_jump_from_one_record_to_the_next_explode(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, lambda kind, name, step, array: array * 1e5 if kind == "error" and step >= 9 else None)
    assert found(stream) == {("exploding_errors", "third", 9)}


def test_an_explosion_of_one_record_is_named_where_it_is_extreme(tmp_path: Path) -> None:
    def at_five(factor: float) -> Any:
        return lambda kind, name, step, array: array * factor if (kind, name, step) == ("error", "first", 5) else None

    assert ("exploding_errors", "second", 5) in found(stream_of(tmp_path / "extreme", at_five(1e7)))
    assert stream_of(tmp_path / "passing", at_five(30.0)).findings() == []


def test_what_only_passes_zeros_on_is_not_named_beside_the_layer_that_made_them(tmp_path: Path) -> None:
    def dead(kind: str, name: str, step: int, array: np.ndarray) -> Any:
        is_cut = kind == "output" or (kind == "error" and name == "first") or (kind == "update" and name != "third")
        return np.zeros_like(array) if is_cut else None

    assert found(stream_of(tmp_path, dead)) == {("dead_units", "first", 0)}


def test_dead_saturated_and_constant_outputs_are_told_apart(tmp_path: Path) -> None:
    dead = stream_of(tmp_path / "dead", only("output", "first", np.zeros_like, 4))
    assert ("dead_units", "first", 4) in found(dead) and not any(one[0] == "constant" for one in found(dead))
    full = stream_of(tmp_path / "full", only("output", "second", lambda array: np.sign(array) * 0.999, 2))
    assert found(full) == {("saturated", "second", 2)}
    flat = stream_of(tmp_path / "flat", only("output", "third", lambda array: np.full_like(array, 0.7), 1))
    assert found(flat) == {("constant", "third", 1)}


def test_half_the_units_at_zero_is_healthy(tmp_path: Path) -> None:
    assert stream_of(tmp_path, only("output", "first", lambda array: np.maximum(array, 0))).findings() == []


def test_a_kernel_out_of_scale_and_units_that_are_alike_are_poor_initialisation(tmp_path: Path) -> None:
    def loud(*parts: tuple[str, str]) -> Any:
        return lambda kind, name, step, array: array * 500 if (kind, name) in parts else None

    kernel = stream_of(tmp_path / "kernel", loud(("output", "third"), ("weight", "third")))
    assert ("poor_initialisation", "third", 0) in found(kernel)
    tanh = stream_of(tmp_path / "tanh", loud(("weight", "second")))
    assert ("poor_initialisation", "second", 0) in found(tanh)
    bias = stream_of(tmp_path / "bias", loud(("output", "third")))
    assert "poor_initialisation" not in {one[0] for one in found(bias)}
    alike = stream_of(tmp_path / "alike", only("weight", "second", lambda array: np.full_like(array, 0.1)))
    assert found(alike) == {("poor_initialisation", "second", 0)}


def test_a_weight_that_stays_while_others_move_is_named(tmp_path: Path) -> None:
    assert found(stream_of(tmp_path / "one", only("update", "second", np.zeros_like))) == {("unchanged_weights", "second", 0)}
    accumulating = stream_of(
        tmp_path / "all", lambda kind, name, step, array: array * 0 if kind == "update" and step % 4 else None
    )
    assert accumulating.findings() == []


def test_update_ratios_out_of_range_are_named(tmp_path: Path) -> None:
    assert found(stream_of(tmp_path / "large", only("update", "first", lambda array: array * 1e3))) == {
        ("update_too_large", "first", 0)
    }
    assert found(stream_of(tmp_path / "small", only("update", "first", lambda array: array * 1e-7))) == {
        ("update_too_small", "first", 0)
    }


def test_a_rate_that_falls_to_nothing_is_named_at_its_step_and_a_schedule_s_end_is_not(tmp_path: Path) -> None:
    assert found(stream_of(tmp_path / "early", only("update", "first", lambda array: array * 1e-7, 3))) == {
        ("update_too_small", "first", 3)
    }
    assert stream_of(tmp_path / "end", only("update", "first", lambda array: array * 1e-7, 9)).findings() == []


def test_one_update_many_times_its_weight_is_named(tmp_path: Path) -> None:
    stream = stream_of(
        tmp_path, lambda kind, name, step, array: array * 1e5 if (kind, name, step) == ("update", "first", 6) else None
    )
    assert found(stream) == {("update_too_large", "first", 6)}


def test_a_layer_whose_readout_is_worse_than_its_inputs_is_named(tmp_path: Path) -> None:
    rows = [LayerLoss(2, 0, "readout", 0.1, 0.9), LayerLoss(3, 0, "readout", 1.5, 0.3), LayerLoss(4, 0, "readout", 1.4, 0.32)]
    assert found(stream_of(tmp_path, layer_losses=rows, batch_size=400)) == {("worse_readout", "second", STEPS - 3)}


@pytest.mark.parametrize(("loss", "named"), [(1.82, True), (1.6, False)])
def test_a_smaller_drop_is_named_where_most_of_what_can_be_known_is_lost(tmp_path: Path, loss: float, named: bool) -> None:
    """0.52 and 0.31 of 64 samples are 2.4 standard errors apart; of 2.06 - 1.43 that can be known, 1.82 has lost six tenths."""
    given = [(2, 1.43, 0.52), (3, loss, 0.32), (4, loss, 0.32)]
    rows = [LayerLoss(call, 0, "readout", one, accuracy, baseline=2.06) for call, one, accuracy in given]
    wrong = {("worse_readout", "second", STEPS - 3)} if named else set()
    assert found(stream_of(tmp_path, layer_losses=rows, batch_size=128)) == wrong


def squares(after: float, model: float = 1.0) -> Any:
    """Layer losses of a regression whose labels have the variance 1, `second` read from with this loss, the model's own rising."""
    return lambda step: squares_at(after, model + 1e-3 * step)


def squares_at(after: float, model: float) -> list[LayerLoss]:
    given = [(2, "readout", 0.05), (3, "readout", after), (4, "readout", after), (0, "direct", model)]
    return [LayerLoss(call, 0, form, loss, baseline=1.0 if form == "readout" else 0.0) for call, form, loss in given]


@pytest.mark.parametrize(
    ("after", "model", "named"), [(0.95, 1.0, True), (0.24, 0.1, False), (0.3, 0.5, False), (0.95, 2.5, False)]
)
def test_without_an_accuracy_the_share_of_what_can_be_known_decides(
    tmp_path: Path, after: float, model: float, named: bool
) -> None:
    """Not where little is lost, where the model itself says less, or where the model says less than nothing."""
    wrong = {("worse_readout", "second", STEPS - 3)} if named else set()
    assert found(stream_of(tmp_path, layer_losses=squares(after, model), batch_size=400)) == wrong


def test_a_worse_readout_is_not_named_where_the_output_is_saturated_or_no_error_arrives(tmp_path: Path) -> None:
    full = stream_of(tmp_path / "full", only("output", "second", np.sign), layer_losses=squares(0.95), batch_size=400)
    assert found(full) == {("saturated", "second", 0)}
    cut = stream_of(
        tmp_path / "cut", only("error", "second", lambda array: array * 1e-7), layer_losses=squares(0.95), batch_size=400
    )
    assert "worse_readout" not in {one.rule for one in cut.findings()}
    apart = chain()
    apart.calls[3].outputs[0].error = "not connected"
    alone = stream_of(tmp_path / "alone", graph=apart, layer_losses=squares(0.95), batch_size=400)
    assert "worse_readout" not in {one.rule for one in alone.findings()}


def test_what_can_be_read_again_further_on_was_not_lost(tmp_path: Path) -> None:
    """By a way around the call, or because the readout averages over places that what is behind it tells apart."""
    rows = [LayerLoss(2, 0, "readout", 0.1, 0.9), LayerLoss(3, 0, "readout", 1.5, 0.3), LayerLoss(4, 0, "readout", 0.2, 0.85)]
    assert found(stream_of(tmp_path, layer_losses=rows, batch_size=400)) == set()


def test_in_a_model_that_is_lost_a_readout_is_worse_where_nearly_all_is(tmp_path: Path) -> None:
    def losses(after: float) -> list[LayerLoss]:
        rows = [LayerLoss(2, 0, "readout", 0.1, 0.9, baseline=2.3)]
        return [*rows, *(LayerLoss(call, 0, "readout", after, 0.3, baseline=2.3) for call in (3, 4))]

    def fit(name: str, after: float) -> reader.Stream:
        return stream_of(
            tmp_path / name, layer_losses=lambda step: [*losses(after), LayerLoss(0, 0, "direct", 9.0 + step)], batch_size=400
        )

    assert found(fit("all", 2.29)) == {("worse_readout", "second", STEPS - 3)}
    assert found(fit("some", 1.5)) == set()


def test_a_loss_that_does_not_fall_is_named(tmp_path: Path) -> None:
    limits = Limits(loss_span=10)
    stream = stream_of(tmp_path, losses=lambda step: {"loss": 1.0 + 0.01 * (step % 2)})
    assert [one.rule for one in stream.findings(limits)] == ["loss_does_not_fall"]


def test_a_layer_that_no_gradient_reaches_is_disconnected(tmp_path: Path) -> None:
    graph = chain()
    graph.ledger.append(LedgerEntry("first", "weight_gradient", 0, "skipped", "not connected"))
    graph.layers.append(Layer("spare", "spare", "Dense", [Weight("kernel", (8, 5), "float32")], called=False))
    graph.ledger.append(LedgerEntry("spare", "weight_gradient", 0, "skipped", "not connected"))
    assert found(stream_of(tmp_path, graph=graph)) == {("disconnected", "first", 0), ("disconnected", "spare", 0)}


def test_thresholds_can_be_set(tmp_path: Path) -> None:
    stream = stream_of(tmp_path)
    assert {one.rule for one in stream.findings(Limits(update_too_large=1e-4))} == {"update_too_large"}


def test_the_command_shows_findings(tmp_path: Path) -> None:
    stream_of(tmp_path, only("output", "second", lambda array: array * np.nan, 5))
    assert any("■ non_finite · second · step 5" in line for line in show.lines(reader.LogDir(tmp_path), None, None, None))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_says_its_definition(rule: Any) -> None:
    assert "Definition" in rule.__doc__
