"""Mutants of corpus programs and library functions: value, effects, exceptions and gradient.

    python -m tests.properties.mutants 500 --seed 1 --workers 2
    python -m tests.properties.mutants 0 --show 17

A mutant runs in plain Python first. What it then gives, or raises, its derivative has to give or
raise as well, unless it is refused before it runs. Each worker is a process with limits: one that
hangs or dies is a failure, and another takes its place.
"""

from __future__ import annotations

import argparse
import ast
import colorsys
import copy
import inspect
import multiprocessing
import os
import resource
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, wraps
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.optimize

from adcompiler.api.grad import value_and_grad, vjp
from adcompiler.errors import ADError, InternalError
from adcompiler.runtime.adjoints.elementwise import NotRealError
from tests.corpus.test_corpus import PROGRAMS
from tests.evaluation.stages import difference
from tests.state import Picture, World, difference as difference_of_states
from tests.properties import checking
from tests.properties.mutations import loaded, mutated

PLAIN, COMPILED, HUNG = 1.0, 60.0, 180.0
"""Seconds for a mutant in Python, for its derivative, and until its process is stopped."""
MEMORY = 4 << 30
LIBRARY: tuple[tuple[Any, tuple[Any, ...], tuple[int, ...]], ...] = (
    *((function, (0.3, 0.6, 0.45), (0, 1, 2)) for function in (
        colorsys.rgb_to_hsv, colorsys.hsv_to_rgb, colorsys.rgb_to_hls, colorsys.hls_to_rgb,
        colorsys.rgb_to_yiq, colorsys.yiq_to_rgb)),
    (np.polyval, ([1.0, -0.5, 2.0], np.array([0.3, 0.7])), (0, 1)),
    (np.polyder, (np.array([1.0, -0.5, 2.0, 0.3]),), (0,)),
    (np.polyint, (np.array([1.0, -0.5, 2.0]),), (0,)),
    (np.trapezoid, (np.array([0.3, 0.7, 1.1]), np.array([0.0, 0.5, 1.5])), (0, 1)),
    (np.cov, (np.array([[0.3, 0.7, 1.1], [0.2, -0.4, 0.9]]),), (0,)),
    (np.cross, (np.array([0.3, 0.7, 1.1]), np.array([0.2, -0.4, 0.9])), (0, 1)),
    (np.rot90, (np.array([[0.3, 0.7], [0.2, -0.4]]),), (0,)),
    (np.roll, (np.array([0.3, 0.7, 1.1]), 1), (0,)),
    (np.average, (np.array([0.3, 0.7, 1.1]), None, np.array([1.0, 2.0, 0.5])), (0, 2)),
    (np.diff, (np.array([0.3, 0.7, 1.1, 0.2]),), (0,)),
    (np.ediff1d, (np.array([0.3, 0.7, 1.1, 0.2]),), (0,)),
    (np.vander, (np.array([0.3, 0.7, 1.1]), 3), (0,)),
    (scipy.optimize.rosen, (np.array([0.3, 0.7, 1.1]),), (0,)),
    (scipy.optimize.rosen_der, (np.array([0.3, 0.7, 1.1]),), (0,)),
)


@dataclass(frozen=True)
class Subject:
    """A function whose text is changed, and the arguments that it is called with."""

    function: Callable[..., Any]
    args: Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...]

    def tree(self) -> ast.FunctionDef:
        node = ast.parse(textwrap.dedent(inspect.getsource(self.function))).body[0]
        assert isinstance(node, ast.FunctionDef)
        node.decorator_list = []
        return node


@cache
def subjects() -> tuple[Subject, ...]:
    found = [
        Subject(p.function, lambda p=p: p.samples(np.random.default_rng(0)), p.positions)
        for p in PROGRAMS if inspect.isfunction(p.function)
    ]
    found += [
        Subject(inspect.unwrap(f), lambda args=args: copy.deepcopy(args), argnums)
        for f, args, argnums in LIBRARY
    ] * 5
    return tuple(s for s in found if not s.function.__code__.co_freevars and (
        s.function.__name__ != "<lambda>"))


