"""What is said of how results depend on elements of arguments is so: functions are called.

The patterns of whole functions are compared with differences by ``tests/sparsity``.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adcompiler.sparsity.interpreter.machine  # noqa: F401  (registers the transfers)
from adcompiler.ops.facts import TRANSFERS, stated
from adcompiler.rulekit import REGISTRY, Call, call
from adcompiler.sparsity.interpreter import table as run
from tests.ops.test_facts import FUNCTIONS, calls_of
from tests.ops.test_facts_of_results import quietly, said, takes
from tests.together import each

INTERNAL = {
    run.ELEMENTWISE, run.INACTIVE, run.DENSE, run.KIND, run.DTYPE, run.LAYOUT, run.LINEARLY,
    run.GROUPED, run.SYSTEM, run.STATED,
}


def test_each_word_has_code_and_the_code_a_word() -> None:
    registered = {key for key in run.TRANSFERS if isinstance(key, str)}
    assert registered - INTERNAL == set(TRANSFERS)
    assert not INTERNAL & set(TRANSFERS)


def test_each_word_is_said_of_a_function() -> None:
    words = {known.transfer for _, known in REGISTRY.all_facts()}
    of_numpy_2 = set() if hasattr(np, "vecdot") else {"vecdot", "trace of each"}
    assert words - {None} == set(TRANSFERS) - of_numpy_2


def test_words_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="transfer='sun': one of 'moves', "):
        stated(transfer="sun")
    with pytest.raises(ValueError, match="along='bent'"):
        stated(along=("axis", 0, "bent"))


MOVING = {name: f for name, f in FUNCTIONS.items() if REGISTRY.facts(f).transfer == "moves"}


@each("name", MOVING)
def test_what_moves_elements_returns_those_of_its_first_argument(name: str) -> None:
    tried = 0
    for given in calls_of(name, MOVING[name]):
        first, *rest = given.args
        if not isinstance(first, np.ndarray) or not first.size:
            continue
        places = np.arange(1.0, first.size + 1).reshape(first.shape)
        if callable(MOVING[name]):
            found = quietly(MOVING[name], places, *rest, **given.kwargs)
        else:
            found = getattr(places, MOVING[name].__name__)
        kinds = (np.ndarray, float)
        others = [np.ravel(leaf) for leaf in leaves(rest) if isinstance(leaf, kinds)]
        numbers = np.concatenate([np.ravel(part) for part in leaves(found)])
        assert set(numbers) <= {0.0, *np.ravel(places), *(x for other in others for x in other)}
        tried += 1
    assert tried or REGISTRY.resolve(MOVING[name]) is not MOVING[name]


def leaves(value: Any) -> list[Any]:
    """Return the arrays in a result."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


LINEAR = said("linear_in")


def parameters_of(function: Any) -> list[str]:
    """Return the names of the parameters that the rule of a function has."""
    rule = REGISTRY.find(function)
    assert rule is not None and rule.definition is not None
    return [p.name for p in inspect.signature(rule.definition).parameters.values()]


def added(a: Any, b: Any) -> Any:
    """Return the sum of two arguments, or of what is in them."""
    if isinstance(a, (list, tuple)):
        return type(a)(map(added, a, b))
    return np.add(a, b)


def scaled(a: Any, factor: float) -> Any:
    """Return an argument, or what is in it, times a number."""
    if isinstance(a, (list, tuple)):
        return type(a)(scaled(item, factor) for item in a)
    return np.multiply(a, factor)


def moved(rng: np.random.Generator, value: Any) -> Any:
    """Return other numbers in the place of those of an argument."""
    if isinstance(value, (list, tuple)):
        return type(value)(moved(rng, item) for item in value)
    return rng.normal(size=np.shape(value))


@each("name", LINEAR)
def test_linear_functions_are(name: str) -> None:
    function, rng, tried = LINEAR[name], np.random.default_rng(0), 0
    names = parameters_of(function)
    for group in REGISTRY.facts(function).linear_in or ():
        for given in calls_of(name, function):
            plain = {**dict(zip(names, given.args, strict=False)), **given.kwargs}
            inside = {n: v for n, v in plain.items() if n in group.split() and v is not None}
            inside.pop("initial", None)  # only zero may be given
            if "*" in "".join(map(str, inspect.signature(function).parameters)) or not inside:
                continue
            others = {n: moved(rng, v) for n, v in inside.items()}
            both = {n: added(inside[n], others[n]) for n in inside}
            results = []
            nothing = {n: scaled(v, 0.0) for n, v in inside.items()}
            for chosen in (inside, others, both, nothing):
                arguments = [chosen.get(n, v) for n, v in zip(names, given.args, strict=False)]
                named = {n: chosen.get(n, v) for n, v in given.kwargs.items()}
                found = leaves(quietly(function, *arguments, **named))
                results.append([x for x in map(np.asarray, found) if x.dtype.kind in "fc"])
            for a, b, c, zero in zip(*results, strict=True):  # what lies outside may add constants
                scale = max(1.0, float(np.max(np.abs(c), initial=0.0)))
                assert np.allclose(a + b, c + zero, rtol=1e-9, atol=1e-9 * scale), given
            tried += 1
    assert tried or name in UNTRIED


