import numpy as np


def heat(u, k, steps):
    for _ in range(steps):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u = np.concatenate([u[:1], u[1:-1] + k * lap, u[-1:]])
    return np.sum(u * u)


call(heat, np.sin(np.arange(8.0)), 0.1, 3, argnums=(0, 1))
# output
import numpy as np


def heat_grad(u, k, steps):
    """Return the gradient of `heat` with respect to u, k."""
    # heat.py:5  for _ in range(steps):
    tape = []
    for _ in range(steps):
        # heat.py:6  lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        item_1 = u[1:-1]
        lap = u[2:] - 2.0 * item_1 + u[:-2]
        # heat.py:7  u = np.concatenate([u[:1], u[1:-1] + k * lap, u[-1:]])
        item = u[:1]
        u_1 = np.concatenate([item, item_1 + k * lap, u[-1:]])
        tape.append((item.shape, item_1.shape, u, lap))
        u = u_1

    # reverse of heat.py:5
    u_bar_1 = 2.0 * u
    k_bar = 0.0
    for shape, shape_1, u, lap in reversed(tape):
        # reverse of heat.py:7
        size = shape[0]
        stop = size + shape_1[0]
        total_bar = u_bar_1[size:stop]
        u_bar = np.zeros_like(u)
        u_bar[-1:] += u_bar_1[stop:]
        lap_bar = total_bar * k
        k_bar = k_bar + float(total_bar @ lap)
        u_bar[1:-1] += total_bar
        u_bar[:1] += u_bar_1[:size]
        # reverse of heat.py:6
        u_bar[:-2] += lap_bar
        u_bar[1:-1] -= lap_bar * 2.0
        u_bar[2:] += lap_bar
        u_bar_1 = u_bar
    # reverse of heat.py:4
    k_bar = float(k_bar)
    return u_bar_1, k_bar
