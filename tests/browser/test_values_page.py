"""Maps, microscope and journey show the reader's numbers: what is pointed at is `stream.value`, what is said `stream.explain`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demo.serve import tensorboard
from tb_layerflow import reader
from tests.browser.chromium import DRAWN, Chromium, at_rest

EDGE, GAP = 2, 5
"""Around all maps and between them, in pixels; an element's place is worked out here once more from the documented layout."""

GRID = """(() => {
  const grid = document.querySelector('.maps[data-tensor]');
  const {columns, cell, planes} = grid.dataset;
  return {columns: Number(columns), cell: cell.split(' ').map(Number), planes: Number(planes), height: grid.clientHeight,
          width: grid.clientWidth};
})()"""

READOUT = "(() => { const at = document.querySelector('.map-readout'); return [at.dataset.index, at.dataset.value]; })()"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A residual model and one with its channels first, each recorded once with exact values; and one that was trained beside a probe."""
    keras = pytest.importorskip("keras")
    import tb_layerflow as layerflow

    folder = tmp_path_factory.mktemp("values_page")
    keras.utils.set_random_seed(7)
    numbers = np.random.default_rng(7)
    picture = keras.Input((14, 12, 3), name="photo")
    first = keras.layers.Conv2D(24, 3, padding="same", activation="relu", name="first")(picture)
    second = keras.layers.Conv2D(24, 3, padding="same", name="second")(first)
    joined = keras.layers.Add(name="joined")([first, second])
    pooled = keras.layers.GlobalAveragePooling2D(name="pooled")(joined)
    residual = keras.Model(picture, keras.layers.Dense(4, activation="softmax", name="classes")(pooled), name="residual")
    layerflow.record(
        residual, str(folder / "residual"), numbers.normal(size=(2, 14, 12, 3)).astype("float32"), np.array([0, 2]),
        loss="sparse_categorical_crossentropy", class_names=["ant", "bee", "cat", "dog"],
    )  # fmt: skip
    planes = keras.Input((6, 9, 11), name="planes")
    padded = keras.layers.ZeroPadding2D(1, data_format="channels_first", name="padded")(planes)
    bent = keras.layers.Activation("tanh", name="bent")(padded)
    turned = keras.Model(
        planes, keras.layers.GlobalAveragePooling2D(data_format="channels_first", name="mean")(bent), name="turned"
    )
    layerflow.record(turned, str(folder / "turned"), numbers.normal(size=(2, 6, 9, 11)).astype("float32"))
    trained = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="only")])
    trained.compile("sgd", "mse")
    x, y = numbers.normal(size=(8, 3)).astype("float32"), numbers.normal(size=(8, 2)).astype("float32")
    probed = layerflow.summary.LayerFlow(
        folder / "probed", probe=(x, y), values="none", what=("outputs", "errors", "weights", "timing")
    )
    trained.fit(x, y, batch_size=4, epochs=6, verbose=0, callbacks=[probed])
    return folder


@pytest.fixture(scope="module")
def served(logs: Path) -> Iterator[str]:
    with tensorboard(logs) as address:
        yield address


@pytest.fixture(scope="module")
def residual(logs: Path) -> reader.Stream:
    return reader.LogDir(logs).run("residual").stream("record")


def point(browser: Chromium, x: float, y: float, event: str = "pointermove") -> None:
    """As a pointer at a place of the grid's own pixels would."""
    kind = "MouseEvent" if event == "click" else "PointerEvent"
    browser.evaluate(f"""(() => {{
      const grid = document.querySelector('.maps[data-tensor]');
      const box = grid.querySelector('canvas').getBoundingClientRect();
      grid.dispatchEvent(new {kind}('{event}', {{clientX: box.left + {x}, clientY: box.top + {y}, bubbles: true}}));
    }})()""")


