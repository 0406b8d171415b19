"""Emitted source, program by program: any change of it shows as a change of a file here.

Each file of ``programs`` holds a program, a line ``# output`` and the module emitted for it. The
program ends in ``call(function, *arguments, argnums=..., mode=...)``. ``ADCOMPILER_UPDATE_GOLDEN=1``
rewrites the outputs.
"""

from __future__ import annotations

import ast
import copy
import os
import runpy
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import source, vjp
from adcompiler.backends.python.printer.source import emit_source

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
MARKER = "# output\n"
UPDATE = os.environ.get("ADCOMPILER_UPDATE_GOLDEN") == "1"


@dataclass
class Sample:
    """What a program asks for: a function, the arguments, and the options of ``source``."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: Any
    mode: str


def sample(path: Path) -> Sample:
    """Run a golden file's program and return the call that it ends in."""
    calls: list[Sample] = []

    def call(
        function: Callable[..., Any], *arguments: Any, argnums: Any = 0, mode: str = "grad"
    ) -> None:
        calls.append(Sample(function, arguments, argnums, mode))

    runpy.run_path(str(path), init_globals={"call": call}, run_name=f"golden_{path.stem}")
    assert len(calls) == 1, f"{path.name} must end in one call(...)"
    return calls[0]


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 30


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_emitted_source_is_as_recorded(path: Path) -> None:
    program, marker, expected = path.read_text(encoding="utf-8").partition(MARKER)
    wanted = sample(path)
    text = source(
        wanted.function, *wanted.arguments, argnums=wanted.argnums, mode=wanted.mode
    )
    if UPDATE:
        path.write_text(program + MARKER + text, encoding="utf-8")
        return
    assert marker, f"{path.name} has no line {MARKER.strip()!r}"
    assert text == expected
    tree = ast.parse(text)
    assert emit_source(ast.parse(emit_source(tree))) == emit_source(tree)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_recorded_programs_have_right_gradients(path: Path) -> None:
    wanted = sample(path)
    single = not isinstance(wanted.argnums, tuple)
    positions = (wanted.argnums,) if single else wanted.argnums
    arguments = copy.deepcopy(wanted.arguments)  # the program may write into them
    value, pullback = vjp(wanted.function, *arguments, argnums=positions)
    seed = np.ones(np.shape(value)) if np.shape(value) else 1.0
    bars = pullback(seed)
    rng = np.random.default_rng(0)
    directions = [direction(wanted.arguments[i], rng) for i in positions]

    def along(t: float) -> float:
        arguments = list(copy.deepcopy(wanted.arguments))
        for i, d in zip(positions, directions, strict=True):
            arguments[i] = moved(arguments[i], d, t)
        return float(np.sum(wanted.function(*arguments)))

    steps = (1e-3, 5e-4)
    coarse, fine = ((along(h) - along(-h)) / (2 * h) for h in steps)
    expected = (4 * fine - coarse) / 3
    got = sum(inner(b, d) for b, d in zip(bars, directions, strict=True))
    assert got == pytest.approx(expected, rel=1e-7, abs=1e-8)


def direction(x: Any, rng: np.random.Generator) -> Any:
    """Return a random direction in which to move an argument."""
    if isinstance(x, (list, tuple)):
        return type(x)(direction(item, rng) for item in x)
    if isinstance(x, dict):
        return {key: direction(item, rng) for key, item in x.items()}
    if is_dataclass(x):
        return {k: direction(v, rng) for k, v in vars(x).items() if not isinstance(v, str)}
    return rng.normal(size=np.shape(x)) if np.shape(x) else float(rng.normal())


def moved(x: Any, d: Any, t: float) -> Any:
    """Return ``x + t d`` for nested containers of numbers and arrays."""
    if isinstance(x, (list, tuple)):
        return type(x)(moved(a, b, t) for a, b in zip(x, d, strict=True))
    if isinstance(x, dict):
        return {key: moved(item, d[key], t) for key, item in x.items()}
    if is_dataclass(x) and not isinstance(x, type):
        return replace(x, **{key: moved(getattr(x, key), part, t) for key, part in d.items()})
    return x + t * d


def inner(a: Any, b: Any) -> float:
    """Return the sum of products of nested containers of numbers and arrays."""
    if isinstance(a, (list, tuple)):
        return sum(inner(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return sum(inner(item, b[key]) for key, item in a.items())
    if is_dataclass(a):
        return sum(inner(getattr(a, key), part) for key, part in b.items())
    return float(np.sum(np.asarray(a) * np.asarray(b)))