@dataclass(frozen=True)
class Mutant:
    """A changed program; ``what`` tells the change."""

    subject: Subject
    tree: ast.FunctionDef
    what: str
    seed: int

    @staticmethod
    def of(seed: int) -> Mutant:
        rng = Random(seed)
        subject = rng.choice(subjects())
        trees = mutated(subject.tree(), rng)
        tree, what = next(trees)
        if rng.random() < 0.2:
            tree, more = next(mutated(tree, rng))
            what = f"{what}; {more}"
        return Mutant(subject, tree, what, seed)

    def function(self) -> Callable[..., Any]:
        return loaded(self.tree, self.subject.function.__globals__, f"<mutant {self.seed}>")

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.subject.function.__name__}, {self.what}"


@dataclass(frozen=True)
class Ran:
    """What a call came to: a value, or an exception, and the arguments after it.

    ``state`` is all that the function can reach then, but the arguments.
    """

    value: Any
    error: BaseException | None
    args: tuple[Any, ...]
    state: Picture = field(default_factory=dict)


def ran(
    call: Callable[..., Any], args: tuple[Any, ...], seconds: float, function: Any = None
) -> Ran:
    """Call a function, or a derivative of ``function``, on copies of arguments, for some time."""
    args = copy.deepcopy(args)
    value, failed = None, None
    world = World(function or call, ())
    try:
        with checking.limited(seconds):
            value = call(*args)
    except Exception as error:
        failed = error
    after = world.picture()
    world.restore()
    return Ran(value, failed, args, after)


REFUSALS = (ADError, NotRealError)
"""What tells that a program is not differentiated; emitted code raises the last two."""
FILLS = (1e6, -3e5)
"""What unset arrays hold, in two runs whose results may not differ."""


def filled(maker: Callable[..., Any], fill: float) -> Callable[..., Any]:
    """Return ``np.empty`` or ``np.empty_like`` that fills its numbers, no two of them alike.

    Nor are their differences those of another ``fill``.
    """

    @wraps(maker)
    def made(*args: Any, **options: Any) -> Any:
        array = maker(*args, **options)
        if array.dtype.kind in "biufc":
            numbers = fill * (1.0 + 0.3 * np.sin(1.0 + np.arange(array.size)))
            array[...] = numbers.reshape(array.shape).astype(array.dtype)
        return array

    return made


def reads_unset(mutant: Mutant, args: tuple[Any, ...]) -> bool:
    """Say whether what a mutant does depends on what ``np.empty`` and ``np.empty_like`` hold."""
    runs = []
    for fill in FILLS:
        makers = {id(maker): filled(maker, fill) for maker in (np.empty, np.empty_like)}
        function = mutant.function()
        scope = function.__globals__
        scope |= {name: makers[id(v)] for name, v in scope.items() if id(v) in makers}
        with patch.object(np, "empty", makers[id(np.empty)]), patch.object(
            np, "empty_like", makers[id(np.empty_like)]
        ):
            runs.append(ran(function, args, PLAIN))
    one, two = runs
    return type(one.error) is not type(two.error) or bool(
        difference((one.value, one.args), (two.value, two.args), 0.0))


def outcome(mutant: Mutant) -> tuple[str, str]:
    """Return what becomes of a mutant: clean, refused, discarded or failed, and why."""
    with checking.quiet():
        try:
            function, args = mutant.function(), mutant.subject.args()
        except Exception:
            return "discarded", "cannot be defined"
        plain = ran(function, args, PLAIN)
        if isinstance(plain.error, TimeoutError):
            return "discarded", "runs on"
        if isinstance(plain.error, (RecursionError, MemoryError)):
            return "discarded", type(plain.error).__name__
        if reads_unset(mutant, args):
            return "discarded", "reads what np.empty gives"
        found = ran(
            lambda *a: vjp(function, *a, argnums=mutant.subject.argnums), args, COMPILED, function)
        verdict = compared(plain, found, args)
        if verdict is not None or plain.error is not None:
            return verdict or ("clean", "raises")
        value, pullback = found.value
        problem = difference(value, plain.value, 1e-9)
        if problem:
            return "failed", f"value: {problem}"
        problem = difference(found.args, plain.args, 1e-9)
        if problem:
            return "failed", f"arguments: {problem}"
        problem = difference_of_states(found.state, plain.state)
        if problem:
            return "failed", f"state: {problem}"
        return gradient(mutant, function, args, plain.value, pullback)