def some_places(
    browser: Chromium, draw: random.Random, count: int, rows: int, cols: int
) -> list[tuple[int, int, int, float, float]]:
    """Random elements in sight: slot, row, column, and the middle of each in pixels."""
    grid: dict[str, Any] = browser.evaluate(GRID)
    width, height = grid["cell"]
    lines = max(1, int((grid["height"] - EDGE) // (height + GAP)))
    columns = min(grid["columns"], max(1, int((grid["width"] - EDGE) // (width + GAP))))
    places = []
    while len(places) < count:
        line, column = draw.randrange(lines), draw.randrange(columns)
        slot = line * grid["columns"] + column
        if slot >= grid["planes"]:
            continue
        row, col = draw.randrange(rows), draw.randrange(cols)
        x = EDGE + column * (width + GAP) + (col + 0.5) * width / cols
        y = EDGE + line * (height + GAP) + (row + 0.5) * height / rows
        if x < grid["width"] and y < grid["height"]:
            places.append((slot, row, col, x, y))
    return places


def assert_pointed_numbers(browser: Chromium, value: NDArray[Any], order: NDArray[np.int64], first: bool, seed: int) -> None:
    """Five random numbers under the pointer are those of the array, at the index that is shown."""
    rows, cols = value.shape[2:] if first else value.shape[1:3]
    for slot, row, col, x, y in some_places(browser, random.Random(seed), 5, rows, cols):
        channel = int(order[slot])
        index = (0, channel, row, col) if first else (0, row, col, channel)
        point(browser, x, y)
        browser.wait(f"document.querySelector('.map-readout').dataset.index === '{','.join(map(str, index))}'")
        shown = float(browser.evaluate(READOUT)[1])
        assert np.float32(shown) == value[index], index


def test_numbers_under_the_pointer_are_the_readers_by_channel(browser: Chromium, served: str, residual: reader.Stream) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "first", "panel": "values"})
    browser.wait("document.querySelector('.maps[data-tensor]') !== null")
    assert_pointed_numbers(browser, residual.value("first"), np.arange(24), False, 1)
    assert browser.complaints() == []


def test_numbers_under_the_pointer_are_the_readers_when_sorted(browser: Chromium, served: str, residual: reader.Stream) -> None:
    value = residual.value("joined")
    activity = np.sqrt((value[0].astype(np.float64) ** 2).mean((0, 1)))
    browser.open(served, {"run": "residual", "stream": "record", "call": "joined", "panel": "values", "view": "maps"})
    browser.wait("document.querySelector('[data-pick=order]') !== null")
    browser.evaluate("""(() => { const pick = document.querySelector('[data-pick=order]'); pick.value = 'activity';
      pick.dispatchEvent(new Event('change', {bubbles: true})); })()""")
    browser.wait("document.querySelector('.maps').dataset.sorted === 'true'")
    assert_pointed_numbers(browser, value, np.argsort(-activity, kind="stable"), False, 2)


def test_numbers_under_the_pointer_are_the_readers_when_zoomed(browser: Chromium, served: str, residual: reader.Stream) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "second", "panel": "values", "view": "maps"})
    browser.wait("document.querySelector('[data-zoom=in]') !== null")
    before = browser.evaluate(GRID)["cell"]
    for _ in range(4):
        browser.click("[data-zoom=in]")
    browser.wait(f"Number(document.querySelector('.maps').dataset.cell.split(' ')[0]) > {before[0] * 1.5}")
    assert_pointed_numbers(browser, residual.value("second"), np.arange(24), False, 3)


def test_numbers_under_the_pointer_are_the_readers_with_channels_first(browser: Chromium, served: str, logs: Path) -> None:
    value = reader.LogDir(logs).run("turned").stream("record").value("bent")
    browser.open(served, {"run": "turned", "stream": "record", "call": "bent", "panel": "values"})
    browser.wait("document.querySelector('.maps[data-tensor]')?.dataset.planes === '6'")
    assert_pointed_numbers(browser, value, np.arange(6), True, 4)


def test_numbers_under_the_pointer_are_the_readers_in_a_kernel(browser: Chromium, served: str, residual: reader.Stream) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "first", "panel": "weights"})
    browser.wait("document.querySelector('.maps[data-tensor]') !== null")
    kernel = residual.value("first", kind="weight")
    assert kernel.shape == (3, 3, 3, 24)
    for slot, row, col, x, y in some_places(browser, random.Random(5), 5, 3, 3):
        index = (row, col, slot // 24, slot % 24)
        point(browser, x, y)
        browser.wait(f"document.querySelector('.map-readout').dataset.index === '{','.join(map(str, index))}'")
        assert np.float32(float(browser.evaluate(READOUT)[1])) == kernel[index], index
    point(browser, x, y, "click")
    assert browser.evaluate("document.querySelector('.lens')") is None
    assert browser.complaints() == []


@pytest.mark.parametrize("view", ["flow", "maps"])
def test_the_microscope_opens_from_a_map_with_the_readers_numbers(
    browser: Chromium, served: str, residual: reader.Stream, view: str
) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "second", "panel": "values", "view": view})
    browser.wait("document.querySelector('.maps[data-tensor]') !== null")
    slot, row, col, x, y = some_places(browser, random.Random(view), 1, 14, 12)[0]
    point(browser, x, y, "click")
    browser.wait("document.querySelector('.lens .sum') !== null")
    said = browser.evaluate(
        "({lens: document.querySelector('.lens').dataset.lens, ...document.querySelector('.lens .sum').dataset})"
    )
    assert said["lens"] == f"second 0,{row},{col},{slot}"
    expected = residual.explain("second", (0, row, col, slot))
    assert isinstance(expected, reader.Explanation)
    assert float(said["total"]) == expected.total
    assert np.float32(said["recorded"]) == residual.value("second")[0, row, col, slot]
    assert float(said["difference"]) == expected.difference
    groups = browser.evaluate(
        "[...document.querySelectorAll('.lens [data-group]')].map((at) => [at.dataset.group, Number(at.dataset.sum)])"
    )
    assert groups == [[f"{group.port} {group.channel}", group.sum] for group in expected.groups[: len(groups)]]
    assert len(groups) == 3


