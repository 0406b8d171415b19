"""Arrays of classes that derive from NumPy's, and other holders of numbers in C."""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, jvp, value_and_grad
from adcompiler.errors import ADError


class Tagged(np.ndarray):
    """An array with a factor, which views and results take along, doubled once."""

    def __new__(cls, values: Any, factor: float = 1.0) -> Tagged:
        made = np.asarray(values).view(cls)
        made.factor = factor
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.factor = getattr(obj, "factor", 1.0)

    def scaled(self) -> Any:
        return np.asarray(self) * self.factor


class Wrapped(Tagged):
    """An array that sees what universal functions give."""

    def __array_wrap__(self, made: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if return_scalar:
            return made[()]
        made = super().__array_wrap__(made, context, return_scalar)
        made.factor = 2.0 * self.factor
        return made


class Units(np.ndarray):
    """An array whose universal functions and functions are its own."""

    def __new__(cls, values: Any, power: int = 1) -> Units:
        made = np.array(values).view(cls)
        made.power = power
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.power = getattr(obj, "power", 0)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(each) for each in inputs]
        powers = [getattr(each, "power", 0) for each in inputs]
        if options.get("out"):
            options["out"] = tuple(np.asarray(each) for each in options["out"])
        found = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.multiply and method == "__call__":
            return Units(found, sum(powers))
        return Units(found, powers[0]) if isinstance(found, np.ndarray) else found

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.concatenate:
            return Units(np.concatenate([np.asarray(each) for each in args[0]]), args[0][0].power)
        return super().__array_function__(function, types, args, options)


class Shifted(np.ndarray):
    """An array whose items are read by its own method."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index) * 2.0


def finalised(x: Any) -> Any:
    made = Tagged(x * x, 3.0)
    part = (made[1:] + 1.0).reshape(-1, 1).T
    made.real[0] *= 2.0
    return (part.scaled() * part.factor).sum()


def reduced(x: Any) -> Any:
    made = Tagged(x, 3.0)
    total = made.sum() * made.mean() + made[0] + np.sum(made) * made.dot(x)
    return np.asarray(total).item() * made.max().factor + np.linalg.norm(made)


def in_place(x: Any) -> Any:
    made = Tagged(x.copy(), 2.0)
    made *= x
    made[1] = made[0] * 3.0
    made[:1] += 1.0
    np.multiply(made, 2.0, out=made)
    return made.scaled().sum()


def wrapped(x: Any) -> Any:
    made = np.sin(Wrapped(x, 3.0)) * 2.0
    return made.scaled().sum() + made.factor * np.linalg.inv(Wrapped(np.outer(x, x) + np.eye(3)))[
        0].scaled().sum()


def of_units(x: Any) -> Any:
    made = 2.0 * Units(x) * Units(x * x, 2)
    made += Units(x)
    both = np.concatenate([made, Units(x)])
    return np.asarray(both).sum() * both.power + (-made).power * np.asarray(np.mean(made)).item()


def of_own_items(x: Any) -> Any:
    made = x.view(Shifted)
    return made[0] * 3.0 + made[1:].sum() + sum(made)


def masked(x: Any) -> Any:
    made = np.ma.masked_array(x * 2.0, mask=[False, True, False])
    total = (made * made).sum() + np.ma.dot(made, made) + np.ma.getdata(made)[1]
    made += x
    return total + made.var() + np.sin(made).mean() + made.filled(3.0)[1] * made[0]


def of_matrices(x: Any) -> Any:
    made = np.matrix(np.outer(x, x))
    return (made * made.T)[0, 1] + made.sum()


def copied(x: Any) -> Any:
    import copy

    made = copy.deepcopy(Tagged(x, 2.0))
    return np.asarray(np.array(made, subok=True).astype(float).copy()[1:]).sum() * made.factor


def in_queues(x: Any) -> Any:
    queue = collections.deque(x * x, maxlen=2)
    return np.array(queue).sum() + np.mean(queue)


def in_arrays_of_python(x: Any) -> Any:
    kept = array.array("d", [0.0] * 4)
    for i in range(3):
        kept[i + 1] = kept[i] * 0.5 + x[i] * x[i]
    return kept[3] * 2.0 + min(kept[1], 100.0) + sum(kept) + np.asarray(kept)[2]


def of_broadcasts(x: Any) -> Any:
    shape = np.broadcast(x[:, np.newaxis], x).shape
    spread = np.broadcast_to(x, shape, subok=True)
    return (spread * spread.T).sum() + np.unique(np.array([x, x, x * 2.0]), axis=0)[1].sum()


def put(x: Any) -> Any:
    made = x * 2.0
    made.put([0, 5], x[:2] * x[1:], mode="clip")
    np.put(made, 1, 3.0 * x[0])
    return (made * made).sum()


def near(x: Any) -> Any:
    from scipy.spatial import KDTree

    points = np.stack([x, x * x, x + 1.0])
    pairs = KDTree(points).query_ball_point(points, r=1.5)
    return sum(((points[i] - points[j]) ** 2).sum() for i in range(3) for j in pairs[i])


def of_functions_written_anew(x: Any) -> Any:
    from scipy import fftpack, stats
    from scipy.spatial import distance

    made = np.zeros((3, 3))
    np.fill_diagonal(made, x)
    np.put_along_axis(made, np.array([[1], [2], [0]]), x[:, np.newaxis] * 2.0, axis=1)
    points = np.stack([x, x * x])
    found = distance.pdist(points, metric="cosine").sum() + (made ** 3).sum()
    return found + stats.linregress(x, x ** 3).slope + fftpack.dct(x, norm="ortho")[1] ** 2


def distances_of_a_tree(x: Any) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(np.stack([x, x * x])).query(x)[0]


PROGRAMS: list[Callable[..., Any]] = [
    finalised, reduced, in_place, wrapped, of_units, of_own_items, masked, of_matrices, copied,
    in_queues, in_arrays_of_python, of_broadcasts, put, near,
    of_functions_written_anew,
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_derivatives_through_arrays_of_derived_classes() -> None:
    x, step = np.array([0.7, 0.4, 1.1]), 1e-6
    for program in PROGRAMS:
        value, slope = value_and_grad(program, backend="record")(x)
        assert np.allclose(value, program(x), rtol=1e-12), program.__name__
        wanted = [(program(x + step * e) - program(x - step * e)) / (2 * step) for e in np.eye(3)]
        assert np.allclose(slope, wanted, rtol=1e-7, atol=1e-7), program.__name__
        along = jvp(program, (x,), (np.ones(3),), backend="record")[1]
        assert np.allclose(along, np.sum(slope), rtol=1e-10), program.__name__


def iterated(x: Any) -> Any:
    return sum(a * b for a, b in np.broadcast(x, x))


KEPT = array.array("d", [0.0, 0.0])


def kept(x: Any) -> Any:
    before = KEPT[0] * 1.0
    KEPT[0] = x[0]
    return before + KEPT[0] * 2.0


def test_what_is_not_followed_of_them_is_refused() -> None:
    x = np.array([0.7, 0.4, 1.1])
    with pytest.raises(ADError, match="broadcast"):
        grad(iterated, backend="record")(x)
    with pytest.raises(ADError, match="tree of points"):
        grad(distances_of_a_tree, backend="record")(x)
    assert grad(kept, backend="record")(x)[0] == 2.0
    with pytest.raises(ADError, match="earlier call"):
        grad(kept, backend="record")(x)
