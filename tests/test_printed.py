"""What people print is short: public objects of the reader show what they are, not their arrays."""

from __future__ import annotations

import numpy as np

from tb_layerflow.analysis.explanation import Explanation, Group, Omitted, Term
from tb_layerflow.log.kept_files import KeptStep
from tb_layerflow.log.records import COLUMNS, Manifest
from tb_layerflow.reader import Histogram, PortPath, SampledFrom, Statistics


def explained(products: list[float]) -> Explanation:
    terms = tuple(Term(0, (0, i), value, value * 2.0, "kernel", (i, 1), 2.0) for i, value in enumerate(products))
    total = 2.0 * sum(products)
    group = Group(0, 0, total, abs(total), len(terms), terms)
    return Explanation(
        "Dense", "Σ of the products", (group,), len(terms), Omitted(), None, total, "", total, total, recorded=total
    )


def test_an_explanation_prints_its_formula_and_its_largest_terms() -> None:
    lines = str(explained([1.0, -8.0, 3.0, 4.0, 5.0, 6.0, 7.0])).splitlines()
    assert lines[0] == "Σ of the products"
    assert lines[1] == "  −16 from input 0 [0, 1]: −8 × 2 (kernel [1, 1])"
    assert [line.split()[0] for line in lines[1:6]] == ["−16", "14", "12", "10", "8"]
    assert lines[6:] == ["  and 2 smaller terms", "  recorded: 36"]


def test_a_term_that_is_no_number_is_printed_first() -> None:
    lines = str(explained([9.0, 1.0, float("nan"), 2.0, 3.0, 4.0, 5.0])).splitlines()
    assert lines[1].startswith("  nan from input 0 [0, 2]")


def test_statistics_print_their_kind_and_size() -> None:
    ports = [PortPath("a", 0), PortPath("a", 1), PortPath("b", 0)]
    empty = np.zeros((4, 3))
    found = Statistics("error", np.arange(4), ports, COLUMNS, np.zeros((4, 3, len(COLUMNS))), empty, empty)
    assert str(found) == "<Statistics of error: 2 paths, 3 tensors × 4 steps>"


def test_a_histogram_prints_where_its_elements_lie() -> None:
    counts = np.array([0, 3, 0, 5, 0], np.uint64)
    found = Histogram(7, np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0]), counts, 1, 2, 0, 0, SampledFrom(11, 2000, 1))
    assert str(found) == "<Histogram at step 7: 11 of 2,000 elements, -2 to 1; zero 1, nan 2, pos_inf 0, neg_inf 0>"


def test_a_kept_step_and_a_manifest_print_no_arrays() -> None:
    kept = KeptStep(3, {"x": np.zeros((32, 28), np.float32)}, [("dense/kernel", np.zeros(100))])
    assert str(kept) == "<KeptStep 3: batch x float32 [32, 28]; 1 weights>"
    assert str(Manifest(5, 0, "f.npz", samples=1, bytes=4096)) == "<Manifest of step 5: 0 arrays of 1 sample, 4,096 bytes, 0 cut>"
