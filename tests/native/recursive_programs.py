"""Functions that call themselves, or one another, with arguments for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def tree(x: float, n: int) -> float:
    return x if n == 0 else math.sin(tree(x, n - 1)) + tree(x * 0.5, n - 1)


def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    if n % 2:
        return x * power(x, n - 1)
    half = power(x, n // 2)
    return half * half


def bell(x: float) -> float:
    return math.exp(-x * x)


def simpson(a: float, b: float, eps: float, depth: int) -> float:
    c = 0.5 * (a + b)
    whole = (b - a) / 6 * (bell(a) + 4 * bell(c) + bell(b))
    left = (c - a) / 6 * (bell(a) + 4 * bell(0.5 * (a + c)) + bell(c))
    right = (b - c) / 6 * (bell(c) + 4 * bell(0.5 * (c + b)) + bell(b))
    if depth <= 0 or abs(left + right - whole) < 15 * eps:
        return left + right
    return simpson(a, c, eps / 2, depth - 1) + simpson(c, b, eps / 2, depth - 1)


def horner(c: np.ndarray, x: float, i: int) -> float:
    return 0.0 if i == len(c) else c[i] + x * horner(c, x, i + 1)


def even(x: float, n: int) -> float:
    return x if n == 0 else odd(x * 1.5, n - 1) + 1.0


def odd(x: float, n: int) -> float:
    return 2 * x if n == 0 else math.sin(even(x, n - 1))


def first(x: float, n: int) -> float:
    """Calls itself, and another function that does, which calls it: two of them in turn."""
    if n <= 0:
        return x
    return second(x * 1.1, n - 1) + math.sin(first(x, n - 2))


def second(x: float, n: int) -> float:
    if n <= 0:
        return x * x
    return first(x + 0.1, n - 1) * 0.5 - second(x * 0.9, n - 2)


def halves(x: np.ndarray) -> float:
    n = len(x)
    if n == 1:
        return x[0]
    return math.sin(halves(x[: n // 2])) * halves(x[n // 2 :])


def every_other(x: np.ndarray) -> float:
    """Gives parts in another order of memory to itself."""
    if len(x) <= 1:
        return np.sum(x)
    return every_other(x[::2]) * 0.5 + math.cos(every_other(x[1::2]))


def scaled(x: np.ndarray, n: int) -> np.ndarray:
    if n == 0:
        return x
    return np.sqrt(scaled(x * 0.5, n - 1)) + x


def sum_of_scaled(x: np.ndarray, n: int) -> float:
    return np.sum(scaled(x, n) * x)


def walk(x: np.ndarray, i: int, n: int) -> float:
    """Calls itself in a loop, which keeps what the calls keep."""
    total = x[i % len(x)] ** 2
    if n == 0:
        return total
    for k in range(1, 4):
        total += math.cos(walk(x, i * 3 + k, n - 1)) * x[(i + k) % len(x)]
    return total


def while_it_can(x: float, n: int) -> float:
    total, k = 0.0, n
    while k > 0:
        k -= 2
        total += x * while_it_can(x * 0.5, k)
    return total + x


def in_a_loop(x: np.ndarray, n: int) -> float:
    total = 0.0
    for i in range(n):
        for a in x:
            total += power(a + i, i) * a + sum_of_scaled(x * a, i)
    return total


def one_in_another(x: float, n: int) -> float:
    return power(x, 3) if n == 0 else power(x, n) * one_in_another(x, n - 1)


def ackermann(x: float, m: int, n: int) -> float:
    if m == 0:
        return x + n
    if n == 0:
        return ackermann(x, m - 1, 1) * 0.5
    return ackermann(x * 0.99, m - 1, 1) + 0.25 * ackermann(x, m, n - 1)


def collatz(x: float, n: int, steps: int) -> float:
    if n == 1:
        return x + steps
    if n % 2 == 0:
        return collatz(x * 1.01, n // 2, steps + 1)
    y = collatz(x, 3 * n + 1, steps + 1)
    return y * x if steps % 3 else y - x


def by_flags(x: float, up: bool, n: int) -> float:
    if n == 0:
        return x
    y = by_flags(x * 1.1, not up, n - 1)
    return y + 1 if up else y * y


def matrix_power(a: np.ndarray, n: int) -> np.ndarray:
    if n == 0:
        return np.eye(2)
    if n % 2:
        return a @ matrix_power(a, n - 1)
    half = matrix_power(a, n // 2)
    return half @ half


def sum_of_power(a: np.ndarray, n: int) -> float:
    return np.sum(matrix_power(a, n))


def masked(x: np.ndarray, k: int) -> float:
    mask = x > 0.3 * k
    if k == 4 or not np.any(mask):
        return np.sum(x)
    return masked(np.where(mask, x * 0.9, x + 0.2), k + 1) * 1.5


def root(x: float, of: float, n: int) -> float:
    error = x * x - of
    if abs(error) < 1e-12 or n > 30:
        return x
    return root(x - error / (2 * x), of, n + 1)


def squares(c: np.ndarray, x: float, i: int) -> float:
    return 0.0 if i == len(c) else c[i] * c[i] + x * squares(c, x, i + 1)


def written_behind(x: np.ndarray) -> float:
    """Writes into an array that a call has read, and kept as it was."""
    a = x * 1.0
    total = squares(a, 0.5, 0)
    a[1] = total * a[0]
    more = squares(a, 0.3, 0)
    a[1] = more
    a *= 2.0
    return squares(a, 0.1, 0) * total


def written_in_a_loop(x: np.ndarray) -> float:
    a = x * 1.0
    total = 0.0
    for i in range(3):
        a[i] = a[i] * 0.5
        total += squares(a, 0.5, 0) * a[i]
        a[i] = a[i] * math.cos(total)
    a[0] = total
    return a[0] * a[1]


def exchanged(x: np.ndarray) -> float:
    u, v = x * 1.0, x * 2.0
    total = 0.0
    for _ in range(4):
        total += squares(u, 0.3, 1)
        u, v = v, u
        v[0] = total
        if total > 3:
            u[1] = squares(v, 0.1, 0) * 0.1
    return total + np.sum(u) * v[1]


def swapped(x: np.ndarray, y: np.ndarray, n: int) -> float:
    """Hands the arrays on that it keeps, in another order."""
    if n == 0:
        return x[0] * y[1]
    return swapped(y, x * 0.5, n - 1) + np.sum(x * y) * x[n % len(x)]


def with_loops(x: np.ndarray, n: int) -> float:
    """Keeps a range where it goes on, and nothing where it does not."""
    if n == 0:
        return x[0] * x[1]
    total = squares(x, 0.2, 0)
    y = x.copy()
    for i in range(len(y)):
        y[i] = math.sin(y[i] * total)
        total += squares(y, 0.4, i)
    return with_loops(y, n - 1) + total


def filling(a: np.ndarray, x: float, i: int) -> float:
    if i == len(a):
        return x
    a[i] = x * x + i
    return filling(a, x * 0.9, i + 1) + a[i]


def sum_of_filled(x: float, n: int) -> float:
    """Has its array written into by calls."""
    a = np.zeros(n)
    total = filling(a, x, 0)
    return total + np.sum(a * a)


def in_lists(x: float, n: int) -> float:
    items = []
    for i in range(n):
        items.append(x * i + in_lists(x * 0.5, i))
    total = 0.0
    for item in items:
        total += math.sin(item) * item
    return total + x


def nodes(x: np.ndarray, kids: np.ndarray, i: int) -> float:
    """Goes through a tree that stands in arrays."""
    if i < 0:
        return 0.0
    left, right = nodes(x, kids, kids[i, 0]), nodes(x, kids, kids[i, 1])
    return x[i] * (1.0 + left * right) + left


def minors(a: np.ndarray) -> float:
    if a.shape[0] == 1:
        return a[0, 0]
    rest = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return a[0, 0] * minors(rest)


def by_masks(x: np.ndarray, flags: np.ndarray, i: int) -> float:
    if i == len(x):
        return 1.0
    rest = by_masks(x, flags, i + 1)
    return rest * x[i] if flags[i] else rest + math.sqrt(x[i])


def pairs(x: float, n: int) -> tuple[float, float]:
    if n == 0:
        return x, 1.0
    a, b = pairs(x * 0.9, n - 1)
    return a * b + x, b + a * 0.1


def product_of_pairs(x: float, n: int) -> float:
    a, b = pairs(x, n)
    return a * b


def prefixes(x: np.ndarray) -> np.ndarray:
    n = len(x)
    if n == 1:
        return x
    a, b = prefixes(x[: n // 2]), prefixes(x[n // 2 :])
    return np.concatenate((a * b[-1], b + a[-1]))


def sum_of_prefixes(x: np.ndarray) -> float:
    return np.sum(prefixes(x) * x)


def transformed(re: np.ndarray, im: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives the Fourier transform of as many numbers as a power of two is."""
    n = len(re)
    if n == 1:
        return re, im
    even_re, even_im = transformed(re[::2], im[::2])
    odd_re, odd_im = transformed(re[1::2], im[1::2])
    c, s = np.zeros(n // 2), np.zeros(n // 2)
    for k in range(n // 2):
        c[k], s[k] = math.cos(-2 * math.pi / n * k), math.sin(-2 * math.pi / n * k)
    a, b = c * odd_re - s * odd_im, c * odd_im + s * odd_re
    return (np.concatenate((even_re + a, even_re - a)),
            np.concatenate((even_im + b, even_im - b)))


def spectrum(x: np.ndarray) -> float:
    re, im = transformed(x, np.zeros_like(x))
    return np.sum((re * re + im * im) * x)


X = np.arange(1.0, 7.0) / 5
PROGRAMS: dict[Any, tuple[Any, ...]] = {
    tree: (0.5, 7),
    power: (1.1, 13),
    simpson: (0.1, 2.0, 1e-6, 12),
    horner: (X, 0.5, 0),
    even: (0.4, 9),
    first: (0.3, 6),
    halves: (X,),
    every_other: (X,),
    sum_of_scaled: (X, 3),
    walk: (X, 0, 3),
    while_it_can: (0.7, 7),
    in_a_loop: (X, 4),
    one_in_another: (1.1, 4),
    ackermann: (0.7, 2, 2),
    collatz: (1.1, 7, 0),
    by_flags: (0.9, True, 4),
    sum_of_power: (np.array([[1.0, 0.5], [0.25, 0.125]]), 5),
    masked: (X, 0),
    root: (1.0, 2.0, 0),
    written_behind: (X,),
    written_in_a_loop: (X,),
    exchanged: (X,),
    swapped: (X, X[::-1].copy(), 5),
    with_loops: (X, 2),
    sum_of_filled: (0.8, 4),
    in_lists: (0.4, 4),
    nodes: (X, np.array([[1, 2], [3, 4], [-1, -1], [-1, -1], [-1, -1]]), 0),
    minors: (np.array([[2.0, 1.0, 0.5], [0.3, 1.5, 0.2], [0.1, 0.4, 1.2]]),),
    by_masks: (X, X > 0.7, 0),
    product_of_pairs: (0.8, 5),
    sum_of_prefixes: (X,),
    spectrum: (np.cos(np.arange(8.0)),),
}