def compared(plain: Ran, found: Ran, args: tuple[Any, ...]) -> tuple[str, str] | None:
    """Return what follows from exceptions alone, None if neither raises."""
    late = (found.error, getattr(found.error, "__cause__", None))
    if any(isinstance(error, TimeoutError) for error in late):
        return "failed", f"more than {COMPILED:.0f} s"
    if isinstance(found.error, InternalError):
        return "failed", f"InternalError: {found.error}"
    if isinstance(found.error, REFUSALS):
        same = not difference(found.args, args, 0.0)
        return ("refused", type(found.error).__name__) if same else ("failed", "refused late")
    if plain.error is None and found.error is None:
        return None
    if public_class(plain.error) is public_class(found.error):
        return "clean", "raises"
    if boundary(found.error):
        return "refused", "an argument or result that has no derivative"
    was, now = (type(e).__name__ if e else "no exception" for e in (plain.error, found.error))
    return "failed", f"{now} ({found.error}), Python: {was} ({plain.error})"


def public_class(error: BaseException | None) -> type | None:
    """Return the class of an exception by which programs may catch it: none of NumPy's own."""
    return None if error is None else next(
        cls for cls in type(error).__mro__ if "._" not in cls.__module__)


def boundary(error: BaseException | None) -> bool:
    """Say whether an error tells that a derivative is asked for of what has none."""
    return isinstance(error, TypeError) and any(
        words in str(error) for words in ("grad needs", "vjp needs", "cotangent", "differentiate")
    )


def gradient(
    mutant: Mutant, function: Callable[..., Any], args: tuple[Any, ...], value: Any, pullback: Any
) -> tuple[str, str]:
    """Compare gradients with differences, and the two ways to them with one another."""
    positions = mutant.subject.argnums
    if not all(isinstance(x, (float, np.floating)) or (
        isinstance(x, np.ndarray) and x.dtype.kind == "f") for x in checking.leaves(value)
    ) or not np.all(np.isfinite(checking.flat(value))):
        return "clean", "no derivative to be compared"
    rng = np.random.default_rng(5)
    seed = checking.like(value, lambda x: rng.uniform(0.5, 1.0, np.shape(x)))
    with checking.limited(COMPILED):
        bars = pullback(copy.deepcopy(seed))
    weights = checking.flat(seed)
    try:
        direction = checking.like(
            tuple(args[i] for i in positions), lambda x: rng.uniform(-1.0, 1.0, np.shape(x))
        )

        def along(step: float) -> float:
            moved = list(copy.deepcopy(args))
            for i, d in zip(positions, direction, strict=True):
                moved[i] = checking.shifted(moved[i], d, step)
            with checking.limited(PLAIN):
                return float(weights @ checking.flat(function(*moved)))

        size = float(np.max(np.abs(checking.flat(bars)), initial=0.0))
        expected = checking.slope_at_zero(along, size)
    except (checking.Skip, Exception):
        return "clean", "not smooth"
    found = float(checking.flat(bars) @ checking.flat(direction))
    if not (np.isfinite(found) and np.isfinite(expected)):
        return "clean", "gradient not finite"
    if not abs(found - expected) <= 1e-5 * max(1.0, abs(expected), size):
        near = [(along(h) - along(-h)) / (2.0 * h) for h in (1e-7, 1e-9, 1e-11, 1e-13)]
        if np.ptp(near) > max(1.0, abs(expected)):
            return "clean", "not smooth"  # a saw, or a pole: each step tells another slope
        return "failed", f"gradient: {found!r}, differences {expected!r}"
    return joint(mutant, function, args, value, pullback)


