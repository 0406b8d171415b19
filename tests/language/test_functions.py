"""Calls of user functions: nested, closures, lambdas, methods, partials, recursion, signatures."""

import functools
import math
import operator
from typing import NamedTuple

import numpy as np
import pytest

from adcompiler import grad, value_and_grad
from tests.language.check import Cases, check

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


def square(x):
    return x * x


def affine(x, a=2.0, *, b=1.0):
    """Return an affine function of x."""
    return a * x + b


@programs(1.5)
def calls_helper(x):
    return square(x) + square(square(x))


@programs(1.5)
def calls_with_defaults_and_keywords(x):
    return affine(x) + affine(x, 3.0) + affine(x, b=x) + affine(a=x, x=x, b=2.0)


def total_of(*args):
    total = 0.0
    for a in args:
        total = total * 2.0 + a
    return total


@programs(1.5, 2.5)
def star_args(x, y):
    pair = (x, y)
    return total_of(x, y, x * y) + total_of(*pair) + total_of() + total_of(1.0, *pair)


def keyed(**kwargs):
    return kwargs["a"] * kwargs["b"] + len(kwargs)


@programs(1.5, 2.5)
def star_star_kwargs(x, y):
    table = {"a": x, "b": y}
    return keyed(a=x, b=y) + keyed(**table) + keyed(b=y * y, **{"a": x})


def everything(a, /, b, *rest, c=1.0, **more):
    return a * b + sum(rest) * c + more.get("d", 0.0) + more.get("e", 2.0)


@programs(1.5, 2.5)
def whole_signature(x, y):
    return everything(x, y, x, y, c=y, d=x * x)


@programs(1.5)
def nested_def(x):
    def inner(y):
        return y * x

    return inner(x) + inner(2.0)


@programs(1.5)
def nested_def_with_default(x):
    def inner(y, k=x * x):
        return y * k

    return inner(x) + inner(2.0, 3.0)


@programs(1.5)
def two_levels(x):
    def outer(y):
        def inner(z):
            return x * y * z

        return inner(y) + inner(x)

    return outer(x * x)


@programs(1.5)
def function_returning_function(x):
    def scale(k):
        return lambda y: k * y

    double, by_x = scale(2.0), scale(x)
    return double(x) * by_x(x)


@programs(1.5)
def several_lambdas_on_a_line(x):
    f, g, h = (lambda y: y * 2.0), (lambda y: y * x), (lambda: x * x)
    return f(x) * g(x) + h()


@programs(1.5)
def lambda_default(x):
    f = lambda y, k=x: y * k  # noqa: E731
    return f(x) + f(2.0)


@programs(1.5)
def immediately_called_lambda(x):
    return (lambda y: y * y)(x) + (lambda *a: a[0] * a[1])(x, 2.0)


def apply(f, x):
    return f(x)


def twice(f, x):
    return f(f(x))


@programs(0.7)
def functions_as_arguments(x):
    return apply(math.sin, x) + twice(square, x) + apply(lambda y: y * x, x) + apply(np.cos, x)


@programs(0.7)
def function_chosen_statically(x):
    f = math.sin if True else math.cos
    table = {"sin": math.sin, "cos": math.cos}
    return f(x) * table["cos"](x)


@programs(V)
def map_like(x):
    return sum([f(x) for f in (np.sum, np.prod, np.max)])


