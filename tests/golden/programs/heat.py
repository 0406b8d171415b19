import numpy as np


def heat(u, k, steps):
    for _ in range(steps):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u = np.concatenate([u[:1], u[1:-1] + k * lap, u[-1:]])
    return np.sum(u * u)


call(heat, np.sin(np.arange(8.0)), 0.1, 3, argnums=(0, 1))
# output
import numpy as np
from adcompiler.runtime import as_gradient
from adcompiler.runtime.joining import concatenate_adjoint


def heat_grad(u, k, steps):
    """Return the gradient of `heat` with respect to u, k."""
    # heat.py:5  for _ in range(steps):
    u_1 = u
    tape = []
    for _ in range(steps):
        # heat.py:6  lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        item = u_1[1:-1]
        lap = u_1[2:] - 2.0 * item + u_1[:-2]
        # heat.py:7  u = np.concatenate([u[:1], u[1:-1] + k * lap, u[-1:]])
        items = [u_1[:1], item + k * lap, u_1[-1:]]
        tape.append((items, u_1, lap))
        u_1 = np.concatenate(items)

    # reverse of heat.py:5
    u_bar = u_1 + u_1
    k_bar = 0.0
    for items, u_1, lap in reversed(tape):
        # reverse of heat.py:7
        items_bar = concatenate_adjoint(u_bar, items)
        total_bar = items_bar[1]
        u_bar = np.zeros_like(u_1)
        u_bar[-1:] += items_bar[2]
        lap_bar = total_bar * k
        k_bar = k_bar + float((total_bar * lap).sum())
        u_bar[1:-1] += total_bar
        u_bar[:1] += items_bar[0]
        # reverse of heat.py:6
        u_bar[:-2] += lap_bar
        u_bar[1:-1] -= lap_bar * 2.0
        u_bar[2:] += lap_bar
    # reverse of heat.py:4
    u_bar = as_gradient(u_bar, u)
    return u_bar, k_bar
