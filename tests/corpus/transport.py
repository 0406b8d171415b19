"""Transport along grids and flows of fluids."""

import numpy as np

from tests.corpus.program import Program

# -- transport ------------------------------------------------------------------------------------


def upwind(u, velocity, steps):
    """Transport with a velocity that changes sign, on a periodic grid."""
    for _ in range(steps):
        left = np.roll(u, 1)
        right = np.roll(u, -1)
        u -= 0.5 * np.where(velocity > 0.0, velocity * (u - left), velocity * (right - u))
    return u


def upwind_scalar_loop(u, a, steps):
    """Transport to the right, from the last point to the first so that one array is enough."""
    n = len(u)
    for _ in range(steps):
        last = u[n - 1]
        for i in range(n - 1, 0, -1):
            u[i] -= a * (u[i] - u[i - 1])
        u[0] -= a * (u[0] - last)
    return np.sum(u**3)


def lax_wendroff(u, courant, steps):
    """Transport with second order, with ghost cells around the array."""
    n = len(u)
    g = np.zeros(n + 2)
    g[1:-1] = u
    for _ in range(steps):
        g[0] = g[-2]
        g[-1] = g[1]
        g[1:-1] = (
            g[1:-1] - 0.5 * courant * (g[2:] - g[:-2])
            + 0.5 * courant**2 * (g[2:] - 2.0 * g[1:-1] + g[:-2])
        )
    return g[1:-1]


def minmod_transport(u, courant, steps):
    """Transport with slopes limited by minmod."""
    n = len(u)
    for _ in range(steps):
        slope = np.zeros(n)
        ahead = u[2:] - u[1:-1]
        behind = u[1:-1] - u[:-2]
        slope[1:-1] = np.where(
            ahead * behind > 0.0, np.sign(ahead) * np.minimum(np.abs(ahead), np.abs(behind)), 0.0
        )
        flux = courant * (u + 0.5 * (1.0 - courant) * slope)
        u[1:] -= flux[1:] - flux[:-1]
    return u


def van_leer_transport(q, courant, steps):
    """Transport with van Leer's limiter, in loops over faces."""
    n = len(q)
    flux = np.zeros(n + 1)
    for _ in range(steps):
        for i in range(2, n):
            jump = q[i] - q[i - 1]
            r = (q[i - 1] - q[i - 2]) / jump
            limiter = (r + abs(r)) / (1.0 + abs(r))
            flux[i] = courant * (q[i - 1] + 0.5 * limiter * (1.0 - courant) * jump)
        for i in range(2, n - 1):
            q[i] -= flux[i + 1] - flux[i]
    return np.sum(q * q)


def burgers_godunov(u, steps):
    """Solve Burgers' equation with exact Riemann fluxes."""
    flux = np.empty(len(u) - 1)
    for _ in range(steps):
        left, right = u[:-1], u[1:]
        flux[:] = np.maximum(
            0.5 * np.maximum(left, 0.0) ** 2, 0.5 * np.minimum(right, 0.0) ** 2
        )
        u[1:-1] -= 0.3 * (flux[1:] - flux[:-1])
    return u


def burgers_viscous(u, viscosity, steps):
    """Solve the viscous Burgers equation with a two-stage Runge-Kutta method."""

    def rate(v):
        r = np.zeros_like(v)
        r[1:-1] = -0.25 * (v[2:] ** 2 - v[:-2] ** 2)
        r[1:-1] += viscosity * (v[2:] - 2.0 * v[1:-1] + v[:-2])
        return r

    for _ in range(steps):
        first = rate(u)
        second = rate(u + 0.1 * first)
        u += 0.05 * (first + second)
    return np.sum(np.diff(u) ** 2)


def semi_lagrangian(q, velocity, steps):
    """Transport along characteristics, with linear interpolation at the feet."""
    n = len(q)
    new = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            foot = min(max(i - velocity[i], 0.0), n - 1.001)
            k = int(foot)
            weight = foot - k
            new[i] = (1.0 - weight) * q[k] + weight * q[k + 1]
        q[:] = new
    return q


