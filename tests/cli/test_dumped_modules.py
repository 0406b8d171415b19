"""Dumped modules are imported and give what the live derivative gives."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad, vjp
from adcompiler.cli.dump import DumpOptions, check_importable, dump, left_open, requests_for
from adcompiler.compile.pipeline import compile_request
from adcompiler.errors import ADError
from adcompiler.ir import types as t
from adcompiler.runtime import StretchedError, Unfit
from adcompiler.typed.values import type_of
from tests.corpus.program import Program, is_scalar
from tests.corpus.test_corpus import PROGRAMS
from tests.golden.test_emitted import PROGRAMS as GOLDEN
from tests.golden.test_emitted import sample
from tests.lanes import one_in
from tests.language.check import same

NAMES = (
    "list", "dict", "tuple", "range", "slice", "len", "zip", "enumerate", "reversed", "float",
    "int", "complex", "np", "numpy", "math", "min", "max", "abs", "sum", "seed", "add", "own",
    "like", "project", "zeros_like", "as_gradient", "unbroadcast", "scipy", "operator", "builtins",
    "isinstance", "type", "getattr", "sorted", "_", "__1", "tape", "value", "residuals", "y_bar",
    "f_grad", "loops_grad", "loops_augmented", "loops_pullback", "adcompiler", "print", "object",
    "np_1", "list_1", "v0_", "wrapped_function", "s_bar", "x_tape", "helper",
)

SOURCE = '''
import builtins as B
import math as M
import numpy as N
import scipy.special as S

RANGE, ZIP, ABS, MAX, MIN, FLOAT, REVERSED = range, zip, abs, max, min, float, reversed
SUM, LEN, DICT, COUNTED = sum, len, dict, enumerate


def helper(q, n):
    return q if n == 0 else M.sin(q) * helper(q, n - 1)


recursive = helper


def loops({a}: B.float, n: B.int = 3):
    s = 0.0
    for _k in RANGE(n):
        for i, v in ZIP(RANGE(2), [{a}, 2.0 * {a}]):
            s = s + M.sin(v * s) * {a} + i + ABS({a})
    return s * {a} + recursive({a}, 2)


def arrays({a}, *, scale: B.float = 2.0):
    y = N.zeros({a}.shape)
    for k, v in COUNTED({a}):
        y[k] = v * MAX(v, 0.5) + MIN(v, 0.25)
    parts = [FLOAT(v) for v in REVERSED({a})]
    return scale * N.sum(y * {a}) + SUM(parts) * LEN(parts) + N.sum({a}[1:] * {a}[:-1])


def special({a}: B.float):
    d = DICT(w={a}, v=S.gammaln({a}))
    return d["w"] * d["v"] * M.exp(-{a}) + (M.inf if {a} > 1e9 else 0.0)


def thrice({a}: B.float):
    for step in RANGE(3):
        {a} = {a} * 1.1 + 0.1 * step
    return {a} * step
'''

FORMS = (
    ("loops", "grad"), ("loops", "vjp"), ("loops", "forward"), ("arrays", "grad"),
    ("special", "vjp"), ("thrice", "grad"),
)


def imported(text: str, directory: Path) -> ModuleType:
    """Import a module's text from a file."""
    path = directory / "dumped.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("dumped", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dumped(
    function: Any, args: tuple[Any, ...], mode: str, argnums: str, directory: Path
) -> Iterator[ModuleType]:
    """Yield the module that is dumped for a function without types, and that for these types."""
    possible = requests_for(function, DumpOptions(mode, argnums))
    types = (*map(type_of, args), *possible[-1].types[len(args) :])
    parameters = list(inspect.signature(function).parameters.values())
    typed = replace(
        possible[0], types=types, assume_equal_shapes=False,
        parameters=left_open(parameters, types),
    )
    for request in (possible[0], typed):
        try:
            emitted = compile_request(request)
        except (ADError, TypeError):
            if request is typed:
                raise
            continue
        check_importable(emitted, function.__name__)
        yield imported(emitted.text, directory)


def without_static(args: tuple[Any, ...]) -> list[Any]:
    """Return copies of the arguments that a module for their types still takes."""
    return [copy.deepcopy(a) for a in args if not isinstance(type_of(a), t.Static) or a is None]


