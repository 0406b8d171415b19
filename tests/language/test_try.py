"""``try`` in all its forms, with exceptions that are raised and with none."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, 1.5, 2.0])


class OwnError(Exception):
    def __init__(self, message, level=0):
        super().__init__(message)
        self.level = level


@programs(2.0)
@programs(-2.0)
def returns(x):
    try:
        return math.log(x) * x
    except ValueError:
        return x * x


@programs(2.0)
@programs(-2.0)
def assigns(x):
    try:
        y = math.sqrt(x)
        z = y * x
    except ValueError:
        y = x
        z = y * y * y
    return y * z


@programs(2.0)
@programs(-2.0)
def keeps_what_was_before(x):
    y = x * x
    try:
        y = math.sqrt(x) * y
    except ValueError:
        pass
    return y * x


@programs(1.0)
@programs(3.0)
@programs(5.0)
@programs(7.0)
def several_handlers(x):
    try:
        if x < 2.0:
            raise OwnError("small", level=2)
        if x < 4.0:
            y = x / 0.0
        elif x < 6.0:
            y = x * [1.0, 2.0][5]
        else:
            y = x * x
    except OwnError as error:
        y = x * error.level + len(str(error))
    except (ZeroDivisionError, OverflowError):
        y = math.sin(x)
    except LookupError as error:
        y = math.cos(x) * len(error.args)
    return y * x


@programs(2.0)
@programs(-2.0)
def with_else(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        z = x
    else:
        z = y * x
    return z * z


@programs(2.0)
@programs(-2.0)
def with_finally(x):
    n = 0
    try:
        y = math.sqrt(x)
        n = 2
    except ValueError:
        y = x * x
        n = 3
    else:
        y = y * x
    finally:
        n = n + 1
        y = y * n
    return y * x


@programs(2.0)
@programs(-2.0)
def nested(x):
    try:
        try:
            y = math.log(x)
        except ValueError as error:
            raise OwnError("again") from error
        finally:
            k = 3.0
    except OwnError:
        y = x * x
    return y * k


@programs(0.7, np.array([4.0, -1.0, 0.0, 2.0, 9.0]), argnums=(0,))
def in_a_loop(x, v):
    total = 0.0
    failures = 0
    for t in v:
        try:
            root = math.sqrt(t) * x
            if root > 2.0:
                break
            y = 1.0 / root
        except ZeroDivisionError:
            failures += 1
            continue
        except ValueError:
            failures += 1
            y = x * x * failures
        total = total + y * t + total * x
    return total * x + failures


@programs(1.3, np.array([4.0, -1.0, 0.5]))
def a_loop_inside(x, v):
    total = x
    try:
        partial = x
        for t in v:
            partial = partial * math.sqrt(t) + x
        total = partial
    except ValueError:
        for t in v:
            total = total * t + x
    return total * total


@programs(0.6, 4, argnums=(0,))
def recursive(x, n):
    try:
        if n == 0:
            raise OwnError("end")
        y = recursive(x * 1.1, n - 1) * x
    except OwnError:
        y = math.sin(x)
    return y + x


def checked_root(t):
    if t < 0.0:
        raise OwnError(f"negative: {t:.1f}", 3)
    return math.sqrt(t)


@programs(2.0)
@programs(-2.0)
def raised_in_a_called_function(x):
    def scaled(t):
        try:
            return checked_root(t) * x
        except OwnError as error:
            return x * x * len(str(error))

    return scaled(x) + scaled(2.0 * x)


@programs(V)
@programs(np.array([[1.0, 2.0], [0.5, 3.0]]))
def by_what_numpy_raises(v):
    try:
        w = np.linalg.inv(v)
        y = np.sum(w * w)
    except np.linalg.LinAlgError:
        y = np.sum(v * v * v)
    return y


@programs(1.3, [1.0, None, "x", 2.0], argnums=(0,))
def by_what_types_raise(x, items):
    total = x
    for item in items:
        try:
            total = total * float(item)
        except TypeError:
            total = total + x
        except ValueError:
            total = total * x
    return total


@programs(2.0)
@programs(-2.0)
def active_before_what_may_raise(x):
    try:
        y = x
        z = math.sqrt(x)
    except ValueError:
        z = y * y
    return z * x


@programs(2.5)
@programs(-2.5)
@programs(100.5)
def inactive_in_between(x):
    step = 0
    try:
        step = 1
        y = math.sqrt(x)
        step = 2
        y = y * [1.0, 2.0, 3.0, 4.0][int(x)]
        step = 3
    except (ValueError, IndexError):
        y = x * step
    return y * x * (step + 1)


@programs(2.0)
@programs(-2.0)
def finally_overrides(x):
    for _ in range(2):
        try:
            y = math.sqrt(x)
        finally:
            if x < 0.0:
                y = x
                break
    return y * x


@programs(2.5)
@programs(-2.5)
def what_nobody_reads_may_raise(x):
    try:
        math.sqrt(x)
        ignored = [1.0, 2.0, 3.0][int(x)]  # noqa: F841
        y = x * x
    except ValueError:
        y = x
    return y * x


@programs(2.0)
@programs(-2.0)
def unpacked(x):
    a, b = x, 2.0 * x
    try:
        c = math.log(a)
        a, b = b * c, a
    except ValueError:
        pass
    return a * a + b


@programs(1.3, np.array([4.0, -1.0, 9.0]), argnums=(0,))
@programs(1.3, np.array([4.0, -1.0, 1.0]), argnums=(0,))
def else_that_breaks(x, v):
    total = x
    for t in v:
        try:
            root = math.sqrt(t)
        except ValueError:
            total = total * 1.5
        else:
            if root > 2.0:
                break
            total = total * root
        finally:
            total = total + 1.0
    else:
        total = total * 7.0
    return total * x


@programs(1.3)
def functions_as_arguments(x):
    def safe(f, t, default):
        try:
            return f(t)
        except (ValueError, ZeroDivisionError):
            return default

    return safe(math.log, x, x * x) + safe(lambda t: 1.0 / (t - t), x, 3.0 * x) * safe(
        math.sqrt, -x, x
    )


@programs(1.3)
def containers(x):
    try:
        p = (x, [x * 2.0, x * 3.0], {"k": x * x})
        q = p[1][5]
    except IndexError:
        q = 2.0 * x
        p = (x, [x], {"k": x})
    return q * p[2]["k"] + sum(p[1])


@programs(1.3, 4, argnums=(0,))
def raised_in_the_depth(x, n):
    try:
        if n == 0:
            return math.sqrt(-x)
        return raised_in_the_depth(x, n - 1) * x
    except ValueError:
        if n < 2:
            raise
        return x * n


@programs(1.3)
def while_with_continue(x):
    n = 0
    y = x
    while True:
        n += 1
        try:
            if n == 3:
                raise OwnError("three")
            if n > 6:
                break
            y = y * x
        except OwnError:
            y = y + 1.0
            continue
        finally:
            y = y * 1.1
    return y


@programs(1.3, [4.0, -1.0, 2.25], argnums=(0,))
def noted_where_it_may_be_unset(x, values):
    total = x
    for value in values:
        try:
            if value > 2.0:
                root = 1
            math.sqrt(value)
            root = 2
            total = total * math.sqrt(value - 1.0)
        except ValueError:
            total = total + x * root
    return total


@programs(2.0)
@programs(-2.0)
def bare_except(x):
    try:
        y = math.sqrt(x)
    except:  # noqa: E722
        y = x * x
    return y


@programs(2.0)
def state_that_is_not_read_after_an_exception(x):
    calls = 0

    def attempt(t):
        nonlocal calls
        calls += 1
        return math.sqrt(t)

    try:
        y = attempt(x) * calls
    except ValueError:
        y = x * x
    return y


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)
