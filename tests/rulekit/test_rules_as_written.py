"""What a rule may leave out, write into and be called as, and what is refused of it."""

import numpy as np
import pytest

from adcompiler import (
    RuleError, apply_rrule, grad, non_differentiable, opt_out, project_to, rrule, scalar_rule,
    source, unionise, value_and_grad, vjp,
)
from adcompiler.rulekit import NoTangent, ZeroTangent

def code(text):
    """Return emitted functions without comments and docstrings."""
    rows = [row for row in text.splitlines() if not row.strip().startswith(("#", '"""'))]
    return "\n".join(row for row in rows if row.strip())
def product(x, y):
    return x * y


# --- opting out, no derivative --------------------------------------------------------------------


def test_D17_opted_out_types_are_looked_into():
    def square(x):
        return x * x

    scalar_rule(square, lambda x: 100.0)
    opt_out(square, (np.ndarray,))
    assert grad(square)(3.0) == 100.0
    assert np.array_equal(grad(lambda x: np.sum(square(x)))(np.array([3.0])), [6.0])
    opt_out(square)
    assert grad(square)(3.0) == 6.0
    assert apply_rrule(square, 3.0) is None


def test_B6_unionise_is_transparent():
    @unionise
    def norm(x: np.ndarray, p: float) -> float:
        return np.sum(np.abs(x) ** p) ** (1.0 / p)

    x, p, h = np.array([1.0, -2.0, 2.5]), 3.0, 1e-6
    dx, dp = grad(norm, argnums=(0, 1))(x, p)
    np.testing.assert_allclose(dx, np.sign(x) * np.abs(x) ** 2 / norm(x, p) ** 2, rtol=1e-12)
    assert dp == pytest.approx((norm(x, p + h) - norm(x, p - h)) / (2 * h), rel=1e-8)

    def covered(x):
        return x * x

    scalar_rule(covered, 7.0)
    assert grad(unionise(covered))(3.0) == 6.0


def test_D12_no_tangent_and_zero_tangent_are_none():
    def picked(x, index):
        return x[index]

    @rrule(picked)
    def picked_rule(x, index):
        def picked_pullback(dy):
            dx = np.zeros_like(x)
            dx[index] = dy
            return dx, NoTangent

        return x[index], picked_pullback

    assert np.array_equal(grad(picked)(np.ones(3), 1), [0.0, 1.0, 0.0])
    assert ZeroTangent is None


def test_D12_only_the_cotangents_wanted_are_computed():
    text = source(lambda x, y: x * np.exp(y), 1.0, 2.0)
    assert text.count("*") == 0  # dx = exp(y), and no x * exp(y)


def test_D12_a_cotangent_given_as_a_function_is_called_only_if_wanted(capsys):
    def scaled(x, y):
        return np.exp(x) * np.sinh(y)

    @rrule(scaled)
    def scaled_rule(x, y):
        def scaled_pullback(dz):
            def dx():
                print("dx")
                return dz * scaled(x, y)

            def dy():
                print("dy")
                return dz * np.exp(x) * np.cosh(y)

            return dx, dy

        return scaled(x, y), scaled_pullback

    assert grad(scaled)(2.0, 3.0) == scaled(2.0, 3.0)
    assert capsys.readouterr().out == "dx\n"
    both = grad(scaled, argnums=(0, 1))(2.0, 3.0)
    assert capsys.readouterr().out == "dx\ndy\n"
    assert both == pytest.approx(apply_rrule(scaled, 2.0, 3.0)[1](1.0), rel=1e-15)


def test_D14_project_to_gives_the_form_of_the_argument():
    assert project_to(np.ones(3, "f4"))(np.ones((2, 3))).dtype == np.float32
    assert np.array_equal(project_to(np.ones(3))(np.ones((2, 3)) * 1j + 2.0), [4.0, 4.0, 4.0])
    assert project_to(1.5)(np.array([1.0, 2.0])) == 3.0

    def stretched(x, y):
        return x * y

    @rrule(stretched)
    def stretched_rule(x, y):
        to_x, to_y = project_to(x), project_to(y)

        def stretched_pullback(dz):
            return to_x(dz * np.conj(y)), to_y(dz * np.conj(x))

        return x * y, stretched_pullback

    x, y = np.ones(3, "f4"), np.full((2, 3), 2.0)
    dx, dy = grad(lambda x, y: np.sum(stretched(x, y)), argnums=(0, 1))(x, y)
    assert dx.dtype == np.float32
    assert np.array_equal(dx, [4.0, 4.0, 4.0])
    assert dy.shape == (2, 3)
    real = grad(lambda x: np.sum(np.real(stretched(x, 1j))))(np.ones(3))
    assert real.dtype == np.float64


# --- writes of a rule -----------------------------------------------------------------------------


def test_a_rule_may_write_into_arrays_that_it_makes():
    def running(x):
        return np.cumsum(x)

    @rrule(running)
    def running_rule(x):
        y = np.empty_like(x)
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            y[i] = total

        def running_pullback(dy):
            for i in range(len(dy) - 2, -1, -1):
                dy[i] += dy[i + 1]
            return dy

        return y, running_pullback

    x, w = np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0, 0.5])

    def weighed(x):
        y = running(x)
        return np.sum(y * w) + np.sum(x * w)

    expected = np.cumsum(w[::-1])[::-1] + w
    assert np.array_equal(grad(weighed)(x), expected)
    _, pullback = vjp(running, x)
    for _ in range(2):
        assert np.array_equal(pullback(w)[0], np.cumsum(w[::-1])[::-1])
    assert np.array_equal(w, [2.0, -1.0, 0.5])


