"""``linearize`` runs the primal once; what it returns is the pushforward there, that of ``jvp``."""

import copy
import os
import zlib

import numpy as np
import pytest

from adcompiler import jvp, linearize, source
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.dispatch import Options
from tests.corpus.program import flat
from tests.corpus.test_corpus import PROGRAMS
from tests.language.check import same

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_FORWARD") else 20
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 0]


@pytest.mark.parametrize("program", CHOSEN, ids=str)
def test_corpus(program):
    case = next(program.cases())
    positions = program.positions
    rng = np.random.default_rng(5)
    directions = [case.direction(positions, rng) for _ in range(2)]
    after = copy.deepcopy(case.args)
    wanted = [
        jvp(program.function, args, d, argnums=positions)[1]
        for args, d in zip((after, copy.deepcopy(case.args)), directions, strict=True)
    ]
    args = copy.deepcopy(case.args)
    value, push = linearize(program.function, *args, argnums=positions)
    same(value, case.value, "the value of linearize", exact=False)
    same(args, after, "the arguments after linearize, and after jvp", exact=False)
    spoil(args)
    spoil(value)
    for _ in range(2):
        for direction, expected in zip(directions, wanted, strict=True):
            given = copy.deepcopy(direction)
            found = push(*given)
            same(given, direction, "the tangents after the pushforward")
            distance = np.linalg.norm(flat(found) - flat(expected))
            assert distance <= 1e-12 * np.linalg.norm(flat(expected))
            spoil(found)


def spoil(tree):
    """Overwrite all arrays in a tree, which nobody else must hold."""
    if isinstance(tree, np.ndarray):
        if tree.flags.writeable and tree.dtype.kind in "fc":
            tree[...] = np.nan
    elif isinstance(tree, dict):
        for item in tree.values():
            spoil(item)
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            spoil(item)


def rolled(x, steps):
    for _ in range(steps):
        x = x - 0.25 * np.cos(x) if x.sum() > 2.0 else x + 0.5 * np.sin(x)
    return x


def test_the_primal_runs_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return np.sin(x * y)

    x, y = np.array([0.5, 2.0]), 1.5
    value, push = linearize(f, x, y)
    for _ in range(3):
        assert np.allclose(push(np.ones(2), 0.0), y * np.cos(x * y), rtol=1e-15)
    assert np.allclose(push(None, 2.0), 2.0 * x * np.cos(x * y), rtol=1e-15)
    assert np.array_equal(value, np.sin(x * y)) and len(calls) == 1


def test_the_linear_map_is_source_without_the_primal():
    text = source(rolled, np.ones(3), 4, mode="linearize")
    first, rest = text.split("def rolled_tangent(residuals, x_dot):")
    assert "np.sin" in first and "np.cos" in first and "for _ in range(steps):" in first
    code = [line.partition("#")[0] for line in rest.splitlines()]
    assert [line.strip() for line in code if "np." in line] == ["x_dot = np.copy(x_dot)"]
    assert "    for test, sin, cos in tape:" in code
    push = EmittedDerivative(rolled, Options("linearize", (0,)))
    assert push(np.zeros(2), 3)[1](np.ones(2)).tolist() == [1.5**3] * 2
    assert push.explain(np.zeros(2), 3).source == push.source


def test_linear_in_the_tangents_and_of_their_precision():
    rng = np.random.default_rng(0)
    x, u, v = rng.normal(size=(3, 5)).astype(np.float32)
    value, push = linearize(rolled, x, 6)
    assert value.dtype == np.float32 and push(u, None).dtype == np.float32
    assert np.allclose(push(2.0 * u - v, None), 2.0 * push(u, None) - push(v, None), atol=1e-5)
    z = np.array([1.0 + 2.0j, 0.5j])
    value, push = linearize(lambda z: z * np.exp(z), z)
    assert np.allclose(push(np.array([1.0j, 2.0])), (1.0 + z) * np.exp(z) * [1.0j, 2.0])
    value, push = linearize(lambda x: {"a": x[0] * x[1], "b": [x[1], 3]}, (2.0, 5.0))
    assert push((1.0, -1.0)) == {"a": 3.0, "b": [-1.0, 0.0]}


def test_what_is_written_into_is_saved_before():
    def swept(u, k, steps):
        for n in range(steps):
            left = u[0]
            u[0] = u[0] * u[-1] * k
            u[1:] = u[:-1] * u[1:]
            u[n % 3] += left * left
        return u

    rng = np.random.default_rng(1)
    u, d = rng.uniform(0.5, 1.5, size=(2, 4))
    _, wanted = jvp(swept, (u.copy(), 0.9, 5), (d, 0.3, None))
    argument = u.copy()
    value, push = linearize(swept, argument, 0.9, 5)
    assert np.array_equal(argument, value) and not np.array_equal(u, value)
    argument[:] = value[:] = np.nan
    for _ in range(2):
        assert np.allclose(push(d, 0.3, None), wanted, rtol=1e-14)


def test_loops_that_stop_and_loops_without_anything_to_save():
    def newton(a, x):
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    def doubled(x, n):
        for i in range(n):
            x = x + x
            if i == 5:
                break
        return x

    value, push = linearize(newton, 2.0, 1.0)
    assert push(1.0, 0.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-9)
    value, push = linearize(doubled, 1.5, 9)
    assert (value, push(1.0, None)) == (96.0, 64.0)
    assert linearize(doubled, 1.5, 0)[1](3.0, None) == 3.0


def test_recursion_saves_what_each_call_saves():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    value, push = linearize(power, 1.5, 4)
    assert (value, push(2.0, None)) == (1.5**4, 8.0 * 1.5**3)
    text = source(power, 1.5, 4, mode="linearize")
    assert f"\n{text}".count("\ndef ") == 4 and "_pushforward" not in text


def test_where_nothing_can_be_saved_the_value_is_computed_again():
    def guarded(x):
        try:
            return np.log(x[0]) * x[1]
        except FloatingPointError:
            return x[1]

    x = np.array([2.0, 3.0])
    value, push = linearize(guarded, x)
    text = source(guarded, x, mode="linearize")
    assert "def guarded_pushforward(x, x_dot):" in text
    x[:] = 0.0
    assert value == pytest.approx(3.0 * np.log(2.0))
    assert push(np.array([1.0, 2.0])) == pytest.approx(1.5 + 2.0 * np.log(2.0))


def test_arguments_and_tangents_that_do_not_fit():
    def f(x, n):
        return x * n

    value, push = linearize(f, 2.0, 3)
    assert (value, push(1.0, None)) == (6.0, 3.0)
    with pytest.raises(TypeError, match="argument 1 holds no float"):
        push(1.0, 1.0)
    with pytest.raises(TypeError, match="takes 2 tangents"):
        push(1.0)
    assert linearize(f, 2, 3)[1](1.0, 1.0) == 5.0
    assert linearize(f, 2.0, 3, argnums=1)[1](1.0) == 2.0
    assert linearize(f, 2.0, n=3)[1](1.0) == 3.0
    with pytest.raises(ValueError, match="has shape"):
        linearize(np.sum, np.ones(3))[1](np.ones(2))
