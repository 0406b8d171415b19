"""Functions of arrays, each with every form of operand that NumPy takes for an array.

``v`` is the operand, ``W`` an array of as many numbers, ``WL`` a list of them; statements before
the last semicolon make the result.
"""

from __future__ import annotations

FORMS = """
[a[0], a[1] * a[1], a[2]]
[float(a[0]), float(a[1] * a[1]), 2.0]
(a[0], a[1] * a[1], a[2])
collections.deque([a[0], a[1] * a[1], a[2]])
a * a
np.concatenate([a, a])[::2]
[np.array(a[0]), np.asarray(a[1]), a[2:3][0]]
Items([a[0], a[1] * a[1], a[2]])
List([a[0], a[1] * a[1], a[2]])
Tuple([a[0], a[1] * a[1], a[2]])
collections.UserList([a[0], a[1] * a[1], a[2]])
""".strip().splitlines()

FUNCTIONS = """
np.array(v)
np.asarray(v)
np.asanyarray(v)
np.ascontiguousarray(v)
np.array([v, v])
np.asarray(v, float)
np.array(v, dtype='f8', ndmin=2)
np.sum(v)
np.prod(v)
np.mean(v)
np.max(v)
np.min(v)
np.sort(v)
np.cumsum(v)
np.cumprod(v)
np.exp(v)
np.sin(v)
np.negative(v)
np.square(v)
np.linalg.norm(v)
np.var(v)
np.std(v)
np.median(v)
np.diff(v)
np.flip(v)
np.roll(v, 1)
np.ptp(v)
v * W
W * v
W + v
W - v
W / v
W ** v
W @ v
v @ W
np.multiply(v, WL)
np.add(WL, v)
np.dot(v, WL)
np.dot(W, v)
np.inner(v, WL)
np.outer(v, WL)
np.kron(v, WL)
np.cross(v, WL)
np.matmul(v, W)
np.vdot(v, WL)
np.tensordot(v, WL, 1)
np.einsum('i,i->', v, WL)
np.maximum(v, 0.4)
np.arctan2(v, WL)
np.hypot(WL, v)
np.where([True, False, True], v, WL)
np.clip(v, 0.1, 0.6)
np.clip(WL, 0.0, v)
np.select([[True, False, True]], [v], 0.0)
np.interp([0.5, 1.5], [0.0, 1.0, 2.0], v)
np.interp(v, [0.0, 1.0, 2.0], WL)
np.polyval(v, 2.0)
np.convolve(v, WL)
np.trapezoid(v)
np.trapezoid(WL, v)
np.average(WL, weights=v)
np.bincount([0, 1, 1], weights=v)
np.bincount([0, 1, 1], v)
np.histogram(WL, bins=2, weights=v)[0]
np.percentile(v, 30)
np.cov(v, WL)
np.corrcoef(v, WL)
np.gradient(v)
np.append(v, 1.0)
np.append(W, v)
np.insert(W, 1, v)
np.insert(v, 1, 9.0)
np.delete(v, 1)
np.take(v, [2, 0])
np.concatenate([v, WL])
np.stack([v, WL])
np.hstack([v, WL])
np.vstack([v, WL])
np.column_stack([v, WL])
np.dstack([v, v])
np.r_[1.0, v]
np.c_[v, WL]
np.block([[np.asarray(v), W]])
np.tile(v, 2)
np.repeat(v, 2)
np.reshape(v, (3, 1))
np.ravel(v)
np.squeeze(v)
np.atleast_2d(v)
np.expand_dims(v, 0)
np.broadcast_to(v, (2, 3))
np.broadcast_arrays(v, 1.0)[0]
np.pad(v, 1)
np.pad(W, 1, constant_values=v[0])
np.full((2, 3), v)
np.full_like(W, v)
np.diag(v)
np.vander(v)
np.meshgrid(v, [1.0, 2.0])[0]
np.triu(np.outer(v, WL))
np.unique(v)
np.nan_to_num(v)
np.real(v)
np.real_if_close(v)
np.abs(np.fft.rfft(v))
np.linalg.solve(np.eye(3) * 2, v)
np.linalg.lstsq(np.eye(3) * 2, v, rcond=None)[0]
np.polyfit(WL, v, 1)
np.poly1d(v)(2.0)
np.polynomial.Polynomial(v)(2.0)
np.linspace(v[0], v[1], 4)
np.linspace(v, W, 3)
np.arange(v[0], 2.0, 0.5)
np.logspace(v[0], 1.0, 3)
np.choose([0, 1, 0], [v, WL])
np.compress([True, False, True], v)
np.extract([True, False, True], v)
np.rot90(np.atleast_2d(v))
np.apply_along_axis(lambda r: r * r, 0, np.asarray(v))
np.vectorize(lambda q: q * q)(v)
np.add.reduce(v)
np.multiply.reduce(v)
np.add.accumulate(v)
np.multiply.outer(v, WL)
np.add.reduceat(v, [0, 2])
math.fsum(v)
math.prod(v)
math.dist(v, WL)
math.hypot(*v)
sum(v)
max(v)
sorted(v)
list(reversed(v))
statistics.fmean(v)
statistics.mean(v)
statistics.pstdev(v)
statistics.median(v)
list(statistics.linear_regression(WL, v))
functools.reduce(operator.mul, v)
list(itertools.accumulate(v))
[p * q for p, q in zip(v, WL)]
list(map(operator.mul, v, WL))
heapq.nsmallest(2, v)
scipy.special.logsumexp(v)
scipy.special.softmax(v)
scipy.special.erf(v)
scipy.integrate.simpson(v)
scipy.integrate.trapezoid(v)
scipy.interpolate.CubicSpline(WL, v)(1.3)
scipy.linalg.toeplitz(v)
scipy.linalg.solve(np.eye(3) * 2, v)
scipy.linalg.block_diag(v, [1.0])
y = np.zeros(3); y[:] = v; y
y = np.zeros(5); y[[0, 2, 4]] = v; y
y = np.zeros(5); y[np.array([True, False, True, False, True])] = v; y
y = np.ones(3); y += v; y
y = np.ones(3); y *= v; y
r = [1.0]; r.extend(v); r
r = [1.0]; r += list(v); r
r = [1.0, 5.0]; r[1:] = v; r
y = np.zeros(4); np.put(y, [0, 1, 3], v); y
y = np.zeros(3); np.copyto(y, v); y
y = np.zeros(3); np.place(y, y < 1, v); y
y = np.zeros((1, 3)); np.put_along_axis(y, np.array([[0, 1, 2]]), np.reshape(v, (1, 3)), 1); y
y = np.zeros(2); np.add.at(y, [0, 1, 0], v); y
y = np.zeros(3); y.flat = v; y
y = np.zeros((3, 3)); np.fill_diagonal(y, v); y
[*v, 1.0]
(lambda p, q, r: p * q * r)(*v)
list(dict(zip('abc', v)).values())
np.array(list(dict(zip('abc', v)).values()))
np.fromiter(v, float)
np.fromiter((q * 2 for q in v), float)
np.array([[q * r for q in v] for r in WL])
np.array([np.asarray(v), W])
np.array([v[0], 2, True, v[2]])
np.asarray(v).tolist()
np.asarray(v).item(1)
float(np.asarray(v)[0])
np.abs(np.asarray(v, complex) * 1j)
np.mean(a=v)
np.sum([v, WL], axis=0)
np.max([v, WL], axis=0)
np.dot([v, WL], W)
np.float64(2.0) * np.asarray(v)
np.float64(2.0) * v
np.array(2.0) * v
np.float64(1.0) - v
W / np.array(v)
np.asarray(v) * (W > v)
np.sign(v) * W
np.asarray(v) * np.isclose(v, 0.3)
""".strip().splitlines()

