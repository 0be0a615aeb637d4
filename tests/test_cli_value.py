"""`layerflow value`: one number, a summary, or a file; whatever goes wrong is one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tb_layerflow import cli
from tests import test_plugin_values as recorded
from tests.test_cli import printed, refused

DENSE = recorded.FLAT @ recorded.KERNEL


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    recorded.write(tmp_path / "siamese")
    return tmp_path


def test_value_prints_the_number_at_a_place(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = printed(capsys, "value", logdir, "encoder#1/first_dense", "--at", "1,2")
    assert np.float32(float(line)) == DENSE[1, 2]
    (line,) = printed(capsys, "value", logdir, "encoder/first_dense", "--kind", "weight", "--at=-1,0", "--step", 0)
    assert np.float32(float(line)) == recorded.KERNEL[-1, 0]


def test_value_summarises_and_saves_an_array(logdir: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = printed(capsys, "value", logdir, "encoder#1/first_dense", "-o", tmp_path / "dense.npy", "--run", "siamese")
    assert out[:2] == ["dtype       float32", "shape       [2, 4]"]
    assert float(out[2].split()[1]) == pytest.approx(float(DENSE.mean()), rel=1e-6)
    np.testing.assert_array_equal(np.load(tmp_path / "dense.npy"), DENSE)


def test_of_several_streams_the_first_that_holds_the_value_is_taken_and_named(
    logdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.write(logdir / "other")
    assert cli.main(["value", str(logdir), "encoder#1/first_dense", "--at", "1,2"]) == 0
    told = capsys.readouterr()
    assert np.float32(float(told.out)) == DENSE[1, 2]
    assert told.err == "This is run 'other', stream 'train'; 1 more have it: choose with --run and --stream.\n"
    printed(capsys, "value", logdir, "encoder#1/first_dense", "--run", "siamese")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "No path is or ends in 'nowhere'."),
        (["left", "--at", "9,9,9"], "[9, 9, 9] is not a place in an array of shape [2, 2, 4]."),
        (["left", "--at", "0,0"], "A place in an array of shape [2, 2, 4] has 3 positions, the sample's first. Received 2: 0,0."),
        (["left", "--at", "a"], "--at takes whole numbers such as 0,5,5,0. Received: 'a'."),
        (["left", "--step", "5"], "There is no exact output 0 of 'left' at step 5. It is there at 0, 10."),
        (["left", "--kind", "gradient"], "kind must be one of input, output, error,"),
        (["left", "--stream", "probe"], "No run has a stream 'probe' below this folder."),
    ],
)
def test_what_cannot_be_printed_is_one_sentence(
    logdir: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert refused(capsys, "value", logdir, *arguments).startswith(f"layerflow: {sentence}")
