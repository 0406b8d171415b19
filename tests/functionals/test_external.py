"""External functions: left alone by the compiler, with the derivative that they come with."""

import math

import numpy as np
import pytest

from adcompiler import (
    ExternalFunction, UnsupportedError, bump, external, grad, jvp, source, value_and_grad, vjp,
)
from adcompiler.runtime.external import call_external


class SumElements(ExternalFunction):
    """The sum of the elements, which no rule knows of."""

    def forward(self, x):
        self.size = len(x)
        return float(sum(x))

    def adjoint(self, y_bar):
        return np.full(self.size, y_bar)


class SumWithTangent(SumElements):
    def tangent(self, x_dot):
        return float(sum(x_dot))


class Square(ExternalFunction):
    returns = 0.0

    def forward(self, y):
        self.y = y
        return y * y

    def adjoint(self, y_bar):
        return 2.0 * self.y * y_bar


class Exponential(ExternalFunction):
    """Keeps its result, which the program may go on to write into."""

    returns = np.empty(0)

    def forward(self, x):
        self.x = x
        self.y = np.exp(x)
        return self.y

    def adjoint(self, y_bar):
        return y_bar * np.exp(self.x) if np.array_equal(self.y, np.exp(self.x)) else None


sum_elements, square, exponential = SumElements(), Square(), Exponential()
X = np.arange(1.0, 6.0) + np.sin(np.arange(5.0))
LENGTH = 7.714283097856199
SLOPES = [
    0.1296296735957098, 0.3683389562923277, 0.5067609494279613, 0.5368120349654637,
    0.5500443075353635,
]


def length(x):
    return math.sqrt(sum_elements(x * x))


def differences(function, x, step=1e-6):
    found = np.zeros_like(x)
    for i in range(x.size):
        moved = np.zeros_like(x)
        moved[i] = step
        found[i] = (function(x + moved) - function(x - moved)) / (2 * step)
    return found


def test_c1_an_external_function_inside_a_program():
    value, gradient = value_and_grad(length)(X)
    assert value == LENGTH
    np.testing.assert_allclose(gradient, SLOPES, rtol=1e-15)
    value, gradient = value_and_grad(length)(np.array([3.0, 4.0]))
    assert value == 5.0
    np.testing.assert_allclose(gradient, [0.6, 0.8], rtol=1e-15)
    assert "external_adjoint(" in source(length, X)


def test_c2_a_result_that_takes_the_place_of_the_argument():
    def power_of_eight(y):
        for _ in range(3):
            y = square(y)
        return y

    value, slope = value_and_grad(power_of_eight)(1.1)
    assert value == pytest.approx(1.1**8, rel=1e-15)
    assert slope == pytest.approx(8 * 1.1**7, rel=1e-15)


def test_c3_one_object_called_several_times_keeps_its_calls_apart():
    def f(x):
        return sum_elements(x * x) * sum_elements(x) + sum_elements(np.sin(x))

    np.testing.assert_allclose(grad(f)(X), 2 * X * X.sum() + (X * X).sum() + np.cos(X), rtol=1e-14)
    assert not hasattr(sum_elements, "size")  # the user's object is as it was


def test_c3_calls_in_a_recursion():
    def nested(x, n):
        if n == 0:
            return square(x)
        return square(x) + nested(x * square(x), n - 1)

    def plain(x, n):
        return x * x if n == 0 else x * x + plain(x * x * x, n - 1)

    value, pullback = vjp(nested, 1.1, 3, argnums=0)
    assert value == pytest.approx(plain(1.1, 3), rel=1e-15)
    wanted = sum(2 * 3**k * 1.1 ** (2 * 3**k - 1) for k in range(4))
    assert pullback(1.0) == pytest.approx(wanted, rel=1e-14)
    assert pullback(2.0) == pytest.approx(2 * wanted, rel=1e-14)


def test_c3_what_a_call_keeps_is_not_shared_with_the_program():
    def f(x):
        x = x.copy()
        y = exponential(x)
        x[0] = 7.0
        y[1] = y[2] * x[1]
        return np.sum(y * x)

    x = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(grad(f)(x), differences(f, x), rtol=1e-8)