def test_a_term_leads_to_the_call_that_made_it(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "second", "panel": "values"})
    browser.wait("document.querySelector('.maps[data-tensor]') !== null")
    point(browser, EDGE + 20, EDGE + 20, "click")
    browser.wait("document.querySelector('.lens .walk') !== null")
    browser.click(".lens .walk")
    browser.wait("document.querySelector('.title h2').textContent === 'first'")
    browser.wait("document.querySelector('.lens')?.dataset.lens.startsWith('first ')")


def test_escape_closes_the_microscope_before_the_call_and_another_call_closes_it_too(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "second", "panel": "values"})
    for close in ("escape", "choose"):
        browser.wait("document.querySelector('.maps[data-tensor]') !== null")
        point(browser, EDGE + 20, EDGE + 20, "click")
        browser.wait("document.querySelector('.lens .sum') !== null")
        if close == "escape":
            browser.press("Escape")
            browser.wait("document.querySelector('.lens') === null")
            assert browser.evaluate("document.querySelector('.title h2').textContent") == "second"
        else:
            browser.click(".card[data-call='first'], [data-call='first']")
            browser.wait("document.querySelector('.title h2').textContent === 'first'")
            browser.wait("document.querySelector('.lens') === null")
    browser.press("Escape")
    browser.wait("document.querySelector('.title h2').textContent === 'residual'")


def test_the_figures_are_those_of_the_sample_that_is_shown(browser: Chromium, served: str, residual: reader.Stream) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "first", "panel": "values"})
    value = residual.value("first").astype(np.float64)
    assert len({float(f"{sample.max():.3g}") for sample in value}) == 2
    for number, sample in enumerate(value):
        browser.wait("document.querySelector('[data-pick=sample]') !== null")
        browser.evaluate(
            f"(() => {{ const pick = document.querySelector('[data-pick=sample]'); pick.value = {number};"
            " pick.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        shown = "Object.fromEntries([...document.querySelectorAll('.fact-row > div')].map((at) => [...at.children].map((one) => one.textContent)))"
        browser.wait(f"document.querySelector('.fact-row[data-of=sample]') !== null && !Object.values({shown}).includes('…')")
        facts = browser.evaluate(shown)
        for name, expected in {"mean": sample.mean(), "std": sample.std(), "min": sample.min(), "max": sample.max()}.items():
            assert float(facts[name].replace("−", "-")) == pytest.approx(expected, rel=6e-3, abs=1e-12), (number, name)
        ends = browser.evaluate("document.querySelector('.map-ramp').textContent")
        assert f"{sample.max():.3g}" in ends, (number, ends)


def test_a_probe_says_that_it_changes_no_weights_and_leads_to_the_training(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "probed", "stream": "probe", "call": "only", "panel": "weights"})
    browser.wait("document.querySelector('.panel .sentence button') !== null")
    said = browser.evaluate("document.querySelector('.panel .sentence').textContent")
    assert said.startswith("Nothing is trained in the stream “probe”: its records change no weights. The statistics")
    browser.click(".panel .sentence button")
    browser.wait("document.querySelector('.statistics.numbers [data-kind=update]') !== null")


