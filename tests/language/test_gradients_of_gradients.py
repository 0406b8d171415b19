"""Gradients of gradients of code whose sweeps write into lists, dicts and instances."""

import dataclasses
import itertools
from collections import deque

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jvp, rrule, value_and_grad, vjp
from tests.lanes import one_in
from tests.language.modes import Programs, differences

X = np.array([0.7, 1.3, 0.4])
programs = Programs()


@programs
def items_of_a_dict_made_in_a_loop(x):
    table = {}
    for i in range(3):
        table[i] = x[i] ** 2
    total = 0.0
    for key, value in table.items():
        total += (key + 1) * value * x[0]
    return total


@programs
def keys_that_are_pairs(x):
    table = {}
    for i in range(3):
        for j in range(3):
            table[i, j] = x[i] * x[j] ** 2
    return sum(value * (i + 1) for (i, j), value in table.items() if i <= j)


@programs
def lists_in_a_dict(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(i % 2, []).append(v)
    return sum(groups[0]) * sum(groups[1])


@programs
def groups_of_equal_keys(x):
    rows = sorted(zip([1, 0, 1], x, strict=True), key=lambda row: row[0])
    groups = {
        key: [v for _, v in group] for key, group in itertools.groupby(rows, key=lambda r: r[0])
    }
    return sum(groups[0]) * sum(groups[1])


@programs
def elimination_on_lists(x):
    n = 3
    rows = [[x[i] * x[j] + (i == j) for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n):
                rows[i][j] -= factor * rows[k][j]
    return rows[0][0] * rows[1][1] * rows[2][2]


@programs
def the_last_two(x):
    line = deque(maxlen=2)
    total = 0.0
    for v in x:
        line.append(v)
        total += sum(line) * v
    return total


@programs
def pairs_that_are_taken_apart(x):
    pairs = []
    for v in x:
        pairs.append((v, v * x[0]))
    total = 0.0
    for p, q in pairs:
        total += p * q
    return total


class Particle:
    def __init__(self, position, velocity):
        self.position = position
        self.velocity = velocity

    def step(self, dt):
        self.velocity -= dt * self.position**3
        self.position += dt * self.velocity


@programs
def instances_in_a_list(x):
    particles = [Particle(v, v * v) for v in x]
    for _ in range(3):
        for particle in particles:
            particle.step(0.1)
    return sum(p.position * p.velocity for p in particles)


@dataclasses.dataclass
class Row:
    key: float
    value: float


@programs
def tuple_of_rows(x):
    total = 0.0
    for row in (Row(x[0], x[1]), Row(x[1], x[2])):
        total += row.key * row.value**2
    return total


@programs
def inner_functions_that_call_one_another(x):
    def even(n):
        return x[0] if n == 0 else odd(n - 1) * x[1]

    def odd(n):
        return x[2] if n == 0 else even(n - 1) + x[0]

    return even(5)


def until_it_has_nothing_more(x):
    it = iter(x)
    total = 0.0
    while (v := next(it, None)) is not None:
        total += v**3
    return total


@pytest.mark.parametrize("f, mode", one_in(3, itertools.product(programs, ["fwd_adj", "adj_adj"])))
def test_hessians(f, mode):
    wanted = differences(grad(f), X)
    np.testing.assert_allclose(hessian(f, mode=mode)(X), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", one_in(2, programs), ids=lambda f: f.__name__)
def test_gradients_of_what_is_computed_of_gradients(f):
    weights = np.array([1.0, -0.5, 2.0])

    def g(x):
        return np.sum(weights * grad(f)(x) ** 2) * x[1]

    np.testing.assert_allclose(grad(g)(X), differences(g, X), rtol=1e-6, atol=1e-6)
    v = np.array([0.3, -1.0, 0.8])
    np.testing.assert_allclose(jvp(g, (X,), (v,))[1], grad(g)(X) @ v, rtol=1e-10)


@pytest.mark.records
def test_second_derivatives_of_a_recording():
    f = until_it_has_nothing_more
    np.testing.assert_allclose(hessian(f)(X), np.diag(6.0 * X), rtol=1e-12)


def test_of_a_number():
    def f(x):
        table = {}
        for i in range(4):
            table[i] = x ** (i + 1)
        return sum(table.values())

    assert abs(grad(grad(f))(0.5) - (2.0 + 6.0 * 0.5 + 12.0 * 0.25)) < 1e-12


def products(x, y, scale):
    pairs = []
    for v, w in zip(x, y, strict=True):
        pairs.append((v, w * scale))
    table = {}
    for i, (v, w) in enumerate(pairs):
        table[i] = v * v * w
    return sum(table.values())


def test_with_respect_to_what_the_gradient_only_reads():
    """The gradient in one argument depends on the others, and on what closures hold."""
    y = np.array([0.2, -0.4, 1.1])

    def slope(y, scale):
        return np.sum(grad(lambda x: products(x, y, scale))(X) * X)

    bars = grad(slope, argnums=(0, 1))(y, 1.5)
    np.testing.assert_allclose(bars[0], 2.0 * X**2 * 1.5, rtol=1e-12)
    assert abs(bars[1] - np.sum(2.0 * X**2 * y)) < 1e-12
    both = grad(lambda x, y: np.sum(grad(products, argnums=(0, 1))(x, y, 1.5)[1] ** 2),
                argnums=(0, 1))(X, y)
    np.testing.assert_allclose(both[0], 4.0 * X**3 * 2.25, rtol=1e-12)
    np.testing.assert_array_equal(both[1], np.zeros(3))


def test_value_and_gradient():
    def g(x):
        value, gradient = value_and_grad(products)(x, x, 1.0)
        return value * np.sum(gradient)

    np.testing.assert_allclose(grad(g)(X), differences(g, X), rtol=1e-6)


def test_pullbacks_of_gradients():
    value, pullback = vjp(grad(items_of_a_dict_made_in_a_loop), X)
    np.testing.assert_allclose(value, grad(items_of_a_dict_made_in_a_loop)(X), rtol=1e-14)
    v = np.array([1.0, 2.0, 3.0])
    wanted = hessian(items_of_a_dict_made_in_a_loop)(X) @ v
    np.testing.assert_allclose(pullback(v)[0], wanted, rtol=1e-12)
    np.testing.assert_allclose(pullback(v)[0], wanted, rtol=1e-12)


def crooked(x, y):
    return x * y


def crooked_rule(x, y):
    def pullback(dy):
        return dy * y * y, dy * x  # no gradient of anything

    return x * y, pullback


def test_no_symmetry_is_taken_for_granted_of_rules_of_others():
    rrule(crooked)(crooked_rule)  # here, so that it is none of the rules that all are tested

    def f(x):
        table = {}
        for i in range(2):
            table[i] = crooked(x[i], x[2])
        total = 0.0
        for value in table.values():
            total += value * value
        return total

    assert grad(f)(X).shape == (3,)
    with pytest.raises(UnsupportedError, match="writes into a value"):
        grad(lambda x: np.sum(grad(f)(x)))(X)
