"""Ordinary differential equations: integrators, boundary value problems, delays."""

import math

import numpy as np

from tests.corpus.program import Program


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lotka_volterra_rk4(y0, params, h=0.1, steps=10):
    a, b, c, d = params

    def rhs(t, y):
        return np.array([a * y[0] - b * y[0] * y[1], -c * y[1] + d * y[0] * y[1]])

    trajectory = np.zeros((steps + 1, 2))
    trajectory[0] = y0
    for n in range(steps):
        trajectory[n + 1] = rk4_step(rhs, n * h, trajectory[n], h)
    return trajectory


def lorenz_spread(sigma, rho, beta, steps=12, dt=0.02):
    """The Lorenz system in plain floats and lists."""
    state = [1.0, 1.0, 1.0]
    xs = []
    for _ in range(steps):
        x, y, z = state
        state[0] = x + dt * sigma * (y - x)
        state[1] = y + dt * (x * (rho - z) - y)
        state[2] = z + dt * (x * y - beta * z)
        xs.append(state[0])
    mean = sum(xs) / len(xs)
    return sum((x - mean) ** 2 for x in xs) / len(xs)


def adaptive_rk23(y0, rate, t_end, tol):
    """Bogacki-Shampine steps with rejection; the size of a step follows the error."""
    t, y, h = 0.0, y0, 0.2
    rejected = 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        k1 = -rate * y + math.sin(t)
        k2 = -rate * (y + 0.5 * h * k1) + math.sin(t + 0.5 * h)
        k3 = -rate * (y + 0.75 * h * k2) + math.sin(t + 0.75 * h)
        y_new = y + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
        k4 = -rate * y_new + math.sin(t + h)
        error = abs(h * (-5.0 * k1 / 72.0 + k2 / 12.0 + k3 / 9.0 - k4 / 8.0))
        if error > tol:
            rejected += 1
            h *= 0.9 * (tol / error) ** (1.0 / 3.0)
            continue
        t += h
        y = y_new
        h *= min(2.0, 0.9 * (tol / error) ** (1.0 / 3.0))
    return y


