"""Names mean what Python's scopes say: targets of comprehensions and generators."""

import functools

import pytest

from adcompiler import UnsupportedError, grad, hessian, value_and_grad
from tests.language.check import Cases

targets, delegating = Cases(), Cases()
WEIGHT = 5.0


@targets(1.5)
def list_of_calls(x):
    k = 3.0

    def inner():
        return k * x

    return sum([inner() * k for k in (1.0, 2.0)]) + k


@targets(1.5)
def generator_of_calls(x):
    k = 3.0
    inner = lambda: k * x  # noqa: E731
    return sum(inner() * k for k in (1.0, 2.0))


@targets(1.5)
def dict_of_calls(x):
    k = 3.0

    def inner():
        return k * x

    table = {k: inner() for k in (1.0, 2.0)}
    return table[1.0] + 2 * table[2.0] * k


@targets(1.5)
def keys_of_another_type(x):
    k = 3.0

    def inner():
        return k * x

    table = {k: v * inner() for k, v in zip("ab", (1.0, 2.0), strict=True)}
    return table["a"] + table["b"] * k


@targets(1.5)
def function_before_its_variable(x):
    def inner():
        return k * x

    k = 3.0
    first = sum([inner() * k for k in (1.0, 2.0)])
    k = 5.0
    return first * inner()


@targets(1.5)
def two_targets(x):
    i, j = 3.0, 4.0

    def inner():
        return i * x + j

    return sum([inner() * i * j for i in (1.0, 2.0) for j in (5.0, 6.0)])


@targets(1.5)
def nested_with_one_name(x):
    i = 3.0

    def inner():
        return i * x

    return sum([sum([inner() * i for i in (1.0, i)]) for i in (1.0, 2.0)])


@targets(1.5)
def function_of_a_function(x):
    k = 3.0

    def inner():
        def deep():
            return k * x
        return deep()

    return sum([inner() * k for k in (1.0, 2.0) if inner() > 0 * k])


@targets(1.5)
def parameter_as_target(x):
    def twice():
        return 2 * x

    return sum([twice() * x for x in (x, 2 * x)])


@targets(1.5)
def assigned_by_the_function(x):
    k = 3.0

    def grows():
        nonlocal k
        k = k * x
        return k

    return sum([grows() * k for k in (1.0, 2.0)]) + k


@targets(1.5)
def both_have_comprehensions(x):
    k = 3.0

    def inner():
        return sum([k * x for k in (1.0, 2.0)]) + k

    return inner() * sum([inner() for k in (1.0, 2.0)])


@targets(1.5)
def recursive(x):
    k = 2.0

    def inner(n):
        return k * x if n == 0 else inner(n - 1) * 1.5

    return sum([inner(2) * k for k in (1.0, 2.0)])


@targets(1.5)
def call_one_another(x):
    k = 2.0

    def even(n):
        return k * x if n == 0 else odd(n - 1)

    def odd(n):
        return x if n == 0 else even(n - 1)

    return sum([even(2) * k for k in (1.0, 2.0)])


@targets(1.5)
def stops_early(x):
    k = 3.0

    def inner():
        return k * x

    return next(inner() * k for k in (1.0, 2.0) if k > 1) * any(inner() > k for k in (9.0, 1.0))


@targets(1.5)
def partial_call(x):
    k = 3.0

    def inner():
        return k * x

    twice = functools.partial(lambda a: a * inner(), 2.0)
    return sum([twice() * k for k in (1.0, 2.0)])


@targets(1.5)
def iterable_of_a_loop(x):
    k, total = 3.0, 0.0

    def inner():
        return k * x

    for k in [inner() + k for k in (1.0, 2.0)]:
        total = total + k * inner()
    return total


@targets(1.5)
def generator_read_later(x):
    k = 3.0
    items = (k * v for v in (x, 2 * x))
    others = [k for k in (1.0, 2.0)]  # noqa: C416
    return sum(items) + sum(others)


@targets(1.5)
def name_error_inside(x):
    def inner():
        return k * x

    try:
        total = sum([inner() for k in (1.0, 2.0)])
    except NameError:
        total = 7 * x
    k = 3.0
    return total * k


@targets(1.5)
def handler_sees_the_variable(x):
    k = 3.0
    try:
        [1 / (k - 2) for k in (1.0, 2.0)]
    except ZeroDivisionError:
        return k * x
    return x


@targets(1.5)
def global_of_one_name(x):
    global WEIGHT
    scaled = [WEIGHT * x for WEIGHT in (1.0, 2.0)]
    return sum(scaled) * WEIGHT


@targets(1.5)
def parameter_of_a_lambda_inside(x):
    k = 3.0

    def inner():
        return k * x

    return sum([(lambda k: k * inner())(4.0) * k for k in (1.0, 2.0)])


def test_comprehensions_have_a_scope():
    for case in targets:
        targets.check(case)
        hessian(case.function)(1.5)  # or raises


def test_a_name_that_only_a_comprehension_binds_is_not_the_functions():
    def reads_too_early(x):
        def inner():
            return k * x

        first = [inner() for k in (1.0, 2.0)]
        k = 3.0
        return sum(first) * k

    for derivative in (value_and_grad(reads_too_early), hessian(reads_too_early)):
        with pytest.raises(NameError, match="free variable 'k'"):
            derivative(1.5)


def test_functions_of_one_comprehension_that_share_its_target_are_refused():
    def kept(x):
        made = [lambda: k * x for k in (1.0, 2.0)]
        return made[0]() + made[1]()

    with pytest.raises(UnsupportedError, match=r"reads a variable that the loop assigns again"):
        grad(kept)(1.5)


def multiples(x, n):
    for i in range(n):
        yield x * i


def delegates(x):
    yield from (x * i for i in range(3))
    yield from (x * i * x for i in range(3))


@delegating(1.5)
def twice_to_generators(x):
    return sum(delegates(x))


@delegating(1.5)
def twice_in_a_loop(x):
    total = 0.0
    for v in delegates(x):
        total = total + v * v
    return total


@delegating(1.5)
def twice_to_comprehensions(x):
    def items():
        yield x
        yield from [x * i for i in range(3) if i > 0]
        yield from [x * i * j for i in range(3) for j in range(i)]

    return sum([v * v for v in items()])


@delegating(1.5)
def twice_to_functions(x):
    def items():
        yield from multiples(x, 3)
        yield from (y * 3 for y in multiples(2 * x, 2))
        yield from (y * x for y in multiples(2 * x, 2))

    return sum(items())


@delegating(1.5)
def name_of_the_generators_too(x):
    def items():
        i = 5.0
        yield from (x * i for i in range(3))
        yield i * x

    return sum(items())


@delegating(1.5)
def in_a_loop_and_behind(x):
    def items():
        for k in range(2):
            yield from (x * i + k for i in range(3))
        yield from (x * k for k in range(3))

    return sum(list(items()))


def test_comprehensions_in_generator_functions_read_no_outer_name():
    for case in delegating:
        delegating.check(case)
