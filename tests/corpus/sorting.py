"""Sorting and selecting by exchanges: derivatives follow the values to their places."""

import numpy as np

from tests.corpus.program import Program


def insertion_sort(x):
    """Sort in place by shifting larger values to the right."""
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value
    return x


def bubble_sort_until_quiet(values, weights):
    """Return a weighted sum of order statistics; weights travel with their values."""
    x = values.copy()
    w = weights.copy()
    swapped = True
    passes = 0
    while swapped:
        swapped = False
        for i in range(len(x) - 1 - passes):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
                w[i], w[i + 1] = w[i + 1], w[i]
                swapped = True
        passes += 1
    total = 0.0
    for rank in range(len(x)):
        total += (rank + 1) * x[rank] * w[rank]
    return total


def partition(x, low, high):
    pivot = x[high]
    boundary = low
    for i in range(low, high):
        if x[i] < pivot:
            x[boundary], x[i] = x[i], x[boundary]
            boundary += 1
    x[boundary], x[high] = x[high], x[boundary]
    return boundary


def quicksort(x, low, high):
    if low < high:
        middle = partition(x, low, high)
        quicksort(x, low, middle - 1)
        quicksort(x, middle + 1, high)


def mean_difference_of_sorted(x):
    """Return Gini's mean difference from values sorted by recursion."""
    y = x.copy()
    n = len(y)
    quicksort(y, 0, n - 1)
    return 2.0 * np.sum((2.0 * np.arange(1, n + 1) - n - 1.0) * y) / (n * (n - 1.0))


def quickselect_quantile(x, q):
    """Return an interpolated quantile, with an array that is only partly sorted."""
    y = x.copy()
    position = q * (len(y) - 1)
    k = int(position)
    found = []
    for wanted in (k, k + 1):
        low, high = 0, len(y) - 1
        while low < high:
            middle = partition(y, low, high)
            if middle == wanted:
                break
            if middle < wanted:
                low = middle + 1
            else:
                high = middle - 1
        found.append(y[wanted])
    return found[0] + (position - k) * (found[1] - found[0])


def merge(left, right):
    merged = []
    i, j = 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    merged.extend(left[i:])
    merged.extend(right[j:])
    return merged


def bottom_up_merge_sort(x):
    """Return the sorted values, by merging lists that wait in a queue."""
    queue = [[value] for value in x]
    while len(queue) > 1:
        left = queue.pop(0)
        right = queue.pop(0)
        queue.append(merge(left, right))
    return np.array(queue[0])


def odd_even_network(x, temperature):
    """Return softly sorted values, by a network of smooth exchanges in place."""
    n = len(x)
    for step in range(n):
        for i in range(step % 2, n - 1, 2):
            share = 1.0 / (1.0 + np.exp(-(x[i + 1] - x[i]) / temperature))
            low = share * x[i] + (1.0 - share) * x[i + 1]
            high = share * x[i + 1] + (1.0 - share) * x[i]
            x[i], x[i + 1] = low, high
    return x


def largest_with_heap(x, count):
    """Return the sum of squares of the largest values, kept in a small heap in an array."""
    heap = np.full(count, -np.inf)
    for value in x:
        if value > heap[0]:
            heap[0] = value
            i = 0
            while 2 * i + 1 < count:
                child = 2 * i + 1
                if child + 1 < count and heap[child + 1] < heap[child]:
                    child += 1
                if heap[i] <= heap[child]:
                    break
                heap[i], heap[child] = heap[child], heap[i]
                i = child
    return np.sum(heap**2)


def isotonic_regression(y):
    """Return the best increasing fit by pooling neighbours that violate the order."""
    means, counts = [], []
    for value in y:
        means.append(value)
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean, count = means.pop(), counts.pop()
            means[-1] = (means[-1] * counts[-1] + mean * count) / (counts[-1] + count)
            counts[-1] += count
    fit = np.zeros(len(y))
    start = 0
    for mean, count in zip(means, counts, strict=True):
        fit[start : start + count] = mean
        start += count
    return fit


def distinct_values(rng):
    return rng.permutation(np.arange(8.0)) + rng.uniform(-0.3, 0.3, 8)


def alone(rng):
    return (distinct_values(rng),)


PROGRAMS = (
    Program(insertion_sort, alone),
    Program(
        bubble_sort_until_quiet,
        lambda rng: (distinct_values(rng), rng.uniform(1.0, 2.0, 8)),
        (0, 1),
    ),
    Program(mean_difference_of_sorted, alone),
    Program(quickselect_quantile, lambda rng: (distinct_values(rng), 0.33), (0, 1)),
    Program(bottom_up_merge_sort, alone),
    Program(odd_even_network, lambda rng: (0.3 * distinct_values(rng), 0.5), (0, 1)),
    Program(largest_with_heap, lambda rng: (distinct_values(rng), 4)),
    Program(isotonic_regression, lambda rng: (np.arange(8) + 1.5 * rng.normal(size=8),), step=1e-4),
)