UNTRIED = {"scipy.linalg.block_diag", "numpy.average", "scipy.sparse.linalg.expm_multiply"}
"""Functions of any number of arguments, and those whose samples do not give the group."""

ALONG = said("along")
EXTRA = {"scipy.stats.pmean": (call(np.ones(2), 2.0),)}


@each("name", ALONG)
def test_lines_do_not_depend_on_one_another(name: str) -> None:
    function, tried = ALONG[name], 0
    parameter, _, how = REGISTRY.facts(function).along  # type: ignore[misc]
    several = parameter == "axes"
    array = np.abs(np.random.default_rng(0).normal(size=(3, 4, 5) if several else (3, 8))) + 0.5
    where: dict[str, Any] = {parameter: (1, 2) if several else 1}
    for given in (*calls_of(name, function), call(array), *EXTRA.get(name, ())):
        rest = given.args[1:]
        with_arrays = any(np.ndim(r) for r in rest if r is not None)
        if parameter in given.kwargs or (with_arrays and "1d" not in name):
            continue
        options = {**given.kwargs, **where}
        try:
            together = quietly(function, array, *rest, **options)
            alone = [quietly(function, row[None], *rest, **options) for row in array]
        except (TypeError, ValueError):
            continue  # an axis by position, or a length of its own
        for k, row in enumerate(alone):
            for whole, part in zip(leaves(together), leaves(row), strict=True):
                assert np.allclose(whole[k], part[0], rtol=1e-10, atol=1e-12), given
        if how == "linear":
            twice, thrice = (quietly(function, k * array, *rest, **options) for k in (2.0, 3.0))
            both = np.asarray(together) + np.asarray(thrice)
            assert np.allclose(2.0 * np.asarray(twice), both, rtol=1e-10, atol=1e-12)
        tried += 1
    assert tried


AXES = said("axes")
ROWS = np.random.default_rng(0).normal(size=(3, 4, 4))