def semi_lagrangian_2d(q, u, v):
    """Transport once on a plane, with index arrays for the corners of the cells."""
    rows, columns = q.shape
    i, j = np.mgrid[0:rows, 0:columns]
    y = np.clip(i - v, 0.0, rows - 1.001)
    x = np.clip(j - u, 0.0, columns - 1.001)
    i0 = np.floor(y).astype(int)
    j0 = np.floor(x).astype(int)
    y -= i0
    x -= j0
    out = (1.0 - y) * (1.0 - x) * q[i0, j0]
    out += (1.0 - y) * x * q[i0, j0 + 1]
    out += y * (1.0 - x) * q[i0 + 1, j0]
    out += y * x * q[i0 + 1, j0 + 1]
    return np.sum(out**2)


# -- flows ----------------------------------------------------------------------------------------


def mac_projection(u, v, sweeps):
    """Make a staggered velocity field (nearly) free of divergence, in place."""
    rows, columns = v.shape[0] - 1, u.shape[1] - 1
    p = np.zeros((rows + 2, columns + 2))
    divergence = u[:, 1:] - u[:, :-1] + v[1:, :] - v[:-1, :]
    for _ in range(sweeps):
        for i in range(1, rows + 1):
            for j in range(1, columns + 1):
                p[i, j] = 0.25 * (
                    p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1]
                    - divergence[i - 1, j - 1]
                )
        p[0, :] = p[1, :]
        p[-1, :] = p[-2, :]
        p[:, 0] = p[:, 1]
        p[:, -1] = p[:, -2]
    u[:, 1:-1] -= p[1:-1, 2:-1] - p[1:-1, 1:-2]
    v[1:-1, :] -= p[2:-1, 1:-1] - p[1:-2, 1:-1]
    return np.sum(u**2) + np.sum(v**2)


def lid_driven_cavity(lid, viscosity, steps):
    """Step vorticity and stream function of a driven cavity, and return the kinetic energy."""
    n = 6
    psi = np.zeros((n, n))
    omega = np.zeros((n, n))
    for _ in range(steps):
        for _ in range(3):
            psi[1:-1, 1:-1] = 0.25 * (
                psi[2:, 1:-1] + psi[:-2, 1:-1] + psi[1:-1, 2:] + psi[1:-1, :-2]
                + omega[1:-1, 1:-1]
            )
        omega[0, :] = -2.0 * psi[1, :]
        omega[-1, :] = -2.0 * psi[-2, :] - 2.0 * lid
        omega[:, 0] = -2.0 * psi[:, 1]
        omega[:, -1] = -2.0 * psi[:, -2]
        u = 0.5 * (psi[2:, 1:-1] - psi[:-2, 1:-1])
        v = -0.5 * (psi[1:-1, 2:] - psi[1:-1, :-2])
        change = viscosity * (
            omega[2:, 1:-1] + omega[:-2, 1:-1] + omega[1:-1, 2:] + omega[1:-1, :-2]
            - 4.0 * omega[1:-1, 1:-1]
        )
        change -= 0.5 * u * (omega[1:-1, 2:] - omega[1:-1, :-2])
        change -= 0.5 * v * (omega[2:, 1:-1] - omega[:-2, 1:-1])
        omega[1:-1, 1:-1] += change
    return 0.5 * np.sum(np.diff(psi, axis=0) ** 2) + 0.5 * np.sum(np.diff(psi, axis=1) ** 2)


def lattice_boltzmann(f, tau, steps):
    """Stream and collide populations of three velocities on a ring."""
    weights = np.array([2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0])
    velocities = (0, 1, -1)
    for _ in range(steps):
        density = f.sum(axis=0)
        velocity = (f[1] - f[2]) / density
        for k, c in enumerate(velocities):
            cu = c * velocity
            equilibrium = weights[k] * density * (
                1.0 + 3.0 * cu + 4.5 * cu**2 - 1.5 * velocity**2
            )
            f[k] += (equilibrium - f[k]) / tau
        for k, c in enumerate(velocities):
            f[k] = np.roll(f[k], c)
    return f