def dormand_prince(y0, mu, t_end, tol=1e-3):
    """Van der Pol's oscillator by an embedded pair, with coefficients in nested lists."""
    A = [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    b4 = [5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    t, y, h = 0.0, y0.copy(), 0.4
    while True:
        h = min(h, t_end - t)
        ks = []
        for row in A:
            stage = y.copy()
            for a, k in zip(row, ks):
                stage += h * a * k
            ks.append(np.array([stage[1], mu * (1 - stage[0] ** 2) * stage[1] - stage[0]]))
        y5 = stage
        y4 = y + h * sum(b * k for b, k in zip(b4, ks))
        error = np.max(np.abs(y5 - y4)) / tol
        if error <= 1.0:
            t += h
            y = y5
            if t_end - t < 1e-10:
                break
        h = 0.9 * h * min(4.0, max(0.2, error ** (-0.2)))
    return y


def implicit_euler_robertson(rates, h=0.3, steps=3):
    """A stiff reaction; every step is solved by Newton's method."""
    k1, k2, k3 = rates
    y = np.array([1.0, 0.0, 0.0])
    J = np.empty((3, 3))
    for _ in range(steps):
        z = y.copy()
        for _ in range(5):
            forward = k1 * z[0]
            fast = k2 * z[1] * z[2]
            slow = k3 * z[1] ** 2
            f = np.array([-forward + fast, forward - fast - slow, slow])
            residual = z - y - h * f
            J[0] = [1 + h * k1, -h * k2 * z[2], -h * k2 * z[1]]
            J[1] = [-h * k1, 1 + h * (k2 * z[2] + 2 * k3 * z[1]), h * k2 * z[1]]
            J[2] = [0.0, -2 * h * k3 * z[1], 1.0]
            z -= np.linalg.solve(J, residual)
        y = z
    return y


def pendulum_verlet(theta, omega, length, dt=0.05, steps=20):
    """Velocity Verlet; the energy is kept in a preallocated array."""
    g = 9.81
    energy = np.zeros(steps)
    a = -g / length * math.sin(theta)
    for i in range(steps):
        theta += omega * dt + 0.5 * a * dt**2
        a_new = -g / length * math.sin(theta)
        omega += 0.5 * (a + a_new) * dt
        a = a_new
        energy[i] = 0.5 * (length * omega) ** 2 + g * length * (1 - math.cos(theta))
    return np.std(energy) + theta


def solar_system_leapfrog(positions, velocities, masses, dt=0.05, steps=5):
    pos, vel = positions.copy(), velocities.copy()

    def accelerations(p):
        acc = np.zeros_like(p)
        for i in range(len(p)):
            for j in range(len(p)):
                if i == j:
                    continue
                r = p[j] - p[i]
                acc[i] += masses[j] * r / (np.dot(r, r) + 0.1) ** 1.5
        return acc

    acc = accelerations(pos)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = accelerations(pos)
        vel += 0.5 * dt * acc
    return 0.5 * np.sum(masses * np.sum(vel**2, axis=1))


def shooting_bvp(y_end, stiffness):
    """Find the initial slope of y'' = stiffness * sin(y) with y(1) = y_end by the secant method."""

    def endpoint(slope, steps=8):
        y, v, h = 0.0, slope, 1.0 / steps
        for _ in range(steps):
            y_mid = y + 0.5 * h * v
            v_mid = v + 0.5 * h * stiffness * math.sin(y)
            y, v = y + h * v_mid, v + h * stiffness * math.sin(y_mid)
        return y

    s0, s1 = y_end, 0.9 * y_end
    e0 = endpoint(s0) - y_end
    for _ in range(6):
        e1 = endpoint(s1) - y_end
        if abs(e1) < 1e-13:
            break
        s0, s1, e0 = s1, s1 - e1 * (s1 - s0) / (e1 - e0), e1
    return s1


def collocation_poisson(f_values, left, right):
    """Chebyshev collocation of u'' = f, with the differentiation matrix filled by loops."""
    n = len(f_values) - 1
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.ones(n + 1)
    c[0] = c[-1] = 2.0
    D = np.zeros((n + 1, n + 1))
    for i in range(n + 1):
        for j in range(n + 1):
            if i != j:
                D[i, j] = c[i] / c[j] * (-1.0) ** (i + j) / (x[i] - x[j])
        D[i, i] = -np.sum(D[i])
    A = D @ D
    rhs = f_values.copy()
    A[0, :] = 0.0
    A[0, 0] = 1.0
    A[n, :] = 0.0
    A[n, n] = 1.0
    rhs[0], rhs[n] = right, left
    u = np.linalg.solve(A, rhs)
    return np.sum(u**2) + (D @ u)[0]


def picard_iteration(y0, rate, n=12, rounds=4):
    """y' = rate * cos(y) as an integral equation, with the trapezoidal rule."""
    h = 1.0 / (n - 1)
    y = np.full(n, y0)
    for _ in range(rounds):
        f = rate * np.cos(y)
        updated = np.empty(n)
        updated[0] = y0
        for i in range(1, n):
            updated[i] = updated[i - 1] + 0.5 * h * (f[i] + f[i - 1])
        y[:] = updated
    return y[-1]


def mackey_glass(history, beta, gamma, power=4.0, steps=15, h=0.3):
    """A delay equation whose past is a ring buffer that is written over."""
    buffer = history.copy()
    size = len(buffer)
    x = buffer[-1]
    total = 0.0
    for step in range(steps):
        slot = step % size
        delayed = buffer[slot]
        x = x + h * (beta * delayed / (1.0 + delayed**power) - gamma * x)
        buffer[slot] = x
        total += x * h
    return total


def adams_bashforth(y0, k, h=0.05, steps=12):
    """Three-step method over a list of past slopes."""

    def f(y):
        return k * y * (1.0 - y)

    ys = [y0]
    slopes = [f(y0)]
    for _ in range(2):
        ys.append(ys[-1] + h * slopes[-1])
        slopes.append(f(ys[-1]))
    for _ in range(steps - 2):
        f2, f1, f0 = slopes[-3:]
        ys.append(ys[-1] + h * (23.0 * f0 - 16.0 * f1 + 5.0 * f2) / 12.0)
        slopes.append(f(ys[-1]))
        slopes.pop(0)
    return ys[-1]


def sir_epidemic(beta, gamma, infected, days=20):
    """Compartments in a dict; the peak is found along the way."""
    state = {"S": 1.0 - infected, "I": infected, "R": 0.0}
    peak = 0.0
    for _ in range(days):
        new = beta * state["S"] * state["I"]
        healed = gamma * state["I"]
        state["S"] -= new
        state["I"] += new - healed
        state["R"] += healed
        if state["I"] > peak:
            peak = state["I"]
    return peak + 0.5 * state["R"]


def hodgkin_huxley_gate(current, g_na, g_k, dt=0.02, steps=25):
    V, m, h, n = -65.0, 0.05, 0.6, 0.32
    trace = np.empty(steps)
    for i in range(steps):
        am = 0.1 * (V + 40.0) / (1.0 - math.exp(-(V + 40.0) / 10.0))
        bm = 4.0 * math.exp(-(V + 65.0) / 18.0)
        ah = 0.07 * math.exp(-(V + 65.0) / 20.0)
        bh = 1.0 / (1.0 + math.exp(-(V + 35.0) / 10.0))
        an = 0.01 * (V + 55.0) / (1.0 - math.exp(-(V + 55.0) / 10.0))
        bn = 0.125 * math.exp(-(V + 65.0) / 80.0)
        m += dt * (am * (1 - m) - bm * m)
        h += dt * (ah * (1 - h) - bh * h)
        n += dt * (an * (1 - n) - bn * n)
        I_na = g_na * m**3 * h * (V - 50.0)
        I_k = g_k * n**4 * (V + 77.0)
        V += dt * (current - I_na - I_k - 0.3 * (V + 54.4))
        trace[i] = V
    return trace.mean()


def bouncing_ball(height, restitution, g=9.81, bounces=4):
    """Flights from event to event, with the time of each known in closed form."""
    t = math.sqrt(2.0 * height / g)
    v = g * t
    total = 0.0
    while bounces > 0:
        v *= restitution
        flight = 2.0 * v / g
        t += flight
        total += v * v / (2.0 * g)
        bounces -= 1
    return t + total


def rosenbrock_method(y0, k, h=0.2, steps=4):
    """A linearly implicit method of order two for a system of two."""
    gamma = 1.0 + 1.0 / math.sqrt(2.0)
    y = np.array(y0)

    def f(y):
        return np.array([-k[0] * y[0] + k[1] * y[1] ** 2, k[0] * y[0] - 2.0 * k[1] * y[1] ** 2])

    for _ in range(steps):
        J = np.array([[-k[0], 2.0 * k[1] * y[1]], [k[0], -4.0 * k[1] * y[1]]])
        W = np.eye(2) - gamma * h * J
        k1 = np.linalg.solve(W, f(y))
        k2 = np.linalg.solve(W, f(y + h * k1) - 2.0 * k1)
        y += 1.5 * h * k1 + 0.5 * h * k2
    return y


def continuous_adjoint_loss(theta, data, h=0.1):
    """Least squares of a forced oscillator against data at every other step."""
    k, c = theta
    x, v, loss, t = 1.0, 0.0, 0.0, 0.0
    for i in range(2 * len(data)):
        a = -k * x - c * v + math.cos(t)
        v += h * a
        x += h * v
        t += h
        if i % 2 == 1:
            loss += (x - data[i // 2]) ** 2
    return loss


PROGRAMS = (
    Program(
        lotka_volterra_rk4,
        lambda rng: (rng.uniform(0.5, 1.5, size=2), (1.1, 0.4, 0.9, 0.3)),
        argnums=(0, 1),
    ),
    Program(
        lorenz_spread,
        lambda rng: (10.0, 28.0 + rng.normal(), 8.0 / 3.0),
        argnums=(0, 1, 2),
    ),
    Program(
        adaptive_rk23,
        lambda rng: (1.0 + 0.1 * rng.random(), 2.0, 1.5, 0.001),
        argnums=(0, 1, 2),
        step=1e-4,
    ),
    Program(
        dormand_prince,
        lambda rng: (np.array([1.5, 0.1]) + 0.1 * rng.random(2), 1.2, 1.4),
        argnums=(0, 1, 2),
        step=1e-4,
    ),
    Program(implicit_euler_robertson, lambda rng: ((0.4, 2.0, 3.0),), argnums=0),
    Program(pendulum_verlet, lambda rng: (0.6 + rng.random(), 0.2, 1.3), argnums=(0, 1, 2)),
    Program(
        solar_system_leapfrog,
        lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.uniform(0.5, 2.0, 3)),
        argnums=(0, 1, 2),
    ),
    Program(shooting_bvp, lambda rng: (0.8 + 0.2 * rng.random(), 1.5), argnums=(0, 1)),
    Program(collocation_poisson, lambda rng: (rng.normal(size=6), 0.3, -0.2), argnums=(0, 1, 2)),
    Program(picard_iteration, lambda rng: (rng.random(), 0.8), argnums=(0, 1)),
    Program(
        mackey_glass,
        lambda rng: (rng.uniform(0.6, 1.2, size=5), 0.9, 0.4, 3.5),
        argnums=(0, 1, 2, 3),
    ),
    Program(adams_bashforth, lambda rng: (0.1 + 0.2 * rng.random(), 2.0), argnums=(0, 1)),
    Program(
        sir_epidemic,
        lambda rng: (0.9, 0.3, 0.02 + 0.002 * rng.random()),
        argnums=(0, 1, 2),
        step=1e-4,
    ),
    Program(hodgkin_huxley_gate, lambda rng: (10.0 + rng.random(), 120.0, 36.0), argnums=(0, 1, 2)),
    Program(bouncing_ball, lambda rng: (1.0 + rng.random(), 0.8), argnums=(0, 1)),
    Program(
        rosenbrock_method,
        lambda rng: (rng.uniform(0.5, 1.0, size=2), [0.8, 1.5]),
        argnums=(0, 1),
    ),
    Program(continuous_adjoint_loss, lambda rng: ((2.0, 0.3), rng.normal(size=4)), argnums=(0, 1)),
)