def joint(
    mutant: Mutant, function: Callable[..., Any], args: tuple[Any, ...], value: Any, pullback: Any
) -> tuple[str, str]:
    """Compare what ``value_and_grad`` gives with the value and the pullback of 1."""
    if not isinstance(value, (float, np.floating)) or mutant.seed % 3:
        return "clean", ""
    found = ran(value_and_grad(function, mutant.subject.argnums), args, COMPILED, function)
    if isinstance(found.error, ADError) and not isinstance(found.error, InternalError):
        return "refused", type(found.error).__name__
    if found.error is not None:
        return "failed", f"value_and_grad: {type(found.error).__name__} ({found.error})"
    problem = difference(found.value, (value, pullback(1.0)), 1e-7) or difference(
        found.args, args, 0.0)
    return ("failed", f"value_and_grad: {problem}") if problem else ("clean", "")


# -- processes -----------------------------------------------------------------------------------


Check = Callable[[int], tuple[str, str]]


def of_seed(seed: int) -> tuple[str, str]:
    """Return the outcome of the mutant of a seed."""
    return outcome(Mutant.of(seed))


def serve(pipe: Any, check: Check) -> None:
    """Check the mutants whose seeds come through a pipe, within limits."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    pipe.send(None)  # ready: from here on, time counts
    while True:
        seed = pipe.recv()
        try:
            pipe.send(check(seed))
        except Exception as error:
            pipe.send(("failed", f"{type(error).__name__}: {error}"))


class Worker:
    """A process that checks mutants one by one, made anew when it hangs or dies."""

    def __init__(self, check: Check, seconds: float) -> None:
        self.check, self.seconds = check, seconds
        self.start()

    def start(self) -> None:
        self.seed: int | None = None
        self.since = 0.0
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, self.check), daemon=True)
        self.process.start()
        other.close()

    def give(self, seed: int) -> None:
        self.seed = seed
        self.since = time.monotonic() if self.since else 0.0
        self.pipe.send(seed)

    def result(self) -> tuple[int, str, str] | None:
        """Return the seed and outcome of what was given, None while it is not there."""
        assert self.seed is not None
        seed = self.seed
        try:
            if self.pipe.poll(0.02):
                found = self.pipe.recv()
                if found is None:
                    self.since = time.monotonic()
                    return None
                self.seed = None
                return (seed, *found)
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            self.start()
            return seed, "failed", f"the process ended with {code}"
        if self.since and time.monotonic() - self.since > self.seconds:
            self.stop()
            self.start()
            return seed, "failed", f"hung for {self.seconds:.0f} s"
        return None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def run(
    seeds: Iterable[int], workers: int = 1, check: Check = of_seed, seconds: float = HUNG
) -> Iterator[tuple[int, str, str]]:
    """Iterate over the outcomes of the mutants of some seeds."""
    waiting = iter(seeds)
    team = [Worker(check, seconds) for _ in range(workers)]
    busy = set()
    try:
        while True:
            for worker in team:
                if worker.seed is None and (following := next(waiting, None)) is not None:
                    worker.give(following)
                    busy.add(worker)
            if not busy:
                return
            for worker in list(busy):
                found = worker.result()
                if found is not None:
                    busy.discard(worker)
                    yield found
    finally:
        for worker in team:
            worker.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 10**6)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="*", help="these, instead of so many in a row")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the mutant of a seed")
    options = parser.parse_args()
    if options.show is not None:
        mutant = Mutant.of(options.show)
        print(f"# {mutant}\n{ast.unparse(mutant.tree)}\n# at {mutant.subject.args()!r}")
        print(outcome(mutant))
        return 0
    os.environ.update(ADCOMPILER_CACHE_DIR="off", OPENBLAS_NUM_THREADS="1")
    started, counts, failures = time.perf_counter(), Counter[str](), 0
    seeds = options.seeds or range(options.seed, options.seed + options.count)
    for seed, verdict, reason in run(seeds, options.workers):
        counts.update([verdict, f"{verdict}: {reason}" if verdict != "failed" else "mutants"])
        if verdict == "failed":
            failures += 1
            print(f"FAILED {Mutant.of(seed)}\n    {reason[:300]}", flush=True)
    took = time.perf_counter() - started
    print(f"seed {seeds[0]}, {took:.0f} s, {len(seeds) / took:.1f} mutants a second")
    for what, number in counts.most_common():
        print(f"  {number:6d}  {what}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
