"""Random programs: every nonzero of the dense derivative is in the pattern."""

import numpy as np
import pytest

from adcompiler import jacobian_sparsity
from tests.lanes import one_in
from tests.sparsity.check import missing

N = 6
STEPS = (
    "y = y[::-1] * {c}", "y = np.roll(y, {k})", "y = np.sin(y) + x", "y[{i}] = x[{j}] * y[{k}]",
    "y[1:] = y[:-1] - x[1:]", "y[::2] += x[1::2]", "y = np.where(x > {c}, y, x[::-1])",
    "y = y.reshape(2, 3).T.ravel()", "y = M @ y", "y = np.cumsum(y)", "y = y * y[{i}]",
    "y = np.concatenate([y[{i}:], x[:{i}]])", "y = np.sort(y)", "y = np.maximum(y, x)",
    "y = np.clip(y, x[{i}], None)", "y = y[np.array([5, 3, 3, 1, 0, 2])]",
    "for i in range({k}, 6):\n    y[i] = y[i - 1] + x[i] ** 2",
    "if y[{i}] > {c}:\n    y = y + x[{j}]\nelse:\n    y[{k}] = x[{i}]",
    "s = y[{i}]\nwhile s < {c}:\n    s = s * 0.5 + 1.0\n    y[{k}] += x[{j}] * s",
    "y = np.array([v * x[{i}] for v in y])", "y = y - y.mean()",
    "y = np.stack([y, x]).max(axis=0)", "np.add.at(y, np.array([0, 0, {i}, {j}, {k}, 1]), x)",
    "y = np.tril(np.outer(x, y)).sum(axis=0)",
    "y = np.pad(y[1:], (1, 0), mode='edge')",
    "y = np.convolve(y, [1.0, -1.0], 'same')",
    "z = y[2:5]\nz[0] = x[{i}]\ny = y * 2.0", "y = y.astype(int) * x",
    "try:\n    y = y + 1.0 / (int(x[{i}] > 0) - {k})\n"
    "except ZeroDivisionError:\n    y = y + x[{j}]",
)


def source(seed):
    """Return the text of a random function of an array of six numbers."""
    rng = np.random.default_rng(seed)
    lines = ["def program(x):", "    y = x * 1.0"]
    for _ in range(rng.integers(2, 7)):
        i, j, k = rng.integers(0, N, 3)
        step = STEPS[rng.integers(len(STEPS))].format(
            i=i, j=j, k=max(k, 1), c=round(rng.uniform(0.2, 1.5), 2))
        lines += ["    " + line for line in step.split("\n")]
    return "\n".join([*lines, "    return y", ""])


def differences(function, x):
    """Return a Jacobian by central differences: zero where nothing changes."""
    columns = []
    for k in range(N):
        step = np.zeros(N)
        step[k] = 1e-7
        columns.append((function(x + step) - function(x - step)) / 2e-7)
    found = np.array(columns).T
    return np.where(np.abs(found) > 1e-4, found, 0.0)


@pytest.mark.parametrize("seed", one_in(3, range(40)))
def test_nothing_is_missing(seed, tmp_path):
    path = tmp_path / "random_program.py"
    path.write_text(source(seed))
    namespace = {"np": np, "M": np.triu(np.ones((N, N))) - np.eye(N), "__name__": "random_program"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    program = namespace["program"]
    rng = np.random.default_rng(seed)
    pattern = jacobian_sparsity(program, np.ones(N))
    for _ in range(4):
        x = rng.normal(size=N)
        dense = differences(program, x)
        assert missing(pattern, dense) == [], source(seed)
        assert missing(jacobian_sparsity(program, x, mode="local"), dense) == [], source(seed)
