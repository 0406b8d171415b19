"""What must hold of the derivative of any program: checked against plain Python.

``check`` compiles a program; ``check_plainly`` only runs it, to test the programs themselves.
"""

from __future__ import annotations

import ast
import copy
import re
import signal
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from adcompiler.api.emitted import kept_derivative
from adcompiler.api.grad import value_and_grad, vjp
from adcompiler.api.grad import source as emitted_source
from adcompiler.errors import ADError, InternalError, LocatedError
from adcompiler.runtime.aliases import AliasedError
from adcompiler.runtime.unfit import UnfitError
from adcompiler.runtime.adjoints.shaping import CopiedError
from tests.properties.features import WRITES
from tests.properties.more_checks import check_more
from tests.properties.programs import Program
from tests.state import World, difference

STEEPEST = 1e9
STEPS = (1e-3, 5e-4, 1e-5)
LARGE = 1e4
SLOW = 2.0
AND = " | "  # between the reasons for one refusal
RUNAWAY = 60.0  # seconds after which compiling and running counts as a failure


class Skip(Exception):
    """The program cannot be checked: it raises, overflows, or has no derivative here."""


class Refused(Exception):
    """The compiler says that it cannot differentiate the program; the text says why, in brief."""


def check(program: Program, texts: bool = True) -> float:
    """Check one program; return how long it took to compile, in seconds of this process.

    ``texts``: look at the emitted source too, and at what comes with the value. Raises
    ``Skip`` where plain Python itself fails, ``Refused`` where the compiler refuses,
    AssertionError (or anything else) where it fails.
    """
    with quiet():
        function = made(program)
        value, args = primal(function, program.args)
        with filled():
            same_when_filled = agree(primal(function, program.args), (value, args), 0.0)
        if not same_when_filled:
            raise Skip("reads what np.empty gives")
        took = derivative(function, program, value, args, texts)
        if texts and program.scalar:
            check_with_arguments(program, value, args)
        return took


def check_plainly(program: Program) -> None:
    """Raise ``Skip`` unless the program runs, is finite, and is smooth at its arguments."""
    with quiet():
        function = made(program)
        value, _ = primal(function, program.args)
        for _ in slopes(function, program, cotangent(program, value), 0.0):
            pass


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def filled() -> Iterator[None]:
    """Let ``np.empty`` and ``np.empty_like`` give arrays of NaN, where these have floats."""
    makers = {"empty": np.empty, "empty_like": np.empty_like}

    def filling(make: Callable[..., Any]) -> Callable[..., Any]:
        def maker(*args: Any, **kwargs: Any) -> Any:
            array = make(*args, **kwargs)
            if np.issubdtype(array.dtype, np.inexact):
                array.fill(np.nan)
            return array

        return maker

    for name, make in makers.items():
        setattr(np, name, filling(make))
    try:
        yield
    finally:
        for name, make in makers.items():
            setattr(np, name, make)


def made(program: Program) -> Callable[..., Any]:
    try:
        return program.function()
    except SyntaxError as error:
        raise Skip(repr(error)) from error