@pytest.mark.parametrize("cls", [SumElements, SumWithTangent])
def test_c4_the_tangent_is_the_given_one_or_the_adjoint_transposed(cls):
    function = cls()
    direction = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
    assert jvp(lambda x: function(x), (X,), (direction,)) == (sum(X), 2.5)
    value, tangent = jvp(lambda x: math.sqrt(function(x * x)), (X,), (direction,))
    assert value == LENGTH
    assert tangent == pytest.approx(direction @ np.array(SLOPES), rel=1e-14)


def test_c4_tangents_of_several_arguments():
    direction = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
    for function in (
        external(lambda a, b: a * b, jvp=lambda x, d: d[0] * x[1] + x[0] * d[1]),
        external(lambda a, b: a * b, jac=lambda a, b: (b, a * np.eye(5))),
    ):
        _, tangent = jvp(lambda a, b, f=function: f(a, b), (2.0, X), (1.0, direction))
        np.testing.assert_allclose(tangent, X + 2.0 * direction, rtol=1e-14)
        _, tangent = jvp(lambda b, f=function: f(3.0, b), (X,), (direction,))
        np.testing.assert_allclose(tangent, 3.0 * direction, rtol=1e-14)


class LinearSum(SumElements):
    linear = True


def test_c5_second_derivatives_of_a_linear_external_function():
    linear_sum = LinearSum()

    def norm(x):
        return math.sqrt(linear_sum(x * x))

    x = np.array([3.0, 4.0])
    wanted = (np.eye(2) - np.outer(x, x) / 25.0) / 5.0
    rows = [grad(lambda x, i=i: grad(norm)(x)[i])(x) for i in range(2)]
    np.testing.assert_allclose(rows, wanted, rtol=1e-14)
    columns = [jvp(grad(norm), (x,), (unit,))[1] for unit in np.eye(2)]
    np.testing.assert_allclose(columns, wanted, rtol=1e-14)
    values = grad(lambda x: value_and_grad(norm)(x)[0])(x)
    np.testing.assert_allclose(values, x / 5.0, rtol=1e-14)


def test_c5_other_second_derivatives_are_refused():
    with pytest.raises(UnsupportedError, match="second derivative of this external function"):
        grad(grad(lambda x: square(x)))(2.0)
    with pytest.raises(UnsupportedError, match="second derivative of this external function"):
        grad(grad(lambda x: call_external(square, x)))(2.0)


@pytest.mark.parametrize(("scheme", "tolerance"), [
    ("central", 1e-9), ("forward", 1e-6), ("complex", 1e-14),
])
def test_c6_finite_differences_of_a_library_function(scheme, tolerance):
    def total(x):
        return sum(x)

    bumped = external(total, derivative=bump(scheme))

    def f(x):
        return math.sqrt(bumped(x * x))

    np.testing.assert_allclose(grad(f)(X), SLOPES, atol=tolerance)


def test_c6_a_step_of_ones_own_and_schemes_that_do_not_exist():
    rough = external(math.exp, derivative=bump("forward", h=0.1))
    assert grad(lambda x: rough(x))(0.5) == pytest.approx((math.exp(0.6) - math.exp(0.5)) / 0.1)
    with pytest.raises(ValueError, match="central, forward, complex"):
        bump("backward")


@pytest.mark.parametrize("scheme", ["central", "complex"])
def test_c6_arrays_in_several_arguments_and_the_result(scheme):
    library = external(lambda a, b: a * np.sin(b), derivative=bump(scheme))

    def f(a, b):
        return np.sum(library(a, b) ** 2)

    b = np.array([[0.3, 0.4], [0.5, 0.6]])
    a_bar, b_bar = grad(f, argnums=(0, 1))(1.5, b)
    assert a_bar == pytest.approx(np.sum(2 * 1.5 * np.sin(b) ** 2), rel=1e-8)
    np.testing.assert_allclose(b_bar, 1.5**2 * np.sin(2 * b), rtol=1e-8)