def test_a_rule_that_writes_into_what_it_got_changes_nothing():
    def doubled(x):
        return 2.0 * x

    @rrule(doubled)
    def doubled_rule(x):
        kept = np.ones_like(x)
        x[0] = 5.0

        def doubled_pullback(dy):
            dy[0] = 1.0
            kept[1] += 1.0
            return dy * kept

        return 2.0 * x, doubled_pullback

    def use(z):
        y = np.sin(z)
        return np.sum(doubled(y) * y)

    z = np.array([0.5, 1.0, 1.5])
    y, before = np.sin(z), z.copy()
    value = np.concatenate([[10.0], 2.0 * y[1:]])
    slopes = value + np.array([1.0, 2.0, 1.0]) * np.concatenate([[1.0], y[1:]])
    for _ in range(2):
        np.testing.assert_allclose(grad(use)(z), slopes * np.cos(z), rtol=1e-14)
    assert np.array_equal(z, before)
    _, pullback = vjp(doubled, z)
    first, second = pullback(np.full(3, 3.0)), pullback(np.full(3, 3.0))
    assert np.array_equal(first, second)
    assert np.array_equal(first[0], [1.0, 6.0, 3.0])


# --- malformed rules ------------------------------------------------------------------------------


def test_names_that_are_no_parameters_are_refused_at_registration():
    with pytest.raises(RuleError, match=r"names `z` in wrt= or templates=") as caught:
        @rrule(product, wrt=("x", "z"))
        def product_rule(x, y):
            return x * y, None

    assert "test_rules_as_written.py" in str(caught.value)
    assert "one of its parameters: x, y" in str(caught.value)


@pytest.mark.parametrize(("returned", "problem"), [
    (lambda dz, x, y: dz * y, "returns 1 cotangent, for 2 arguments: x, y"),
    (lambda dz, x, y: (dz, dz, dz), "returns 3 cotangents, for 2 arguments: x, y"),
    (lambda dz, x, y: None, "returns None, for 2 arguments: x, y"),
])
def test_wrong_number_of_cotangents_is_refused_before_running(returned, problem):
    @rrule(product)
    def product_rule(x, y):
        def product_pullback(dz):
            return returned(dz, x, y)

        return x * y, product_pullback

    with pytest.raises(RuleError, match=problem) as caught:
        grad(lambda x: product(x, x))(2.0)
    assert "def product_rule(x, y):" in str(caught.value)
    assert "`return dx, dy`" in str(caught.value)


def test_a_tuple_of_one_cotangent_is_refused():
    def square(x):
        return x * x

    @rrule(square)
    def square_rule(x):
        def square_pullback(dy):
            return (2.0 * x * dy,)

        return x * x, square_pullback

    with pytest.raises(RuleError, match="returns a tuple of 1 cotangent, for 1 argument: x") as e:
        grad(square)(2.0)
    assert "`return dx`" in str(e.value)


def test_rule_without_a_pullback_is_refused():
    @rrule(product)
    def product_rule(x, y):
        return x * y

    with pytest.raises(RuleError, match=r"does not return \(y, pullback\)"):
        grad(product)(2.0, 3.0)


# --- rules as plain functions ---------------------------------------------------------------------


def test_rules_are_called_as_plain_functions():
    y, pullback = apply_rrule(np.multiply, np.array([1.0, 2.0]), 3.0)
    assert np.array_equal(y, [3.0, 6.0])
    dx, dy = pullback(np.ones(2))
    assert np.array_equal(dx, [3.0, 3.0])
    assert dy == 3.0
    _, pullback = apply_rrule(np.sum, np.ones((2, 3)), 0)
    da, axis = pullback(np.array([1.0, 2.0, 3.0]))
    assert np.array_equal(da, [[1.0, 2.0, 3.0]] * 2)
    assert axis is None
    y, pullback = apply_rrule(np.argmax, np.array([1.0, 3.0]))
    assert (y, pullback(1.0)) == (1, (None,))
    assert apply_rrule(code, "text") is None


def test_plain_call_of_a_rule_with_a_variadic_parameter():
    def total(scale, *terms):
        return scale * sum(terms)

    @rrule(total)
    def total_rule(scale, *terms):
        def total_pullback(dy):
            return dy * sum(terms), tuple(dy * scale for _ in terms)

        return total(scale, *terms), total_pullback

    assert apply_rrule(total, 2.0, 1.0, 3.0)[1](1.0) == (4.0, 2.0, 2.0)
    non_differentiable(total)


def test_a_rule_may_have_its_own_function_in_its_closure():
    def cube(x):
        return x**3

    @rrule(cube)
    def cube_rule(x):
        y = cube(x)

        def cube_pullback(dy):
            return dy * 3.0 * x * x

        return y, cube_pullback

    assert value_and_grad(cube)(2.0) == (8.0, 12.0)
