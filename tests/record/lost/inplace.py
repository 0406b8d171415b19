"""Writes that C code makes, layouts of memory, and views that nobody announced."""

from __future__ import annotations

import bisect
import heapq
import operator
import random

import numpy as np
import scipy.linalg
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.record.lost import Program

W = np.array([1.0, 2.0, 3.0, 4.0])


def shuffled(a):
    y = a * a
    np.random.seed(3)
    np.random.shuffle(y)
    return y @ W


def shuffled_by_a_generator(a):
    y = np.outer(a, a)
    rng = np.random.default_rng(0)
    rng.shuffle(y)
    return W @ rng.permutation(y[0]) + W @ rng.permuted(a)


def list_shuffled(a):
    row = list(a * a)
    random.Random(1).shuffle(row)
    return sum(w * v for w, v in zip(W, row, strict=True)) + random.Random(2).choice(row)


def drawn_with_a_mean(x):
    rng = np.random.default_rng(0)
    return rng.normal(x, 2.0) + rng.uniform(x, 2.0 * x) + random.Random(0).gauss(x, x)


def list_sorted_in_place(a):
    row = [v * v for v in a]
    row.sort(reverse=True)
    row.reverse()
    return sum(w * v for w, v in zip(W, row, strict=True))


def array_sorted_in_place(a):
    y = -a * a
    y.sort()
    z = (a * 2.0).reshape(2, 2)
    z.sort(axis=0)
    return y @ W + z[0] @ [1.0, 3.0]


def partitioned_in_place(a):
    y = -a * a
    y.partition(1)
    return y[1] * 3.0 + np.sum(np.partition(a, 2)[:2])


def heap_of_floats(a):
    heap = []
    for v in a:
        heapq.heappush(heap, (v * v, v))
    low, root = heapq.heappop(heap)
    return low * root + heapq.heapreplace(heap, (root, low))[1] + heap[0][1]


def insort_of_floats(x):
    row = [0.1, 0.9]
    bisect.insort(row, x)
    bisect.insort_left(row, x * x)
    return row[1] * row[2] * row[3]


def put_and_place(a):
    y = a * 1.0
    np.put(y, [0, 3], [a[1], 2.0])
    np.place(y, y > 1.0, a[:2])
    np.putmask(y, [False, True, False, False], y * y)
    np.copyto(y, a[0], where=[False, False, True, False])
    return y @ W


def fill_diagonal_and_put_along(a):
    m = np.outer(a, a)
    np.fill_diagonal(m, a[1] * 3.0)
    np.put_along_axis(m, np.array([[1], [0], [0], [2]]), a[:, None] * 2.0, axis=1)
    return W @ m @ W


def ufunc_at(a):
    y = a * 1.0
    np.add.at(y, [0, 0, 1], a[1:] * 2.0)
    np.multiply.at(y, [2, 2], 3.0)
    np.negative.at(y, [3])
    return y @ W


def out_and_where(a):
    y = np.ones(4)
    np.multiply(a, a, out=y, where=a > 0.4)
    np.add(y[1:], y[:-1], y[1:])
    np.cumsum(y, out=y)
    return y @ W


def out_of_reductions(a):
    out = np.zeros(2)
    m = a.reshape(2, 2)
    np.sum(m * m, axis=0, out=out)
    total = out @ [1.0, 2.0]
    np.matmul(m, m, out=m[:] * 1.0)
    m.dot(out, out=out)
    np.clip(out, 0.0, 10.0, out=out)
    return total + out @ [3.0, 1.0]


def einsum_into_a_view(a):
    y = np.zeros((2, 4))
    np.einsum("i,i->i", a, a, out=y[1])
    return y.sum(axis=0) @ W + np.take(a, [0, 1], out=np.empty(2)).sum()


def nan_to_num_in_place(a):
    y = a * a
    y[0] = np.nan
    np.nan_to_num(y, copy=False, nan=2.0)
    return y @ W


def overwrites_of_scipy(a):
    m = np.diag(a) + 0.1
    b = a * a
    x = scipy.linalg.solve(m, b, overwrite_a=True, overwrite_b=True)
    return x @ W


def resized_in_place(a):
    y = a * a
    y.resize((2, 3), refcheck=False)
    y[1, 2] = a[0]
    return np.sum(y * y)


def shape_is_assigned(a):
    y = a * a
    view = y[:]
    y.shape = (2, 2)
    y[0, 1] = 0.0
    return view @ W + y[1, 0]


def flat_is_assigned(a):
    m = np.outer(a, a)
    m.flat = a
    m.flat[5:7] = [a[0], 1.0]
    m.flat[[0, 15]] *= 2.0
    return W @ m @ W


def parts_of_complex_are_written(a):
    z = a + 1j * a
    z.real = a * a
    z.imag[1] = 3.0 * a[0]
    z.real[2:] += 1.0
    return np.sum(np.abs(z) ** 2)


def windows_that_overlap(a):
    y = a * a
    pairs = as_strided(y, (3, 2), (8, 8))
    y[1] = 2.0
    windows = sliding_window_view(y, 2)
    return np.sum(pairs * [1.0, 3.0]) + np.sum(windows ** 2)


def write_through_strides(a):
    y = a * a
    diagonal = as_strided(y, (2,), (16,))
    diagonal[...] = a[1]
    diagonal *= 3.0
    return y @ W


def broadcast_and_summed(a):
    rows = np.broadcast_to(a * a, (3, 4))
    p, q = np.broadcast_arrays(a[:, None], a)
    return np.sum(rows * np.arange(3.0)[:, None]) + np.sum(p * q)


