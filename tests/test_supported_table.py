"""The README's table of what is supported is the one that the tests run; and it has what was promised."""

from __future__ import annotations

from tests.table import table
from tests.table.__main__ import BEGIN, END, README, inserted
from tests.table.row import STRUCTURAL


def test_the_readme_has_the_table_that_the_tests_run() -> None:
    text = README.read_text(encoding="utf-8")
    assert inserted(text) == text, "run `python -m tests.table`"
    assert text.index(BEGIN) < text.index(END)


def test_there_are_sixty_rows_and_fifty_have_outputs_and_errors_of_every_floating_leaf_call() -> None:
    rows = table()
    assert len({(row.group, row.what) for row in rows}) == len(rows) >= 60
    assert sum(row.is_full and row.has_errors for row in rows) >= 50


def test_only_what_may_be_is_structural() -> None:
    assert {reason for row in table() for reason in row.structural.values()} <= set(STRUCTURAL)
