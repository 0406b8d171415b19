"""Loops over arrays that run one behind the other: which are one loop, and that bits stay."""

from __future__ import annotations

import importlib.util
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome, same, watched

pytestmark = pytest.mark.usefixtures("plain_loops")
RNG = np.random.default_rng(21)


def heat(u, k, steps):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def plate(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (around - 4.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def block(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        c = u[1:-1, 1:-1, 1:-1]
        u[1:-1, 1:-1, 1:-1] = c + k * (
            u[2:, 1:-1, 1:-1] * u[:-2, 1:-1, 1:-1] + u[1:-1, 1:-1, 2:] - u[1:-1, :-2, 1:-1])
    return np.sum(u * u * u)


def rows_alone(u, k, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:] = v[1:] * 0.5 + k * u[:-1]
        v[:-1] += k * v[1:] * u[1:]
    return np.sum(v * v)


def wide(u, k, steps):
    v = np.zeros_like(u)
    for _ in range(steps):
        v[4:] += k * u[4:] * (u[:-4] + u[3:-1]) * u[1:-3]
        v[0] += k
    return np.sum(v * v)


def in_place(u, k, steps):
    for i in range(steps):
        u[1:-1] += k * (u[2:] + u[:-2])
        u[i % 3] = 0.25
    return np.sum(u * u)


def written_again(u, k, steps):
    v = u.copy()
    for _ in range(steps):
        e = v * u
        d = 0.5 * e
        e[1:] = k
        f = np.zeros_like(u)
        g = f * k
        f[:] = u
        v[1:] += d[1:] + g[1:]
        v[:-1] += d[1:] * f[1:] + k * e[:-1]
    return np.sum(v * v)


def doubled_later(u, k, steps):
    g = np.zeros_like(u)
    for _ in range(steps):
        e = u * 1.5
        d = k * e
        e[2:] *= 2.0
        g[1:] += d[:-1]
        k = k * 0.5
        g[:-1] += d[:-1] * e[1:]
        g[1:] += d[:-1]
    return np.sum(g * g * u)


def last_numbers(u, k, steps):
    v = np.zeros_like(u)
    t = s = k
    for _ in range(steps):
        low, high = v[1:], v[:-1]
        for i in range(low.shape[0]):
            t = u[i] * k
            low[i] += t
        for i in range(low.shape[0]):
            s = u[i] * 2.0
            high[i] += s
    return np.sum(v * v) * t * s


PROGRAMS = [heat, plate, block, rows_alone, wide, in_place, written_again, doubled_later,
            last_numbers]
SHAPES = {plate: [(5, 7), (3, 3), (2, 4), (4, 2), (0, 3), (1, 1)],
          block: [(4, 5, 3), (3, 3, 3), (2, 3, 3), (3, 4, 2), (0, 0, 0)],
          rows_alone: [(6,), (1,), (5, 3), (3, 1), (0,)]}


@pytest.mark.parametrize("function", PROGRAMS)
def test_bits_are_those_of_python(function: Any) -> None:
    python, native = grad(function, (0, 1)), grad(function, (0, 1), backend="native")
    watching: dict[int, list[Any]] = {}

    def loops_of(*args: Any) -> list[Any]:
        """Return what is told of the loops that run for arguments, which are watched once."""
        at = id(native.compiled_for(*args).__globals__)
        if at not in watching:
            watching[at] = watched(native, *args)
        watching[at].clear()
        return watching[at]

    for shape in SHAPES.get(function, [(n,) for n in range(12)]):
        values = RNG.normal(size=shape)
        spread = RNG.normal(size=(*shape, 2))[..., 0]
        for u in (values, spread, np.asfortranarray(values), values[::-1]):
            for steps in (0, 1, 4):
                args = [(u.copy(order="K"), 0.2, steps) for _ in range(2)]
                wanted = outcome(python, *args[0])
                raises = isinstance(wanted[0], type)
                came = [] if raises else loops_of(u.copy(order="K"), 0.2, steps)
                assert same(outcome(native, *args[1]), wanted)
                assert raises or came == [True]
                assert np.array_equal(args[0][0], args[1][0])


def test_a_stencil_has_one_loop_forward_and_one_for_all_that_is_added() -> None:
    text = grad(heat, (0, 1), backend="native").source_for(np.ones(5), 0.2, 2)
    loops = text[text.rindex("def heat_grad_loops"):text.rindex("def heat_grad_native")]
    forward, _, sweep = loops.partition("# reverse of")
    step = forward.partition("for value in range(steps)")[2]
    assert step.count("for at_i") == 1
    assert "= total[" not in step  # it is stored on the tape at once
    back = sweep.partition("for at in range(count")[2].partition("k_bar = k_bar")[0]
    loops_back = [line for line in back.splitlines() if "for at_i" in line and "rim" not in line]
    assert len(loops_back) == 4  # a copy, zeros, the product for k_bar, and all that is added
    assert len(re.findall(r" v_bar_2\[at_i_\d+ \+ 2\] = ", back)) == 1
    assert re.search(r"total_bar\[at_i_\d+ \+ 1\] \* k \* 2\.0", back)  # and not kept


def test_a_tape_of_which_the_shape_alone_is_read_holds_no_elements() -> None:
    text = grad(shaped, (0, 1), backend="native").source_for(np.ones(5), 0.2, 2)
    loops = text[text.rindex("def shaped_grad_loops"):text.rindex("def shaped_grad_native")]
    assert loops.count("reserved(") == 1


def shaped(u, k, steps):
    old = u.copy()
    for _ in range(steps):
        new = np.zeros_like(u)
        new[1:-1] = 2.0 * u[1:-1] - old[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        old, u = u, new
    return np.sum(u * u)


def random_program(seed: int) -> str:
    """Return a program of arrays of which slices of one length are computed of each other."""
    r = random.Random(seed)
    arrays = ["a", "b", "c"]

    def part(name: str) -> str:
        low = r.randrange(4)
        return f"{name}[{low or ''}:{low - 3 or ''}]"

    def term() -> str:
        return r.choice([
            part(r.choice(arrays)), f"k * {part(r.choice(arrays))}", f"t * {part('x')}",
            f"{part(r.choice(arrays))} * {part(r.choice(arrays))}", "t", f"0.5 * {part('d')}",
        ])

    lines = ["import numpy as np", "", "", "def program(x, k, steps):",
             "    a, b, c, d = x.copy(), 0.3 * x, np.ones_like(x), x * x", "    t = 0.1 * x[3:]",
             "    for i in range(steps):"]
    for _ in range(r.randrange(3, 9)):
        sign = r.choice(["=", "+=", "+=", "-="])
        value = " + ".join(term() for _ in range(r.randrange(1, 4)))
        lines.append(r.choice([
            f"        {part(r.choice(arrays))} {sign} 0.2 * ({value})",
            f"        {part(r.choice(arrays))} {sign} 0.2 * ({value})",
            f"        t = 0.3 * ({value} + t)", "        a, b = b, a",
            f"        {r.choice(arrays)}[{r.randrange(3)}] = k * {r.choice(arrays)}[1]",
            "        d = 0.5 * a",
            f"        e = {r.choice('abc')} * {r.choice('xabc')}\n        d = 0.5 * e",
            f"        e = x * k\n        d = 2.0 * e\n        {part('e')} {sign} {value}",
            f"        c = c * 0.5 + {r.choice(arrays)} * k",
        ]))
    lines.append("    return np.sum(a * b * c) + np.sum(t * t) + np.sum(d)")
    return "\n".join([*lines, ""])


def imported(text: str, name: str, directory: Path) -> Any:
    """Return a module of this text."""
    path = directory / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", one_in(4, range(16)))
def test_bits_of_random_programs(seed: int, tmp_path: Path) -> None:
    module = imported(random_program(seed), f"random_program_{seed}", tmp_path)
    plain = grad(module.program, (0, 1))
    native = grad(module.program, (0, 1), backend="native")
    for n in (3, 4, 5, 6, 7, 13):
        x = RNG.normal(size=n)
        for steps in (1, 3):
            came = watched(native, x, 0.7, steps)
            assert same(outcome(native, x, 0.7, steps), outcome(plain, x, 0.7, steps)), n
            assert came == [True]