def euler_hll(rho, momentum, energy, steps):
    """Step the Euler equations of gas dynamics; conserved quantities are rows of one array."""
    gamma, ratio = 1.4, 0.1
    q = np.zeros((3, len(rho)))
    q[0], q[1], q[2] = rho, momentum, energy
    flux = np.zeros_like(q)
    for _ in range(steps):
        velocity = q[1] / q[0]
        pressure = (gamma - 1.0) * (q[2] - 0.5 * q[1] * velocity)
        flux[0] = q[1]
        flux[1] = q[1] * velocity + pressure
        flux[2] = (q[2] + pressure) * velocity
        speed = np.abs(velocity) + np.sqrt(gamma * pressure / q[0])
        largest = np.maximum(speed[1:], speed[:-1])
        face = 0.5 * (flux[:, 1:] + flux[:, :-1]) - 0.5 * largest * (q[:, 1:] - q[:, :-1])
        q[:, 1:-1] -= ratio * (face[:, 1:] - face[:, :-1])
    return q


def reinitialise_level_set(phi, steps):
    """Drive a level-set function towards a distance function with Godunov's upwinding."""
    sign = phi / np.sqrt(phi**2 + 1.0)
    for _ in range(steps):
        behind = np.zeros_like(phi)
        ahead = np.zeros_like(phi)
        behind[1:] = phi[1:] - phi[:-1]
        ahead[:-1] = behind[1:]
        slope_plus = np.sqrt(
            np.maximum(np.maximum(behind, 0.0) ** 2, np.minimum(ahead, 0.0) ** 2) + 1e-3
        )
        slope_minus = np.sqrt(
            np.maximum(np.minimum(behind, 0.0) ** 2, np.maximum(ahead, 0.0) ** 2) + 1e-3
        )
        phi -= 0.4 * sign * (np.where(sign > 0.0, slope_plus, slope_minus) - 1.0)
    return phi


# -- samples ---------------------------------------------------------------------------------------


def field(rng, *shape):
    return rng.normal(size=shape)


def hill(n):
    """Return smooth values without ties."""
    x = np.arange(n) / n
    return np.sin(2.0 * np.pi * x) + 0.3 * np.cos(6.0 * x)


def off_grid(rng, *shape):
    """Return displacements that end between the points of a grid."""
    return rng.integers(-1, 1, size=shape) + rng.uniform(0.2, 0.8, size=shape)


def gas(rng, n=8):
    rho = rng.uniform(1.0, 2.0, size=n)
    momentum = rng.uniform(0.1, 0.5, size=n)
    return rho, momentum, rng.uniform(3.0, 5.0, size=n), 3


PROGRAMS = (
    Program(upwind, lambda rng: (field(rng, 8), field(rng, 8), 4), (0, 1)),
    Program(upwind_scalar_loop, lambda rng: (field(rng, 7), 0.6, 4), (0, 1)),
    Program(lax_wendroff, lambda rng: (field(rng, 8), 0.7, 4), (0, 1)),
    Program(minmod_transport, lambda rng: (hill(10) + 0.02 * field(rng, 10), 0.6, 3), (0, 1)),
    Program(
        van_leer_transport,
        lambda rng: (3.0 * hill(10) + 0.02 * field(rng, 10), 0.5, 3),
        (0, 1),
        step=2e-4,
    ),
    Program(burgers_godunov, lambda rng: (hill(9) + 0.05 * field(rng, 9), 3)),
    Program(burgers_viscous, lambda rng: (field(rng, 8), 0.3, 4), (0, 1)),
    Program(semi_lagrangian, lambda rng: (field(rng, 8), rng.uniform(0.1, 1.9, 8), 2), (0, 1)),
    Program(
        semi_lagrangian_2d,
        lambda rng: (field(rng, 5, 6), off_grid(rng, 5, 6), off_grid(rng, 5, 6)),
        (0, 1, 2),
    ),
    Program(mac_projection, lambda rng: (field(rng, 3, 5), field(rng, 4, 4), 4), (0, 1)),
    Program(lid_driven_cavity, lambda rng: (rng.uniform(0.5, 1.0), 0.2, 4), (0, 1)),
    Program(lattice_boltzmann, lambda rng: (rng.uniform(0.5, 1.0, (3, 7)), 0.8, 4), (0, 1)),
    Program(euler_hll, gas, (0, 1, 2)),
    Program(reinitialise_level_set, lambda rng: (2.0 * hill(9) + 0.02 * field(rng, 9), 2)),
)
