import numpy as np


def pendulum(state, length):
    angle, speed = state
    return np.array([speed, -9.81 / length * np.sin(angle)])


def simulate(state, length, step, steps):
    for _ in range(steps):
        k1 = pendulum(state, length)
        k2 = pendulum(state + 0.5 * step * k1, length)
        state = state + step * k2
    return state[0]


call(simulate, np.array([0.3, 0.0]), 1.5, 0.01, 5, argnums=(0, 1))
# output
import numpy as np
from adcompiler.runtime import as_gradient, repack, same_shape, unbroadcast, unpack
from adcompiler.runtime.shaping import like


def simulate_grad(state, length, step, steps):
    """Return the gradient of `simulate` with respect to state, length."""
    # runge_kutta.py:10  for _ in range(steps):
    state_2 = state
    tape = []
    for _ in range(steps):
        # runge_kutta.py:11  k1 = pendulum(state, length)
        parts = unpack(state_2, 2, -1)
        angle_1 = parts[0]
        speed = parts[1]
        z = -9.81 / length
        sin_1 = np.sin(angle_1)
        items_1 = [speed, z * sin_1]
        k1 = np.array(items_1)
        # runge_kutta.py:12  k2 = pendulum(state + 0.5 * step * k1, length)
        product_1 = 0.5 * step
        product = product_1 * k1
        shape = state_2.shape
        same_shape(shape, product.shape)
        total = state_2 + product
        parts = unpack(total, 2, -1)
        angle = parts[0]
        speed = parts[1]
        sin = np.sin(angle)
        items = [speed, z * sin]
        k2 = np.array(items)
        # runge_kutta.py:13  state = state + step * k2
        product = step * k2
        same_shape(shape, product.shape)
        state_1 = state_2 + product
        shape_1 = k2.shape
        # runge_kutta.py:12  k2 = pendulum(state + 0.5 * step * k1, length)
        shape = k1.shape
        tape.append(
            (
                shape_1,
                items,
                sin,
                z,
                angle,
                total,
                product_1,
                shape,
                items_1,
                sin_1,
                z,
                angle_1,
                state_2,
            )
        )
        state_2 = state_1

    # reverse of runge_kutta.py:14
    state_bar = np.zeros_like(state_2)
    state_bar[0] += 1.0
    # reverse of runge_kutta.py:10
    length_bar = 0.0
    for shape, items, sin, z, angle, total, product, shape_1, items_1, sin_1, z_1, angle_1, state_1 in reversed(
        tape
    ):
        # reverse of runge_kutta.py:13
        k2_bar = unbroadcast(state_bar * step, shape)
        # reverse of runge_kutta.py:12
        items_bar = like(k2_bar, items)
        speed_bar = items_bar[0]
        product_bar = items_bar[1]
        angle_bar = product_bar * z * np.cos(angle)
        length_bar = length_bar - float(product_bar * sin) / length * z
        total_bar = repack((angle_bar, speed_bar), total)
        state_bar = state_bar + total_bar
        k1_bar = unbroadcast(total_bar * product, shape_1)
        # reverse of runge_kutta.py:11
        items_bar = like(k1_bar, items_1)
        speed_bar = items_bar[0]
        product_bar = items_bar[1]
        angle_bar = product_bar * z_1 * np.cos(angle_1)
        length_bar = length_bar - float(product_bar * sin_1) / length * z_1
        state_bar = state_bar + repack((angle_bar, speed_bar), state_1)
    # reverse of runge_kutta.py:9
    state_bar = as_gradient(state_bar, state)
    return state_bar, length_bar
