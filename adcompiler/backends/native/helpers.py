"""Functions that printed loops call: sums added as NumPy adds, extremes, products of matrices."""

from __future__ import annotations

import re
from collections.abc import Iterable

RESERVED = '''
@compiled
def reserved(tape, size, ahead):
    """Return a tape with room for `size` numbers, and for those ahead; it keeps what was on it."""
    longer = np.empty(max(size, 2 * tape.size) + min(max(ahead, 0), 4194304), tape.dtype)
    for at in range(tape.size):
        longer[at] = tape[at]
    return longer
'''
RESERVED_OF_EACH = '''
@compiled
def reserved_of_each(tape, size, ahead):
    """Return a tape of many seeds with room for `size` rows, and for those ahead."""
    ahead = min(max(ahead, 0), 1048576 // max(tape.shape[1], 1))
    longer = np.empty((max(size, 2 * tape.shape[0]) + ahead, tape.shape[1]))
    for at in range(tape.shape[0]):
        for seed in range(tape.shape[1]):
            longer[at, seed] = tape[at, seed]
    return longer
'''
BLOCK_SUM = '''
@compiled
def block_sum(values, start, stop):
    """Return the sum of at most 128 numbers, added in the order in which NumPy adds."""
    last = stop - (stop - start) % 8
    total = -0.0
    if last > start:
        r0, r1, r2, r3 = values[start], values[start + 1], values[start + 2], values[start + 3]
        r4, r5, r6, r7 = values[start + 4], values[start + 5], values[start + 6], values[start + 7]
        for i in range(start + 8, last, 8):
            r0 += values[i]
            r1 += values[i + 1]
            r2 += values[i + 2]
            r3 += values[i + 3]
            r4 += values[i + 4]
            r5 += values[i + 5]
            r6 += values[i + 6]
            r7 += values[i + 7]
        total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(last, stop):
        total += values[i]
    return total
'''
PAIRWISE_SUM = '''
@compiled
def pairwise_sum(values, first, end):
    """Return the sum of a part of a flat array: halves of it are summed apart, as NumPy does."""
    if end - first <= 128:
        return 0.0 + block_sum(values, first, end)
    starts, sizes = np.zeros(64, np.int64), np.zeros(64, np.int64)
    lefts, has_left = np.zeros(64), np.zeros(64, np.bool_)
    starts[0], sizes[0] = first, end - first
    top, total = 1, 0.0
    while top > 0:
        here = top - 1
        start, size = starts[here], sizes[here]
        if size > 128:
            has_left[here] = False
            starts[top], sizes[top] = start, size // 2 - size // 2 % 8
            top += 1
            continue
        total = block_sum(values, start, start + size)
        top -= 1
        while top > 0 and has_left[top - 1]:
            total = lefts[top - 1] + total
            top -= 1
        if top > 0:
            here = top - 1
            lefts[here], has_left[here] = total, True
            half = sizes[here] // 2 - sizes[here] // 2 % 8
            starts[top], sizes[top] = starts[here] + half, sizes[here] - half
            top += 1
    return 0.0 + total
'''
SUM_IN_A_ROW = '''
@compiled
def sum_in_a_row(values, first, end):
    """Return the sum of a part of a flat array as `pairwise_sum` does, at once if it is short."""
    if end - first > 128:
        return pairwise_sum(values, first, end)
    return 0.0 + block_sum(values, first, end)
'''
TOTAL_SUM = '''
@compiled
def total_sum(values):
    """Return the sum of a flat array."""
    return pairwise_sum(values, 0, values.size)
'''
SUMS_ALONG = '''
@compiled
def sums_along(values, outer, count, inner):
    """Return sums of a flat array of shape (outer, count, inner) along its middle axis."""
    sums = np.zeros(outer * inner)
    for i in range(outer):
        if inner == 1:
            sums[i] = pairwise_sum(values, i * count, (i + 1) * count)
            continue
        for k in range(count):
            for j in range(inner):
                sums[i * inner + j] += values[(i * count + k) * inner + j]
    return sums
'''
SUMS_OF_EACH = '''
@compiled
def sums_of_each(values, seeds):
    """Return the sums of a flat array of shape (count, seeds), one for each seed."""
    return sums_along(values, 1, values.size // seeds, seeds)
'''
WHOLE_SUMS_ALONG = '''
@compiled
def whole_sums_along(values, outer, count, inner):
    """Return sums of a flat array of integers or truth values along its middle axis."""
    sums = np.zeros(outer * inner, np.int64)
    for i in range(outer):
        for k in range(count):
            for j in range(inner):
                sums[i * inner + j] += values[(i * count + k) * inner + j]
    return sums
'''
EXTREMES = '''
@compiled
def {name}_along(values, outer, count, inner):
    """Return the {name} of a flat array of shape (outer, count, inner) along its middle axis."""
    found = np.empty(outer * inner, values.dtype)
    for i in range(outer):
        for j in range(inner):
            best = values[i * count * inner + j]
            for k in range(1, count):
                value = values[(i * count + k) * inner + j]
                if value {sign} best or value != value:
                    best = value
            found[i * inner + j] = best
    return found
'''
EXTREME = '''
@compiled
def {name}(values, first, end):
    """Return the {name} of the numbers from `first` to before `end`: no number if one is none."""
    best = values[first]
    for i in range(first + 1, end):
        value = values[i]
        if value {sign} best or value != value:
            best = value
    return best
'''
PLACES = '''
@compiled
def place_of_{name}_along(values, outer, count, inner):
    """Return where the {name} stands, the first of equal ones, along the middle axis."""
    found = np.zeros(outer * inner, np.int64)
    for i in range(outer):
        for j in range(inner):
            best = values[i * count * inner + j]
            for k in range(1, count):
                value = values[(i * count + k) * inner + j]
                if best == best and (value {sign} best or value != value):
                    best = value
                    found[i * inner + j] = k
    return found
'''
MATRIX_PRODUCT = '''
@compiled
def matrix_product(a, b):
    """Return the product of two matrices: by loops if it is small, else by BLAS."""
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    if rows * inner * columns > 4096:
        return np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))
    product = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            factor = a[i, k]
            for j in range(columns):
                product[i, j] += factor * b[k, j]
    return product
'''
TURNED_TIMES = '''
@compiled
def turned_times(a, b):
    """Return the product of the transpose of a matrix and a matrix as `matrix_product` does."""
    rows, inner, columns = a.shape[1], a.shape[0], b.shape[1]
    if rows * inner * columns > 4096:
        return np.dot(np.ascontiguousarray(a).T, np.ascontiguousarray(b))
    product = np.zeros((rows, columns))
    for k in range(inner):
        for i in range(rows):
            factor = a[k, i]
            for j in range(columns):
                product[i, j] += factor * b[k, j]
    return product
'''
TIMES_TURNED = '''
@compiled
def times_turned(a, b):
    """Return the product of a matrix and the transpose of one as `matrix_product` does."""
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[0]
    if rows * inner * columns > 4096:
        return np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b).T)
    product = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i, k] * b[j, k]
            product[i, j] = total
    return product
'''
STACKED_PRODUCT = '''
@compiled
def stacked_product(a, b):
    """Return the products of two stacks of matrices, each one as `matrix_product` does."""
    count, rows, inner, columns = a.shape[0], a.shape[1], a.shape[2], b.shape[2]
    product = np.empty((count, rows, columns))
    if inner == 1:
        for at in range(count):
            for i in range(rows):
                factor = a[at, i, 0]
                for j in range(columns):
                    product[at, i, j] = factor * b[at, 0, j]
        return product
    if columns == 1:
        for at in range(count):
            for i in range(rows):
                total = 0.0
                for k in range(inner):
                    total += a[at, i, k] * b[at, k, 0]
                product[at, i, 0] = total
        return product
    if rows * inner * columns > 1024:
        for at in range(count):
            np.dot(np.ascontiguousarray(a[at]), np.ascontiguousarray(b[at]), product[at])
        return product
    for at in range(count):
        for i in range(rows):
            for j in range(columns):
                product[at, i, j] = 0.0
            for k in range(inner):
                factor = a[at, i, k]
                for j in range(columns):
                    product[at, i, j] += factor * b[at, k, j]
    return product
'''
EXP_OF_EACH = '''
@inlined
def exp_of_each(x):
    """Return exp(x) by steps that compilers take for several numbers at once.

    It is 2**k exp(rest) with a short rest, whose exponential is a sum of powers; at most one unit
    in the last place is wrong.
    """
    x = 710.0 if x > 710.0 else x
    x = -746.0 if x < -746.0 else x
    k = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    rest = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    part = 1.6059043836821613e-10
    part = part * rest + 2.08767569878681e-09
    part = part * rest + 2.505210838544172e-08
    part = part * rest + 2.755731922398589e-07
    part = part * rest + 2.7557319223985893e-06
    part = part * rest + 2.48015873015873e-05
    part = part * rest + 0.0001984126984126984
    part = part * rest + 0.001388888888888889
    part = part * rest + 0.008333333333333333
    part = part * rest + 0.041666666666666664
    part = part * rest + 0.16666666666666666
    part = part * rest + 0.5
    part = 1.0 + (rest + rest * rest * part)
    half = 0.5 * k + 6755399441055744.0  # the last bits of such a number are those of an integer
    other = (k - (half - 6755399441055744.0)) + 6755399441055744.0
    one = of_bits((bits_of(half) << 52) + 4607182418800017408)
    two = of_bits((bits_of(other) << 52) + 4607182418800017408)
    return part * one * two
'''
TANH_OF_EACH = '''
@inlined
def tanh_of_each(x):
    """Return tanh(x) as `exp_of_each` is computed; at most two units in the last place are wrong.

    It is e / (e + 2) for e = exp(2 x) - 1.
    """
    twice = 2.0 * abs(x)
    twice = 60.0 if twice > 60.0 else twice
    k = (twice * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    rest = (twice - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    part = 1.6059043836821613e-10
    part = part * rest + 2.08767569878681e-09
    part = part * rest + 2.505210838544172e-08
    part = part * rest + 2.755731922398589e-07
    part = part * rest + 2.7557319223985893e-06
    part = part * rest + 2.48015873015873e-05
    part = part * rest + 0.0001984126984126984
    part = part * rest + 0.001388888888888889
    part = part * rest + 0.008333333333333333
    part = part * rest + 0.041666666666666664
    part = part * rest + 0.16666666666666666
    part = part * rest + 0.5
    part = rest + rest * rest * part
    power = of_bits((bits_of(k + 6755399441055744.0) << 52) + 4607182418800017408)
    part = power * part + (power - 1.0)
    part = part / (part + 2.0)
    return math.copysign(part, x)
'''
LOG_OF_EACH = '''
@inlined
def log_of_each(x):
    """Return log(x) by steps that compilers take for several numbers at once.

    It is k log(2) + log(1 + f) with f about zero, which is a sum of powers of f / (2 + f); at most
    one unit in the last place is wrong. Of what is not positive and finite it is no number.
    """
    small = x < 2.2250738585072014e-308
    bits = bits_of(18014398509481984.0 * x if small else x)
    k = of_bits((bits >> 52) | 4841369599423283200) - 4503599627371519.0
    k = k - 54.0 if small else k
    f = of_bits((bits & 4503599627370495) | 4607182418800017408)
    high = f > 1.4142135623730951
    f = (0.5 * f if high else f) - 1.0
    k = k + 1.0 if high else k
    share = f / (2.0 + f)
    square = share * share
    series = 0.08695652173913043
    series = series * square + 0.09523809523809523
    series = series * square + 0.10526315789473684
    series = series * square + 0.11764705882352941
    series = series * square + 0.13333333333333333
    series = series * square + 0.15384615384615385
    series = series * square + 0.18181818181818182
    series = series * square + 0.2222222222222222
    series = series * square + 0.2857142857142857
    series = series * square + 0.4
    series = series * square + 0.6666666666666666
    half = 0.5 * f * f
    found = half - (share * (half + series * square) + k * 1.9082149292705877e-10)
    found = k * 0.6931471803691238 - (found - f)
    return found if 0.0 < x < math.inf else math.nan
'''
MATRIX_TIMES = '''
@compiled
def matrix_times(a, x):
    """Return the product of a matrix and a vector; terms are added in order."""
    product = np.empty(a.shape[0])
    last = a.shape[0] - a.shape[0] % 4
    for i in range(0, last, 4):
        r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
        for k in range(a.shape[1]):
            r0 += a[i, k] * x[k]
            r1 += a[i + 1, k] * x[k]
            r2 += a[i + 2, k] * x[k]
            r3 += a[i + 3, k] * x[k]
        product[i], product[i + 1], product[i + 2], product[i + 3] = r0, r1, r2, r3
    for i in range(last, a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * x[k]
        product[i] = total
    return product
'''
LARGE_TIMES = '''
@compiled
def large_times(a, x):
    """Return the product of a large matrix and a vector, as BLAS computes it."""
    return np.dot(np.ascontiguousarray(a), np.ascontiguousarray(x).reshape((x.size, 1))).ravel()
'''
ROW_TIMES = '''
@compiled
def row_times(x, b):
    """Return the product of a vector and a matrix; terms are added in order."""
    product = np.zeros(b.shape[1])
    for k in range(b.shape[0]):
        for j in range(b.shape[1]):
            product[j] += x[k] * b[k, j]
    return product
'''
PRODUCTS_OF_EACH = '''
@compiled
def {name}(a, b):
    """Return products of {what}, the last axis of which counts seeds."""
    rows, inner, columns, seeds = a.shape[0], a.shape[1], b.shape[1], a.shape[2]
    product = np.zeros((rows, columns, seeds))
    for i in range(rows):
        for k in range(inner):
            for j in range(columns):
                for seed in range(seeds):
                    product[i, j, seed] += a[i, k, seed] * b[{places}]
    return product
'''
BLOCK_COUNT = '''
@compiled
def block_count(count, numbers):
    """Return in how many blocks a loop runs, each of which has so many numbers of its own."""
    return min(count, 64, max(1, 4194304 // max(numbers, 1)))
'''
BLOCK_BOUNDS = '''
@compiled
def block_bounds(start, stop, count):
    """Return where each of `count` blocks of about one size begins, and where it ends."""
    bounds = np.empty((count, 2), np.int64)
    at = start
    for block in range(count):
        bounds[block, 0] = at
        at += (stop - start) // count + (block < (stop - start) % count)
        bounds[block, 1] = at
    return bounds
'''
ASCENDING = '''
@compiled
def ascending(values):
    """Return the positions of numbers in ascending order, equal ones in their own."""
    count = values.size
    order, merged = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            middle, stop = min(start + width, count), min(start + 2 * width, count)
            left, right = start, middle
            for at in range(start, stop):
                if right == stop or (
                    left < middle and not values[order[right]] < values[order[left]]
                ):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order
'''


