"""Programs that write into what their caller passed: arrays, lists, dicts, work space."""

import numpy as np

from tests.corpus.program import Program


def center_and_scale(X, w):
    """Standardises the caller's array."""
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return np.sum(np.tanh(X @ w))


def clip_negative(x, slope):
    """A leaky rectifier by a mask, into the argument."""
    x[x < 0] *= slope
    return np.sum(x**2)


def sgd_step(params, grads, rate):
    for name, g in grads.items():
        params[name] -= rate * g


def three_steps_on_a_dict(params, X, y, rate):
    """The caller's dict of arrays is trained by a function that returns nothing."""
    for _ in range(3):
        error = X @ params["w"] + params["b"] - y
        sgd_step(params, {"w": X.T @ error / len(y), "b": np.array([error.mean()])}, rate)
    return np.sum(params["w"] ** 2) + params["b"][0]


def scale_rows(M, factors):
    for i, row in enumerate(M):
        row *= factors[i]
    return M


def swap_and_scale(v, i, j, factor):
    v[i], v[j] = factor * v[j], v[i] - v[j]
    v[i:] += v[0]
    return v


def prefix_sums_in_list(values, decay):
    """A caller's list that is overwritten from the left."""
    for i in range(1, len(values)):
        values[i] += decay * values[i - 1]
    return values[-1] * values[len(values) // 2]


def partition(a, low, high):
    pivot = a[high]
    i = low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    return i


def quicksort_in_place(a, low, high):
    if low < high:
        p = partition(a, low, high)
        quicksort_in_place(a, low, p - 1)
        quicksort_in_place(a, p + 1, high)


def expected_rank_value(values, weights):
    quicksort_in_place(values, 0, len(values) - 1)
    return sum(w * v for w, v in zip(weights, values))


def stencil_with_workspace(u, work, coefficient, steps=3):
    """Two arrays of the caller that take turns."""
    for _ in range(steps):
        work[1:-1] = u[1:-1] + coefficient * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        work[0], work[-1] = u[0], u[-1]
        u, work = work, u
    return np.sum(u**3)


def exponential_moving_statistics(batch, mean, var, momentum):
    """Running statistics of the caller are brought up to date, then used."""
    mean *= momentum
    mean += (1 - momentum) * batch.mean(axis=0)
    var *= momentum
    var += (1 - momentum) * batch.var(axis=0)
    return np.sum(((batch - mean) / np.sqrt(var + 1e-5)) ** 3)


def accumulate_forces(positions, forces, stiffness):
    for i in range(len(positions) - 1):
        stretch = positions[i + 1] - positions[i]
        f = stiffness * stretch * (1.0 - 1.0 / np.linalg.norm(stretch))
        forces[i] += f
        forces[i + 1] -= f


def polymer_relaxation(positions, forces, stiffness, steps=3):
    """A buffer of forces that is cleared and filled in every step, through a view of the chain."""
    inner = positions[1:-1]
    for _ in range(steps):
        forces.fill(0.0)
        accumulate_forces(positions, forces, stiffness)
        inner += 0.1 * forces[1:-1]
    return np.sum(forces**2)


PROGRAMS = (
    Program(
        center_and_scale, lambda rng: (rng.normal(size=(5, 3)), rng.normal(size=3)), argnums=(0, 1)
    ),
    Program(clip_negative, lambda rng: (rng.normal(size=6), 0.3), argnums=(0, 1)),
    Program(
        three_steps_on_a_dict,
        lambda rng: (
            {"w": rng.normal(size=2), "b": rng.normal(size=1)},
            rng.normal(size=(5, 2)),
            rng.normal(size=5),
            0.2,
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(scale_rows, lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=3)), argnums=(0, 1)),
    Program(swap_and_scale, lambda rng: (rng.normal(size=5), 1, 3, 0.7), argnums=(0, 3)),
    Program(prefix_sums_in_list, lambda rng: (rng.normal(size=5).tolist(), 0.6), argnums=(0, 1)),
    Program(
        expected_rank_value,
        lambda rng: (rng.normal(size=6), rng.normal(size=6).tolist()),
        argnums=(0, 1),
    ),
    Program(
        stencil_with_workspace,
        lambda rng: (rng.normal(size=7), np.zeros(7), 0.2),
        argnums=(0, 2),
    ),
    Program(
        exponential_moving_statistics,
        lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=2), rng.uniform(0.5, 1.5, 2), 0.8),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        polymer_relaxation,
        lambda rng: (np.cumsum(rng.normal(size=(5, 2)), axis=0), np.zeros((5, 2)), 1.5),
        argnums=(0, 2),
    ),
)