@pytest.mark.parametrize("program", one_in(48, PROGRAMS), ids=str)
def test_corpus(program: Program, tmp_path: Path) -> None:
    function, name = program.function, program.function.__name__
    case = next(program.cases())
    positions = program.positions
    numbers = ",".join(map(str, positions)) + ","
    wanted, pullback = vjp(function, *copy.deepcopy(case.args), argnums=positions)
    bars = pullback(copy.deepcopy(case.weights))
    passed = []
    for module in dumped(function, case.args, "vjp", numbers, tmp_path):
        try:
            value, residuals = getattr(module, f"{name}_augmented")(*without_static(case.args))
            found = getattr(module, f"{name}_pullback")(residuals, copy.deepcopy(case.weights))
        except (TypeError, ValueError, ADError, StretchedError, Unfit):
            continue  # types that were assumed, or not known, are not these
        same(value, wanted, "the value", exact=False)
        close(found, bars)
        passed.append(module)
    assert passed
    if is_scalar(case.value) and len(passed) == 2:
        *_, module = dumped(function, case.args, "value_and_grad", numbers, tmp_path)
        value, found = getattr(module, f"{name}_value_and_grad")(*without_static(case.args))
        same(value, wanted, "the value", exact=False)
        close(found, pullback(1.0))


def close(found: Any, wanted: Any) -> None:
    """Compare derivatives of generic code and of code for known types."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            close(one, other)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            close(found[key], wanted[key])
    elif hasattr(wanted, "__dict__") and not isinstance(wanted, np.ndarray):
        close(vars(found), vars(wanted))
    elif wanted is None or isinstance(wanted, str):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path, tmp_path: Path) -> None:
    asked = sample(path)
    several = isinstance(asked.argnums, tuple)
    numbers = ",".join(map(str, asked.argnums)) + "," if several else str(asked.argnums)
    mode = "vjp" if asked.mode == "vjp" else "value_and_grad"
    args = copy.deepcopy(asked.arguments)
    name = asked.function.__name__
    try:
        *_, module = dumped(asked.function, args, mode, numbers, tmp_path)
    except ADError as error:
        assert "no import reaches" in str(error)
        return
    args = tuple(without_static(args))
    if mode == "vjp":
        value, residuals = getattr(module, f"{name}_augmented")(*args)
        wanted, pullback = vjp(asked.function, *asked.arguments, argnums=asked.argnums)
        close(value, wanted)
        seeds = np.linspace(0.5, 1.5, np.size(wanted)).reshape(np.shape(wanted))
        found = getattr(module, f"{name}_pullback")(residuals, seeds)
        close(found, pullback(seeds))
        return
    found = getattr(module, f"{name}_value_and_grad")(*args)
    close(found, value_and_grad(asked.function, asked.argnums)(*asked.arguments))


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_parameters_keep_their_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"renamed_{NAMES.index(name)}.py"
    path.write_text(SOURCE.format(a=name), encoding="utf-8")
    plain = {}
    exec(compile(SOURCE.format(a="a"), "plain", "exec"), plain)
    points = {"loops": 0.7, "arrays": np.array([0.3, 0.7, 1.1]), "special": 1.3, "thrice": 0.4}
    for function, mode in FORMS:
        module = imported(dump(f"{path}:{function}", DumpOptions(mode)).text, tmp_path)
        x = points[function]
        bar = difference(plain[function], x)
        if mode == "grad":
            found = getattr(module, f"{function}_grad")(**{name: x})
        elif mode == "vjp":
            _, residuals = getattr(module, f"{function}_augmented")(**{name: x})
            found = getattr(module, f"{function}_pullback")(residuals, 1.0)
        else:
            seed = np.ones(x.shape) if isinstance(x, np.ndarray) else 1.0
            _, found = getattr(module, f"{function}_pushforward")(x, **{f"{name}_dot": seed})
            bar = np.sum(bar)
        np.testing.assert_allclose(found, bar, rtol=1e-6)


def difference(function: Any, x: Any) -> Any:
    """Return the gradient by central differences."""
    if isinstance(x, float):
        return (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
    steps = np.eye(x.size) * 1e-6
    return np.array([(function(x + s) - function(x - s)) / 2e-6 for s in steps])


STATISTICS = '''
def mean(x: float) -> float:
    return 5.0 * x * x


K = 2.0


def scaled(x: float) -> float:
    return K * x
'''


@pytest.mark.parametrize("name", ["statistics", "operator", "colorsys"])
def test_a_file_is_loaded_by_its_path(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(STATISTICS, encoding="utf-8")
    before = sys.path[:]
    try:
        module = imported(dump(f"{path}:mean", DumpOptions()).text, tmp_path)
        assert module.mean_grad(3.0) == 30.0
        if name != "colorsys":  # which nobody has imported: the file is what its name means
            with pytest.raises(ADError, match=f"{name}.py has the name of another module"):
                dump(f"{path}:scaled", DumpOptions())
    finally:
        sys.path[:] = before
        if getattr(sys.modules.get(name), "__file__", None) == str(path):
            del sys.modules[name]
