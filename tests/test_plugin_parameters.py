"""The parameters of a request: each wrong one gets a sentence that says what was received."""

from __future__ import annotations

import pytest

from tb_layerflow.plugin.parameters import BadRequest, checked


def test_parameters_arrive_in_their_types() -> None:
    given = {"run": ["a/b"], "step": ["-5"], "port": ["2"], "kind": ["error:generator"]}
    assert checked("run step port kind", given) == {"run": "a/b", "step": -5, "port": 2, "kind": "error:generator"}


def test_an_optional_parameter_may_be_left_out() -> None:
    assert checked("run step?", {"run": ["a"]}) == {"run": "a"}


@pytest.mark.parametrize(
    ("spec", "given", "sentence"),
    [
        ("run", {}, "run must be given once. Received: 0 times."),
        ("run", {"run": ["a", "b"]}, "run must be given once. Received: 2 times."),
        ("run", {"run": ["a"], "steps": ["1"]}, "This route takes run. Received: 'steps'."),
        ("", {"run": ["a"]}, "This route takes no parameters. Received: 'run'."),
        ("run", {"run": [""]}, "run must be 1 to 4096 characters long. Received: 0 characters."),
        ("step", {"step": ["1.5"]}, "step must be a whole number. Received: '1.5'."),
        ("step", {"step": ["1_0"]}, "step must be a whole number. Received: '1_0'."),
        ("step", {"step": ["٣"]}, "step must be a whole number. Received: '٣'."),
        ("step", {"step": ["9223372036854775808"]}, "step must be a whole number. Received: '9223372036854775808'."),
        ("port", {"port": ["-1"]}, "port must be a whole number from 0 on. Received: '-1'."),
        ("stream", {"stream": ["../x"]}, "stream must be 1 to 32 of a-z, 0-9 and _. Received: '../x'."),
        ("stream", {"stream": ["train\n"]}, "stream must be 1 to 32 of a-z, 0-9 and _. Received: 'train\\n'."),
        ("kind", {"kind": ["errors"]}, "kind must be input, output, error, error#0, error:generator, weight, weight_gradient"),
        ("column", {"column": ["median"]}, "column must be one of count, mean, l2,"),
    ],
)
def test_a_wrong_parameter_is_refused_with_a_sentence(spec: str, given: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(BadRequest) as refused:
        checked(spec, given)
    assert str(refused.value).startswith(sentence)


def test_a_very_long_value_is_not_repeated_whole() -> None:
    with pytest.raises(BadRequest) as refused:
        checked("step", {"step": ["9" * 4000]})
    assert len(str(refused.value)) < 120