def of_rows(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return the results of a function for each row of its first argument, put together."""
    return np.stack([AXES[name](row, *args, **kwargs) for row in ROWS])


@each("name", AXES)
def test_one_more_axis_in_front_gives_the_results_of_each_row(name: str) -> None:
    function, axes = AXES[name], REGISTRY.facts(AXES[name]).axes
    extra = (1,) if name.endswith("roll") else (2,) if name.endswith("repeat") else ()
    match axes:
        case "each":
            count = 3 if name == "numpy.where" else 2 if takes(function) == 2 else 1
            others = [ROWS[0] + k for k in range(count - 1)]
            assert np.array_equal(function(ROWS, *others), of_rows(name, *others))
        case "alike":
            assert np.array_equal(function(ROWS), of_rows(name))
        case "vectors":
            rows = ROWS[..., :3]
            assert np.array_equal(function(rows, rows[0] + 1.0), np.stack([
                function(row, rows[0] + 1.0) for row in rows]))
        case "along" | "along all" | "in order":
            rows = ROWS[:, :1] if name.endswith("squeeze") else ROWS
            wanted = np.stack([function(row, *extra, axis=0) for row in rows])
            assert np.allclose(function(rows, *extra, axis=1), wanted)
            if axes == "along all":
                assert np.allclose(function(ROWS, axis=(1, 2)), of_rows(name))
            elif axes == "in order":
                whole = [function(row, *extra).ravel() for row in ROWS]
                flat = [function(row.ravel(), *extra) for row in ROWS]
                assert np.allclose(whole, flat)
        case "joins":
            wanted = np.stack([function([row, row], axis=0) for row in ROWS])
            assert np.array_equal(function([ROWS, ROWS], axis=1), wanted)
        case "rows":
            made = list(function(ROWS)) if callable(function) else []
            first = made[0][1] if name == "enumerate" else made[0]
            expected = ROWS[-1] if name == "reversed" else ROWS[0]
            assert np.array_equal(first[0] if name == "zip" else first, expected)
        case "columns":
            matrix = ROWS[0] + 8.0 * np.eye(4)
            if name.endswith("lu_solve"):
                matrix = scipy.linalg.lu_factor(matrix)
            wanted = np.stack([function(matrix, row) for row in ROWS[0]], axis=1)
            assert np.allclose(function(matrix, ROWS[0].T), wanted)


OF_FORM = said("of_form")


@each("name", [n for n in OF_FORM if not n.endswith("zeros_of_each")])
def test_only_the_form_of_arguments_is_read(name: str) -> None:
    for given in (ROWS, ROWS[0].T, np.ones(3, int), [ROWS[0], ROWS[1]]):
        other = np.flip(given) * 3 if isinstance(given, np.ndarray) else [row * 2 for row in given]
        try:
            one, two = OF_FORM[name](given), OF_FORM[name](other)
        except TypeError:  # np.result_type takes a list for the fields of a dtype
            assert isinstance(given, list) and name == "numpy.result_type"
            continue
        assert np.shape(one) == np.shape(two)
        assert np.asarray(one).dtype == np.asarray(two).dtype
        assert name.endswith("empty_like") or np.array_equal(one, two)


CALLS: dict[str, tuple[Call, Call]] = {
    **{f"numpy.{name}": (call(np.array([1.0, 1.0, 0.0])), call(np.array([1.0, 2.0, 3.0])))
       for name in (
           "nonzero", "flatnonzero", "argwhere", "unique", "unique_all", "unique_counts",
           "unique_inverse", "unique_values", "where", "ndarray.nonzero")},
    **{f"numpy.{name}": (call(2), call(3)) for name in (
        "arange", "zeros", "ones", "empty", "eye", "identity")},
    **{f"numpy.{name}": (call(np.array([1.0, 2.0]), np.array([1.0, 2.0])),
                         call(np.array([1.0, 2.0]), np.array([1.0, 3.0])))
       for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d")},
    "numpy.trim_zeros": (call(np.array([0.0, 1.0])), call(np.array([2.0, 1.0]))),
    "numpy.full": (call(2, 1.0), call(3, 1.0)), "range": (call(2), call(3)),
}
SIZED = said("sized")


@each("name", SIZED)
def test_values_decide_how_many_numbers_come_out(name: str) -> None:
    sizes = [
        [np.shape(leaf) for leaf in leaves(SIZED[name](*given.args))] for given in CALLS[name]
    ]
    assert sizes[0] != sizes[1]


PLAIN = [
    name for name, function in FUNCTIONS.items()
    if name.startswith(("numpy", "scipy")) and not REGISTRY.facts(function).sized
    and REGISTRY.facts(function).may_be_tried
]


DEGENERATE = {
    "numpy.linalg.lstsq",  # residuals of matrices of full rank only
    "numpy.roots",  # leading zeros are no coefficients
    "scipy.linalg.eigh",  # those in an interval, if one is given
    *(  # zeros at the end are no coefficients
        f"numpy.polynomial.{module}.{name}{part}" for part in ("mulx", "roots")
        for module, name in (
            ("chebyshev", "cheb"), ("hermite", "herm"), ("hermite_e", "herme"),
            ("laguerre", "lag"), ("legendre", "leg"), ("polynomial", "poly"),
        )
    ),
}
"""Functions of which arguments without a derivative have results of another shape."""


def with_other_values(value: Any, how: int) -> Any:
    """Return an argument with the numbers of its float arrays changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(with_other_values(item, how) for item in value)
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or not value.ndim:
        return value
    kinds = (np.zeros_like(value), np.ones_like(value), np.sort(value, axis=None).reshape(
        value.shape), np.where(np.arange(value.size).reshape(value.shape) % 2, value, 0.0))
    return kinds[how]


@each("name", PLAIN, parts=4)
def test_other_functions_have_results_of_one_shape(name: str) -> None:
    for given in calls_of(name, FUNCTIONS[name]):
        shapes = set()
        for how in range(4):
            arguments = [with_other_values(a, how) for a in given.args]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found = quietly(FUNCTIONS[name], *arguments, **given.kwargs)
                except Exception:
                    continue  # outside of its domain
            if all(isinstance(leaf, (np.ndarray, np.generic, float)) for leaf in leaves(found)):
                shapes.add(tuple(np.shape(leaf) for leaf in leaves(found)))
        assert len(shapes) <= 1 or name in DEGENERATE, given


class Wrapped:
    """What has an array for NumPy, and operators and functions of its own."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values if dtype is None else self.values.astype(dtype)

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("its own operators were asked")


UNWRAPPED = {
    "numpy.dot": lambda f, x, y: f(x, y), "numpy.ndarray.dot": lambda f, x, y: f(x, y),
    "numpy.vdot": lambda f, x, y: f(x, y),
    "numpy.inner": lambda f, x, y: f(x, y), "numpy.interp": lambda f, x, y: f(x, y, y),
    "numpy.where": lambda f, x, y: f(y, x, y), "numpy.concatenate": lambda f, x, y: f([x, y]),
    "numpy.stack": lambda f, x, y: f((x, y)), "numpy.array": lambda f, x, y: f(y),
    "numpy.asarray": lambda f, x, y: f(y),
}


@pytest.mark.parametrize("name", said("unwraps"))
def test_functions_that_unwrap_make_arrays_of_what_they_are_given(name: str) -> None:
    x, y = np.array([0.5, 1.5, 0.0]), np.array([0.0, 1.0, 2.0])
    function, called = said("unwraps")[name], UNWRAPPED[name]
    found = called(function, x, Wrapped(y))
    assert type(found) is type(called(function, x, y))
    np.testing.assert_array_equal(found, called(function, x, y))
