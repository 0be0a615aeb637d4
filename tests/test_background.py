"""The writer's thread: a record that holds much memory waits for those before it, and one that fails holds up none."""

from __future__ import annotations

import gc
import threading
import weakref

from tb_layerflow.capture.background import Background


def test_a_large_job_waits_where_it_is_submitted_until_those_before_it_are_done() -> None:
    order: list[str] = []
    gate = threading.Event()

    def first() -> None:
        gate.wait(10)
        order.append("first")

    def let_go() -> None:
        order.append("let go")
        gate.set()

    background = Background(lambda: None, lambda error: order.append(repr(error)))
    background.submit(first)
    threading.Timer(0.2, let_go).start()
    background.submit(lambda: order.append("large"), is_large=True)
    assert order[:2] == ["let go", "first"]
    background.close()
    assert order == ["let go", "first", "large"]


def test_after_a_large_job_that_raises_the_next_runs() -> None:
    failures: list[BaseException] = []
    done = threading.Event()
    background = Background(lambda: None, failures.append)
    background.submit(lambda: 1 // 0, is_large=True)
    background.submit(done.set, is_large=True)
    background.close()
    assert done.is_set() and [type(error) for error in failures] == [ZeroDivisionError]


def test_a_job_that_ran_is_let_go_of_at_once() -> None:
    """A record with exact values has many megabytes, and the next one may be long in coming."""

    class Array:
        pass

    array = Array()
    held = weakref.ref(array)
    background = Background(lambda: None, lambda error: None)
    background.submit(lambda array=array: None)
    del array
    background.drain()
    gc.collect()
    assert held() is None
    background.close()
