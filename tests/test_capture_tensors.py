"""What a layer returns goes on as the very thing that it was: its containers, what is set on its tensors, what others keep of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_layerflow as layerflow

X = np.random.RandomState(0).randn(16, 6).astype(np.float32)
Y = np.random.RandomState(1).randn(16, 2).astype(np.float32)
EAGER = pytest.mark.parametrize("eager", [False, True], ids=["traced", "eager"])


class Returns(keras.layers.Layer):
    """Returns what `pack` makes of the layer itself and its dense layer's output."""

    def __init__(self, pack: Callable[[Any, Any], Any], **options: Any) -> None:
        super().__init__(name="returns", **options)
        self.pack, self.dense = pack, keras.layers.Dense(4, name="dense")

    def call(self, x: Any) -> Any:
        return self.pack(self, self.dense(x))


class Reads(keras.Model):
    """`read` makes one tensor of the layer itself and of what it returned."""

    def __init__(self, pack: Callable[[Any, Any], Any], read: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.returns, self.read, self.last = Returns(pack), read, keras.layers.Dense(2, name="last")

    def call(self, x: Any) -> Any:
        return self.last(self.read(self.returns, self.returns(x)))


def trained(make: Callable[[], keras.Model], eager: bool, *callbacks: Any) -> list[np.ndarray]:
    keras.utils.set_random_seed(3)
    model = make()
    model.compile("sgd", "mse", run_eagerly=eager)
    model.fit(X, Y, batch_size=8, shuffle=False, verbose=0, callbacks=list(callbacks))
    return [variable.numpy() for variable in model.variables]


def recorded(make: Callable[[], keras.Model], eager: bool, folder: Path, **options: Any) -> Any:
    """The stream of a training that left the same weights as one without LayerFlow."""
    plain = trained(make, eager)
    with_callback = trained(make, eager, layerflow.LayerFlow(folder, every=1, values="none", strict=True, **options))
    for found, expected in zip(with_callback, plain, strict=True):
        np.testing.assert_array_equal(found, expected)
    return layerflow.open(folder)


class Pair(tuple):
    """A tuple with a property, an attribute and arguments of its own."""

    def __new__(cls, first: Any, second: Any) -> Pair:
        return super().__new__(cls, (first, second))

    @property
    def first(self) -> Any:
        return self[0]


class Attributes(dict):
    """A dict with keyword-only arguments whose items are read as attributes."""

    __getattr__ = dict.__getitem__

    def __init__(self, *, a: Any, b: Any) -> None:
        super().__init__(a=a, b=b)
        self.__dict__["kept"] = a


class Items(list):
    """A list with an attribute of its own."""

    scale = 2.0


def tagged(_: Any, y: Any) -> Any:
    pair = Pair(y, 1.0)
    pair.scale = 2.0
    return pair


CONTAINERS = {
    "a tuple's subclass": (tagged, lambda _, out: out.first * out.scale),
    "a dict's subclass": (lambda _, y: Attributes(a=y, b=None), lambda _, out: out.a * 2.0),
    "what a dict's subclass keeps beside": (lambda _, y: Attributes(a=y, b=None), lambda _, out: out.kept * 2.0),
    "a list's subclass": (lambda _, y: Items([y]), lambda _, out: out[0] * out.scale),
    "nested ones": (lambda _, y: {"k": (Items([Pair(y, y)]),)}, lambda _, out: out["k"][0][0].first * 2.0),
}


@EAGER
@pytest.mark.parametrize("kind", CONTAINERS)
def test_subclasses_of_containers_stay_what_they_are(kind: str, eager: bool, tmp_path: Path) -> None:
    stream = recorded(lambda: Reads(*CONTAINERS[kind]), eager, tmp_path)
    errors = stream.statistics("error")
    outer, inner = errors.series("returns", "l2")[1], errors.series("returns/dense", "l2")[1]
    assert outer[0] > 0
    np.testing.assert_allclose(outer, inner, rtol=1e-6)


@EAGER
def test_what_cannot_be_given_other_tensors_is_passed_on_whole_and_named(eager: bool, tmp_path: Path) -> None:
    packs = (lambda _, y: MappingProxyType({"y": y}), lambda _, out: out["y"] * 2.0)
    stream = recorded(lambda: Reads(*packs), eager, tmp_path)
    assert np.isfinite(stream.statistics("output").series("returns", "l2")[1]).all()
    assert stream.statistics("error").series("returns/dense", "l2")[1][0] > 0
    reasons = [entry.reason for entry in stream.ledger() if (entry.path, entry.kind) == ("returns", "error")]
    assert reasons == ["in a container of type mappingproxy, which cannot be given other tensors"]


@EAGER
def test_a_list_that_a_layer_returns_and_keeps_stays_one_list(eager: bool, tmp_path: Path) -> None:
    def pack(layer: Any, y: Any) -> Any:
        layer.box = {"kept": [y]}
        return layer.box["kept"]

    def read(layer: Any, out: Any) -> Any:
        out.append(out[0] * 2.0)
        return tf.add_n(list(layer.box["kept"]))

    stream = recorded(lambda: Reads(pack, read), eager, tmp_path)
    errors = stream.statistics("error")
    np.testing.assert_allclose(errors.series("returns", "l2")[1], errors.series("returns/dense", "l2")[1], rtol=1e-6)


@EAGER
def test_what_users_set_on_a_tensor_is_there_behind_the_layer(eager: bool, tmp_path: Path) -> None:
    def pack(_: Any, y: Any) -> Any:
        y.scale, whole = 5.0, tf.argmax(y, axis=1)
        whole.scale = 3.0
        return y, whole

    def read(_: Any, out: Any) -> Any:
        return out[0] * getattr(out[0], "scale", 1.0) + getattr(out[1], "scale", 1.0)

    recorded(lambda: Reads(pack, read), eager, tmp_path)
    recorded(lambda: Reads(pack, read), eager, tmp_path / "outputs", what="outputs")


class Argument(keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__(name="argument")
        self.dense = keras.layers.Dense(6)

    def call(self, x: Any, image_mask: Any, valid_mask: Any = None, **kwargs: Any) -> Any:
        return self.dense(x * image_mask) + kwargs["soft_mask"]


class Masks(keras.Model):
    """A layer's output is another's `image_mask`; a boolean one says which elements count."""

    def __init__(self) -> None:
        super().__init__()
        self.made, self.argument, self.last = keras.layers.Dense(6, name="made"), Argument(), keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        soft = self.made(x)
        return self.last(self.argument(x, image_mask=soft, valid_mask=x > 0, soft_mask=soft))


def test_a_mask_that_another_layer_made_is_an_input_and_a_boolean_one_is_none(tmp_path: Path) -> None:
    stream = layerflow.record(Masks(), tmp_path, X, what="outputs")
    ports = {port.key: port.source for port in stream.graph.call("argument").inputs}
    assert list(ports) == ["", "image_mask", "soft_mask"]
    made = [call.path for call in stream.graph.calls].index("made")
    assert ports["image_mask"] == ports["soft_mask"] == (made, 0)


def test_the_loss_still_finds_the_logits_where_only_outputs_are_recorded(tmp_path: Path) -> None:
    def trained_on_classes(*callbacks: Any) -> list[np.ndarray]:
        keras.utils.set_random_seed(3)
        model = Reads(lambda _, y: y, lambda _, out: out)
        model.last = keras.layers.Dense(4, activation=lambda logits: tf.nn.softmax(50.0 * logits))
        model.compile("sgd", "sparse_categorical_crossentropy")
        model.fit(X, np.arange(16) % 4, batch_size=8, shuffle=False, verbose=0, callbacks=list(callbacks))
        return [variable.numpy() for variable in model.variables]

    found = trained_on_classes(layerflow.LayerFlow(tmp_path, every=1, what="outputs", values="none"))
    for with_callback, plain in zip(found, trained_on_classes(), strict=True):
        np.testing.assert_array_equal(with_callback, plain)


class Recursive(keras.layers.Layer):
    """Calls itself `depth` times."""

    def __init__(self) -> None:
        super().__init__(name="recursive")
        self.dense = keras.layers.Dense(6, name="dense")

    def call(self, x: Any, depth: int = 2) -> Any:
        x = self.dense(x)
        return self(x, depth=depth - 1) if depth else x


@EAGER
def test_a_layer_that_calls_itself_is_a_call_within_its_call(eager: bool, tmp_path: Path) -> None:
    def make() -> keras.Model:
        return keras.Sequential([keras.Input((6,)), Recursive(), keras.layers.Dense(2, name="last")])

    stream = recorded(make, eager, tmp_path)
    inner = ["recursive" + "/recursive" * depth for depth in range(3)]
    assert [call.path for call in stream.graph.calls if call.type == "Recursive"] == inner
    errors = stream.statistics("error")
    for path in inner:
        assert errors.series(path + "/dense", "l2")[1][0] > 0


class Plain(tf.Module):
    """No layer in it; two taps, of which the second is computed from the first."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.ones((6, 4)), name="w")
        self.b = tf.Variable(tf.zeros(4), name="b")

    def __call__(self, x: Any) -> Any:
        logits = layerflow.summary.tap("logits", x @ self.w + self.b)
        return layerflow.summary.tap("probability", tf.nn.softmax(logits))


def step_of(module: Plain) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(module(x)[:, 0] ** 2)
        for variable, gradient in zip((module.w, module.b), tape.gradient(loss, [module.w, module.b]), strict=True):
            variable.assign_sub(gradient)
        return loss

    return step


def test_a_tap_has_an_edge_from_the_tap_that_it_was_computed_from_and_is_measured_once(tmp_path: Path) -> None:
    with layerflow.Recorder(tmp_path, every=1, what=("outputs", "errors", "weights"), values="all") as recorder:
        recorder.function(step_of(Plain()))(tf.constant(X))
    stream = layerflow.open(tmp_path)
    edges = [(edge.source.path, edge.target.path, edge.derived) for edge in stream.graph.edges]
    assert edges == [("logits", "probability", True)]
    given = tf.nn.softmax(X @ np.ones((6, 4), np.float32))
    np.testing.assert_allclose(stream.value("probability", kind="input"), given, rtol=1e-5)
    [file] = (tmp_path / "plugins" / "layerflow").glob("*.npz")
    assert not [name for name in np.load(file).files if name.startswith("input")]


def test_the_ledger_says_how_many_differentiated_variables_belong_to_no_layer(tmp_path: Path) -> None:
    with layerflow.Recorder(tmp_path, every=1, what=("outputs", "weights"), values="none") as recorder:
        recorder.function(step_of(Plain()))(tf.constant(X))
    reasons = [entry.reason for entry in layerflow.open(tmp_path).ledger() if entry.kind == "weight"]
    assert len(reasons) == 1
    assert reasons[0].startswith("2 of the variables")
    assert "layerflow.summary.weights(" in reasons[0]


def test_the_weights_of_a_module_are_named_by_the_attributes_that_lead_to_them(tmp_path: Path) -> None:
    module = Plain()
    module.below = [Plain()]
    layerflow.summary.weights(module, step=3, writer=tmp_path)
    layerflow.summary.flush()
    stream = layerflow.open(tmp_path)
    [layer] = stream.graph.record.layers
    assert [weight.name for weight in layer.weights] == ["b", "w", "below/0/b", "below/0/w"]
    means = [stream.statistics("weight").series("plain", "mean", port=port)[1].tolist() for port in range(4)]
    assert means == [[0.0], [1.0], [0.0], [1.0]]


def test_a_model_of_layers_has_no_such_entry(tmp_path: Path) -> None:
    stream = recorded(
        lambda: Reads(lambda _, y: y, lambda _, out: out),
        False,
        tmp_path,
    )
    assert not [entry for entry in stream.ledger() if "belong to no layer" in entry.reason]


def test_an_output_that_its_own_call_reads_too_is_named_and_one_that_a_group_returns_is_not(tmp_path: Path) -> None:
    def pack(layer: Any, y: Any) -> Any:
        doubled, halved = y * 2.0, y * 0.5
        layer.add_loss(tf.reduce_sum(doubled**2) * tf.cast(tf.shape(halved)[1], tf.float32))
        return {"read": doubled, "shape only": halved}

    stream = recorded(lambda: Reads(pack, lambda _, out: out["read"] + out["shape only"]), False, tmp_path)
    notes = {(entry.path, entry.port): entry.reason for entry in stream.ledger() if entry.kind == "error"}
    assert notes == {("returns", 0): "this output is also used inside the call: its error is what came back from outside"}