def test_a_calls_title_says_how_long_it_took_and_what_it_costs(browser: Chromium, served: str, logs: Path) -> None:
    stream = reader.LogDir(logs).run("probed").stream("train")
    step = int(stream.steps[-1])
    browser.open(served, {"run": "probed", "stream": "train", "call": "only", "step": step})
    browser.wait("document.querySelectorAll('.inspector .title p').length === 3")
    _, cost, took = browser.evaluate("[...document.querySelectorAll('.inspector .title p')].map((one) => one.textContent)")
    assert cost == f"{4 * (2 * 3 * 2 + 2)} FLOP · output {4 * 2 * 4} B · of the whole batch"
    units = {"µs": 1e-6, "ms": 1e-3, "s": 1}
    said = [float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) (µs|ms|s) ", took)]
    assert said == pytest.approx(list(stream.seconds(step)["only"]), rel=0.051)


def test_another_run_is_asked_only_for_streams_that_it_has(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "first"})
    for run, stream in (("probed", "train"), ("turned", "record")):
        browser.wait("document.querySelector('.inspector .panel') !== null")
        browser.press("r")
        browser.wait("document.querySelector('.popover [role=option]') !== null")
        browser.evaluate(
            f"[...document.querySelectorAll('[role=option]')].find((one) => one.textContent.startsWith('{run}')).click()"
        )
        browser.wait(
            f"document.querySelector('.bar [aria-pressed=true]')?.textContent === '{stream}' && {DRAWN} && {at_rest(400)}"
        )
    assert browser.complaints() == []


def test_the_slice_box_takes_numpys_slices_and_teaches(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "call": "first", "panel": "values"})
    browser.wait("document.querySelector('[data-slices]') !== null")
    type_in = """((text) => { const box = document.querySelector('[data-slices]'); box.value = text;
      box.dispatchEvent(new Event('change', {bubbles: true})); })"""
    browser.evaluate(f"{type_in}('[1, 2:6, :, 3:5]')")
    browser.wait("document.querySelector('.maps').dataset.planes === '2'")
    point(browser, EDGE + 1, EDGE + 1)
    browser.wait("document.querySelector('.map-readout').dataset.index === '1,2,0,3'")
    browser.evaluate(f"{type_in}('[9]')")
    browser.wait("document.querySelector('.slice-box .sentence')?.textContent.includes('positions 0 to 1')")


def test_the_journey_goes_through_every_call_in_the_order_of_the_flow(browser: Chromium, served: str) -> None:
    browser.open(served, {"run": "residual", "stream": "record", "view": "journey"})
    browser.wait("document.querySelector('.journey[data-frames]') !== null")
    browser.evaluate(
        "[...document.querySelectorAll('.journey .segment button')].find((one) => one.textContent === 'every call').click()"
    )
    expected = ["photo", "first", "second", "joined", "pooled", "classes"]
    browser.wait(f"document.querySelector('.journey').dataset.paths === '{' '.join(expected)}'")
    for number, path in enumerate(expected):
        browser.wait(f"document.querySelector('.journey').dataset.frame === '{number}'")
        assert browser.evaluate("document.querySelector('.journey').dataset.path") == path
        browser.evaluate(
            "document.querySelector('.journey').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
        )
    assert browser.complaints() == []