def primal(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the plain value and the arguments as the program leaves them.

    Programs that raise, run on, or leave the range of ordinary numbers are skipped.
    """
    left = copy.deepcopy(args)
    try:
        with limited(1.0):
            value = function(*left)
    except Exception as error:
        raise Skip(f"raises {type(error).__name__}") from error
    numbers = flat((value, left))
    if not np.all(np.isfinite(numbers)) or np.any(np.abs(numbers) > LARGE):
        raise Skip("not finite")
    return value, left


@contextmanager
def refusals(args: Any, given: Any) -> Iterator[None]:
    """Turn the compiler's refusals into ``Refused``; a refused program must not have run."""
    try:
        yield
    except InternalError:
        raise
    except LocatedError as error:
        same(args, given, 0.0, "the arguments of a refused program")
        problems = {f"{f.anchor}: {briefly(f.problem)}" for f in error.findings}
        raise Refused(AND.join(sorted(problems))) from error
    except CopiedError as error:
        raise Refused("a reshape that makes a copy, where one of the two is written") from error
    except AliasedError as error:
        raise Refused("a container that holds one array in two places") from error
    except UnfitError as error:
        raise Refused("an in-place operator of a value whose type is not known") from error
    except ADError as error:
        raise Refused(briefly(f"{type(error).__name__}: {error}")) from error


def briefly(text: str) -> str:
    """Return the first line of a message, without the program's own names and numbers."""
    line = text.splitlines()[0] if text else ""
    return re.sub(r"`[^`]*`|'[^']*'", "`...`", re.sub(r"\d+", "#", line))[:90]


def cotangent(program: Program, value: Any) -> Any:
    rng = np.random.default_rng(7)
    return 1.0 if program.scalar else like(value, lambda x: rng.uniform(0.5, 1.0, np.shape(x)))


def derivative(
    function: Callable[..., Any], program: Program, value: Any, left: tuple[Any, ...], texts: bool
) -> float:
    """Compare both products with the plain value, the plain effects, and each other."""
    near = tolerance_of(program)
    args, argnums = copy.deepcopy(program.args), program.argnums
    active = program.args[: len(argnums)]
    world = World(function, ())
    function(*copy.deepcopy(program.args))
    outside = world.picture()
    world.restore()
    started = time.process_time()
    with refusals(args, program.args), limited(RUNAWAY):
        y, pullback = vjp(function, *args, argnums=argnums)
    took = time.process_time() - started
    same(y, value, near, "the value of vjp")
    same(args, left, near, "the arguments after vjp")
    seed = cotangent(program, y)
    with limited(RUNAWAY):
        bars = pullback(copy.deepcopy(seed))
        kept = copy.deepcopy(bars)
        same(pullback(seed), kept, 0.0, "the pullback, called again")
    same(bars, kept, 0.0, "the gradient, after the pullback was called again")
    same(y, value, near, "the value after the pullback")
    same(args, left, near, "the arguments after the pullback")
    problem = difference(world.picture(), outside, near)
    assert problem is None, f"what the program reaches, after the pullback: {problem}"
    same(seed, cotangent(program, y), 0.0, "the cotangent after the pullback")
    modes = ["vjp"]
    if program.scalar:
        modes.append("value_and_grad")
        args = copy.deepcopy(program.args)
        started = time.process_time()
        with refusals(args, program.args), limited(RUNAWAY):
            joint, grads = kept_derivative(function, "value_and_grad", argnums)(*args)
        took = max(took, time.process_time() - started)
        same(joint, value, near, "the value of value_and_grad")
        same(grads, kept, near, "the gradient, and the pullback of 1")
        same(args, program.args, 0.0, "the arguments after value_and_grad")
    same_structure(kept, active)
    if texts:
        mode = modes[zlib.crc32(program.source.encode()) // 16 % len(modes)]
        check_text(function, copy.deepcopy(program.args), argnums, mode,
                   bool(program.features & WRITES))
    compare(function, program, kept, seed, 2e-4 if near > 1e-6 else 1e-6)
    with limited(RUNAWAY):
        check_more(function, program, seed, kept, near)
    return took


def check_with_arguments(program: Program, value: Any, left: tuple[Any, ...]) -> None:
    """Check a value that comes with the arguments as the program leaves them; may be refused."""
    names = ", ".join(f"a{i}" for i in range(len(program.args)))
    rows = ["program = f", f"def f({names}):", f"    return program({names}), [{names}]"]
    function = replace(program, source="\n".join([program.source, *rows, ""])).function()
    args = copy.deepcopy(program.args)
    with suppress(Refused), refusals(args, program.args), limited(RUNAWAY):
        (found, kept), _ = value_and_grad(function, program.argnums, has_aux=True)(*args)
        near = tolerance_of(program)
        same(found, value, near, "the value that the arguments come with")
        same(kept, list(left), near, "the arguments that come with the value")


def tolerance_of(program: Program) -> float:
    """Return the relative tolerance of values: that of single precision if some argument is."""
    single = any(x.dtype == np.float32 for x in leaves(program.args) if isinstance(x, np.ndarray))
    return 1e-4 if single else 1e-12


def check_text(function: Any, args: Any, argnums: Any, mode: str, writes: bool) -> None:
    """Compile once more: the text must be that of the derivative that has been called."""
    kept = kept_derivative(function, mode, argnums)
    if kept.why_last_recorded() is not None:
        return  # nothing was emitted
    first = kept.source
    second = emitted_source(function, *args, mode=mode, argnums=argnums)
    general = "same_shape(" in second and "same_shape(" not in first  # of stretched operands
    assert general or first == second, "the emitted text differs between two runs"
    compile(first, "<emitted>", "exec")
    if writes or mode != "value_and_grad":
        return
    # what returns the value makes lists whose items may raise, read or not; a gradient does not
    first = emitted_source(function, *args, mode="grad", argnums=argnums)
    unread = sorted(unread_lists(ast.parse(first)))
    assert not unread, f"lists that nothing reads: {unread}\n{first}"


def unread_lists(tree: ast.Module) -> Iterator[str]:
    """Iterate over the names of lists that are only ever appended to."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        made = {
            node.targets[0].id for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
            and not node.value.elts and isinstance(node.targets[0], ast.Name)
        }
        appended = [
            id(node.value) for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and node.attr == "append"
        ]
        read = {
            node.id for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            and id(node) not in appended
        }
        yield from made - read


def compare(
    function: Any, program: Program, bars: Any, seed: Any, tolerance: float
) -> None:
    """Compare directional derivatives with Richardson-extrapolated central differences."""
    size = float(np.max(np.abs(flat(bars)), initial=0.0))
    if size > STEEPEST:
        raise Skip("too steep for differences")
    for direction, expected in slopes(function, program, seed, size):
        found = float(flat(bars) @ flat(direction))
        scale = max(1.0, abs(expected), size)
        assert abs(found - expected) <= tolerance * scale, (
            f"directional derivative {found!r}, finite differences {expected!r}"
        )


def slopes(
    function: Any, program: Program, seed: Any, size: float
) -> Iterator[tuple[Any, float]]:
    """Iterate over random directions and derivatives along them.

    Arguments in single precision are taken in double. Programs that are not smooth here are
    skipped: estimates by several steps differ, or those from both sides do.
    """
    rng = np.random.default_rng(11)
    args = wide(program.args)
    active = len(program.argnums)
    weights = flat(seed)
    for _ in range(2):
        direction = like(args[:active], lambda x: rng.uniform(-1.0, 1.0, np.shape(x)))

        def along(step: float, direction: Any = direction) -> float:
            moved = shifted(args[:active], direction, step) + args[active:]
            return float(weights @ flat(primal(function, moved)[0]))

        yield direction, slope_at_zero(along, size)


def slope_at_zero(along: Callable[[float], float], size: float) -> float:
    """Return the derivative of ``along`` at 0."""
    middle = along(0.0)
    sides = {h: (along(h), along(-h)) for h in (STEPS[0], STEPS[1], STEPS[1] / 2, STEPS[2])}
    slope = {h: (right - left) / (2 * h) for h, (right, left) in sides.items()}
    bend = {h: abs(right - 2 * middle + left) / h for h, (right, left) in sides.items()}
    estimates = [(4 * slope[h / 2] - slope[h]) / 3 for h in STEPS[:2]]
    expected = estimates[1]
    scale = max(1.0, abs(expected), size)
    rough = abs(slope[STEPS[2]] - expected) > 1e-4 * scale
    if rough or abs(estimates[0] - estimates[1]) > 1e-7 * scale:
        raise Skip("not smooth")
    if bend[STEPS[2]] > 1e-6 * scale and bend[STEPS[2]] > 0.1 * bend[STEPS[0]]:
        raise Skip("a kink")
    return expected


# -- nested values ---------------------------------------------------------------------------------


def leaves(value: Any) -> Iterator[Any]:
    """Iterate over the numbers and arrays in a nested value."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    else:
        yield value


def flat(value: Any) -> Any:
    """Return all numbers in a nested value as one array."""
    return np.concatenate([np.zeros(0), *(np.ravel(np.asarray(x, float)) for x in leaves(value))])


def like(value: Any, make: Callable[[Any], Any]) -> Any:
    """Return a value of the same structure with every number or array replaced."""
    if isinstance(value, (tuple, list)):
        return type(value)([like(item, make) for item in value])
    if isinstance(value, dict):
        return {key: like(item, make) for key, item in value.items()}
    made = make(value)
    return np.asarray(made, value.dtype) if isinstance(value, np.ndarray) else float(made)


def wide(value: Any) -> Any:
    """Return a value with arrays in double precision for those in single precision."""
    if isinstance(value, (tuple, list)):
        return type(value)([wide(item) for item in value])
    if isinstance(value, dict):
        return {key: wide(item) for key, item in value.items()}
    floats = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(float) if floats else value


def shifted(value: Any, direction: Any, step: float) -> Any:
    """Return ``value + step * direction``."""
    if isinstance(value, (tuple, list)):
        return type(value)([shifted(v, d, step) for v, d in zip(value, direction, strict=True)])
    if isinstance(value, dict):
        return {key: shifted(value[key], direction[key], step) for key in value}
    moved = value + step * direction
    return np.asarray(moved) if isinstance(value, np.ndarray) else moved


def same(found: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Assert that two nested values agree to a relative tolerance."""
    assert agree(found, wanted, tolerance), f"{what}: {found!r}, expected {wanted!r}"


def agree(found: Any, wanted: Any, tolerance: float) -> bool:
    """Say whether two nested values agree to a relative tolerance."""
    shapes = [[np.shape(x) for x in leaves(value)] for value in (found, wanted)]
    return shapes[0] == shapes[1] and np.allclose(
        flat(found), flat(wanted), rtol=tolerance, atol=tolerance, equal_nan=True
    )


def same_structure(bars: Any, args: Any) -> None:
    """Assert that gradients have the container, kind and shape of the arguments."""
    if isinstance(args, (tuple, list)):
        assert type(bars) is type(args) and len(bars) == len(args), f"{bars!r} for {args!r}"
        for bar, arg in zip(bars, args, strict=True):
            same_structure(bar, arg)
    elif isinstance(args, dict):
        assert type(bars) is dict and list(bars) == list(args), f"{bars!r} for {args!r}"
        for key in args:
            same_structure(bars[key], args[key])
    else:
        assert type(bars) is type(args), f"{bars!r} for {args!r}"
        assert np.shape(bars) == np.shape(args), f"{bars!r} for {args!r}"
        dtypes = np.asarray(bars).dtype, np.asarray(args).dtype
        assert dtypes[0] == dtypes[1], f"{dtypes[0]} for {dtypes[1]}"
