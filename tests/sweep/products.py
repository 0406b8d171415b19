"""One cell in every product: value, effects, gradient, tangent, Jacobian, pattern, module."""

from __future__ import annotations

import copy
import importlib
import itertools
import linecache
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from adcompiler import (
    ADError,
    InternalError,
    hessian,
    jacobian_sparsity,
    jacrev,
    jvp,
    source,
    value_and_grad,
    vjp,
)
from adcompiler.rulekit import REGISTRY
from adcompiler.runtime import StretchedError
from tests.sweep.cells import OWNERS, Cell, leaves, located, quiet

SECONDS = 6
TOLERANCE = 2e-5
_numbers = itertools.count()
_modules: dict[str, types.ModuleType] = {}


class TookTooLong(BaseException):
    """A cell that did not end; nobody else handles it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: right, refused, raw (another error), wrong, slow or skipped."""

    status: str
    detail: str = ""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what takes so many seconds of a processor."""

    def stop(*_: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Program:
    """A small function that makes the call, and the arguments that it takes."""

    def __init__(self, cell: Cell, y: Any) -> None:
        self.space: dict[str, Any] = {"np": np}
        self.values: list[Any] = []
        self.names: list[str] = []
        args = [self.parameter(x) for x in cell.args]
        given = [*args, *(f"{k}={self.constant(k, x)}" for k, x in cell.kwargs.items())]
        found = list(leaves(y))
        rows = []
        if cell.buffer:
            self.space["SHAPE"] = np.shape(y)
            rows.append("    y = np.zeros(SHAPE)")
            given.insert(len(args) if cell.buffer == "positional" else len(given),
                         "y" if cell.buffer == "positional" else f"{cell.buffer}=y")
            rows.append(f"    {self.called(cell, given)}")
        else:
            rows.append(f"    y = {self.called(cell, given)}")
        terms = []
        for i, (path, leaf) in enumerate(found):
            weights = np.cos(1.0 + i + np.arange(leaf.size)).reshape(leaf.shape)
            self.space[f"W{i}"] = weights if leaf.ndim else float(weights)
            part = f"np.real({path}) + 0.7 * np.imag({path})" if leaf.dtype.kind == "c" else path
            terms.append(f"np.sum(({part}) * W{i})")
        head = f"def program({', '.join(self.names)}):\n"
        text = head + "\n".join(rows) + f"\n    return {' + '.join(terms)}\n"
        direct = head + "\n".join(rows) + f"\n    return np.ravel({found[0][0]})\n"
        if found[0][1].dtype.kind == "c":
            direct = direct.replace(f"np.ravel({found[0][0]})", f"np.ravel(np.real({found[0][0]}))")
        self.text = text
        self.function = self.made(text, "program")
        self.vector = self.made(direct, "program")

    def called(self, cell: Cell, given: list[str]) -> str:
        if cell.module in OWNERS:
            first, *others = given
            return f"{first}.{cell.name}({', '.join(others)})"
        root = cell.module.partition(".")[0]
        self.space[root] = importlib.import_module(root)
        located(cell.module)
        return f"{cell.module}.{cell.name}({', '.join(given)})"

    def parameter(self, x: Any) -> str:
        """Return the text of an argument: arrays and numbers are parameters of the program."""
        if isinstance(x, (np.ndarray, float)):
            self.names.append("xuvwz"[len(self.names)])
            self.values.append(x.copy() if isinstance(x, np.ndarray) else x)
            return self.names[-1]
        if isinstance(x, (list, tuple)) and any(isinstance(i, np.ndarray) for i in x):
            inner = ", ".join(map(self.parameter, x))
            return f"[{inner}]" if isinstance(x, list) else f"({inner},)"
        if scipy.sparse.issparse(x):
            self.space["SPARSE"] = x
            return "SPARSE"
        return repr(x)

    def constant(self, key: str, x: Any) -> str:
        if isinstance(x, (np.ndarray, type)) or x is np.inf:
            self.space[f"OPTION_{key}"] = x
            return f"OPTION_{key}"
        return repr(x)

    def made(self, text: str, name: str) -> Callable[..., Any]:
        """Return a function of a text; that of an earlier cell, where only numbers differ."""
        kinds = sorted((k, kind(k, x)) for k, x in self.space.items())
        module = _modules.get(f"{text}{kinds}")
        if module is None:
            file = f"<sweep {next(_numbers)}>"
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
            module = types.ModuleType(f"sweep_{next(_numbers)}")
            sys.modules[module.__name__] = _modules[f"{text}{kinds}"] = module
            module.__dict__.update(self.space)
            exec(compile(text, file, "exec"), module.__dict__)
        module.__dict__.update(self.space)
        made: Callable[..., Any] = getattr(module, name)
        return made


def kind(name: str, x: Any) -> str:
    """Return what of a global makes another program."""
    return f"{type(x)} {getattr(x, 'ndim', x)}" if name[0] == "W" else repr(x)


def moved(values: list[Any], i: int, by: Any) -> list[Any]:
    """Return copies of arguments with one of them moved."""
    found = copy.deepcopy(values)
    found[i] = found[i] + by
    return found


def same(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """Say whether two numbers or arrays agree, nan with nan."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    size = float(np.max(np.abs(b), initial=1.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def slope(f: Callable[..., Any], values: list[Any], i: int, v: Any) -> Any:
    """Return central differences, None where two steps, or two sides, do not agree: at a kink."""
    found = []
    here = np.asarray(f(*copy.deepcopy(values)))
    if np.shape(quiet(f, *moved(values, i, 1e-5 * v))) != here.shape or any(
        quiet(f, *moved(values, i, h * v)) is None for h in (1e-5, -1e-5)
    ):
        return None
    for h in (1e-5, 3e-6):
        above, below = f(*moved(values, i, h * v)), f(*moved(values, i, -h * v))
        found.append((np.asarray(above) - np.asarray(below)) / (2.0 * h))
        if not same((np.asarray(above) - here) / h, (here - np.asarray(below)) / h, 1e-3):
            return None
    if not np.all(np.isfinite(found[0])) or not same(found[0], found[1], 1e-5):
        return None
    return found[1]


