import numpy as np


def heat(u0, k, steps):
    u = u0.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


call(heat, np.linspace(0.0, 1.0, 6) ** 2, 0.1, 3, argnums=(0, 1))
# output
import numpy as np


def heat_grad(u0, k, steps):
    """Return the gradient of `heat` with respect to u0, k."""
    # heat_buffers.py:5  u = u0.copy()
    u = u0.copy()
    # heat_buffers.py:6  v = u.copy()
    v = u.copy()
    # heat_buffers.py:7  for _ in range(steps):
    total_tape = []
    for _ in range(steps):
        # heat_buffers.py:8  v[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        item = u[1:-1]
        total = u[2:] - 2.0 * item + u[:-2]
        total_tape.append(total)
        v[1:-1] = item + k * total
        u, v = v, u

    # reverse of heat_buffers.py:7
    u_bar = np.zeros_like(v)
    v_bar = 2.0 * u
    k_bar = 0.0
    for total in reversed(total_tape):
        # reverse of heat_buffers.py:8
        total_bar_1 = np.copy(v_bar[1:-1])
        v_bar[1:-1] = 0.0
        total_bar = total_bar_1 * k
        k_bar = k_bar + float(total_bar_1 @ total)
        u_bar[:-2] += total_bar
        u_bar[1:-1] -= total_bar * 2.0
        u_bar[2:] += total_bar
        u_bar[1:-1] += total_bar_1
        v_bar, u_bar = u_bar, v_bar
    # reverse of heat_buffers.py:6
    u0_bar = v_bar + u_bar
    # reverse of heat_buffers.py:4
    k_bar = float(k_bar)
    return u0_bar, k_bar
