"""Programs over lists of numbers and of tuples, for the differential test of the backends."""

from __future__ import annotations

import math

import numpy as np


def grows(x, n):
    xs = [x]
    for _ in range(n):
        xs.append(math.sin(xs[-1]) * x)
    return sum(xs)


def grows_and_shrinks(x, n):
    xs = [x, 2.0 * x]
    for i in range(n):
        xs.append(xs[-1] * x + xs[0])
        if i % 3 == 2:
            total = xs.pop() + xs.pop()
            xs.append(total * 0.5)
        if len(xs) > 4:
            xs.pop(0)
    return xs[-1] * xs[0] + len(xs)


def prefix(values, n):
    sums = [0.0] * (len(values) + 1)
    for i in range(len(values)):
        sums[i + 1] = sums[i] + values[i] * values[i]
    return sums[n] - sums[0] + max(sums) * min(values)


def exchanged(values):
    a = list(values)
    for end in range(len(a) - 1, 0, -1):
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
    return a[0] * a[-1] + a[len(a) // 2]


def replaced(values, n):
    row = [1.0]
    for k in range(n):
        longer = [1.0]
        for i in range(len(row) - 1):
            longer.append(row[i] * values[k % len(values)] + row[i + 1])
        longer.append(row[-1] * values[0])
        row = longer
    return sum(row)


def turns(x, n):
    left, right = [x], [x * x, 1.0]
    for i in range(n):
        left, right = right, left
        left.append(right[0] * x + i)
    return sum(left) * 2.0 + sum(right)


def pairs(x, n):
    points = []
    for i in range(n):
        points.append((x * i, math.cos(x + i)))
    length = 0.0
    for i in range(1, len(points)):
        a, b = points[i]
        length += math.hypot(a - points[i - 1][0], b - points[i - 1][1])
    return length


def polygon(points):
    area = 0.0
    for (x, y), (u, v) in zip(points, points[1:] + points[:1], strict=False):
        area += x * v - u * y
    return 0.5 * abs(area)


def chosen(values, counts):
    kept = [v * c for v, c in zip(values, counts, strict=False) if c > 1]
    others = [v for v in kept if v > 0.5] + [0.25]
    return sum(kept) * others[-1] + sum(sorted(values)[:2]) + sum(counts)


def horner(c, x):
    total = 0.0
    for a in reversed(c):
        total = total * x + a
    return total


def either(values, flag):
    xs = []
    if flag > 1:
        xs = [v * v for v in values]
    else:
        for v in values:
            xs.append(v + 1.0)
    xs.append(2.0)
    return sum(xs) * xs[0]


def nested(values, n):
    best = list(values)
    for _ in range(n):
        following = best[:]
        for i in range(len(best)):
            for j in range(i):
                following[i] = max(following[i], best[j] * 0.9 + values[i])
        best = following
    return best[-1]


def by_quaternion(q, v):
    w, x, y, z = q
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    total = 0.0
    for i in range(len(v)):
        total += v[i] * (w - x * y + z) / norm
    return total


def of_arrays(x, n):
    seen = []
    for i in range(n):
        x = x * 0.9
        seen.append(np.sum(x * x) + i)
    return np.max(np.array(seen)) * seen[0]


def unpacks(values):
    total = 0.0
    for k in range(len(values) - 2):
        a, b, c = values[k : k + 3]
        total += a * b - c
    return total


def sorted_by_insertion(x):
    a = list(x)
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    total = 0.0
    for i, v in enumerate(a):
        total += i * v
    return total


VALUES = [0.5, -1.25, 2.0, 0.75, 3.5]
PROGRAMS = {
    grows: (0.7, 9), grows_and_shrinks: (0.9, 11), prefix: (VALUES, 3), exchanged: (VALUES,),
    replaced: (VALUES, 6), turns: (0.6, 5), pairs: (0.3, 7),
    polygon: ([(0.0, 0.5), (2.0, 0.25), (1.5, 3.0), (-0.5, 1.0)],),
    chosen: (VALUES, [1, 2, 3, 0, 5]), horner: (VALUES, 0.7), either: (VALUES, 2),
    nested: (VALUES, 3), by_quaternion: ((1.0, 0.5, -0.25, 2.0), [0.5, 2.0]),
    of_arrays: (np.linspace(0.1, 1.0, 4), 5), unpacks: (VALUES,),
    sorted_by_insertion: (np.array([2.0, -1.0, 0.5, 3.0, 0.25]),),
}