def additive(f: Callable[..., Any], values: list[Any], i: int, v: Any, along: Any) -> bool:
    """Say whether slopes along two directions add up; at a kink they need not."""
    other = np.cos(3.0 * v + 0.4)
    found = slope(f, values, i, other), slope(f, values, i, v + other)
    return not any(x is None for x in found) and same(along + found[0], found[1], 1e-4)


def check(cell: Cell, seconds: int = SECONDS) -> Outcome:
    """Run a cell in every product; the first thing that differs from plain Python is told."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), limited(seconds):
            warnings.simplefilter("ignore")
            return compared(cell)
    except TookTooLong:
        return Outcome("slow")
    except InternalError as error:
        return Outcome("raw", f"InternalError: {str(error)[:300]}")
    except ADError as error:
        return Outcome("refused", type(error).__name__)
    except Exception as error:
        return Outcome("raw", f"{type(error).__name__}: {str(error)[:200]}")


def compared(cell: Cell) -> Outcome:
    buffered = cell if not cell.buffer else Cell(cell.module, cell.name, cell.args, cell.kwargs)
    y = quiet(buffered.function, *cell.args, **cell.kwargs)
    if cell.buffer and y is None:
        return Outcome("skipped")
    program = Program(cell, y)
    i = next((k for k, x in enumerate(program.values)
              if isinstance(x, float) or x.dtype.kind == "f"), None)
    plain = copy.deepcopy(program.values)
    try:
        wanted = program.function(*plain)
    except Exception:
        return Outcome("skipped")
    if i is None or not np.isfinite(wanted):
        return Outcome("skipped")
    if shared(buffered):
        return Outcome("wrong", "the result shares storage, which the facts deny")
    given = copy.deepcopy(program.values)
    value, pullback = vjp(program.function, *given, argnums=i)
    if not same(value, wanted):
        return Outcome("wrong", f"value {value!r}, not {wanted!r}")
    overwrites = any(key.startswith("overwrite") for key in cell.kwargs)  # it may, or may not
    for name, after, right in zip(program.names, given, plain, strict=True):
        if not overwrites and not same(after, right):
            return Outcome("wrong", f"the argument {name} is left otherwise")
    x = program.values[i]
    v = np.sin(1.0 + np.arange(np.size(x))).reshape(np.shape(x)) if np.ndim(x) else 0.7
    along = slope(program.function, program.values, i, v)
    if along is None or not additive(program.function, program.values, i, v, along):
        return at_kink(program, i, wanted)
    return derivatives(cell, program, i, v, along, pullback(1.0))


def shared(cell: Cell) -> bool:
    """Say whether a result shares storage with an argument although facts say that it does not."""
    known = REGISTRY.facts(cell.function)
    if known.shares != () or any(key.startswith("overwrite") for key in cell.kwargs):
        return False
    args = copy.deepcopy(cell.args)
    y = cell.function(*args, **cell.kwargs)
    arrays = [x for x in args if isinstance(x, np.ndarray)]
    return isinstance(y, np.ndarray) and any(np.shares_memory(x, y) for x in arrays)


def at_kink(program: Program, i: int, wanted: Any) -> Outcome:
    """Say whether a gradient is there, of the right shape, where differences tell nothing."""
    value, g = value_and_grad(program.function, argnums=i)(*copy.deepcopy(program.values))
    if not same(value, wanted):
        return Outcome("wrong", f"value_and_grad {value!r}, not {wanted!r}")
    if np.shape(g) != np.shape(program.values[i]):
        return Outcome("wrong", f"a gradient of shape {np.shape(g)}")
    return Outcome("skipped", "kink")


def derivatives(
    cell: Cell, program: Program, i: int, v: Any, along: Any, pulled: Any
) -> Outcome:
    """Compare the derivatives of a program with differences along a direction."""
    values, f = program.values, program.function
    found = np.sum(pulled * v)
    if not same(found, along, TOLERANCE):
        return Outcome("wrong", f"vjp {found!r}, differences {along!r}")
    given = copy.deepcopy(values)
    value, g = value_and_grad(f, argnums=i)(*given)
    if not same(np.sum(g * v), along, TOLERANCE) or not same(value, f(*copy.deepcopy(values))):
        return Outcome("wrong", f"value_and_grad {value!r}, {np.sum(g * v)!r} not {along!r}")
    if any(not same(a, b) for a, b in zip(given, values, strict=True)):
        return Outcome("wrong", "value_and_grad changes an argument")
    before = copy.deepcopy(values)
    globals_before = {k: x.copy() for k, x in program.space.items() if isinstance(x, np.ndarray)}
    g *= 0
    if any(not same(a, b) for a, b in zip(given, before, strict=True)):
        return Outcome("wrong", "the gradient shares memory with an argument")
    if any(not same(program.space[name], array) for name, array in globals_before.items()):
        return Outcome("wrong", "the gradient shares memory with a global")
    late = []
    for name, compute in {
        "jvp": lambda: jvp(f, tuple(copy.deepcopy(values)), (v,), argnums=(i,))[1],
        "jacobian": lambda: along_jacobian(program, i, v, along),
        "hessian": lambda: along_hessian(program, i, v, along),
        "dump": lambda: dumped(f, values, i, v),
    }.items():
        try:
            other = compute()
        except (ADError, StretchedError):  # a dumped module is for arrays of one shape
            late.append(name)
            continue
        if isinstance(other, str) or not same(other, along, TOLERANCE):
            return Outcome("wrong", f"{name} {other!r}, differences {along!r}")
    return Outcome("right", ", ".join(f"{name} refused" for name in late))


def along_jacobian(program: Program, i: int, v: Any, along: Any) -> Any:
    """Return ``along``, or what tells that the Jacobian of many seeds or its pattern is wrong."""
    g, values = program.vector, program.values
    wanted = slope(g, values, i, v)
    if wanted is None:
        return along
    jacobian = jacrev(g, argnums=i)(*copy.deepcopy(values))
    product = np.tensordot(jacobian, v, np.ndim(v)) if np.ndim(v) else jacobian * v
    if not same(product, wanted, TOLERANCE):
        return f"jacrev: {product!r}, not {wanted!r}"
    if np.ndim(v):
        try:
            pattern = jacobian_sparsity(g, *copy.deepcopy(values), argnums=i).toarray()
        except InternalError:
            raise
        except ADError:
            return along
        flat = np.reshape(jacobian, (np.size(wanted), -1))
        if np.any((np.abs(flat) > 1e-12) & ~np.reshape(pattern, flat.shape)):
            return "the pattern lacks entries"
    return along


def along_hessian(program: Program, i: int, v: Any, along: Any) -> Any:
    """Return ``along``, or what tells that the Hessian is wrong."""
    gradient = value_and_grad(program.function, argnums=i)
    wanted = slope(lambda *given: gradient(*given)[1], program.values, i, v)
    if wanted is None:
        return along
    matrix = hessian(program.function, argnums=i)(*copy.deepcopy(program.values))
    product = np.tensordot(matrix, v, np.ndim(v)) if np.ndim(v) else matrix * v
    return along if same(product, wanted, 20 * TOLERANCE) else f"{product!r}, not {wanted!r}"


def dumped(f: Callable[..., Any], values: list[Any], i: int, v: Any) -> Any:
    """Return the derivative along a direction by the emitted module, run as a text."""
    text = source(f, *copy.deepcopy(values), mode="value_and_grad", argnums=i)
    space: dict[str, Any] = {"__name__": "dumped"}
    exec(compile(text, "<dumped>", "exec"), space)
    return np.sum(space["program_value_and_grad"](*copy.deepcopy(values))[1] * v)
