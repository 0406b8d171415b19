"""Further things that must hold of a derivative; one of them is looked at for each program.

Several seeds at once give what each gives, patterns hold every entry that is not zero, a module
that is imported does what the derivative does, and gradients are the caller's own to write into.
"""

from __future__ import annotations

import copy
import types
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from tests.properties.values import Program

from adcompiler import batched_vjp, jacobian_sparsity
from adcompiler.api.grad import source as emitted_source
from adcompiler.api.grad import value_and_grad, vjp
from adcompiler.errors import ADError, InternalError

Check = Callable[[Callable[..., Any], Program, Any, Any, float], None]


def check_more(
    function: Callable[..., Any], program: Program, seed: Any, bars: Any, near: float
) -> None:
    """Make one further check, which depends on the program's text. Refusals are let pass."""
    check = CHECKS[zlib.crc32(program.source.encode()) // 4 % len(CHECKS)]
    with suppress(ADError):
        try:
            check(function, program, seed, bars, near)
        except InternalError as error:
            raise AssertionError(f"an internal error: {error}") from error


def several_seeds(
    function: Callable[..., Any], program: Program, seed: Any, bars: Any, near: float
) -> None:
    """Compare ``batched_vjp`` with pullbacks of single seeds: as many as axes have, and one more.

    Numbers of seeds that equal an extent show axes that were taken for one another.
    """
    argnums, args = program.argnums, program.args
    count = 2 + zlib.crc32(program.source.encode()) % 3
    seeds = [mapped(seed, lambda x, k=k: x * (1.0 + 0.5 * k)) for k in range(count)]
    _, pullback = vjp(function, *copy.deepcopy(args), argnums=argnums)
    wanted = [pullback(copy.deepcopy(one)) for one in seeds]
    _, of_each = batched_vjp(function, *copy.deepcopy(args), argnums=argnums)
    found = of_each(stacked(seeds))
    assert close(found, stacked(wanted), max(near, 1e-9)), (
        f"{count} seeds at once: {found!r}, one by one {stacked(wanted)!r}")


def pattern(
    function: Callable[..., Any], program: Program, seed: Any, bars: Any, near: float
) -> None:
    """Find every entry of the gradient in the pattern."""
    if not program.scalar:
        return
    found = jacobian_sparsity(function, *copy.deepcopy(program.args), argnums=program.argnums)
    entries = np.asarray(found.toarray()).any(axis=0)
    gradient = flat(bars)
    assert entries.shape == gradient.shape, f"a pattern of {entries.shape} for {gradient.shape}"
    missing = np.flatnonzero((gradient != 0.0) & ~entries)
    assert not missing.size, f"the pattern lacks {missing}, where the gradient is {gradient!r}"


def imported_module(
    function: Callable[..., Any], program: Program, seed: Any, bars: Any, near: float
) -> None:
    """Run the emitted text as a module of its own, where that needs nothing else."""
    if not program.scalar:
        return
    args = copy.deepcopy(program.args)
    text = emitted_source(function, *args, mode="value_and_grad", argnums=program.argnums)
    if "import random_program" in text:
        return
    module = types.ModuleType("dumped")
    try:
        exec(compile(text, "<dumped>", "exec"), vars(module))
        entry = next(name for name in vars(module) if name.endswith("_value_and_grad"))
        _, gradient = getattr(module, entry)(*args)
    except (ADError, ImportError, ValueError, NameError) as error:
        if isinstance(error, NameError) and needs_binding(error, function):
            return
        if isinstance(error, (ADError, ImportError, ValueError)):
            return  # operands that are stretched have another form of the code
        raise AssertionError(f"the module cannot be run: {error!r}\n{text}") from error
    gradient = gradient if isinstance(gradient, tuple) else (gradient,)
    assert close(gradient, bars, max(near, 1e-9)), f"the module gives {gradient!r} for {bars!r}"


def needs_binding(error: NameError, function: Callable[..., Any]) -> bool:
    """Say whether a module lacks what only the program in memory has, such as its classes."""
    name = str(error.name or "")
    return not {name, name.rstrip("_"), name.rstrip("_0123456789")}.isdisjoint(
        {*vars(function).keys(), *function.__globals__.keys(), function.__name__})


def written_gradient(
    function: Callable[..., Any], program: Program, seed: Any, bars: Any, near: float
) -> None:
    """Write into gradients: neither arguments nor later results may change."""
    args, argnums = copy.deepcopy(program.args), program.argnums
    if program.scalar:
        derivative = value_and_grad(function, argnums)
        _, gradient = derivative(*args)
        spoil(gradient)
        assert close(args, program.args, 0.0), "an argument changed with the gradient"
        _, gradient = derivative(*args)
        assert close(gradient, bars, max(near, 1e-9)), "a later gradient changed with the gradient"
    _, pullback = vjp(function, *args, argnums=argnums)
    left = copy.deepcopy(args)
    given = copy.deepcopy(seed)
    spoil(pullback(given))
    assert close(args, left, 0.0), "an argument changed with what a pullback gave"
    assert close(given, seed, 0.0), "a cotangent changed with what a pullback gave"
    assert close(pullback(given), bars, max(near, 1e-9)), "a pullback changed with what it gave"


CHECKS: tuple[Check, ...] = (several_seeds, pattern, imported_module, written_gradient)


def spoil(value: Any) -> None:
    """Write into every array of a nested value."""
    if isinstance(value, np.ndarray):
        value *= 0.0
        value -= 7.0
    elif isinstance(value, (list, tuple)):
        for item in value:
            spoil(item)
    elif isinstance(value, dict):
        spoil(list(value.values()))


def mapped(value: Any, make: Callable[[Any], Any]) -> Any:
    """Return a value of the same structure with every number and array changed."""
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(item, make) for item in value])
    if isinstance(value, dict):
        return {key: mapped(item, make) for key, item in value.items()}
    made = make(value)
    return np.asarray(made, value.dtype) if isinstance(value, np.ndarray) else made


def stacked(values: list[Any]) -> Any:
    """Return one structure of several, with a leading axis in each array."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        return type(first)([stacked([value[i] for value in values]) for i in range(len(first))])
    if isinstance(first, dict):
        return {key: stacked([value[key] for value in values]) for key in first}
    return np.array(values)


def flat(value: Any) -> Any:
    """Return all numbers in a nested value as one array."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, value)])
    return np.ravel(np.asarray(value, float))


def close(a: Any, b: Any, tolerance: float) -> bool:
    """Say whether the numbers of two nested values agree."""
    x, y = flat(a), flat(b)
    return x.shape == y.shape and bool(
        np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True))