def test_c7_the_derivative_of_a_root_by_a_hand_written_adjoint():
    class Root(ExternalFunction):
        def forward(self, a, b):
            self.y = math.sqrt(a * b)
            self.ab = a, b
            return self.y

        def adjoint(self, y_bar):
            b = self.ab[1]
            return y_bar * b / (2 * self.y), None

    root = Root()
    assert grad(lambda a, b: root(a, b), argnums=(0, 1))(2.0, 8.0) == (1.0, 0.0)


@pytest.mark.parametrize("form", [
    {"jac": lambda x: x / np.linalg.norm(x)},
    {"vjp": lambda y_bar, x: y_bar * x / np.linalg.norm(x)},
    {"jvp": lambda x, x_dot: x[0] @ x_dot[0] / np.linalg.norm(x[0])},
])
def test_c8_the_analytic_derivative_in_three_forms(form):
    norm = external(np.linalg.norm, **form)
    np.testing.assert_allclose(grad(lambda x: 2.0 * norm(x))(X), 2.0 * np.array(SLOPES), rtol=1e-14)
    np.testing.assert_allclose(grad(norm)(X), SLOPES, rtol=1e-14)


def test_c8_a_jacobian_of_arrays_by_arrays():
    matrix = np.arange(6.0).reshape(2, 3)
    product = external(
        lambda a, x: a * (matrix @ x), jac=lambda a, x: (matrix @ x, a * matrix),
    )
    x = np.array([1.0, -1.0, 2.0])
    weights = np.array([0.5, 2.0])
    _, pullback = vjp(lambda a, x: product(a, x), 3.0, x)
    a_bar, x_bar = pullback(weights)
    assert a_bar == pytest.approx(weights @ matrix @ x)
    np.testing.assert_allclose(x_bar, 3.0 * matrix.T @ weights)


def test_external_needs_one_derivative():
    with pytest.raises(TypeError, match="exactly one"):
        external(math.sin)
    with pytest.raises(TypeError, match="exactly one"):
        external(math.sin, jac=math.cos, vjp=lambda g, x: g * math.cos(x))


def test_cotangents_that_do_not_fit_are_refused():
    short = external(lambda x: float(np.sum(x)), vjp=lambda y_bar, x: np.ones(2))
    with pytest.raises(ValueError, match=r"shape \(2,\), not \(5,\)"):
        grad(lambda x: short(x))(X)
    single = external(lambda x, y: x * y, vjp=lambda y_bar, x, y: y)
    with pytest.raises(TypeError, match="tuple of 2 cotangents"):
        grad(lambda x: single(x, x))(2.0)


def test_a_promised_type_is_checked():
    class Wrong(ExternalFunction):
        returns = np.empty(0)

        def forward(self, x):
            return np.ones((2, 2))

    wrong = Wrong()
    with pytest.raises(TypeError, match="2 axes, but `returns` promises"):
        grad(lambda x: np.sum(wrong(x)))(X)


def test_complex_arguments_need_a_form_that_knows_them():
    bumped = external(lambda z: z * z, derivative=bump())
    with pytest.raises(TypeError, match="argument 0 is complex"):
        grad(lambda x: abs(bumped(x * 1j)))(2.0)
    holomorphic = external(lambda z: z * z, jac=lambda z: 2 * z)
    _, pullback = vjp(lambda z: holomorphic(z), 1.0 + 2.0j)
    assert pullback(1.0 + 0.0j) == (2.0 - 4.0j,)


def test_keyword_arguments_are_refused():
    with pytest.raises(UnsupportedError, match="keyword arguments"):
        grad(lambda x: sum_elements(x=x))(X)


def test_c16_two_threads_with_one_external_object():
    from concurrent.futures import ThreadPoolExecutor

    gradient = grad(length)
    points = [np.arange(1.0, 4.0) * k for k in range(1, 9)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(gradient, points))
    for x, g in zip(points, found, strict=True):
        np.testing.assert_allclose(g, x / np.linalg.norm(x), rtol=1e-14)