HEADER = """
import collections
import functools
import heapq
import itertools
import math
import operator
import statistics

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.special

W = np.array([1.0, 2.0, 3.0])
WL = [1.0, 2.0, 3.0]


class Items(collections.abc.Sequence):
    def __init__(self, values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, k):
        return self.values[k]


class List(list):
    pass


class Tuple(tuple):
    pass


def weighted(found):
    found = np.ravel(np.asarray(found))
    return np.sum(found * np.arange(1.0, found.size + 1.0))
"""


def program(number: int, form: str, function: str) -> str:
    """Return the text of a function of an array."""
    *before, last = function.split("; ")
    lines = [f"v = {form}", *before, f"return weighted({last})"]
    return f"def f{number}(a):\n" + "".join(f"    {line}\n" for line in lines)


def module(every: int = 1, start: int = 0) -> tuple[str, dict[str, str]]:
    """Return the text of a module, and what each of its functions is, by name.

    Of the functions with their forms, one in ``every`` is taken.
    """
    pairs = [(form, function) for function in FUNCTIONS for form in FORMS][start::every]
    names = {f"f{k}": f"{function} of v = {form}" for k, (form, function) in enumerate(pairs)}
    texts = [program(k, *pair) for k, pair in enumerate(pairs)]
    return "\n\n".join([HEADER, *texts]), names
