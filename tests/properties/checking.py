"""What must hold of the derivative of any program: checked against plain Python."""

from __future__ import annotations

import ast
import copy
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from adcompiler.api import value_and_grad, vjp
from adcompiler.api import source as emitted_source
from tests.properties.programs import Program

STEPS = (1e-3, 5e-4, 1e-5)
LARGE = 1e4
SLOW = 2.0


class Skip(Exception):
    """The program cannot be checked: it raises, overflows, or has no derivative here."""


def check(program: Program) -> float:
    """Check one program; return how long it took to compile, in seconds.

    Raises ``Skip`` where plain Python itself fails, AssertionError where the compiler does.
    """
    function = program.function()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = primal(function, program.args)
        return derivative(function, program, value)


def primal(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the plain value; skip programs that raise or leave the range of ordinary numbers."""
    try:
        value = function(*copy.deepcopy(args))
    except Exception as error:
        raise Skip(repr(error)) from error
    numbers = flat(value)
    if not np.all(np.isfinite(numbers)) or np.any(np.abs(numbers) > LARGE):
        raise Skip("not finite")
    return value


def derivative(function: Callable[..., Any], program: Program, value: Any) -> float:
    args = copy.deepcopy(program.args)
    argnums = tuple(range(len(args)))
    started = time.perf_counter()
    y, pullback = vjp(function, *args)
    took = time.perf_counter() - started
    same(y, value, 1e-12, "the value of vjp")
    rng = np.random.default_rng(7)
    seed = 1.0 if program.scalar else like(y, lambda x: rng.uniform(0.5, 1.0, np.shape(x)))
    bars = pullback(copy.deepcopy(seed))
    kept = copy.deepcopy(bars)
    same(pullback(copy.deepcopy(seed)), kept, 0.0, "the pullback, called again")
    modes = ["vjp"]
    if program.scalar:
        modes.append("value_and_grad")
        started = time.perf_counter()
        joint, grads = value_and_grad(function, argnums)(*args)
        took = max(took, time.perf_counter() - started)
        same(joint, value, 1e-12, "the value of value_and_grad")
        same(grads, kept, 1e-12, "the gradient, and the pullback of 1")
    same(args, program.args, 0.0, "the arguments afterwards")
    same_structure(kept, program.args)
    for mode in modes:
        check_text(function, args, argnums, mode)
    compare(function, program, kept, seed)
    return took


def check_text(function: Any, args: Any, argnums: Any, mode: str) -> None:
    first, second = (emitted_source(function, *args, mode=mode, argnums=argnums) for _ in range(2))
    assert first == second, "the emitted text differs between two runs"
    compile(first, "<emitted>", "exec")
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


def compare(function: Any, program: Program, bars: Any, seed: Any) -> None:
    """Compare a directional derivative with Richardson-extrapolated central differences."""
    rng = np.random.default_rng(11)
    direction = like(program.args, lambda x: rng.uniform(-1.0, 1.0, np.shape(x)))
    weights = flat(seed)

    def along(step: float) -> float:
        moved = shifted(program.args, direction, step)
        return float(weights @ flat(primal(function, moved)))

    def slope(h: float) -> float:
        return (along(h) - along(-h)) / (2 * h)

    estimates = []
    for h in STEPS[:2]:
        coarse, fine = slope(h), slope(h / 2)
        estimates.append((4 * fine - coarse) / 3)
    expected = estimates[1]
    scale = max(1.0, abs(expected), float(np.max(np.abs(flat(bars)), initial=0.0)))
    rough = abs(slope(STEPS[2]) - expected) > 1e-4 * scale
    if rough or abs(estimates[0] - estimates[1]) > 1e-7 * scale:
        raise Skip("not smooth here")
    found = float(flat(bars) @ flat(direction))
    assert abs(found - expected) <= 1e-6 * scale, (
        f"directional derivative {found!r}, finite differences {expected!r}"
    )


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
    return made if isinstance(value, np.ndarray) else float(made)


def shifted(value: Any, direction: Any, step: float) -> Any:
    """Return ``value + step * direction``."""
    if isinstance(value, (tuple, list)):
        return type(value)([shifted(v, d, step) for v, d in zip(value, direction, strict=True)])
    if isinstance(value, dict):
        return {key: shifted(value[key], direction[key], step) for key in value}
    return value + step * direction


def same(found: Any, wanted: Any, tolerance: float, what: str) -> None:
    """Assert that two nested values agree to a relative tolerance."""
    a, b = flat(found), flat(wanted)
    assert a.shape == b.shape, f"{what}: {found!r}, expected {wanted!r}"
    close = np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    assert close, f"{what}: {found!r}, expected {wanted!r}"


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
