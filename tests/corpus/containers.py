"""Programs over Python's own containers: lists, dicts, tuples, deques, iterators."""

import heapq
import math

import numpy as np

from tests.corpus.program import Program


def matmul_lists(A, B):
    n, m, p = len(A), len(B), len(B[0])
    C = [[0.0] * p for _ in range(n)]
    for i in range(n):
        for j in range(p):
            for k in range(m):
                C[i][j] += A[i][k] * B[k][j]
    return sum(C[i][i] for i in range(min(n, p))) + C[0][-1] ** 2


def gauss_elimination_lists(A, b):
    """Partial pivoting, with rows of a nested list swapped."""
    n = len(b)
    M = [row[:] + [rhs] for row, rhs in zip(A, b)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(M[r][col]))
        M[col], M[pivot] = M[pivot], M[col]
        for row in range(col + 1, n):
            factor = M[row][col] / M[col][col]
            for k in range(col, n + 1):
                M[row][k] -= factor * M[col][k]
    x = [0.0] * n
    for i in reversed(range(n)):
        total = M[i][n]
        for j in range(i + 1, n):
            total -= M[i][j] * x[j]
        x[i] = total / M[i][i]
    return np.array(x)


def determinant_by_minors(M):
    if len(M) == 1:
        return M[0][0]
    total = 0.0
    for j, entry in enumerate(M[0]):
        minor = [row[:j] + row[j + 1 :] for row in M[1:]]
        total += (-1) ** j * entry * determinant_by_minors(minor)
    return total


