"""What loops read of modules, classes and closures is what is there when they are called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any
from types import BuiltinFunctionType

import numpy as np
import pytest

from adcompiler import compiled, grad, hessian, jacobian, jvp, sparse_jacobian, value_and_grad, vjp
from adcompiler.errors import UnsupportedError

K = 2.5
N = 3
T = (1.0, 2.0, 3.0)
W = np.array([1.0, 2.0, 3.0])
M = np.arange(9.0).reshape(3, 3)
ITEMS = [1.0, 2.0]
TABLE = {"a": 2.0, "w": W, "unread": "text"}
HERE = sys.modules[__name__]
X = np.array([0.5, -1.0, 2.0])


class Physics:
    g = 9.81
    w = np.array([3.0, 2.0, 1.0])


class Model:
    def __init__(self) -> None:
        self.k = 2.0


MODEL = Model()


def of_numbers(x):
    t = 0.0
    for i in range(N):
        t += K * x[i] ** 2
    return t


def of_arrays(x):
    t = 0.0
    for i in range(len(x)):
        t += W[i] * x[i] ** 2 + M[i, 0]
    return t


def of_tuples(x):
    t = 0.0
    for w, xi in zip(T, x):  # noqa: B905  it may be shorter
        t += w * xi**2
    a, b, c = T
    return t + (a * b + c) * x[0]


def of_classes(x):
    t = 0.0
    for i in range(3):
        t += Physics.g * Physics.w[i] * x[i] ** 2
    return t


def of_containers(x):
    t = TABLE["a"] * MODEL.k
    for w in ITEMS:
        for i in range(3):
            t += w * TABLE["w"][i] * x[i] ** 2
    return t


def scaled(y):
    return K * y + Physics.g


def of_helpers(x):
    t = 0.0
    for xi in x:
        t += scaled(xi) ** 2
    return t


def made(k, w):
    def inner(y, i):
        return k * w[i] * y

    return inner


HELD = [2.0]
inner = made(2.0, W)


def of_closures_of_helpers(x):
    t = 0.0
    for i in range(3):
        t += inner(x[i], i) ** 2
    return t


def of_whole_arrays(x):
    t = 0.0
    for _ in range(2):
        t += np.sum(W * x * x) + (M @ x)[1]
    return t


PROGRAMS = {
    of_numbers: "KN", of_arrays: "WM", of_tuples: "T", of_classes: "", of_containers: "",
    of_helpers: "K", of_closures_of_helpers: "", of_whole_arrays: "WM",
}
"""Programs, and which variables they read that other values are given to."""


@pytest.fixture(autouse=True)
def restored(plain_loops: None) -> Iterator[None]:
    """Give the variables of this module back what they held."""
    names = ("K", "N", "T", "W", "M", "ITEMS", "TABLE")
    kept = {name: getattr(HERE, name) for name in names}
    content = {"W": W.copy(), "M": M.copy(), "Physics.w": Physics.w.copy()}
    of_classes_ = Physics.g, Physics.w
    items, table, k = list(ITEMS), dict(TABLE), MODEL.k
    yield
    for name, value in kept.items():
        setattr(HERE, name, value)
    Physics.g, Physics.w = of_classes_
    for array, name in ((W, "W"), (M, "M"), (Physics.w, "Physics.w")):
        array[...] = content[name]
    ITEMS[:] = items
    TABLE.clear()
    TABLE.update(table)
    MODEL.k = k


def rebind(**values: Any) -> Callable[[], None]:
    """Return what gives variables of this module other values."""
    def change() -> None:
        for name, value in values.items():
            setattr(HERE, name, value)

    return change


def write_in_place() -> None:
    """Write into what is outside."""
    W[1] = -7.0
    M[1, 0] = 5.0
    Physics.w[2] = 0.25
    ITEMS.append(4.0)
    TABLE["a"] = -1.0
    MODEL.k = 0.125


def change_class() -> None:
    """Give a class other constants."""
    Physics.g = 1.5
    Physics.w = np.arange(8.0)[1::2]


VALUES: dict[str, tuple[Any, ...]] = {
    "K": (-1.25, 3, np.float64(1.5), True, 2**70, float("nan")),
    "N": (2, np.int64(1), 2.0),
    "T": ((0.5, -1.0, 2.0), (1, 2, 3), (1.0, 2.0)),
    "W": (np.arange(5.0), np.arange(9.0)[::-2], np.broadcast_to(2.0, (3,)), np.array([4, 5, 6]),
          W.astype(np.float32), [1.0, 0.5, 0.25], np.ones(2)),
    "M": (np.asfortranarray(M * 2.0), M.T, np.arange(81.0).reshape(9, 9)[::3, ::3].copy()[:, ::-1]),
}
"""What variables are given in turn."""


def same(a: Any, b: Any) -> bool:
    """Say whether two results are the same, in class and to the last bits."""
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.allclose(a, b, rtol=1e-14, atol=0.0, equal_nan=True)


def answer(call: Callable[[], Any]) -> Any:
    """Return what a call gives, or the class of what it raises; None where native refuses."""
    with np.errstate(all="ignore"):
        try:
            return call()
        except UnsupportedError:
            return None
        except Exception as error:
            return type(error)


def changes(program: Any) -> Iterator[Callable[[], None]]:
    """Yield what changes something outside, for good or until the next one."""
    yield lambda: None
    for name in PROGRAMS[program]:
        kept = getattr(HERE, name)
        yield from (rebind(**{name: value}) for value in VALUES[name])
        yield rebind(**{name: kept})
    yield change_class
    yield write_in_place


def test_another_value_at_each_call() -> None:
    refused = []
    for program in PROGRAMS:
        native, python = (value_and_grad(program, backend=b) for b in ("native", "python"))
        for change in changes(program):
            change()
            found = answer(lambda: native(X))  # noqa: B023
            expected = answer(lambda: python(X))  # noqa: B023
            if found is None:
                refused.append(program)
            else:
                assert found is expected or same(found, expected), (program, found, expected)
    # ranges of floats, arrays of float32, too few items, lists times arrays
    assert refused == [of_numbers, of_arrays, of_tuples, of_whole_arrays, of_whole_arrays]


def test_along_tangents_and_in_jacobians() -> None:
    for program in PROGRAMS:
        def rows(x):
            return program(x) * x[:2]  # noqa: B023

        native, python = (jacobian(rows, backend=b) for b in ("native", "python"))
        for change in (lambda: None, change_class, write_in_place, rebind(K=4.0, W=W * 2.0)):
            change()
            assert np.allclose(native(X), python(X), rtol=1e-14)
            assert same(*(jvp(program, (X,), (X + 1.0,), backend=b) for b in ("native", "python")))


def test_a_pullback_is_of_what_was_there_at_the_call() -> None:
    for program in PROGRAMS:
        for change in (write_in_place, change_class, rebind(K=1.0, N=1, T=(9.0, 9.0, 9.0), W=-W)):
            expected = grad(program)(X)
            _, pullback = vjp(program, X, backend="native")
            change()
            assert np.allclose(pullback(1.0), expected, rtol=1e-14)
            with np.errstate(over="raise"):  # Python runs
                assert np.allclose(pullback(1.0), expected, rtol=1e-14)


def test_loops_run_it() -> None:
    for program in PROGRAMS:
        derivative = grad(program, backend="native")
        assert derivative.explain(X).backend == "native loops"
        assert f"{program.__name__}_grad_outside()" in derivative.source_for(X)


def writes(x):
    for i in range(3):
        x[i] = x[i] * W[i] + K
    return x[0] * x[1] * x[2]


def test_an_argument_that_is_written_into_may_be_the_array_that_is_read() -> None:
    for argument in (lambda: X.copy(), lambda: W, lambda: W[::-1]):
        found = []
        for backend in ("python", "native"):
            W[...] = (1.0, 2.0, 3.0)
            found.append(answer(lambda: jvp(writes, (argument(),), (X,), backend=backend)))  # noqa: B023
            found.append(W.copy())
        assert found[2] is None or same(found[0], found[2])
        assert found[2] is None or np.array_equal(found[1], found[3])


def stores(x):
    t = 0.0
    for i in range(3):
        W[i] = i * 2.0
        t += x[i] * W[i]
    return t


def stores_a_part(x):
    t = 0.0
    for i in range(3):
        TABLE["a"] = TABLE["a"] + 1.0
        MODEL.k += 1.0
        ITEMS.append(1.0)
        t += x[i] * TABLE["a"] * MODEL.k
    return t


def stores_into_a_view(x):
    part = W[::-1]
    t = 0.0
    for i in range(3):
        part[i] = x[0]
        t += x[i] * W[i]
    return t


def test_what_is_written_into_outside_is_refused() -> None:
    for program in (stores, stores_a_part, stores_into_a_view):
        with pytest.raises(UnsupportedError, match=r"native|writes into"):
            grad(program, backend="native")(X)
        with pytest.raises(UnsupportedError, match=r"native|writes into"):
            vjp(program, X, backend="native")


def gives_it(x):
    for i in range(3):
        x = x * W[i]
    return x, W


def test_results_share_no_storage_with_what_is_outside() -> None:
    (_, array), _ = jvp(gives_it, (X,), (X,), backend="native")
    (_, expected), _ = jvp(gives_it, (X,), (X,))
    assert (array is W) == (expected is W)
    assert np.shares_memory(array, W) == np.shares_memory(expected, W)
    assert np.array_equal(array, W)


def test_compiled_functions_and_sparse_jacobians() -> None:
    def chain(x):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = K * x[i] * x[i - 1] + W[i % 3]
        return y

    x = np.linspace(0.0, 1.0, 12)
    fast, sparse = compiled(chain), sparse_jacobian(chain, backend="native")
    for _ in range(2):
        assert np.array_equal(fast(x), chain(x))
        assert np.allclose(sparse(x).toarray(), sparse_jacobian(chain)(x).toarray(), rtol=1e-14)
        rebind(K=-3.0, W=W * 2.0)()


@pytest.mark.usefixtures("machine_code")
def test_machine_code_too(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    native, python = (value_and_grad(of_arrays, backend=b) for b in ("native", "python"))
    for change in (lambda: None, write_in_place, *(rebind(W=one) for one in VALUES["W"][:4])):
        change()
        assert same(native(X), python(X))
    loops = native.compiled_for(X).__globals__["of_arrays_value_and_grad_loops"]
    assert isinstance(loops, BuiltinFunctionType)


RATE, WIDTH = 1e-4, 0.02


def long_step(u: Any, d: Any) -> Any:
    flux = d[:-1] * (u[1:] - u[:-1]) / WIDTH
    u = u.copy()
    u[1:-1] += RATE * (flux[1:] - flux[:-1]) / WIDTH
    u += RATE * 0.5 * u * (1 - u)
    u[0] = u[1]
    u[-1] = u[-2]
    return u


def stepped(d: Any) -> Any:
    u = np.linspace(0.0, 1.0, 12)
    for _ in range(5):
        u = long_step(u, d)
    return np.sum(u**2)


def test_functions_compiled_apart_read_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.linspace(0.1, 0.2, 12)
    assert "long_step_augmented" in grad(stepped).source_for(d)
    for rate in (1e-4, 3e-4):
        monkeypatch.setattr(HERE, "RATE", rate)
        for derive in (grad, hessian):
            native = derive(stepped, backend="native")(d)
            assert native == pytest.approx(derive(stepped)(d), rel=1e-13, abs=1e-300)