def of_short_floats(text: str) -> str:
    """Return the text of a sum of numbers of float32, rounded after each addition."""
    text = re.sub(r"\b(block_sum|pairwise_sum|total_sum|sums_along)\b", r"short_\1", text)
    text = re.sub(r"\b(r\d|total) \+= (.*)", r"\1 = np.float32(\1 + \2)", text)
    for float64, float32 in OF_SHORT_FLOATS:
        text = text.replace(float64, float32)
    return text


OF_SHORT_FLOATS = (
    ("total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))", """\
r0, r2 = np.float32(r0 + r1), np.float32(r2 + r3)
        r4, r6 = np.float32(r4 + r5), np.float32(r6 + r7)
        r0, r4 = np.float32(r0 + r2), np.float32(r4 + r6)
        total = np.float32(r0 + r4)"""),
    ("lefts[top - 1] + total", "np.float32(lefts[top - 1] + total)"),
    ("np.zeros(64), np", "np.zeros(64, np.float32), np"),
    ("np.zeros(outer * inner)", "np.zeros(outer * inner, np.float32)"),
)
"""What is written in place of other text of these sums."""
TEXTS = {
    "reserved": RESERVED, "reserved_of_each": RESERVED_OF_EACH, "block_sum": BLOCK_SUM,
    "pairwise_sum": PAIRWISE_SUM, "sum_in_a_row": SUM_IN_A_ROW,
    "total_sum": TOTAL_SUM, "sums_along": SUMS_ALONG, "sums_of_each": SUMS_OF_EACH,
    "whole_sums_along": WHOLE_SUMS_ALONG,
    **{f"short_{name}": of_short_floats(text) for name, text in (
        ("block_sum", BLOCK_SUM), ("pairwise_sum", PAIRWISE_SUM), ("total_sum", TOTAL_SUM),
        ("sums_along", SUMS_ALONG))},
    "max_along": EXTREMES.format(name="max", sign=">"),
    "min_along": EXTREMES.format(name="min", sign="<"),
    "largest": EXTREME.format(name="largest", sign=">"),
    "smallest": EXTREME.format(name="smallest", sign="<"),
    "place_of_max_along": PLACES.format(name="max", sign=">"),
    "place_of_min_along": PLACES.format(name="min", sign="<"),
    "matrix_product": MATRIX_PRODUCT, "turned_times": TURNED_TIMES, "times_turned": TIMES_TURNED,
    "stacked_product": STACKED_PRODUCT,
    "ascending": ASCENDING, "block_count": BLOCK_COUNT, "block_bounds": BLOCK_BOUNDS,
    "exp_of_each": EXP_OF_EACH, "tanh_of_each": TANH_OF_EACH, "log_of_each": LOG_OF_EACH,
    "matrix_times": MATRIX_TIMES, "large_times": LARGE_TIMES, "row_times": ROW_TIMES,
    "products_of_each": PRODUCTS_OF_EACH.format(
        name="products_of_each", what="two arrays of matrices", places="k, j, seed"),
    "left_products_of_each": PRODUCTS_OF_EACH.format(
        name="left_products_of_each", what="matrices and one matrix", places="k, j"),
}
"""The text of each helper."""
CALLS = {
    "pairwise_sum": ("block_sum",), "sum_in_a_row": ("block_sum", "pairwise_sum"),
    "total_sum": ("pairwise_sum",), "sums_along": ("pairwise_sum",),
    "sums_of_each": ("sums_along",), "short_pairwise_sum": ("short_block_sum",),
    "short_total_sum": ("short_pairwise_sum",), "short_sums_along": ("short_pairwise_sum",),
}
"""Which helpers a helper calls."""


def with_called(names: Iterable[str]) -> list[str]:
    """Return helpers and those that they call, in the order in which they are defined."""
    wanted: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += CALLS.get(name, ())
    return [name for name in TEXTS if name in wanted]
