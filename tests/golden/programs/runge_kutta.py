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
from adcompiler.runtime import repack, same_extent


def simulate_grad(state, length, step, steps):
    """Return the gradient of `simulate` with respect to state, length."""
    # runge_kutta.py:10  for _ in range(steps):
    same_extent(state.shape[0], 2)
    tape = []
    for _ in range(steps):
        # runge_kutta.py:11  k1 = pendulum(state, length)
        angle_1, speed = state
        quotient = -9.81 / length
        sin_1 = np.sin(angle_1)
        k1 = np.array([speed, quotient * sin_1])
        # runge_kutta.py:12  k2 = pendulum(state + 0.5 * step * k1, length)
        total = state + 0.5 * step * k1
        angle, speed = total
        sin = np.sin(angle)
        tape.append((sin, quotient, angle, total, sin_1, angle_1, state))
        k2 = np.array([speed, quotient * sin])
        # runge_kutta.py:13  state = state + step * k2
        state = state + step * k2

    # reverse of runge_kutta.py:14
    state_bar = np.zeros_like(state)
    state_bar[0] += 1.0
    # reverse of runge_kutta.py:10
    length_bar = 0.0
    for sin, quotient, angle, total, sin_1, angle_1, state in reversed(tape):
        # reverse of runge_kutta.py:12
        product = 0.5 * step
        # reverse of runge_kutta.py:13
        k2_bar = state_bar * step
        # reverse of runge_kutta.py:12
        speed_bar = k2_bar[0]
        product_bar = k2_bar[1]
        angle_bar = product_bar * quotient * np.cos(angle)
        length_bar = length_bar - float(product_bar * sin) / length * quotient
        total_bar = repack((angle_bar, speed_bar), total)
        state_bar += total_bar
        k1_bar = total_bar * product
        # reverse of runge_kutta.py:11
        speed_bar = k1_bar[0]
        product_bar = k1_bar[1]
        angle_bar = product_bar * quotient * np.cos(angle_1)
        length_bar = length_bar - float(product_bar * sin_1) / length * quotient
        state_bar += repack((angle_bar, speed_bar), state)
    # reverse of runge_kutta.py:9
    length_bar = float(length_bar)
    return state_bar, length_bar
