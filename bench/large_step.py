"""A step of 200,000 operations: how large its messages are, and how long people wait for it in the page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from .figure import Figure, spread

OPS = 200_000
BLOCKS, LAYERS_IN_BLOCK = 50, 20
WANTED = "block_37/dense_11/MatMul_3"
"""The operation that is looked for; there is one of this name."""
REPEATS = 5
MEGABYTE = 1_000_000

_TYPES = ("MatMul", "BiasAdd", "Relu", "Mul", "AddV2", "Reshape", "ReadVariableOp", "Cast")


def written(folder: Path) -> None:
    """A log of one record whose graph has that many operations: nested calls, backward operations, stacks, inputs."""
    import numpy as np

    from tb_layerflow.log import records
    from tb_layerflow.log.records import COUNT_COLUMNS, FLOAT_COLUMNS, Call, Frame, Graph, Layer, Op, Port, Record, Stack, Table
    from tb_layerflow.log.writer import StreamWriter

    calls = [Call(".", "large", "Functional", layer=0, outputs=[Port(shape=(-1, 8))])]
    layers = [Layer(".", "large", "Functional")]
    for block in range(BLOCKS):
        calls.append(
            Call(f"block_{block}", f"block_{block}", "Block", layer=len(layers), parent=0, outputs=[Port(shape=(-1, 8))])
        )
        layers.append(Layer(f"block_{block}", f"block_{block}", "Block"))
        parent = len(calls) - 1
        for number in range(LAYERS_IN_BLOCK):
            path = f"block_{block}/dense_{number}"
            before = (len(calls) - 1, 0) if number else None
            inputs, outputs = [Port(shape=(-1, 8), source=before)], [Port(shape=(-1, 8))]
            calls.append(Call(path, f"dense_{number}", "Dense", layer=len(layers), parent=parent, inputs=inputs, outputs=outputs))
            layers.append(Layer(path, f"dense_{number}", "Dense"))
    leaves = [number for number, call in enumerate(calls) if call.type == "Dense"]
    frames = tuple(Frame(f"keras/src/layers/layer_{depth}.py", depth, "__call__", "keras") for depth in range(12))
    stacks = [Stack((Frame("model.py", line, "call", "user"), *frames), 0) for line in range(len(leaves))]
    each = OPS // len(leaves)
    ops = []
    for place, call in enumerate(leaves):
        for number in range(each):
            type_, round_ = _TYPES[number % len(_TYPES)], number // len(_TYPES)
            backward = number >= each // 2
            name = f"{'gradient_tape/' if backward else ''}{calls[call].path}/{type_}{f'_{round_}' if round_ else ''}"
            forward = len(ops) - each // 2 if backward else None
            inputs = [len(ops) - 1] if ops else []
            ops.append(Op(name, type_, call, backward=backward, forward_op=forward, stack=place, fate="kept", inputs=inputs))
    columns: dict[str, np.ndarray] = {name: np.ones(len(calls), np.float32) for name in FLOAT_COLUMNS}
    columns |= {name: np.zeros(len(calls), np.uint64) for name in COUNT_COLUMNS} | {"finite": np.ones(len(calls), np.bool_)}
    numbers, ones = np.arange(len(calls), dtype=np.uint32), np.ones(len(calls), np.uint64)
    table = Table(numbers, np.zeros(len(calls), np.uint32), columns, ones, ones)
    writer = StreamWriter(str(folder), "train")
    execution = records.Execution(mode="traced", function="train_step")
    writer.write_graph(Graph("large", calls, layers, execution=execution, ops=ops, stacks=stacks))
    writer.write_record(Record(0, 0, tables={"output": table}))
    writer.close()


def measure() -> list[Figure]:
    """The largest message, the wait for the picture, and the wait for an operation that is looked for by its name."""
    from demo.serve import tensorboard
    from tests.browser.chromium import DRAWN, chromium

    from .first_picture import WATCH

    drawn, found = [], []
    with tempfile.TemporaryDirectory(prefix="layerflow-bench-") as log_dir:
        written(Path(log_dir, "large"))
        largest = _largest_message(log_dir)
        with tensorboard(Path(log_dir)) as address, chromium() as browser:
            for _ in range(REPEATS + 1):
                browser.open(address, {"run": "large", "stream": "train"}, prelude=WATCH)
                browser.wait("window.drawnAfter > 0")
                drawn.append(browser.evaluate("window.drawnAfter") / 1000)
                browser.wait(DRAWN)
                browser.press("/")
                browser.wait("document.querySelector('.picklist input') !== null")
                browser.evaluate(_FIND)
                browser.wait("window.foundAfter > 0")
                found.append(browser.evaluate("window.foundAfter"))
    what = f"a step of {OPS:,} operations"
    cold = f"{spread(found[1:])}; {found[0]:.0f} the first time"
    return [
        Figure(f"{what}: the largest message", largest / MEGABYTE, 4, "MB"),
        Figure(f"{what}: first picture after load", median(drawn), 4, "s", spread(drawn)),
        Figure(f"{what}: an operation found by name, its call's listed", median(found[1:]), 500, "ms", cold),
    ]


def _largest_message(log_dir: str) -> int:
    """The bytes of the largest blob of the graph."""
    from tb_layerflow.reader import LogDir

    log = LogDir(log_dir)
    (tag,) = [tag for tag in log.source.tags("large") if tag.endswith("/graph")]
    return max(len(log.source.blob("large", tag, 0, place)) for place in range(log.source.blob_count("large", tag, 0)))


_FIND = f"""(() => {{
  const started = performance.now();
  const field = document.querySelector('.picklist input');
  new MutationObserver((_, observer) => {{
    const entries = [...document.querySelectorAll('.picklist [role=option]')];
    entries.find((entry) => entry.textContent.includes('{WANTED}'))?.click();
    if (!document.querySelector("[data-op='{WANTED}']")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => {{ window.foundAfter = performance.now() - started; }}));
  }}).observe(document, {{ childList: true, subtree: true, characterData: true }});
  field.value = '{WANTED}';
  field.dispatchEvent(new Event('input', {{ bubbles: true }}));
}})()"""
"""Types the name into the search, takes the entry that has it, and notes when it stands in its call's list: the page's own rest
after typing (40 ms) included."""
