"""Tables that are filled in order: paths, alignments, choices; with hard and soft minima."""

import math

import numpy as np

from tests.corpus.program import Program


def soft_min(a, b, c, temperature):
    """Return a smooth minimum of three numbers."""
    low = min(a, b, c)
    total = math.exp((low - a) / temperature)
    total += math.exp((low - b) / temperature)
    total += math.exp((low - c) / temperature)
    return low - temperature * math.log(total)


# -- alignments -----------------------------------------------------------------------------------


def time_warping_distance(x, y):
    """Return the cost of the best alignment of two series."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def soft_time_warping(x, y, temperature):
    """Return the soft cost of alignment, with two rows of the table that change places."""
    n, m = len(x), len(y)
    above = np.full(m + 1, 1e6)
    above[0] = 0.0
    row = np.empty(m + 1)
    for i in range(n):
        row[0] = 1e6
        for j in range(m):
            cost = (x[i] - y[j]) ** 2
            row[j + 1] = cost + soft_min(above[j], above[j + 1], row[j], temperature)
        above, row = row, above
    return above[m]


def banded_alignment(x, y, width):
    """Return the cost of an alignment that stays near the diagonal, table as a list of lists."""
    n, m = len(x), len(y)
    table = [[1e9] * (m + 1) for _ in range(n + 1)]
    table[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - width), min(m, i + width) + 1):
            best = min(table[i - 1][j - 1], table[i - 1][j], table[i][j - 1])
            table[i][j] = abs(x[i - 1] - y[j - 1]) + best
    return table[n][m]


def needleman_wunsch(similarity, gap):
    """Return the score of a global alignment, differentiable in the penalty of gaps."""
    n, m = similarity.shape
    score = np.zeros((n + 1, m + 1))
    score[1:, 0] = -gap * np.arange(1, n + 1)
    score[0, 1:] = -gap * np.arange(1, m + 1)
    for i in range(n):
        for j in range(m):
            score[i + 1, j + 1] = max(
                score[i, j] + similarity[i, j],
                score[i, j + 1] - gap,
                score[i + 1, j] - gap,
            )
    return score[n, m]


def smith_waterman_affine(similarity, opening, extension):
    """Return the best local alignment with affine gaps, in three tables."""
    n, m = similarity.shape
    H = np.zeros((n + 1, m + 1))
    E = np.full((n + 1, m + 1), -1e9)
    F = np.full((n + 1, m + 1), -1e9)
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            E[i, j] = max(E[i, j - 1] - extension, H[i, j - 1] - opening)
            F[i, j] = max(F[i - 1, j] - extension, H[i - 1, j] - opening)
            diagonal = H[i - 1, j - 1] + similarity[i - 1, j - 1]
            H[i, j] = max(0.0, diagonal, E[i, j], F[i, j])
            if H[i, j] > best:
                best = H[i, j]
    return best


def soft_edit_distance(costs, insertion, deletion):
    """Return the smoothed cost of editing, in one row that is overwritten from left to right."""
    n, m = costs.shape
    row = np.zeros(m + 1)
    for j in range(m):
        row[j + 1] = row[j] + insertion
    for i in range(n):
        corner = row[0]
        row[0] += deletion
        for j in range(m):
            above = row[j + 1]
            row[j + 1] = soft_min(corner + costs[i, j], above + deletion, row[j] + insertion, 0.5)
            corner = above
    return row[m]


# -- chains ---------------------------------------------------------------------------------------


def most_likely_path(start, transition, emission):
    """Return the score of the best path through a hidden Markov model, traced back."""
    steps, states = emission.shape
    score = np.zeros((steps, states))
    came_from = np.zeros((steps, states), dtype=int)
    score[0] = start + emission[0]
    for t in range(1, steps):
        for s in range(states):
            options = score[t - 1] + transition[:, s]
            came_from[t, s] = np.argmax(options)
            score[t, s] = options[came_from[t, s]] + emission[t, s]
    state = int(np.argmax(score[-1]))
    total = emission[steps - 1, state]
    for t in range(steps - 1, 0, -1):
        before = came_from[t, state]
        total += transition[before, state] + emission[t - 1, before]
        state = before
    return total + start[state]


def forward_backward(transition, emission):
    """Return the probabilities of states, with messages that are normalised in place."""
    steps, states = emission.shape
    A = np.exp(transition)
    A /= A.sum(axis=1, keepdims=True)
    likelihood = np.exp(emission)
    forward = np.ones((steps, states))
    backward = np.ones((steps, states))
    forward[0] = likelihood[0]
    forward[0] /= forward[0].sum()
    for t in range(1, steps):
        forward[t] = (forward[t - 1] @ A) * likelihood[t]
        forward[t] /= forward[t].sum()
    for t in range(steps - 2, -1, -1):
        backward[t] = A @ (likelihood[t + 1] * backward[t + 1])
        backward[t] /= backward[t].sum()
    posterior = forward * backward
    posterior /= posterior.sum(axis=1)[:, None]
    return posterior


def segmented_regression(y, penalty):
    """Return the cost of the best piecewise constant fit."""
    n = len(y)
    best = [0.0] + [math.inf] * n
    for stop in range(1, n + 1):
        for start in range(stop):
            mean = 0.0
            for i in range(start, stop):
                mean += y[i] / (stop - start)
            cost = best[start] + penalty
            for i in range(start, stop):
                cost += (y[i] - mean) ** 2
            if cost < best[stop]:
                best[stop] = cost
    return best[n]


def optimal_stopping(offers, discount):
    """Return the value of waiting for better offers, from the last day to the first."""
    days, count = offers.shape
    value = np.zeros(days + 1)
    value[days] = np.mean(offers[-1])
    for day in range(days - 1, -1, -1):
        total = 0.0
        for k in range(count):
            total += max(offers[day, k], discount * value[day + 1])
        value[day] = total / count
    return value[0]


# -- choices --------------------------------------------------------------------------------------


def knapsack(values, weights, capacity):
    """Return the value of the best choice of things, in one row filled from the right."""
    best = np.zeros(capacity + 1)
    for value, weight in zip(values, weights, strict=True):
        for c in range(capacity, weight - 1, -1):
            candidate = best[c - weight] + value
            if candidate > best[c]:
                best[c] = candidate
    return best[capacity]


def soft_knapsack(values, weights, capacity, temperature):
    """Return a smoothed value of the knapsack, with whole slices as rows."""
    best = np.zeros(capacity + 1)
    for value, weight in zip(values, weights, strict=True):
        taken = best[:-weight] + value
        best[weight:] = temperature * np.logaddexp(best[weight:] / temperature, taken / temperature)
    return best


def matrix_chain(sizes):
    """Return the least cost of multiplying a chain of matrices of real-valued sizes."""
    n = len(sizes) - 1
    cost = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                candidate = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                cost[i, j] = min(cost[i, j], candidate)
    return cost[0, n - 1]


def seam_energy(image):
    """Return the energy of the lightest seam from the top of an image to its bottom."""
    energy = np.zeros_like(image)
    energy[:, 1:-1] = (image[:, 2:] - image[:, :-2]) ** 2
    energy[1:-1, :] += (image[2:, :] - image[:-2, :]) ** 2
    total = energy.copy()
    rows, columns = image.shape
    for i in range(1, rows):
        for j in range(columns):
            low, high = max(j - 1, 0), min(j + 2, columns)
            total[i, j] += np.min(total[i - 1, low:high])
    return np.min(total[-1])


def inside_probability(rules, words):
    """Return the log probability of a sentence under a grammar of pairs (inside algorithm)."""
    n, symbols = words.shape
    R = np.exp(rules)
    inside = np.zeros((n, n + 1, symbols))
    for i in range(n):
        inside[i, i + 1] = np.exp(words[i])
    for span in range(2, n + 1):
        for i in range(n - span + 1):
            j = i + span
            for k in range(i + 1, j):
                for a in range(symbols):
                    inside[i, j, a] += inside[i, k] @ R[a] @ inside[k, j]
    return np.log(inside[0, n, 0])


# -- paths in graphs ------------------------------------------------------------------------------


def floyd_warshall(lengths):
    """Return the lengths of the shortest paths between all pairs of nodes, in place."""
    n = lengths.shape[0]
    D = lengths.copy()
    for i in range(n):
        D[i, i] = 0.0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
    return D


def floyd_warshall_rows(lengths):
    """Return the sum of shortest paths, relaxed a row at a time."""
    D = np.array(lengths)
    np.fill_diagonal(D, 0.0)
    for k in range(len(D)):
        for row in D:
            row[:] = np.minimum(row, row[k] + D[k])
    return np.sum(D)


def soft_shortest_paths(lengths, temperature):
    """Return smoothed shortest paths between all pairs."""
    D = lengths.copy()
    n = len(D)
    for k in range(n):
        through = D[:, k : k + 1] + D[k : k + 1, :]
        D[:] = -temperature * np.logaddexp(-D / temperature, -through / temperature)
    return np.sum(D * D)


def bellman_ford(edges, lengths, nodes):
    """Return the distances from node 0 by relaxing edges until nothing changes."""
    distance = np.full(nodes, 1e6)
    distance[0] = 0.0
    changed = True
    while changed:
        changed = False
        for k, (i, j) in enumerate(edges):
            if distance[i] + lengths[k] < distance[j]:
                distance[j] = distance[i] + lengths[k]
                changed = True
    return distance[1:]


def dijkstra(lengths, target):
    """Return the length of the shortest path from node 0, by a search of the nearest node."""
    n = lengths.shape[0]
    distance = [math.inf] * n
    distance[0] = 0.0
    done = [False] * n
    while not done[target]:
        nearest = -1
        for i in range(n):
            if not done[i] and (nearest < 0 or distance[i] < distance[nearest]):
                nearest = i
        done[nearest] = True
        for j in range(n):
            if not done[j]:
                distance[j] = min(distance[j], distance[nearest] + lengths[nearest, j])
    return distance[target]


def eikonal_sweeps(slowness, sweeps):
    """Return arrival times from a corner by fast sweeping in four directions."""
    n, m = slowness.shape
    T = np.full((n + 2, m + 2), 1e3)
    T[1, 1] = 0.0
    for sweep in range(sweeps):
        rows = range(1, n + 1) if sweep % 2 == 0 else range(n, 0, -1)
        columns = range(1, m + 1) if sweep // 2 % 2 == 0 else range(m, 0, -1)
        for i in rows:
            for j in columns:
                a = min(T[i - 1, j], T[i + 1, j])
                b = min(T[i, j - 1], T[i, j + 1])
                s = slowness[i - 1, j - 1]
                if abs(a - b) >= s:
                    t = min(a, b) + s
                else:
                    t = 0.5 * (a + b + math.sqrt(2.0 * s * s - (a - b) ** 2))
                T[i, j] = min(T[i, j], t)
    return T[1:-1, 1:-1]


def soft_value_iteration(rewards, transitions, discount, sweeps):
    """Return the values of states under a soft greedy policy, updated in place."""
    states, actions = rewards.shape
    V = np.zeros(states)
    Q = np.empty(actions)
    for _ in range(sweeps):
        for s in range(states):
            for a in range(actions):
                Q[a] = rewards[s, a] + discount * (transitions[a, s] @ V)
            largest = Q.max()
            V[s] = largest + np.log(np.sum(np.exp(Q - largest)))
    return V


# -- samples --------------------------------------------------------------------------------------

ROADS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (4, 5), (3, 5)]


def distances(rng, n=5):
    return rng.uniform(1.0, 5.0, size=(n, n))


def decisions(rng):
    transitions = rng.uniform(0.1, 1.0, size=(2, 4, 4))
    transitions /= transitions.sum(axis=2, keepdims=True)
    return rng.normal(size=(4, 2)), transitions, 0.8, 3


def normal(*shapes):
    return lambda rng: tuple(rng.normal(size=shape) for shape in shapes)


PROGRAMS = (
    Program(time_warping_distance, normal(6, 5), (0, 1), step=1e-4),
    Program(soft_time_warping, lambda rng: (*normal(5, 4)(rng), 0.6), (0, 1, 2)),
    Program(banded_alignment, lambda rng: (*normal(6, 6)(rng), 2), (0, 1), step=1e-4),
    Program(needleman_wunsch, lambda rng: (rng.normal(size=(5, 4)), 0.7), (0, 1), step=1e-4),
    Program(
        smith_waterman_affine,
        lambda rng: (rng.normal(size=(5, 6)) + 0.3, 1.1, 0.3),
        0,
        step=1e-4,
    ),
    Program(soft_edit_distance, lambda rng: (rng.uniform(size=(4, 4)), 0.6, 0.5), (0, 1, 2)),
    Program(most_likely_path, normal(3, (3, 3), (5, 3)), (0, 1, 2), step=1e-4),
    Program(forward_backward, normal((3, 3), (5, 3)), (0, 1)),
    Program(segmented_regression, lambda rng: (rng.normal(size=7), 0.8), (0, 1), step=1e-4),
    Program(optimal_stopping, lambda rng: (rng.uniform(size=(5, 3)), 0.9), (0, 1), step=1e-4),
    Program(knapsack, lambda rng: (rng.uniform(1.0, 5.0, 6), [2, 3, 1, 4, 2, 3], 8), step=1e-4),
    Program(
        soft_knapsack, lambda rng: (rng.uniform(1.0, 5.0, 6), [2, 3, 1, 4, 2, 3], 8, 0.7), (0, 3)
    ),
    Program(matrix_chain, lambda rng: (rng.uniform(1.0, 9.0, 6),), step=1e-4),
    Program(seam_energy, normal((5, 6)), step=1e-4),
    Program(inside_probability, normal((2, 2, 2), (4, 2)), (0, 1)),
    Program(floyd_warshall, lambda rng: (distances(rng),), step=1e-4),
    Program(floyd_warshall_rows, lambda rng: (distances(rng),), step=1e-4),
    Program(soft_shortest_paths, lambda rng: (distances(rng), 0.5), (0, 1)),
    Program(bellman_ford, lambda rng: (ROADS, rng.uniform(1.0, 5.0, 9), 6), 1, step=1e-4),
    Program(dijkstra, lambda rng: (distances(rng, 6), 4), step=1e-4),
    Program(eikonal_sweeps, lambda rng: (rng.uniform(1.0, 2.0, (4, 5)), 4), step=1e-4),
    Program(soft_value_iteration, decisions, (0, 1, 2)),
)