def compose(*functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


@programs(0.7)
def composed_inside(x):
    return compose(math.sin, square)(x)


outer_composed = compose(math.sin, square, math.exp)


@programs(0.7)
def composed_outside(x):
    return outer_composed(x) * x


@programs(0.7)
def partial_inside(x):
    f = functools.partial(affine, a=x)
    g = functools.partial(affine, x)
    return f(2.0) + g(3.0, b=x) + functools.partial(f, b=5.0)(x)


half = functools.partial(affine, a=0.5)


@programs(0.7)
def partial_outside(x):
    return half(x) * x


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return result * 2.0

    return wrapper


@logged
def decorated(x, k=3.0):
    return k * x * x


@programs(0.7)
def calls_decorated(x):
    return decorated(x) + decorated(x, k=x)


@functools.lru_cache(maxsize=None)
def cached(x):
    return x * x * x


@programs(0.7)
def calls_cached(x):
    return cached(x) * cached(2.0)


@programs(0.7)
def decorated_inside(x):
    @logged
    def inner(y):
        return y * x

    return inner(x)


# -- recursion -------------------------------------------------------------------------------------


@programs(1.1, 5)
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@programs(1.1, 6)
def fast_power(x, n):
    if n == 0:
        return 1.0
    half = fast_power(x, n // 2)
    return half * half * x if n % 2 else half * half


@programs(1.1, 6)
def fibonacci(x, n):
    return x if n < 2 else fibonacci(x, n - 1) + x * fibonacci(x, n - 2)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2.0 * x if n == 0 else even(x + 1.0, n - 1)


@programs(1.1, 3)
def mutual(x, n):
    return even(x, n) + odd(x, n)


@programs(1.1, 0.5, 4)
def several_active(x, y, n):
    if n == 0:
        return x * y
    return several_active(x * y, x + y, n - 1)


@programs(48.3, 18.1)
def data_dependent_depth(a, b):
    if b < 1.0:
        return a * a
    return data_dependent_depth(b, a - b * math.floor(a / b))


@programs(V)
def recursion_on_slices(x):
    if len(x) == 0:
        return 0.0
    if len(x) == 1:
        return x[0] * x[0]
    m = len(x) // 2
    left, right = recursion_on_slices(x[:m]), recursion_on_slices(x[m:])
    return left * right + left


@programs((1.5, (2.5, (0.5, None))))
def recursion_on_tuples(chain):
    def walk(node):
        head, rest = node
        return head * head if rest is None else head * walk(rest)

    return walk(chain)


@programs(1.1)
def nested_recursion(x):
    def go(y, n):
        return y if n == 0 else go(y * x, n - 1)

    return go(x, 3)


@programs(2.0, 1e-3, argnums=(0,))
def recursive_integration(a, tol):
    def simpson(f, a, b):
        return (b - a) / 6.0 * (f(a) + 4.0 * f((a + b) / 2.0) + f(b))

    def adaptive(a, b, whole, depth):
        m = (a + b) / 2.0
        left, right = simpson(math.exp, a, m), simpson(math.exp, m, b)
        if depth == 0 or abs(left + right - whole) < tol:
            return left + right
        return adaptive(a, m, left, depth - 1) + adaptive(m, b, right, depth - 1)

    return adaptive(0.0, a, simpson(math.exp, 0.0, a), 3)


# -- large functions, compiled on their own ----------------------------------------------------------


def large(x, y, n):
    total = x
    for i in range(n):
        if total > 10.0:
            total = total / 2.0
        elif total < -10.0:
            total = total / 3.0 + x
        else:
            total = total * y + i
        a, b = total + x, total - x
        total = a * b / (1.0 + a * a + b * b) + x * y
        while total > 3.0:
            total = total - 1.0
        total = total + math.sin(total) * math.cos(x) * math.exp(-y * y)
        total = total + math.atan(total) + math.tanh(x) * total
    return total


@programs(0.7, 0.3)
def calls_large(x, y):
    return large(x, y, 3) * large(y, x, 2) + large(x, 2.0, 1) + large(1.0, 2.0, 1)


@programs(0.7)
def large_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = large(total, x, i)
    return total


@programs(V)
def large_in_a_comprehension(x):
    return sum([large(v, 0.5, 2) for v in x])


@programs(0.7)
def large_in_a_branch(x):
    return large(x, x, 2) if x > 0 else x


# -- classes -----------------------------------------------------------------------------------------


class Model:
    """A model with data, methods, a property, class data."""

    degree = 3

    def __init__(self, scale, weights):
        self.scale = scale
        self.weights = weights

    def __call__(self, x):
        return self.predict(x) * self.doubled

    def predict(self, x, power=2):
        return np.sum(self.weights * x**power) * self.scale + self.helper(x)

    def helper(self, x):
        return x * self.degree

    @staticmethod
    def twice(x):
        return 2.0 * x

    @classmethod
    def of_class(cls, x):
        return cls.degree * x * x

    @property
    def doubled(self):
        return 2.0 * self.scale


model = Model(0.5, V)


@programs(1.5)
def calls_methods(x):
    return model.predict(x) + model(x) + model.twice(x) + Model.of_class(x) + Model.twice(x)


@programs(1.5, model)
def object_as_argument(x, m):
    return m.predict(x, power=3) * m.scale + m(x)


class Point(NamedTuple):
    x: float
    y: float

    def norm2(self):
        return self.x * self.x + self.y * self.y


@programs(Point(1.5, 2.5))
def namedtuple_methods(p):
    return p.norm2() * p.x + p[1]


@programs(1.5, 2.5)
def namedtuple_made_inside(x, y):
    p = Point(x, y)
    q = Point(y=p.x * 2.0, x=p.y)
    return p.norm2() * q.x + q.y


@programs(1.5)
def operator_functions(x):
    return operator.mul(x, operator.add(x, 2.0)) - operator.neg(x) + operator.pow(x, 2)


@programs(1.5)
def reduce_of_functools(x):
    return functools.reduce(lambda a, b: a * b + x, [x, 2.0, x])


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


@pytest.mark.parametrize("function, x", [
    (np.sin, 0.5), (np.sin, np.array(0.5)), (np.sum, V), (np.linalg.norm, V), (math.exp, 0.5),
    (np.prod, V), (abs, -1.5), (np.mean, V), (sum, [1.5, 2.5]), (max, [1.5, 2.5]),
])
def test_library_functions_passed_directly(function, x):
    check(function, x)


@pytest.mark.parametrize("function", [
    half, functools.partial(affine, a=2.0, b=3.0), decorated, cached, model, model.predict,
    model.helper, Model.twice, Model.of_class, outer_composed, lambda x: x * x,
])
def test_callables_differentiated_directly(function):
    check(function, 1.5)


def test_a_decorated_function_keeps_its_face():
    @grad
    def documented(x: float) -> float:
        """Return the square."""
        return x * x

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Return the square."
    assert documented(3.0) == 6.0
    assert documented.primal(3.0) == 9.0
    assert "documented_grad" in documented.source


class Layer:
    def __init__(self, k):
        self.k = k

    @grad(argnums="x")
    def slope(self, x):
        return self.k * x * x

    @value_and_grad(argnums=1)
    def both(self, x):
        return self.k * x * x


def test_decorated_methods_bind():
    layer = Layer(3.0)
    assert layer.slope(2.0) == 12.0
    assert layer.both(2.0) == (12.0, 12.0)
    layer.k = 4.0
    assert layer.slope(2.0) == 16.0


def test_keyword_arguments_at_the_call():
    assert grad(affine)(1.5, a=4.0, b=2.0) == 4.0
    assert grad(affine, argnums="a")(1.5, a=4.0) == 1.5
    assert grad(affine, argnums=("b", "x"))(1.5) == (1.0, 2.0)
    assert value_and_grad(affine)(x=1.5) == (4.0, 2.0)
