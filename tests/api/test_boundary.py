"""What meets the compiler at its boundary: foreign values, missing homes, forks and threads."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcompiler.compile.pipeline
from adcompiler import (
    ADError, compiled, grad, hessian, jacobian, jacobian_sparsity, jvp, sparse_jacobian,
    value_and_grad, vjp, vmap,
)
from adcompiler.errors import ArgumentsError, InternalError
from adcompiler.ops.registry import REGISTRY
from adcompiler.rulekit import rrule


def foreign(root: str, name: str) -> type:
    """Return a class as a library that is not installed here would have it."""

    class Value:
        def __init__(self, data: Any = (1.0, 2.0)) -> None:
            self.data = data

        def __mul__(self, other: Any) -> Any:
            raise AssertionError("the library was called")

        __add__ = __rmul__ = __mul__

    Value.__name__ = Value.__qualname__ = name
    Value.__module__ = root
    return Value


LIBRARIES = [
    ("torch", "Tensor"), ("jaxlib.xla_extension", "ArrayImpl"), ("jax._src.array", "ArrayImpl"),
    ("pint", "Quantity"), ("dask.array.core", "Array"), ("tensorflow", "Tensor"),
    ("cupy", "ndarray"), ("polars.dataframe.frame", "DataFrame"),
]


@pytest.mark.parametrize(("root", "name"), LIBRARIES)
def test_values_of_other_libraries_are_refused_at_once(root: str, name: str) -> None:
    value = foreign(root, name)()

    def f(x: Any, other: Any = None) -> Any:
        return x * x

    holder = types.SimpleNamespace(w=1.0, t=value)
    calls = [
        lambda: grad(f)(value), lambda: grad(f)(2.0, value), lambda: grad(f)([1.0, value]),
        lambda: grad(f)({"a": value}), lambda: vjp(f, value), lambda: jacobian(f)(value),
        lambda: jvp(f, (value,), (1.0,)), lambda: grad(f)(holder),
    ]
    start = time.perf_counter()
    for call in calls:
        with pytest.raises(ArgumentsError, match=rf"{root.partition('.')[0]} {name}.*pass "):
            call()
    assert time.perf_counter() - start < 1.0
    assert grad(f)(2.0, other=None) == 4.0


class OnDevice:
    """Arrays that NumPy hands its functions on to, and that never leave their device unasked."""

    shape, ndim, size, dtype = (2,), 1, 2, np.dtype(float)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the array was copied to the host")

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the function ran")

    __array_function__ = __mul__ = __len__ = __float__ = __array_ufunc__


@pytest.mark.parametrize("backend", ["python", "native", "record"])
def test_arrays_on_devices_are_refused_before_anything_runs(backend: str) -> None:
    ran = []

    def f(x: Any, other: Any = None) -> Any:
        ran.append(x)
        return np.sum(np.sin(x) * x)

    value, x = OnDevice(), np.ones(2)
    message = (
        r"the argument (x|other|0): .* is a [\w.]+ OnDevice, and derivatives go through NumPy's "
        r"arrays and Python's numbers; pass a NumPy array of its numbers\n.*#array-classes")
    derivative = grad(f, backend=backend)
    for call in (
        lambda: derivative(value), lambda: derivative(x, value), lambda: derivative([x, value]),
        lambda: vjp(f, value), lambda: jvp(f, (value,), (value,)), lambda: jacobian(f)(value),
        lambda: hessian(f)(value), lambda: sparse_jacobian(f)(value), lambda: vmap(f)(value),
        lambda: jacobian_sparsity(f, value), lambda: compiled(f)(value),
        lambda: derivative(types.SimpleNamespace(w=1.0, t=value)),
    ):
        with pytest.raises(ArgumentsError, match=message):
            call()
    assert not ran


@pytest.mark.parametrize(("root", "name"), [
    ("pandas.core.frame", "DataFrame"), ("xarray.core.dataarray", "DataArray"),
])
def test_tables_are_refused_where_they_are_differentiated(root: str, name: str) -> None:
    table = foreign(root, name)()

    def f(x: Any, other: Any = None) -> Any:
        return x * x

    calls = [
        lambda: grad(f)(table), lambda: grad(f)([1.0, table]), lambda: vjp(f, table),
        lambda: jacobian(f)(table), lambda: jvp(f, (table,), (1.0,)),
        lambda: grad(f)(types.SimpleNamespace(w=1.0, t=table)),
    ]
    for call in calls:
        with pytest.raises(ArgumentsError, match=rf"{root.partition('.')[0]} {name}.*pass "):
            call()
    assert grad(f)(2.0, other=table) == grad(f)(2.0, other={"held": table}) == 4.0


def test_functions_of_other_libraries_are_not_compiled() -> None:
    module = types.ModuleType("torch.nn")
    exec("def act(x):\n    return x * 2.0\n", vars(module))
    act = module.act

    def f(x: float) -> float:
        return act(x) * x

    with pytest.raises(ADError, match="act"):
        grad(f)(2.0)


class Dispatcher:
    """Answers to every name, as objects written in C or made by decorators do."""

    __slots__ = ("_function",)

    def __init__(self, function: Any) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        return Dispatcher(self._function)

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)


offset = Dispatcher(lambda n: 2.0 * n)


def with_foreign_global(x: float, n: int) -> float:
    return x * x * offset(n)


def test_a_global_whose_class_answers_to_every_name() -> None:
    assert value_and_grad(with_foreign_global)(3.0, 2) == (36.0, 24.0)
    assert grad(lambda x: offset(x))(3.0) == 2.0
    assert grad(lambda x, it: x * x)(3.0, offset) == 6.0


def run(text: str, **environment: str) -> str:
    """Run a program in a process of its own and return what it prints."""
    path = Path(environment.pop("WHERE")) / "program.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "ADCOMPILER_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120,
        env={**kept, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_without_a_home_directory(tmp_path: Path) -> None:
    found = run("""
        import os, pathlib, adcompiler.cache.store
        def no_home(*args, **kwargs):
            raise RuntimeError("Could not determine home directory.")
        adcompiler.cache.store.user_cache = no_home
        from adcompiler import grad
        def f(x):
            return x * x
        def g(x):
            return x * x * x
        print(grad(f)(3.0), grad(g)(2.0))
        """, WHERE=str(tmp_path))
    assert "6.0 12.0" in found
    assert found.count("CacheWarning") == 1


def test_a_home_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = run("""
        from adcompiler import grad
        def f(x):
            return x * x
        print(grad(f)(3.0), grad(lambda x: x)(3.0))
        """, WHERE=str(tmp_path), HOME=str(tmp_path / "file"), XDG_CACHE_HOME="")
    assert "6.0 1.0" in found
    assert found.count("CacheWarning") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_child_does_not_wait_for_threads_of_its_parent(tmp_path: Path) -> None:
    found = run("""
        import os, signal, threading, time, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from adcompiler import grad
        import adcompiler.compile.pipeline as pipeline
        real = pipeline.compile_request
        begun = threading.Event()
        def slow(request):
            begun.set()
            time.sleep(1.0)
            return real(request)
        pipeline.compile_request = slow
        thread = threading.Thread(target=lambda: grad(lambda x: x * x)(3.0))
        thread.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            print(grad(lambda x: x * x * x)(2.0), flush=True)
            os._exit(0)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
        """, WHERE=str(tmp_path), ADCOMPILER_CACHE_DIR=str(tmp_path / "cache"))
    assert "12.0" in found


def some_function(x: float) -> float:
    return x


def test_rules_may_be_registered_while_derivatives_are_made() -> None:
    failures: list[BaseException] = []
    stop = threading.Event()

    def make() -> None:
        try:
            kept = []
            while not stop.is_set():
                kept = [*kept[:50], *(grad(some_function) for _ in range(10))]
                time.sleep(0.0005)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            def some(x: float) -> float:
                return x

            @rrule(some)
            def some_rule(x):
                return x, lambda dy: dy

            REGISTRY.remove(some)
            assert sum(1 for _ in REGISTRY.rules()) > 100
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_rule_registered_meanwhile_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner(x: float) -> float:
        return x * x

    def outer(x: float) -> float:
        return inner(x) + x

    real = adcompiler.compile.pipeline.compile_request
    done = []

    def meanwhile(request: Any) -> Any:
        emitted = real(request)
        if not done:
            done.append(True)

            @rrule(inner)
            def inner_rule(x):
                return x * x, lambda dy: 7.0 * dy

        return emitted

    monkeypatch.setattr(adcompiler.compile.pipeline, "compile_request", meanwhile)
    try:
        found = grad(outer)
        assert [found(3.0), found(3.0)] == [8.0, 8.0]
    finally:
        REGISTRY.remove(inner)


def failing(x: float) -> float:
    y = x * 2.0
    return y * y


@pytest.mark.parametrize("place", ["optimised", "differentiate", "module_tree", "typed_function"])
def test_a_failure_of_the_compiler_is_one_error_with_a_line(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise KeyError("lost")

    monkeypatch.setattr(adcompiler.compile.pipeline, place, broken)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    with pytest.raises(InternalError) as caught:
        grad(failing)(3.0)
    message = str(caught.value)
    assert f"{__file__}:{failing.__code__.co_firstlineno}:" in message
    assert "KeyError: 'lost'" in message and "report" in message and "failing" in message
    assert isinstance(caught.value.__cause__, KeyError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_the_line_is_that_which_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from adcompiler.infer.inference import Inference

    real = Inference.call

    def broken(self: Any, func: Any, args: Any, kwargs: Any, origin: Any, *rest: Any) -> Any:
        if origin.text.strip() == "return y * y":
            raise AssertionError
        return real(self, func, args, kwargs, origin, *rest)

    monkeypatch.setattr(Inference, "call", broken)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    with pytest.raises(InternalError, match="return y \\* y") as caught:
        grad(failing)(3.0)
    assert f":{failing.__code__.co_firstlineno + 2}:" in str(caught.value)


def test_refusals_of_arguments_are_no_failures() -> None:
    with pytest.raises(TypeError, match="scalar") as caught:
        grad(lambda x: (x, x))(3.0)
    assert not isinstance(caught.value, InternalError)
    assert np.isclose(grad(copy.copy(failing))(3.0), 24.0)
