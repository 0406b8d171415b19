"""Handlers that catch everything: what is refused inside of them stays refused."""

from __future__ import annotations

import contextlib
import decimal
import warnings

import numpy as np

from tests.record.lost import Program


def exact(x):
    return float(decimal.Decimal(x) * 3)


def bare_except(x):
    try:
        return exact(x) * x
    except:  # noqa: E722
        return 0.0


def except_exception(x):
    try:
        y = exact(x)
    except Exception as error:
        y = float(len(str(error)))
    return y + x


def except_base_exception(x):
    y = x
    try:
        y = exact(x)
    except BaseException:
        y = 2.0 * y
    return y * y


def suppressed(x):
    y = 1.0
    with contextlib.suppress(Exception):
        y = exact(x)
    return y * x


def finally_returns(x):
    def inner(y):
        try:
            y = exact(x)
        finally:
            return y

    return inner(x) * x


class Swallows:
    def __enter__(self):
        return []

    def __exit__(self, *error):
        return True


def exit_swallows(x):
    with Swallows() as found:
        found.append(exact(x))
    return sum(found, x)


def first_that_works(x):
    for attempt in (exact, lambda v: v * 5.0):
        try:
            return attempt(x)
        except (TypeError, ValueError, RuntimeError, NotImplementedError, AttributeError):
            continue
    return 0.0


class Late:
    def __init__(self, x):
        self.x = x

    @property
    def exact(self):
        return exact(self.x)

    def __getattr__(self, name):
        return 7.0 * self.x

    def __float__(self):
        return exact(self.x)

    def __iter__(self):
        yield self.x
        yield exact(self.x)


def property_with_a_default(x):
    return getattr(Late(x), "exact", 1.0) * hasattr(Late(x), "exact") + Late(x).other


def conversion_with_a_default(x):
    try:
        return float(Late(x))
    except Exception:
        return x


def iteration_that_is_cut(x):
    found = []
    try:
        for v in Late(x):
            found.append(v)
    except Exception:
        pass
    return sum(found)


def warnings_that_are_errors(a):
    y = a * 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            y = np.array([exact(float(v)) for v in a])
        except Exception:
            y = y * 0.0
    return np.sum(y * a)


def generator_that_catches(x):
    def source():
        try:
            yield exact(x)
        except Exception:
            yield x

    return sum(source()) * x


def callback_that_catches(x):
    def key(k):
        try:
            kept.append(exact(x) * k)
        except Exception:
            kept.append(0.0)
        return -k

    kept = []
    order = sorted([1.0, 2.0], key=key)
    return sum(kept) * order[0]


A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program(name, function, args, gradient, no_derivative=True)
    for name, function, args, gradient in [
        ("a bare except", bare_except, (0.7,), lambda x: 6.0 * x),
        ("except Exception", except_exception, (0.7,), 4.0),
        ("except BaseException", except_base_exception, (0.7,), lambda x: 18.0 * x),
        ("suppress", suppressed, (0.7,), lambda x: 6.0 * x),
        ("finally returns over it", finally_returns, (0.7,), lambda x: 6.0 * x),
        ("__exit__ swallows", exit_swallows, (0.7,), 4.0),
        ("the first that works", first_that_works, (0.7,), 3.0),
        ("getattr with a default", property_with_a_default, (0.7,), 10.0),
        ("float with a default", conversion_with_a_default, (0.7,), 3.0),
        ("an iteration that is cut", iteration_that_is_cut, (0.7,), 4.0),
        ("warnings are errors", warnings_that_are_errors, (A,), lambda a: 6.0 * a),
        ("a generator catches", generator_that_catches, (0.7,), lambda x: 6.0 * x),
        ("a callback catches", callback_that_catches, (0.7,), 18.0),
    ]
]
