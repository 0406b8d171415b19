"""What is said of results is what they are: functions are called on values of many kinds."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import runtime, value_and_grad
from adcompiler.ops.facts import ARGUMENTS, stated
from adcompiler.ops.qualified_names import display_name
from adcompiler.rulekit import REGISTRY
from adcompiler_rules import kernels
from tests.ops.test_facts import FUNCTIONS, calls_of
from tests.together import each

NUMBERS: dict[str, tuple[Any, ...]] = {
    "bool": (True, False), "int": (1, 0, -1, 3), "float": (0.5, 0.0, -0.5, float("nan")),
    "complex": (0.5 + 0.25j, 0j),
}
REAL = [value for kind in ("bool", "int", "float") for value in NUMBERS[kind]]
GIVEN: dict[str, list[Any]] = {
    "numbers": REAL,
    "arrays": [np.full((2, 3), value) for value in (1, 0.0, -2.0, 1j, np.float32(2))],
    "values": [*REAL, 1j, np.float32(1), np.ones((2, 3)), np.array(2.0), np.zeros((0, 2), int)],
    "iterables": [[1.0], [], (1, 2), {"a": 1}, "ab", range(3), np.ones((2, 3))],
    "integers": [0, 3, -1, True, np.int64(4)],
    "plain": [*REAL, 1j, np.float64(2), "", "ab", [], [1.0], (1, "a"), {"a": [1]}, range(2)],
    "anything": [*REAL, "a", None, np.ones(3), [np.ones(2)], len, int, object()],
}


def said(fact: str) -> dict[str, Any]:
    """Return the functions of which a fact is stated or implied, by name."""
    return {
        name: function for name, function in FUNCTIONS.items()
        if callable(function) and getattr(REGISTRY.facts(function), fact)
    }


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def takes(function: Any) -> int:
    """Return how many arguments a function has to be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    needed = [p for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    return max(len(needed), 1)


TOTAL = said("total")


@each("name", TOTAL)
def test_total_functions_never_raise(name):
    function = TOTAL[name]
    if name in ("isinstance", "adcompiler.no_grad"):
        return  # of a class, which types decide; without arguments
    for arguments in REGISTRY.facts(function).total:
        values = GIVEN[arguments]
        if arguments == "arrays":
            values = [v for v in values if np.shape(v) == (2, 3)]
        for args in itertools.product(values, repeat=takes(function)):
            quietly(function, *args)


def test_each_class_of_arguments_has_values():
    assert set(GIVEN) == set(ARGUMENTS)


BY_CLASSES = said("classes")


@each("name", BY_CLASSES)
def test_classes_of_numbers_decide_the_class_of_a_result(name):
    function = BY_CLASSES[name]
    tried = 0
    for kinds in itertools.product(NUMBERS, repeat=takes(function)):
        found = set()
        for args in itertools.product(*(NUMBERS[kind] for kind in kinds)):
            try:
                found.add(type(quietly(function, *args)))
            except (TypeError, ZeroDivisionError, ValueError, OverflowError):
                continue
            tried += 1
        assert len(found) <= 1, kinds
    assert tried or function is len


ELEMENTWISE = said("elementwise")


def argument_sets(name: str, function: Any) -> list[tuple[Any, ...]]:
    """Return positional arguments of calls with arrays and numbers alone."""
    found = []
    for call in calls_of(name, function):
        numbers = (int, float, complex, np.ndarray, np.generic)
        numeric = all(isinstance(a, numbers) for a in call.args)
        if numeric and not call.kwargs and call.args:
            found.append(call.args)
    return found


@each("name", ELEMENTWISE, parts=2)
def test_elementwise_functions_are(name):
    function = ELEMENTWISE[name]
    for args in argument_sets(name, function):
        if not all(np.size(a) for a in args):
            continue
        spread = []
        for i, arg in enumerate(args):  # along different axes, so that they are stretched
            values = np.resize(np.asarray(arg), 2 + i)
            spread.append(values.reshape((-1,) + (1,) * i))
        try:
            result = quietly(function, *spread)
        except TypeError:
            continue  # a function of numbers alone
        if not isinstance(result, np.ndarray):
            continue
        shape = np.broadcast_shapes(*(a.shape for a in spread))
        assert result.shape == shape
        stretched = [np.broadcast_to(a, shape) for a in spread]
        for place in np.ndindex(shape):
            alone = quietly(function, *(np.asarray(a[place]) for a in stretched))
            assert np.array_equal(result[place], alone, equal_nan=True) or np.isclose(
                result[place], alone, rtol=1e-12), place


def test_many_elementwise_functions_were_called():
    assert sum(bool(argument_sets(name, f)) for name, f in ELEMENTWISE.items()) > 200


SHAPED = said("shape")
X = np.arange(1.0, 7.0).reshape(2, 3)


@each("name", SHAPED)
def test_shapes_of_results(name):
    function = SHAPED[name]
    match REGISTRY.facts(function).shape:
        case "first":
            extra = (float,) if name.endswith("astype") else ()
            for x in (X, X.T, X[:, ::2], X[:0], X * 1j):
                assert quietly(function, x, *extra).shape == x.shape
        case "filled":
            assert function(X, 2.0).shape == function(X, [1.0, 2.0, 3.0]).shape == X.shape
        case "reduced":
            for axis in (0, 1, -1, (0,), (0, 1), ()):
                axes = axis if isinstance(axis, tuple) else (axis,)
                kept = [1 if i in [a % 2 for a in axes] else n for i, n in enumerate(X.shape)]
                left = [n for i, n in enumerate(X.shape) if i not in [a % 2 for a in axes]]
                assert np.shape(quietly(function, X, axis)) == tuple(left)
                assert np.shape(quietly(function, X, axis=axis)) == tuple(left)
                assert np.shape(quietly(function, X, axis, keepdims=True)) == tuple(kept)
        case "counted":
            assert function(5).shape == (5,)
        case "expanded":
            assert function(X, 0).shape == (1, 2, 3)
            assert function(X, -1).shape == (2, 3, 1)
        case "given":
            assert function(X, (4, 2, 3)).shape == (4, 2, 3)
        case "kept":
            called = 0
            for args, kwargs in OPTIONS:
                for x in (X, X.T, X[:, ::2], X[:0], X[0], X[:1, 0], X[:2, :2] @ X[:2, :2].T):
                    try:
                        result = quietly(function, x, *args, **kwargs)
                    except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
                        continue
                    called += np.ndim(result) == x.ndim
                    assert np.shape(result) == x.shape or np.ndim(result) != x.ndim
            assert called


OPTIONS = [
    ((), {}), *(((given,), {}) for given in (0, 1, -1, 2, -3, (0, 1), None)), ((1, 0), {}),
    ((1, -1), {}), ((1, None), {}), (((1, 2), (0, 1)), {}), ((), {"axis": 0}), ((), {"axis": 1}),
    ((-1,), {"axis": 1}), ((1,), {"axis": (0, 1)}), ((), {"decimals": 1}), ((), {"k": -1}),
]
"""Further arguments of functions whose results have the shape of the first one, or that raise."""


ALL = {
    **{f"numpy.{name}": getattr(np, name) for name in dir(np) if not name.startswith("_")},
    **{f"numpy.ndarray.{name}": getattr(np.ndarray, name) for name in dir(np.ndarray)
       if not name.startswith("__")},
}
"""All that programs can reach of NumPy at once, by name."""

UNSAFE = frozenset({
    "numpy.ndarray.setfield", "numpy.ndarray.resize", "numpy.test", "numpy.show_config",
    "numpy.info", "numpy.show_runtime", "numpy.get_include", "numpy.save", "numpy.savetxt",
    "numpy.savez", "numpy.savez_compressed", "numpy.memmap",
})


@each("name", sorted(n for n, f in ALL.items() if callable(f)))
def test_what_gives_text_or_reads_it_is_said_to(name):
    function = ALL[name]
    if name in UNSAFE or (isinstance(function, type) and issubclass(function, np.generic)):
        return
    known = REGISTRY.facts(function)
    for given in (np.array([0.5, 0.25, 3.5]), np.float64(0.5)):
        try:
            found = quietly(function, given.copy())
        except Exception:
            continue
        if (isinstance(found, (str, bytes)) and any(c.isdigit() for c in str(found))) or (
            isinstance(found, np.ndarray) and found.dtype.kind in "USV"
        ):
            assert known.has_form("text"), found
    for text in ("0.5 0.25", "0.5", b"\x00\x00\x00\x00\x00\x00\xe0?"):
        try:
            found = quietly(function, text)
        except Exception:
            try:
                found = quietly(function, text, sep=" ")
            except Exception:
                continue
        if isinstance(found, (float, np.floating)) or (
            isinstance(found, np.ndarray) and found.dtype.kind == "f" and 0.5 in found
        ):
            assert known.has_form("numbers"), (text, found)


MUTATING = frozenset({
    "append", "pop", "extend", "clear", "insert", "update", "fill", "remove", "sort", "reverse",
})
INTERNAL = frozenset({"advance", "at_zero", "counting", "guarded", "name_module"})
"""Functions of the runtime that others there call with what they own, and emitted code does not."""


def writers_in(source: str) -> set[str]:
    """Return the functions of a module that write into one of their parameters."""
    found = set()
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        parameters = {a.arg for a in (*function.args.args, *function.args.posonlyargs)}
        for node in ast.walk(function):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = [t for t in node.targets if isinstance(t, (ast.Subscript, ast.Attribute))]
            elif isinstance(node, ast.AugAssign):
                targets = [] if isinstance(node.target, ast.Name) else [node.target]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in MUTATING:
                    targets = [node.func]
                elif node.func.attr == "at":
                    targets = node.args[:1]
            for target in targets:
                while isinstance(target, (ast.Subscript, ast.Attribute)):
                    target = target.value
                if isinstance(target, ast.Name) and target.id in parameters:
                    found.add(function.name)
    return found


WRITTEN_FOR_EMITTED_CODE = [
    (f"{package.__name__}.{file.stem}".removesuffix(".__init__"), file)
    for package in (runtime, kernels)
    for file in sorted(Path(str(package.__file__)).parent.glob("*.py"))
]


@each("module", WRITTEN_FOR_EMITTED_CODE, ids=lambda module: module[0])
def test_what_writes_into_its_arguments_at_run_time_is_said_to(module):
    name, file = module
    loaded = importlib.import_module(name)
    for name in writers_in(file.read_text(encoding="utf-8")):
        known = REGISTRY.facts(getattr(loaded, name))
        inner = name.startswith("_") or name in INTERNAL
        assert inner or known.updates or not known.is_pure, name


def test_a_ufunc_of_pythons_functions_may_do_anything():
    known = REGISTRY.facts(np.frompyfunc(print, 1, 1))
    assert not known.is_pure
    assert not known.writes_nothing
    assert not known.owns_result


def test_a_ufunc_of_vectors_is_not_elementwise():
    assert REGISTRY.facts(np.matmul).elementwise is None
    assert REGISTRY.facts(np.divmod).elementwise is None
    assert REGISTRY.facts(np.spacing).elementwise


@pytest.mark.parametrize("fact", ["total", "form", "shape"])
def test_words_that_mean_nothing_are_an_error(fact):
    with pytest.raises(ValueError, match="one of "):
        stated(**{fact: "nonsense"})


def test_names_are_those_of_the_functions():
    assert display_name(TOTAL["len"]) == "len"


def truth(x):
    bool(x)
    return np.sum(x)


def length(x):
    len(x[0])
    return np.sum(x)


def listed(x):
    list(x[0])
    return np.sum(x)


def iterated(x):
    iter(x[0])
    return np.sum(x)


def turned(x):
    reversed(x[0])
    return np.sum(x)


def counted(x):
    range(x[0])
    return np.sum(x)


def ragged(x):
    np.shape([x[0], [x[0], x[1]]])
    return np.sum(x)


@pytest.mark.parametrize(
    "function", [truth, length, listed, iterated, turned, counted, ragged],
    ids=lambda function: function.__name__,
)
def test_what_nobody_reads_raises_as_in_python(function):
    x = np.array([1.0, 2.0])
    with pytest.raises((TypeError, ValueError)):
        function(x)
    with pytest.raises((TypeError, ValueError)):
        value_and_grad(function)(x)
