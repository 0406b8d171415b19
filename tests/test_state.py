"""The picture of all state that a call can reach sees each kind of change, and is put back."""

from __future__ import annotations

import types
from typing import Any, ClassVar

import numpy as np

from tests.state import World, check_state, difference

STATE = types.SimpleNamespace(u=np.zeros(3), d={})
COUNT = 0


class Buffers:
    data = np.zeros(2)
    log: ClassVar[list[float]] = []


def default(x: float, kept: list[float] = []) -> None:  # noqa: B006  what is tested
    kept.append(x)


def helper(x: float) -> None:
    helper.buffer[0] = x  # type: ignore[attr-defined]


helper.buffer = np.zeros(1)  # type: ignore[attr-defined]


def closure() -> Any:
    total, parts = 0.0, [np.zeros(2)]

    def add(x: float) -> None:
        nonlocal total
        total += x
        parts[0][1] += x

    return add


def writes_global(x: float) -> None:
    global COUNT
    COUNT = COUNT + 1


def makes_global(x: float) -> None:
    global NEW
    NEW = x  # type: ignore[name-defined]


def writes_namespace(x: float) -> None:
    STATE.u[1] = x


def adds_key(x: float) -> None:
    STATE.d["k"] = x


def writes_class(x: float) -> None:
    Buffers.data[0] = x


def appends_to_class(x: float) -> None:
    Buffers.log.append(x)


def rebinds_class(x: float) -> None:
    Buffers.data = np.ones(2)


def adds_attribute(x: float) -> None:
    STATE.new = x


WRITERS = (
    writes_global, makes_global, writes_namespace, adds_key, writes_class, appends_to_class,
    rebinds_class, adds_attribute, default, helper, closure(),
)


def test_each_write_is_seen_and_put_back() -> None:
    for write in WRITERS:
        world = World(write, (1.5,))
        before = world.picture()
        write(1.5)
        assert difference(world.picture(), before) is not None, write
        world.restore()
        assert difference(world.picture(), before) is None, write
    assert "NEW" not in globals()
    assert not Buffers.log


def swap(o: Any) -> None:
    o["a"], o["b"] = o["b"], o["a"]


def share(o: Any) -> None:
    o["a"] = o["b"]


def test_identities_are_part_of_the_picture() -> None:
    o = {"a": np.ones(2), "b": np.ones(2)}
    for write in (share, swap):
        world = World(write, (o,))
        before = world.picture()
        write(o)
        after = world.picture()
        world.restore()
        assert (difference(after, before) is None) == (write is swap)  # both hold ones
    view = {"a": o["a"], "b": o["a"][1:]}
    apart = {"a": o["a"], "b": o["b"][1:]}
    assert difference(World(swap, (view,)).picture(), World(swap, (apart,)).picture()) is not None


def forgets(x: float) -> float:
    return x * 3.0


def writes_argument(a: np.ndarray) -> None:
    a[0] = 7.0


def test_a_derivative_that_leaves_another_state_fails() -> None:
    for write in WRITERS:
        try:
            check_state(write, forgets, (1.5,), leaves_args=True)
        except AssertionError as error:
            assert "state after the derivative" in str(error)
        else:
            raise AssertionError(write)
        check_state(write, write, (1.5,), leaves_args=True)
    a = np.zeros(2)
    check_state(writes_argument, writes_argument, (a,), leaves_args=False)
    check_state(writes_argument, lambda a: None, (a,), leaves_args=True)
    for leaves_args, call in ((True, writes_argument), (False, lambda a: None)):
        try:
            check_state(writes_argument, call, (a,), leaves_args=leaves_args)
        except AssertionError:
            continue
        raise AssertionError(leaves_args)
    assert not a.any()