def negative_strides(a):
    y = a * a
    back = y[::-1]
    back[:2] = a[:2]
    y[::-2] += back[:2]
    return y @ W


def view_kept_in_a_container(a):
    y = a * a
    kept = {"rows": [y[:2], (y[2:],)]}
    y *= 2.0
    kept["rows"][0][0] = y[3]
    kept["rows"][1][0][...] += a[0]
    return y @ W


def overlapping_shift(a):
    y = a * a
    y[1:] = y[:-1]
    y[:-1] += y[1:]
    y[[0, 1]] = y[[1, 0]]
    return y @ W


def rows_swapped_by_views(a):
    m = np.outer(a, W)
    m[0], m[1] = m[1], m[0]
    m[2], m[3] = m[3].copy(), m[2].copy()
    return W @ m @ W


def in_place_through_names(a):
    y = z = a * 1.0
    z *= z
    operator.imul(y, 2.0)
    y.__iadd__(a)
    np.ndarray.__setitem__(z, 1, a[0])
    operator.setitem(y, slice(2, 3), a[1:2])
    return y @ W


def transposed_in_place(a):
    m = np.outer(a, W)
    t = m.T
    t[0] *= a
    np.swapaxes(m, 0, 1)[1, :] = 2.0
    m.ravel()[5] = a[3]
    m.reshape(2, 8)[1, 7] = a[2]
    return W @ m @ W


def zero_dimensional(a):
    s = np.array(a[0])
    s[...] = a[1] * a[1]
    s += a[2]
    view = a[3, ...]
    t = s[()] * view
    s[()] = 1.0
    return t + s * a[0] + np.squeeze(a[:1]) * 2.0


def mask_in_steps(a):
    y = a * 1.0
    big = y > 0.4
    y[big] *= y[big]
    y[~big] = a[3]
    y[np.flatnonzero(big)[:1]] += 5.0 * a[0]
    return y @ W


def integers_that_take_floats(a):
    n = np.arange(4)
    n[0] = 7.9 * a[0]
    y = n * a
    np.add(n, a, out=n, casting="unsafe")
    return y @ W + np.sum(n) * a[1]


def compressed_and_chosen(a):
    low = np.compress([True, False, True, False], a)
    picked = np.choose([0, 1, 1, 0], [a, a * a])
    parts = np.select([a < 0.4, a > 0.6], [a * 2.0, a ** 3], default=a[1] * 7.0)
    return np.sum(low) + picked @ W + parts @ W


def joined_and_split(a):
    left, right = np.split(a * a, 2)
    left *= 2.0
    m = np.r_[left, a[0], right]
    n = np.c_[left, right]
    o = np.block([[n, n * 2.0], [n, np.ones((2, 2))]])
    return np.sum(m * np.arange(5)) + np.sum(n @ n) + np.sum(o)


def list_that_takes_an_array(a):
    row = [1.0]
    row += a
    row[1:3] = a[2:] * 2.0
    row *= 2
    return sum(k * v for k, v in enumerate(row))


A = np.array([0.3, 0.5, 0.7, 1.1])
PROGRAMS = [
    Program(name.replace("_", " "), function, args, None, step=1e-3)
    for name, function, args in [
        ("np.random.shuffle", shuffled, (A,)),
        ("shuffle of a generator", shuffled_by_a_generator, (A,)),
        ("random.shuffle", list_shuffled, (A,)),
        ("draws with a mean", drawn_with_a_mean, (0.7,)),
        ("list.sort", list_sorted_in_place, (A,)),
        ("ndarray.sort", array_sorted_in_place, (A,)),
        ("partition", partitioned_in_place, (A,)),
        ("heapq", heap_of_floats, (A,)),
        ("bisect.insort", insort_of_floats, (0.7,)),
        ("put, place, putmask, copyto", put_and_place, (A,)),
        ("fill_diagonal and put_along_axis", fill_diagonal_and_put_along, (A,)),
        ("ufunc.at", ufunc_at, (A,)),
        ("out and where", out_and_where, (A,)),
        ("out of reductions", out_of_reductions, (A,)),
        ("out of einsum", einsum_into_a_view, (A,)),
        ("nan_to_num in place", nan_to_num_in_place, (A,)),
        ("overwrite_b", overwrites_of_scipy, (A,)),
        ("resize", resized_in_place, (A,)),
        ("shape is assigned", shape_is_assigned, (A,)),
        ("flat is assigned", flat_is_assigned, (A,)),
        ("real and imag are written", parts_of_complex_are_written, (A,)),
        ("windows that overlap", windows_that_overlap, (A,)),
        ("a write through strides", write_through_strides, (A,)),
        ("broadcast_to", broadcast_and_summed, (A,)),
        ("negative strides", negative_strides, (A,)),
        ("views in a container", view_kept_in_a_container, (A,)),
        ("an overlapping shift", overlapping_shift, (A,)),
        ("rows swapped by views", rows_swapped_by_views, (A,)),
        ("in-place operators under two names", in_place_through_names, (A,)),
        ("transposed and raveled views", transposed_in_place, (A,)),
        ("arrays of no dimension", zero_dimensional, (A,)),
        ("masks", mask_in_steps, (A,)),
        ("integers that take floats", integers_that_take_floats, (A,)),
        ("choose and select", compressed_and_chosen, (A,)),
        ("split and joined", joined_and_split, (A,)),
        ("a list that takes an array", list_that_takes_an_array, (A,)),
    ]
]