def polynomial_product(p, q, x):
    coefficients = [0.0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            coefficients[i + j] += a * b
    derivative = [k * c for k, c in enumerate(coefficients)][1:]
    value = 0.0
    for c in reversed(derivative):
        value = value * x + c
    return value


def divided_differences(xs, ys, x):
    """Newton's interpolation; the table shrinks as a list of lists grows."""
    table = [list(ys)]
    while len(table[-1]) > 1:
        last = table[-1]
        order = len(table)
        table.append(
            [(last[i + 1] - last[i]) / (xs[i + order] - xs[i]) for i in range(len(last) - 1)]
        )
    result, product = 0.0, 1.0
    for column, node in zip(table, xs):
        result += column[0] * product
        product *= x - node
    return result


def bag_of_expenses(items, rates):
    """Totals by currency in a dict, converted at the end."""
    totals = {}
    for currency, amount in items:
        if currency not in totals:
            totals[currency] = 0.0
        totals[currency] += amount
    converted = {name: rates[name] * amount for name, amount in totals.items()}
    converted["fee"] = 0.01 * sum(converted.values())
    return math.sqrt(sum(v**2 for v in converted.values()))


def stack_calculator(x, y, program="xy*s y2^+ x-"):
    """Reverse Polish notation on a stack."""
    stack = []
    for token in program.replace(" ", ""):
        if token == "x":
            stack.append(x)
        elif token == "y":
            stack.append(y)
        elif token.isdigit():
            stack.append(float(token))
        elif token == "s":
            stack.append(math.sin(stack.pop()))
        else:
            b, a = stack.pop(), stack.pop()
            if token == "+":
                stack.append(a + b)
            elif token == "-":
                stack.append(a - b)
            elif token == "*":
                stack.append(a * b)
            else:
                stack.append(a ** int(b))
    return stack.pop()


def shortest_path_heap(weights, n=5):
    """Costs squared along a grid of n nodes, with a heap of pairs."""
    distance = [math.inf] * n
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, node = heapq.heappop(heap)
        if d > distance[node]:
            continue
        for step in (1, 2):
            other = node + step
            if other < n and d + weights[node][step - 1] ** 2 < distance[other]:
                distance[other] = d + weights[node][step - 1] ** 2
                heapq.heappush(heap, (distance[other], other))
    return distance[-1]


def sorted_gaps(values):
    ordered = sorted(values, key=lambda v: -v)
    gaps = [a - b for a, b in zip(ordered, ordered[1:])]
    gaps.sort()
    gaps.reverse()
    return sum(g / (k + 1) for k, g in enumerate(gaps))


def merge_sorted(a, b):
    """Merge two sorted lists, weighting elements by their position."""
    i = j = 0
    merged = []
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            merged.append(a[i])
            i += 1
        else:
            merged.append(b[j])
            j += 1
    merged += a[i:]
    merged.extend(b[j:])
    return sum(math.exp(-k) * v for k, v in enumerate(merged))


def insertion_sort_weighted(values):
    a = list(values)
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return sum((i + 1) * v * v for i, v in enumerate(a))


def bubble_sort_medians(values):
    a = list(values)
    for end in range(len(a) - 1, 0, -1):
        swapped = False
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
        if not swapped:
            break
    middle = len(a) // 2
    return a[middle] * a[middle - 1] + a[0] / a[-1]


def quicksort_energy(values):
    def quicksort(xs):
        if len(xs) <= 1:
            return xs
        pivot, rest = xs[0], xs[1:]
        smaller = [x for x in rest if x < pivot]
        larger = [x for x in rest if x >= pivot]
        return quicksort(smaller) + [pivot] + quicksort(larger)

    ordered = quicksort(values)
    return sum((b - a) ** 2 for a, b in zip(ordered[:-1], ordered[1:]))


def two_queue_schedule(durations, rate):
    """Jobs go to the machine that is free first; the cost grows with the time of completion."""
    machines = [0.0, 0.0]
    cost = 0.0
    for duration in durations:
        index = machines.index(min(machines))
        machines[index] += duration
        cost += math.exp(rate * machines[index])
    return cost


PROGRAMS = (
    Program(
        matmul_lists,
        lambda rng: (rng.normal(size=(2, 3)).tolist(), rng.normal(size=(3, 2)).tolist()),
        argnums=(0, 1),
    ),
    Program(
        gauss_elimination_lists,
        lambda rng: (
            (rng.normal(size=(3, 3)) + 2 * np.eye(3)).tolist(),
            rng.normal(size=3).tolist(),
        ),
        argnums=(0, 1),
    ),
    Program(determinant_by_minors, lambda rng: (rng.normal(size=(3, 3)).tolist(),), argnums=0),
    Program(
        polynomial_product,
        lambda rng: (rng.normal(size=3).tolist(), rng.normal(size=4).tolist(), 0.7),
        argnums=(0, 1, 2),
    ),
    Program(
        divided_differences,
        lambda rng: ([0.0, 0.5, 1.2, 2.0], rng.normal(size=4).tolist(), 0.8),
        argnums=(0, 1, 2),
    ),
    Program(
        bag_of_expenses,
        lambda rng: (
            [("EUR", 10.0 * rng.random()), ("USD", 3.0), ("EUR", 2.5), ("CHF", 4.0)],
            {"EUR": 1.0, "USD": 0.9, "CHF": 1.05},
        ),
        argnums=1,
    ),
    Program(stack_calculator, lambda rng: tuple(rng.normal(size=2).tolist()), argnums=(0, 1)),
    Program(
        shortest_path_heap, lambda rng: (rng.uniform(0.5, 1.5, size=(5, 2)).tolist(),), argnums=0
    ),
    Program(
        sorted_gaps,
        lambda rng: (rng.permutation([-2.0, -1.5, -0.7, 0.6, 0.8, 1.8]).tolist(),),
        argnums=0,
    ),
    Program(
        merge_sorted,
        lambda rng: ([-1.1, 0.2, 0.9, 3.0], [-0.5, 0.5, 1.2 + rng.random()]),
        argnums=(0, 1),
    ),
    Program(insertion_sort_weighted, lambda rng: (rng.normal(size=6),), argnums=0),
    Program(bubble_sort_medians, lambda rng: (rng.normal(size=5).tolist(),), argnums=0),
    Program(quicksort_energy, lambda rng: (rng.normal(size=6).tolist(),), argnums=0),
    Program(
        two_queue_schedule,
        lambda rng: (rng.permutation([0.5, 0.83, 1.1, 1.37, 1.7, 2.3]), 0.3),
        argnums=(0, 1),
    ),
)
